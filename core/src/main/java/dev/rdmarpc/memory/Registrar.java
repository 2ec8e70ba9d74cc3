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
 * Keeps each extent registered with each attached device. Thread-safe.
 *
 * <p>
 * Implementation notes. No lock but that of one extent is held while a hook works, so a
 * large piece of memory delays nobody who has to do with another one. The lock here
 * guards what there is. An extent and an attachment that come at the same time are both
 * there before either looks for the other, so at least one finds the other; the lock of
 * the extent lets only one of them register. What goes is first marked, so that nobody
 * registers it from then on, then deregistered, and no longer there after that: whoever
 * removes an attachment therefore finds all extents that may still be registered with it,
 * and waits for who is about to deregister one. The index of an attachment is free when
 * no extent has a region under it.
 */
final class Registrar {

	private final ReentrantLock lock = new ReentrantLock();

	private final List<MemoryAttachment> attachments = new ArrayList<>();

	private final Set<Extent> extents = Collections.newSetFromMap(new IdentityHashMap<>());

	private boolean closed;

	/**
	 * Registers an extent with all devices, or with none and throws what a hook threw.
	 */
	void add(Extent extent) {
		extent.withdrawn(false);
		this.lock.lock();
		try {
			this.extents.add(extent);
		}
		finally {
			this.lock.unlock();
		}
		boolean complete = false;
		try {
			attachments().forEach(extent::register);
			complete = true;
		}
		finally {
			if (!complete) {
				remove(extent);
			}
		}
	}

	/** Deregisters an extent from all devices, for good. Idempotent. */
	void remove(Extent extent) {
		extent.withdrawn(true);
		attachments().forEach(extent::deregister);
		this.lock.lock();
		try {
			this.extents.remove(extent);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Registers all extents with another device, or none and throws what its hook threw.
	 * @throws IllegalStateException when closed
	 */
	MemoryAttachment attach(RegistrationHook hook) {
		MemoryAttachment attachment = attachment(hook);
		boolean complete = false;
		try {
			extents().forEach((extent) -> extent.register(attachment));
			complete = true;
		}
		finally {
			if (!complete) {
				detach(attachment);
			}
		}
		if (attachment.isClosed()) {
			throw closedException();
		}
		return attachment;
	}

	private MemoryAttachment attachment(RegistrationHook hook) {
		this.lock.lock();
		try {
			if (this.closed) {
				throw closedException();
			}
			BitSet used = new BitSet();
			this.attachments.forEach((attachment) -> used.set(attachment.index()));
			MemoryAttachment attachment = new MemoryAttachment(this::detach, hook, used.nextClearBit(0));
			this.attachments.add(attachment);
			return attachment;
		}
		finally {
			this.lock.unlock();
		}
	}

	private static IllegalStateException closedException() {
		return new IllegalStateException("registered memory is closed");
	}

	/** Deregisters all extents from a device. Idempotent. */
	void detach(MemoryAttachment attachment) {
		attachment.markClosed();
		extents().forEach((extent) -> extent.deregister(attachment));
		this.lock.lock();
		try {
			this.attachments.remove(attachment);
		}
		finally {
			this.lock.unlock();
		}
	}

	private List<MemoryAttachment> attachments() {
		this.lock.lock();
		try {
			return List.copyOf(this.attachments);
		}
		finally {
			this.lock.unlock();
		}
	}

	private List<Extent> extents() {
		this.lock.lock();
		try {
			return List.copyOf(this.extents);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Detaches all devices and forgets all extents. */
	void close() {
		this.lock.lock();
		try {
			this.closed = true;
		}
		finally {
			this.lock.unlock();
		}
		attachments().forEach(this::detach);
		this.lock.lock();
		try {
			this.extents.clear();
		}
		finally {
			this.lock.unlock();
		}
	}

}
