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

package dev.rdmarpc.rpc;

/** The state of a client's connection. */
public enum ConnectionState {

	/** Never used. */
	IDLE,

	/** Being set up. */
	CONNECTING,

	/** Open. */
	READY,

	/** Failed or lost; reconnects automatically. */
	BACKOFF,

	/** The client is closed. */
	CLOSED;

	/** The one with which a call is more likely to be made soon. */
	ConnectionState better(ConnectionState other) {
		return (rank() >= other.rank()) ? this : other;
	}

	private int rank() {
		return switch (this) {
			case CLOSED -> 0;
			case BACKOFF -> 1;
			case CONNECTING -> 2;
			case IDLE -> 3;
			case READY -> 4;
		};
	}

}
