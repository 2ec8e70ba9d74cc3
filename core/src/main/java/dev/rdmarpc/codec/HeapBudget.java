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

import java.util.concurrent.atomic.AtomicLong;

/**
 * The part of the heap that the values of received messages may take at once: while they
 * are decoded, and as long as a call that has them as arguments is executed.
 *
 * <p>
 * Thread-safe. Messages with few values are not counted, so they neither wait for others
 * nor pay for the counting.
 */
public final class HeapBudget {

	/** Values of a message that are not counted, in bytes. */
	public static final int UNCOUNTED_BYTES = 64 * 1024;

	/** Which part of the budget messages that are still arriving may take of it. */
	static final int AHEAD_FRACTION = 4;

	private final long maxBytes;

	private final AtomicLong taken = new AtomicLong();

	/**
	 * Creates a budget.
	 * @param maxBytes what may be taken at once, at least 1
	 */
	public HeapBudget(long maxBytes) {
		if (maxBytes < 1) {
			throw new IllegalArgumentException("maxBytes " + maxBytes + " (expected: at least 1)");
		}
		this.maxBytes = maxBytes;
	}

	/**
	 * Takes a share, to be {@linkplain #giveBack given back}.
	 * @return what was taken: the bytes, or 0 if they are too few to be counted
	 * @throws ValuesTooLargeException if there is not as much left
	 */
	public long take(long bytes) {
		if (bytes <= UNCOUNTED_BYTES) {
			return 0;
		}
		long now = this.taken.addAndGet(bytes);
		if (now > this.maxBytes) {
			this.taken.addAndGet(-bytes);
			throw new ValuesTooLargeException("the values of the message take up to " + bytes + " bytes of heap, and "
					+ (now - bytes) + " are taken by others (expected: at most " + this.maxBytes + " altogether)");
		}
		return bytes;
	}

	/**
	 * Takes a share for values of a message that is still arriving, to be
	 * {@linkplain #giveBack given back}: only while most of the budget is free, so that
	 * messages which never end leave enough for those that are there.
	 * @return whether it was taken
	 */
	boolean tryTakeAhead(long bytes) {
		if (this.taken.addAndGet(bytes) > this.maxBytes / AHEAD_FRACTION) {
			this.taken.addAndGet(-bytes);
			return false;
		}
		return true;
	}

	/** Gives back what was taken. */
	public void giveBack(long bytes) {
		if (bytes != 0) {
			this.taken.addAndGet(-bytes);
		}
	}

	/** What is taken now, in bytes. */
	public long takenBytes() {
		return this.taken.get();
	}

}
