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

/**
 * What the small replies on one channel have that wait to be sent, or are on their way,
 * and the small messages of streams. Counting them for all channels of the peer together
 * would cost each of them as much as all threads that do so. So they are counted here,
 * and what waits is added to the {@link PeerReplies} in steps, which few peers ever take.
 * The driver.
 */
final class SmallReplies {

	/** How much may wait, or have gone again, before that is said. */
	static final int STEP_BYTES = 64 << 10;

	private final PeerReplies peer;

	private final EagerLimit eagerLimit;

	private int bytes;

	/** What of it the peer's count has. */
	private int told;

	SmallReplies(PeerReplies peer, EagerLimit eagerLimit) {
		this.peer = peer;
		this.eagerLimit = eagerLimit;
	}

	/** Whether a message is to be added to the peer's count; any thread. */
	boolean isLarge(int messageBytes) {
		return !this.eagerLimit.holds(messageBytes);
	}

	/** The peer's count, to which large messages are added; any thread. */
	PeerReplies peer() {
		return this.peer;
	}

	void add(int more) {
		this.bytes += more;
		int untold = this.bytes - this.told;
		if (untold > STEP_BYTES) {
			this.told = this.bytes;
			this.peer.add(untold);
		}
	}

	void remove(int less) {
		this.bytes -= less;
		int gone = this.told - this.bytes;
		if (gone > STEP_BYTES || (this.bytes == 0 && this.told != 0)) {
			this.told = this.bytes;
			this.peer.remove(gone);
		}
	}

}
