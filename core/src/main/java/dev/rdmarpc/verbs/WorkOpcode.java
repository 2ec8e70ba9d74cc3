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

/** What a work request does. */
public enum WorkOpcode {

	/** Send to the peer's next receive. */
	SEND,

	/** Send that asks the peer for a solicited event. */
	SEND_SOLICITED,

	/**
	 * Send that also invalidates a region that the peer has lent to this connection, if
	 * {@link DeviceLimits#sendWithInvalidate()}; for any other region it is refused.
	 */
	SEND_WITH_INVALIDATE,

	/** RDMA Read: fetch from the peer's memory into local segments. */
	READ,

	/** RDMA Write: place local segments in the peer's memory. */
	WRITE,

	/** Receive: the destination of a Send from the peer. */
	RECEIVE

}
