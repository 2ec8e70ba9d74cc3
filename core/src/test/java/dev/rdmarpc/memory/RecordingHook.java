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

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import dev.rdmarpc.verbs.MemoryRegion;

/**
 * A hook of no device that remembers what is registered and can refuse. Thread-safe.
 */
public final class RecordingHook implements RegistrationHook {

	final Set<MemoryRegion> regions = Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

	final AtomicInteger registrationsLeft = new AtomicInteger(Integer.MAX_VALUE);

	/** Has the device refuse more. */
	public void refuse() {
		this.registrationsLeft.set(0);
	}

	@Override
	public MemoryRegion register(ByteBuffer extent) {
		if (this.registrationsLeft.getAndDecrement() <= 0) {
			throw new IllegalStateException("device refuses");
		}
		MemoryRegion region = new Region(extent.slice(), this.regions);
		this.regions.add(region);
		return region;
	}

	@Override
	public void deregister(MemoryRegion region) {
		if (!this.regions.contains(region)) {
			throw new AssertionError("deregistered twice");
		}
		region.close();
	}

	/** Bytes of all that is registered. */
	public long registeredBytes() {
		synchronized (this.regions) {
			return this.regions.stream().mapToLong(MemoryRegion::lengthBytes).sum();
		}
	}

	private record Region(ByteBuffer memory, Set<MemoryRegion> open) implements MemoryRegion {

		@Override
		public int lengthBytes() {
			return this.memory.capacity();
		}

		@Override
		public int localKey() {
			return 1;
		}

		@Override
		public int remoteKey() {
			return 1;
		}

		@Override
		public long remoteAddress() {
			return 0;
		}

		@Override
		public String toString() {
			return "region of " + lengthBytes() + " bytes";
		}

		@Override
		public boolean isValid() {
			return this.open.contains(this);
		}

		@Override
		public void close() {
			this.open.remove(this);
		}

	}

}
