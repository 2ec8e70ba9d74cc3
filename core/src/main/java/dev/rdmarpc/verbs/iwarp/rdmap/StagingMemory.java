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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * The memory of a reactor for what peers have begun: parts of frames whose rest has not
 * come, and bytes that a socket does not take. It is allocated once, so that whoever uses
 * up the memory of the process does not stop those who have a place here, and no peer
 * makes it grow. Guarded by the reactor's lock.
 *
 * <p>
 * Implementation notes. A buddy allocator: blocks are powers of two of
 * {@value #LEAST_BYTES} bytes, and halves that are both free join again, so that small
 * blocks do not keep later large ones from being found. Blocks are objects that are kept,
 * so that allocating a place that was used before allocates nothing on the heap.
 */
public final class StagingMemory {

	/** The least block, in bytes. */
	public static final int LEAST_BYTES = 256;

	/** The longest block: all that one call may have read. */
	public static final int MOST_BYTES = 512 * 1024;

	private static final int ORDERS = Integer.numberOfTrailingZeros(MOST_BYTES / LEAST_BYTES) + 1;

	private static final int NOBODY = -1;

	/** Memory without a byte. */
	static final StagingMemory NONE = new StagingMemory(0);

	private final ByteBuffer memory;

	/** By unit: one more than the order of the free block that begins there, or 0. */
	private final byte[] free;

	private final int[] next;

	private final int[] previous;

	private final int[] heads = new int[ORDERS];

	private final @Nullable Block[][] blocks = new @Nullable Block[ORDERS][];

	/** Written under the lock, read by anybody. */
	private final AtomicInteger usedBytes = new AtomicInteger();

	/**
	 * Allocates the memory.
	 * @param bytes a multiple of {@link #MOST_BYTES}
	 * @throws VerbsException with {@link VerbsError#LIMIT_EXCEEDED} if the process has no
	 * more direct memory
	 */
	StagingMemory(int bytes) {
		this.memory = allocate(bytes);
		int units = bytes / LEAST_BYTES;
		this.free = new byte[units];
		this.next = new int[units];
		this.previous = new int[units];
		Arrays.fill(this.heads, NOBODY);
		for (int order = 0; order < ORDERS; order++) {
			this.blocks[order] = new Block[units >> order];
		}
		for (int unit = units - (1 << (ORDERS - 1)); unit >= 0; unit -= 1 << (ORDERS - 1)) {
			push(unit, ORDERS - 1);
		}
	}

	private static ByteBuffer allocate(int bytes) {
		try {
			return ByteBuffer.allocateDirect(bytes);
		}
		catch (OutOfMemoryError ex) {
			throw new VerbsException(VerbsError.LIMIT_EXCEEDED, "no direct memory for " + bytes
					+ " bytes of what peers have begun (expected: a larger -XX:MaxDirectMemorySize, less of this "
					+ "memory, or fewer loops)", ex);
		}
	}

	/** How much is in use, rounded up to blocks; from any thread. */
	public int usedBytes() {
		return this.usedBytes.get();
	}

	public int totalBytes() {
		return this.memory.capacity();
	}

	/** Allocates at least so many bytes, or returns {@code null} if there are none. */
	public @Nullable Block tryAllocate(int bytes) {
		if (bytes > MOST_BYTES) {
			return null;
		}
		int wanted = Integer.SIZE - Integer.numberOfLeadingZeros((Math.max(bytes, 1) - 1) / LEAST_BYTES);
		int order = wanted;
		while (order < ORDERS && this.heads[order] == NOBODY) {
			order++;
		}
		if (order == ORDERS) {
			return null;
		}
		int unit = this.heads[order];
		Block block = block(unit, wanted);
		remove(unit, order);
		while (order > wanted) {
			order--;
			push(unit + (1 << order), order);
		}
		this.usedBytes.lazySet(this.usedBytes.get() + (LEAST_BYTES << wanted));
		block.buffer.clear();
		return block;
	}

	private Block block(int unit, int order) {
		@Nullable Block[] ofOrder = this.blocks[order];
		Block block = ofOrder[unit >> order];
		if (block == null) {
			block = new Block(this.memory.slice(unit * LEAST_BYTES, LEAST_BYTES << order), unit, order);
			ofOrder[unit >> order] = block;
		}
		return block;
	}

	private void release(Block block) {
		int unit = block.unit;
		int order = block.order;
		this.usedBytes.lazySet(this.usedBytes.get() - (LEAST_BYTES << order));
		while (order < ORDERS - 1 && this.free[unit ^ (1 << order)] == order + 1) {
			remove(unit ^ (1 << order), order);
			unit &= -1 << (order + 1);
			order++;
		}
		push(unit, order);
	}

	private void push(int unit, int order) {
		int head = this.heads[order];
		this.free[unit] = (byte) (order + 1);
		this.next[unit] = head;
		this.previous[unit] = NOBODY;
		if (head != NOBODY) {
			this.previous[head] = unit;
		}
		this.heads[order] = unit;
	}

	private void remove(int unit, int order) {
		this.free[unit] = 0;
		if (this.previous[unit] == NOBODY) {
			this.heads[order] = this.next[unit];
		}
		else {
			this.next[this.previous[unit]] = this.next[unit];
		}
		if (this.next[unit] != NOBODY) {
			this.previous[this.next[unit]] = this.previous[unit];
		}
	}

	/** A part of the memory. */
	public final class Block {

		private final ByteBuffer buffer;

		private final int unit;

		private final int order;

		private Block(ByteBuffer buffer, int unit, int order) {
			this.buffer = buffer;
			this.unit = unit;
			this.order = order;
		}

		/** The bytes; position and limit may be changed freely. */
		ByteBuffer buffer() {
			return this.buffer;
		}

		/** Whether that is the object of its bytes. */
		@SuppressWarnings("ReferenceEquality") // the same memory, not equal content
		boolean isMemory(ByteBuffer bytes) {
			return bytes == this.buffer;
		}

		int bytes() {
			return LEAST_BYTES << this.order;
		}

		/** Gives it back. */
		void release() {
			StagingMemory.this.release(this);
		}

		/** Whether it is what would be allocated for so many bytes. */
		boolean fits(int bytes) {
			return bytes > 0 && bytes <= bytes() && (this.order == 0 || bytes > bytes() / 2);
		}

	}

}
