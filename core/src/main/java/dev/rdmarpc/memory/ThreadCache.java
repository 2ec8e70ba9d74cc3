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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Free blocks kept for the next allocations of one thread, as long as it lives, or of the
 * few threads that share it; bounded in bytes. Also keeps their objects for slices and
 * their part of the counters.
 *
 * <p>
 * Implementation notes. Everything is guarded by a lock that is taken by one
 * compare-and-set, which nobody else contends for in the normal case: others come only to
 * empty the cache when memory is short, to count, or because they have no cache of their
 * own. How much is allocated is read without it: where memory is short, that is asked for
 * each message. Whoever finds it taken goes elsewhere, see {@link ThreadCaches}. The lock
 * of a {@link SizeClassPool} may be taken inside, never the other way round. Each stack
 * is exchanged with its size class by halves, the blocks unused for longest going first,
 * so that a thread that only allocates and one that only releases meet in the size class
 * once for many blocks.
 */
final class ThreadCache extends ThreadCachePadding {

	private static final VarHandle LOCKED;

	private static final VarHandle ALLOCATED_BYTES;

	static {
		try {
			MethodHandles.Lookup lookup = MethodHandles.lookup();
			LOCKED = lookup.findVarHandle(ThreadCache.class, "locked", int.class);
			ALLOCATED_BYTES = lookup.findVarHandle(ThreadCache.class, "allocatedBytes", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private static final int MAX_BLOCKS = 128;

	/**
	 * The largest part of a cache that one block may take: 1/32. Larger blocks are not
	 * kept: taking them from the size class costs less than going round in more memory.
	 */
	private static final int BLOCK_SHIFT = 5;

	/** The largest part of a cache that one size class may take: 1/4. */
	private static final int CLASS_SHIFT = 2;

	/** How many size classes are looked at when there is too much. */
	private static final int VISITS = 4;

	private static final int MAX_SLICES = 64;

	private final Extents extents;

	private final SizeClassPool[] pools;

	private final @Nullable RegisteredBuffer[] @Nullable [] stacks = new RegisteredBuffer[SizeClasses.COUNT][];

	private final int[] counts = new int[SizeClasses.COUNT];

	/** The least of each count since {@link #hand} was there: blocks not needed since. */
	private final int[] spare = new int[SizeClasses.COUNT];

	private final @Nullable RegisteredBuffer[] slices = new RegisteredBuffer[MAX_SLICES];

	private final int maxBytes;

	private int sliceCount;

	private int bytes;

	private int hand;

	private long allocations;

	private long frees;

	private long allocatedBytes;

	/** Whose cache it is, if it is one thread's only. */
	private volatile @Nullable WeakReference<Thread> owner;

	@SuppressWarnings("unused") // through LOCKED
	private volatile int locked;

	ThreadCache(Extents extents, SizeClassPool[] pools, int maxBytes) {
		this.extents = extents;
		this.pools = pools;
		this.maxBytes = maxBytes;
	}

	boolean tryLock() {
		return (int) LOCKED.getOpaque(this) == 0 && LOCKED.compareAndSet(this, 0, 1);
	}

	/**
	 * Waits for the lock. It is held for a moment, or while its holder waits for a size
	 * class.
	 */
	void lock() {
		boolean interrupted = false;
		for (int spins = 0; !tryLock(); spins++) {
			if ((spins & 63) == 63) {
				interrupted |= VirtualThreads.pause();
			}
			else {
				Thread.onSpinWait();
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	void unlock() {
		LOCKED.setRelease(this, 0);
	}

	/** Makes a thread the owner if there is none or it has ended. */
	boolean claim(Thread thread) {
		if (this.owner != null && !isOrphaned()) {
			return false;
		}
		this.owner = new WeakReference<>(thread);
		return true;
	}

	/** Whether the thread that owned the cache has ended. */
	boolean isOrphaned() {
		WeakReference<Thread> reference = this.owner;
		if (reference == null) {
			return false;
		}
		Thread thread = reference.get();
		return thread == null || !thread.isAlive();
	}

	/**
	 * Takes a block of a size class. The caller holds the lock.
	 * @param sparing whether to leave what is not needed at once to others
	 */
	@Nullable RegisteredBuffer take(int sizeClass, boolean sparing) {
		RegisteredBuffer block;
		int count = this.counts[sizeClass];
		if (count > 0) {
			@Nullable RegisteredBuffer[] stack = stack(sizeClass);
			block = Objects.requireNonNull(stack[--count]);
			stack[count] = null;
			this.counts[sizeClass] = count;
			if (count < this.spare[sizeClass]) {
				this.spare[sizeClass] = count;
			}
			this.bytes -= SizeClasses.bytes(sizeClass);
		}
		else {
			block = refill(sizeClass, sparing);
			if (block == null) {
				return null;
			}
		}
		countAllocation(SizeClasses.bytes(sizeClass));
		return block;
	}

	private @Nullable RegisteredBuffer refill(int sizeClass, boolean sparing) {
		int blockBytes = SizeClasses.bytes(sizeClass);
		int batch = Math.min(capacity(blockBytes) / 2, (this.maxBytes - this.bytes) / blockBytes);
		if (batch <= 1 || sparing) {
			return this.pools[sizeClass].take(true);
		}
		@Nullable RegisteredBuffer[] stack = stack(sizeClass);
		int count = this.pools[sizeClass].take(stack, batch) - 1;
		if (count < 0) {
			return null;
		}
		RegisteredBuffer block = stack[count];
		stack[count] = null;
		this.counts[sizeClass] = count;
		this.spare[sizeClass] = 0;
		this.bytes += count * blockBytes;
		return block;
	}

	/**
	 * Takes a released block of a size class. The caller holds the lock.
	 * @param sparing whether to keep nothing
	 */
	void give(RegisteredBuffer block, int sizeClass, boolean sparing) {
		int blockBytes = SizeClasses.bytes(sizeClass);
		countFree(blockBytes);
		int capacity = capacity(blockBytes);
		if (capacity == 0 || sparing || !hasStack(sizeClass)) {
			this.pools[sizeClass].give(block);
			return;
		}
		if (this.counts[sizeClass] == capacity) {
			flush(sizeClass, (capacity + 1) / 2);
		}
		stack(sizeClass)[this.counts[sizeClass]++] = block;
		this.bytes += blockBytes;
		if (this.bytes > this.maxBytes) {
			shrink(sizeClass);
		}
		else if (this.bytes > this.extents.cacheLimit()) {
			flushAll();
		}
	}

	/** Gives back what was not needed of late, or else some of a class. */
	private void shrink(int sizeClass) {
		for (int visits = 0; visits < VISITS && this.bytes > this.maxBytes; visits++) {
			this.hand = (this.hand + 1) % SizeClasses.COUNT;
			flush(this.hand, (this.spare[this.hand] + 1) / 2);
			this.spare[this.hand] = this.counts[this.hand];
		}
		if (this.bytes > this.maxBytes) {
			flush(sizeClass, (this.counts[sizeClass] + 1) / 2);
		}
	}

	/** Gives the blocks back that have been unused for longest. */
	private void flush(int sizeClass, int count) {
		if (count > 0) {
			@Nullable RegisteredBuffer[] stack = stack(sizeClass);
			this.pools[sizeClass].give(stack, 0, count);
			int left = this.counts[sizeClass] - count;
			System.arraycopy(stack, count, stack, 0, left);
			for (int index = left; index < left + count; index++) {
				stack[index] = null;
			}
			this.counts[sizeClass] = left;
			this.spare[sizeClass] = Math.min(this.spare[sizeClass], left);
			this.bytes -= count * SizeClasses.bytes(sizeClass);
		}
	}

	/** Gives all blocks back. The caller holds the lock. */
	void flushAll() {
		for (int sizeClass = 0; sizeClass < SizeClasses.COUNT && this.bytes > 0; sizeClass++) {
			flush(sizeClass, this.counts[sizeClass]);
		}
	}

	/** Gives all blocks back and forgets all objects. The caller holds the lock. */
	void close() {
		flushAll();
		while (this.sliceCount > 0) {
			this.slices[--this.sliceCount] = null;
		}
	}

	private int capacity(int blockBytes) {
		return (blockBytes > this.maxBytes >> BLOCK_SHIFT) ? 0
				: Math.min(MAX_BLOCKS, (this.maxBytes >> CLASS_SHIFT) / blockBytes);
	}

	/**
	 * Whether there is a stack, or memory for one: a block is not lost for want of it.
	 */
	@SuppressWarnings("UnusedException")
	private boolean hasStack(int sizeClass) {
		try {
			stack(sizeClass);
			return true;
		}
		catch (OutOfMemoryError ex) {
			return false;
		}
	}

	private @Nullable RegisteredBuffer[] stack(int sizeClass) {
		@Nullable RegisteredBuffer[] stack = this.stacks[sizeClass];
		if (stack == null) {
			stack = new RegisteredBuffer[capacity(SizeClasses.bytes(sizeClass))];
			this.stacks[sizeClass] = stack;
		}
		return stack;
	}

	/** Takes an unused slice object, if there is one. The caller holds the lock. */
	@Nullable RegisteredBuffer takeSlice() {
		if (this.sliceCount == 0) {
			return null;
		}
		RegisteredBuffer slice = this.slices[--this.sliceCount];
		this.slices[this.sliceCount] = null;
		return slice;
	}

	/** Keeps a slice object unless there are enough. The caller holds the lock. */
	void giveSlice(RegisteredBuffer slice) {
		if (this.sliceCount < MAX_SLICES) {
			this.slices[this.sliceCount++] = slice;
		}
	}

	/** Counts what is not a block of a size class. The caller holds the lock. */
	void countAllocation(int lengthBytes) {
		this.allocations++;
		ALLOCATED_BYTES.setOpaque(this, this.allocatedBytes + lengthBytes);
	}

	/** Counts what is not a block of a size class. The caller holds the lock. */
	void countFree(int lengthBytes) {
		this.frees++;
		ALLOCATED_BYTES.setOpaque(this, this.allocatedBytes - lengthBytes);
	}

	/** The caller holds the lock. */
	long allocations() {
		return this.allocations;
	}

	/** The caller holds the lock. */
	long frees() {
		return this.frees;
	}

	/** Allocated less freed with this cache; may be negative. Needs no lock. */
	long allocatedBytes() {
		return (long) ALLOCATED_BYTES.getOpaque(this);
	}

	/** Bytes of the blocks that are kept. The caller holds the lock. */
	int bytes() {
		return this.bytes;
	}

}
