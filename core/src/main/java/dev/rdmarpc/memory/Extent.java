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
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemoryOrigin;
import dev.rdmarpc.verbs.MemoryRegion;

/**
 * A contiguous piece of direct memory and its region on each attached device: the user's
 * own, or part of the pool.
 *
 * <p>
 * Regions change only under the extent's own lock, which is held while a device works;
 * they are read without it.
 */
class Extent {

	private final int lengthBytes;

	/** None when it was given back for good. */
	private @Nullable ByteBuffer memory;

	private final @Nullable MemoryOrigin origin;

	private final ReentrantLock registration = new ReentrantLock();

	private boolean withdrawn;

	/** Whose each region is; written before the regions are. */
	private @Nullable MemoryAttachment[] registrants = new MemoryAttachment[0];

	private volatile @Nullable MemoryRegion[] regions = new MemoryRegion[0];

	/** Takes memory of the process's own that is registered nowhere yet. */
	Extent(ByteBuffer memory) {
		this(memory, null);
	}

	/**
	 * Takes memory that is registered nowhere yet.
	 * @param origin where a provider has it from, {@code null} if none has
	 */
	Extent(ByteBuffer memory, @Nullable MemoryOrigin origin) {
		this.memory = memory.order(ByteOrder.LITTLE_ENDIAN);
		this.lengthBytes = memory.capacity();
		this.origin = origin;
	}

	final ByteBuffer memory() {
		return Objects.requireNonNull(this.memory);
	}

	/**
	 * Lets the memory go, so that nobody who still holds an object of a released buffer
	 * keeps it from being freed.
	 */
	void forgetMemory() {
		this.memory = null;
	}

	final int lengthBytes() {
		return this.lengthBytes;
	}

	final @Nullable MemoryRegion region(int index) {
		@Nullable MemoryRegion[] regions = this.regions;
		return (index < regions.length) ? regions[index] : null;
	}

	/** The region of an open attachment of this memory, or {@code null}. */
	final @Nullable MemoryRegion region(MemoryAttachment attachment) {
		int index = attachment.index();
		MemoryRegion region = region(index);
		@Nullable MemoryAttachment[] owners = this.registrants;
		return (index < owners.length && owners[index] == attachment && !attachment.isClosed()) ? region : null;
	}

	/**
	 * Registers with a device, unless it is already, or the attachment is closed, or the
	 * extent is on its way out.
	 */
	final void register(MemoryAttachment attachment) {
		this.registration.lock();
		try {
			if (!this.withdrawn && !attachment.isClosed() && region(attachment.index()) == null) {
				MemoryRegion region = attachment.hook().register(memory().duplicate().clear(), this.origin);
				@Nullable MemoryRegion[] regions = this.regions;
				@Nullable MemoryRegion[] changed = Arrays.copyOf(regions, Math.max(regions.length, attachment.index() + 1));
				changed[attachment.index()] = region;
				this.registrants = Arrays.copyOf(this.registrants, changed.length);
				this.registrants[attachment.index()] = attachment;
				this.regions = changed;
			}
		}
		finally {
			this.registration.unlock();
		}
	}

	/** Deregisters from a device. Idempotent. */
	final void deregister(MemoryAttachment attachment) {
		this.registration.lock();
		try {
			MemoryRegion region = region(attachment.index());
			if (region != null && this.registrants[attachment.index()] == attachment) {
				@Nullable MemoryRegion[] changed = this.regions.clone();
				changed[attachment.index()] = null;
				this.regions = changed;
				attachment.hook().deregister(region);
			}
		}
		finally {
			this.registration.unlock();
		}
	}

	/** Lets devices be registered with, or no more from now on. */
	final void withdrawn(boolean withdrawn) {
		this.registration.lock();
		try {
			this.withdrawn = withdrawn;
		}
		finally {
			this.registration.unlock();
		}
	}

}
