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

package dev.rdmarpc.codec;

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * The registered memory that a message was received in, and the parts of it that are in
 * the values decoded from it. Kept and used again.
 *
 * <p>
 * Ownership: the memory is borrowed from {@link #begin} on. Parts are owned by this
 * object and {@linkplain #release() released} together, when those who got the values
 * have retained what they keep; or they are {@linkplain #handOver() handed over} to who
 * gets the values, and released one by one. An {@linkplain #expect expected} array is
 * owned too, unless the values have it.
 *
 * <p>
 * Not thread-safe; may be handed from thread to thread with a happens-before edge.
 */
public final class ReceivedMemory {

	private final boolean lent;

	private final KeptReferences parts = new KeptReferences();

	private @Nullable RegisteredBuffer buffer;

	private long sharedBytes;

	private @Nullable HeapBudget budget;

	private long heapBytes;

	private @Nullable ArrivingBytes arriving;

	private ReceivedMemory(boolean lent) {
		this.lent = lent;
	}

	/**
	 * Memory that outlives the use of the values: all their views are views of it. For
	 * arguments, which are valid until the call ends.
	 */
	public static ReceivedMemory lent() {
		return new ReceivedMemory(true);
	}

	/**
	 * Memory that the values outlive: they hold it by their counted parts, and other
	 * views are made copies. For results.
	 */
	public static ReceivedMemory given() {
		return new ReceivedMemory(false);
	}

	/** Whether uncounted views of the memory are valid as long as the values are used. */
	public boolean isLent() {
		return this.lent;
	}

	/**
	 * Starts with a message.
	 * @param received what the message lies in, borrowed; the message to decode is a part
	 * of its {@link RegisteredBuffer#buffer()}, with the same indexes
	 */
	public void begin(RegisteredBuffer received) {
		this.buffer = received;
		this.sharedBytes = 0;
	}

	/**
	 * Takes ownership of an array that was filled while the message arrived.
	 * @param filled the array, or {@code null} if there is none
	 */
	public void expect(@Nullable ArrivingBytes filled) {
		this.arriving = filled;
	}

	/**
	 * Takes a share of a budget for the values, to be given back when the parts are
	 * released or handed over.
	 * @param heapBytes what the values take
	 * @throws ValuesTooLargeException if there is not as much left
	 */
	public void charge(HeapBudget from, long heapBytes) {
		ArrivingBytes expected = this.arriving;
		long share = (expected != null) ? expected.takeShare(from) : 0;
		if (share != 0) {
			this.budget = from;
			this.heapBytes += share;
		}
		long more = from.take(heapBytes - share);
		if (more != 0) {
			this.budget = from;
			this.heapBytes += more;
		}
	}

	/**
	 * The bytes of a verified message as an array of their own.
	 * @param message the message that is decoded
	 * @param index of the first byte
	 */
	public byte[] bytes(ByteBuffer message, int index, int lengthBytes) {
		ArrivingBytes expected = this.arriving;
		byte[] bytes = (expected != null) ? expected.take(message, index, lengthBytes) : null;
		if (bytes == null) {
			bytes = new byte[lengthBytes];
			message.get(index, bytes, 0, lengthBytes);
		}
		return bytes;
	}

	private void uncharge() {
		ArrivingBytes expected = this.arriving;
		if (expected != null) {
			this.arriving = null;
			expected.release();
		}
		HeapBudget from = this.budget;
		if (from != null) {
			this.budget = null;
			from.giveBack(this.heapBytes);
			this.heapBytes = 0;
		}
	}

	/** How many bytes of the message its values refer to where they are. */
	public long sharedBytes() {
		return this.sharedBytes;
	}

	/**
	 * A part of the memory, with a reference count of its own.
	 * @param index of the first byte
	 * @return the part, owned by this object
	 */
	public RegisteredBuffer slice(int index, int lengthBytes) {
		RegisteredBuffer slice = take(index, lengthBytes);
		this.parts.add(slice);
		return slice;
	}

	/**
	 * A part of the memory, with a reference count of its own, for something that owns it
	 * and that this object is to {@linkplain #keep keep}.
	 * @param index of the first byte
	 * @return the part, owned by the caller
	 */
	public RegisteredBuffer take(int index, int lengthBytes) {
		RegisteredBuffer current = this.buffer;
		if (current == null) {
			throw new IllegalStateException("the message was not received in registered memory");
		}
		this.sharedBytes += lengthBytes;
		return current.slice(index, lengthBytes);
	}

	/** Takes ownership of a reference, to be given back with the parts. */
	public void keep(RegisteredBuffer buffer) {
		this.parts.add(buffer);
	}

	/** Takes ownership of a part. */
	public void keep(SegmentOwner part) {
		this.parts.add(part);
	}

	/**
	 * A view of part of a message, or a copy if the view would not be valid long enough.
	 * @param message the message that is decoded
	 * @param index of the first byte
	 * @return a read-only buffer in the byte order of new ones
	 */
	public ByteBuffer view(ByteBuffer message, int index, int lengthBytes) {
		ByteBuffer view = message.slice(index, lengthBytes);
		if (this.lent) {
			this.sharedBytes += lengthBytes;
		}
		else {
			view = ByteBuffer.allocate(lengthBytes).put(view).flip();
		}
		return view.asReadOnlyBuffer();
	}

	/** Whether counted parts are in the values. */
	public boolean hasParts() {
		return !this.parts.isEmpty();
	}

	/** Gives the parts to who has the values, and lets go of the memory. */
	public void handOver() {
		uncharge();
		this.parts.forget();
		this.buffer = null;
	}

	/**
	 * Gives the parts back and lets go of the memory.
	 * @throws IllegalStateException if somebody gave back a part that was only lent
	 */
	public void release() {
		this.buffer = null;
		uncharge();
		this.parts.releaseAll();
	}

}
