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

package dev.rdmarpc.verbs;

/**
 * Why a queue pair is in error.
 *
 * @param status the kind of failure, as the failing work request reports it
 * @param origin the side that detected it
 * @param detail one sentence for a log, with protocol layer, type and code if known
 */
public record QueuePairFault(WorkStatus status, Origin origin, String detail) {

	/**
	 * Whether this side has ended the connection because of what the peer has sent, or
	 * has begun to send and not finished. A connection that was lost is not.
	 */
	public boolean isByPeer() {
		return this.origin == Origin.LOCAL && switch (this.status) {
			case REMOTE_INVALID_REQUEST, REMOTE_ACCESS_ERROR, REMOTE_OPERATION_ERROR, LOCAL_LENGTH_ERROR -> true;
			default -> false;
		};
	}

	/** The side that detected the failure. */
	public enum Origin {

		/** This side. */
		LOCAL,

		/** The peer, which reported it before it closed. */
		REMOTE,

		/** Neither: the connection was closed in order. */
		DISCONNECT

	}

}
