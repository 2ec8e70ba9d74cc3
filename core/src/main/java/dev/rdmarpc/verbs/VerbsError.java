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

/** The kinds of {@link VerbsException}. */
public enum VerbsError {

	/** The provider cannot work here; its availability says why. */
	UNAVAILABLE,

	/** The provider has no device of that name. */
	NO_SUCH_DEVICE,

	/** The address and port are taken. */
	ADDRESS_IN_USE,

	/** The address is not one of this host, or not allowed. */
	ADDRESS_NOT_AVAILABLE,

	/** There is no listener at the address. */
	CONNECTION_REFUSED,

	/** The peer listens but rejected the connection. */
	CONNECTION_REJECTED,

	/** No route to the peer, or its name is unresolved. */
	UNREACHABLE,

	/** The peer did not answer in time. */
	TIMED_OUT,

	/** The peer does not speak the protocol, or violates it. */
	PROTOCOL_ERROR,

	/** The connection was lost during setup. */
	CONNECTION_LOST,

	/** An argument is wrong in itself. */
	INVALID_ARGUMENT,

	/** A limit of the device or of the object would be exceeded. */
	LIMIT_EXCEEDED,

	/** Not possible in the current state. */
	INVALID_STATE,

	/** Other objects still depend on this one. */
	BUSY,

	/** The object was closed. */
	CLOSED,

	/** The device or the operating system failed. */
	DEVICE_ERROR

}
