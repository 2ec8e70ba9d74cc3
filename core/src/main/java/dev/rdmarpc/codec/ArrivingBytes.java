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

/**
 * An array of bytes that is filled while the message that holds them arrives, so that
 * only the end of it is left to be copied when the message is decoded.
 *
 * <p>
 * It is a guess about a message that nobody has verified: whoever decodes the message
 * gets the array only for the bytes that the verified message says it has, and nobody
 * else gets it. It holds its share of a {@link HeapBudget} from the beginning.
 *
 * <p>
 * Not thread-safe; may be handed from thread to thread with a happens-before edge.
 */
public final class ArrivingBytes {

	/** What is worth the effort. */
	static final int LEAST_BYTES = 128 * 1024;

	private final HeapBudget budget;

	private final int index;

	private final byte[] bytes;

	private int filled;

	private long share;

	private boolean taken;

	private ArrivingBytes(HeapBudget budget, int index, byte[] bytes) {
		this.budget = budget;
		this.share = bytes.length;
		this.index = index;
		this.bytes = bytes;
	}

	/**
	 * Makes an array.
	 * @param index where its bytes begin in the memory that the message is received in
	 * @return the array, or {@code null} if there is no room for it or it is not worth it
	 */
	public static @Nullable ArrivingBytes of(HeapBudget budget, int index, int lengthBytes) {
		if (lengthBytes < LEAST_BYTES || !budget.tryTakeAhead(lengthBytes)) {
			return null;
		}
		try {
			return new ArrivingBytes(budget, index, new byte[lengthBytes]);
		}
		catch (OutOfMemoryError ex) {
			budget.giveBack(lengthBytes);
			return null;
		}
	}

	/**
	 * Copies what has arrived.
	 * @param message what the message is received in
	 * @param end index after the last byte that has arrived
	 */
	public void fill(ByteBuffer message, int end) {
		int until = Math.min(end - this.index, this.bytes.length);
		if (until > this.filled) {
			message.get(this.index + this.filled, this.bytes, this.filled, until - this.filled);
			this.filled = until;
		}
	}

	/**
	 * The array, once, for who has verified that the message holds just its bytes.
	 * @return all of it, or {@code null} if these are others
	 */
	byte @Nullable [] take(ByteBuffer message, int from, int lengthBytes) {
		if (this.taken || from != this.index || lengthBytes != this.bytes.length) {
			return null;
		}
		this.taken = true;
		fill(message, from + lengthBytes);
		return this.bytes;
	}

	/** Hands over its share of the budget. */
	long takeShare(HeapBudget of) {
		if (of != this.budget) {
			return 0;
		}
		long handed = this.share;
		this.share = 0;
		return handed;
	}

	/** Gives its share of the budget back. */
	public void release() {
		long left = this.share;
		this.share = 0;
		this.budget.giveBack(left);
	}

}
