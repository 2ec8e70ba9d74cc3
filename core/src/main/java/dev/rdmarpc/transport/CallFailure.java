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

/** Why the transport gave up a call; the layer above makes status codes of it. */
public enum CallFailure {

	/**
	 * The connection was lost, closed or never there; the peer may have done the work.
	 */
	CONNECTION_LOST,

	/** The request was never sent. */
	NOT_SENT,

	/** The deadline passed. */
	DEADLINE_EXCEEDED,

	/** The caller lost interest. */
	CANCELLED,

	/** Too many calls at once, or no registered memory for the reply. */
	RESOURCE_EXHAUSTED,

	/** The reply is larger than this side accepts. */
	MESSAGE_TOO_LARGE,

	/** The reply could not be understood. */
	MALFORMED_REPLY

}
