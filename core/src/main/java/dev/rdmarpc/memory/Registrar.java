/*
 * Copyright 2026 the rdma-rpc authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.rdmarpc.memory;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps each extent registered with each attached device. Hooks are called under its
 * lock, hence one at a time.
 *
 * <p>
 * Thread-safe. The lock is the outermost one but for that of {@link UserRegistrations}:
 * no other lock of the pool is held when it is taken.
 */
final class Registrar {

	private final ReentrantLock lock = new ReentrantLock();

	private final List<MemoryAttachment> attachments = new ArrayList<>();

	private final Set<Extent> extents = Collections.newSetFromMap(new IdentityHashMap<>());

	/** For what must not happen while something is registered or deregistered. */
	ReentrantLock lock() {
		return this.lock;
	}

	/**
	 * Registers an extent with all devices, or with none and throws what a hook threw.
	 */
	void add(Extent extent) {
		this.lock.lock();
		try {
			extent.registerAll(this.attachments);
			this.extents.add(extent);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Deregisters an extent from all devices. Idempotent. */
	void remove(Extent extent) {
		this.lock.lock();
		try {
			if (this.extents.remove(extent)) {
				this.attachments.forEach(extent::deregister);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Registers all extents with another device, or none and throws what its hook threw.
	 */
	MemoryAttachment attach(RegisteredMemory memory, RegistrationHook hook) {
		this.lock.lock();
		try {
			MemoryAttachment attachment = new MemoryAttachment(memory, hook, freeIndex());
			List<Extent> registered = new ArrayList<>();
			boolean complete = false;
			try {
				for (Extent extent : this.extents) {
					extent.register(attachment);
					registered.add(extent);
				}
				complete = true;
			}
			finally {
				if (!complete) {
					registered.forEach((extent) -> extent.deregister(attachment));
				}
			}
			this.attachments.add(attachment);
			return attachment;
		}
		finally {
			this.lock.unlock();
		}
	}

	private int freeIndex() {
		BitSet used = new BitSet();
		this.attachments.forEach((attachment) -> used.set(attachment.index()));
		return used.nextClearBit(0);
	}

	/** Deregisters all extents from a device. Idempotent. */
	void detach(MemoryAttachment attachment) {
		this.lock.lock();
		try {
			if (!attachment.isClosed()) {
				attachment.markClosed();
				this.attachments.remove(attachment);
				this.extents.forEach((extent) -> extent.deregister(attachment));
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Detaches all devices and forgets all extents. */
	void close() {
		this.lock.lock();
		try {
			List.copyOf(this.attachments).forEach(this::detach);
			this.extents.clear();
		}
		finally {
			this.lock.unlock();
		}
	}

}
