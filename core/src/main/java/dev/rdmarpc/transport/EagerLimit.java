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

package dev.rdmarpc.transport;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Which messages of a channel are sent in frames rather than Read by the peer: those up
 * to the limit, and up to {@value #QUIET_FACTOR} times as long ones while the channel is
 * quiet. A Read takes another exchange, for which both sides wait while nothing else is
 * to be done; where there is, frames cost one copy more.
 *
 * <p>
 * A channel is quiet while the peer reads no message, and fewer than
 * {@value #MOST_AT_ONCE} longer ones were prepared since all that waited was posted. So
 * where long messages are many, the first few leave in frames, the next ones are Read,
 * and while any is, so are those that follow.
 */
final class EagerLimit {

	/** How many times the limit a message may be long while the channel is quiet. */
	static final int QUIET_FACTOR = 4;

	private static final int MOST_AT_ONCE = 4;

	private final int bytes;

	private final long quietBytes;

	/** Longer ones prepared to be sent in frames since all was posted. */
	private final AtomicInteger longer = new AtomicInteger();

	EagerLimit(int bytes) {
		this.bytes = bytes;
		this.quietBytes = (long) QUIET_FACTOR * bytes;
	}

	/** Whether a message is sent in frames in any case. */
	boolean holds(int messageBytes) {
		return messageBytes <= this.bytes;
	}

	/**
	 * Whether a message that is longer than the limit is sent in frames all the same,
	 * which counts as one that is prepared. Any thread.
	 * @param reading whether the peer reads others
	 */
	boolean stretches(int messageBytes, boolean reading) {
		return messageBytes <= this.quietBytes && !reading && this.longer.get() < MOST_AT_ONCE
				&& this.longer.getAndIncrement() < MOST_AT_ONCE;
	}

	/** All that was to be sent has been posted; driver. */
	void allPosted() {
		if (this.longer.get() != 0) {
			this.longer.set(0);
		}
	}

}
