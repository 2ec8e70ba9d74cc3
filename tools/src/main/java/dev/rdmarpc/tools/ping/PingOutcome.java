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

package dev.rdmarpc.tools.ping;

import java.net.InetSocketAddress;

import org.jspecify.annotations.Nullable;

/**
 * How a connection to a responder has ended.
 *
 * @param peer the initiator
 * @param pings those that were answered
 * @param bytes data of those, one way
 * @param failure why it ended, or {@code null} if the initiator ended it in order
 */
record PingOutcome(InetSocketAddress peer, long pings, long bytes, @Nullable String failure) {

	@Override
	public String toString() {
		return PingAddress.of(this.peer) + ": " + this.pings + " pings with " + this.bytes + " bytes, "
				+ ((this.failure != null) ? "then FAILED: " + this.failure : "ended in order");
	}

}
