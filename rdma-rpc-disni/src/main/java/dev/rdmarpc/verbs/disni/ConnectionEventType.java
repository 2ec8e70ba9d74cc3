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

package dev.rdmarpc.verbs.disni;

/**
 * The connection manager's events. The position of a constant is its number in
 * {@code rdma_cm_event_type}.
 */
enum ConnectionEventType {

	ADDRESS_RESOLVED,

	ADDRESS_ERROR,

	ROUTE_RESOLVED,

	ROUTE_ERROR,

	CONNECT_REQUEST,

	CONNECT_RESPONSE,

	CONNECT_ERROR,

	UNREACHABLE,

	REJECTED,

	ESTABLISHED,

	DISCONNECTED,

	DEVICE_REMOVAL,

	MULTICAST_JOIN,

	MULTICAST_ERROR,

	ADDRESS_CHANGE,

	TIMEWAIT_EXIT,

	/** One that was added later. */
	OTHER;

	private static final ConnectionEventType[] VALUES = values();

	static ConnectionEventType of(int number) {
		return (number >= 0 && number < VALUES.length) ? VALUES[number] : OTHER;
	}

}
