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

import org.jspecify.annotations.Nullable;

/** Where a channel is in its life. */
public enum ChannelState {

	/** The connection is being set up. */
	CONNECTING,

	/** Connected; the sides are telling each other their limits. */
	HANDSHAKING,

	/** Calls may be started. */
	OPEN,

	/** Outstanding calls are finished, no new ones are taken. */
	DRAINING,

	/** Closed. */
	CLOSED;

	/** Whether frames may come and go. */
	boolean isConnected() {
		return this == HANDSHAKING || this == OPEN || this == DRAINING;
	}

	/**
	 * Why no call can be started, or {@code null}.
	 * @param closeReason why the channel is closed, if it is
	 */
	@Nullable String refusal(String closeReason) {
		return switch (this) {
			case OPEN -> null;
			case CONNECTING, HANDSHAKING -> "the connection is not established yet";
			case DRAINING -> "the peer is shutting down";
			case CLOSED -> closeReason;
		};
	}

}
