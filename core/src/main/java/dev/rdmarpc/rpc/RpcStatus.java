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

/**
 * How a call ended: the status codes of gRPC, with its numbers.
 */
public enum RpcStatus {

	/** Success. */
	OK,

	/** The caller cancelled the call. */
	CANCELLED,

	/** The handler failed with an exception that says nothing of a status. */
	UNKNOWN,

	/** The arguments are wrong whatever the state of the system. */
	INVALID_ARGUMENT,

	/** The deadline passed before the reply was there. */
	DEADLINE_EXCEEDED,

	/** What was asked for does not exist. */
	NOT_FOUND,

	/** What was to be created exists. */
	ALREADY_EXISTS,

	/** The caller may not do this. */
	PERMISSION_DENIED,

	/** Memory, a queue or a quota is exhausted. */
	RESOURCE_EXHAUSTED,

	/** The system is not in a state for this. */
	FAILED_PRECONDITION,

	/** A conflict with a concurrent operation. */
	ABORTED,

	/** Past the valid range. */
	OUT_OF_RANGE,

	/** No such service or method at the peer. */
	UNIMPLEMENTED,

	/** Something that must not happen: a message that cannot be understood, a bug. */
	INTERNAL,

	/** No connection, or lost before the reply. */
	UNAVAILABLE,

	/** Data were lost for good. */
	DATA_LOSS,

	/** The caller is not known. */
	UNAUTHENTICATED;

	private static final RpcStatus[] VALUES = values();

	/**
	 * The number on the wire: the constants stand in the order of the numbers of gRPC.
	 */
	@SuppressWarnings("EnumOrdinal")
	public int code() {
		return ordinal();
	}

	/** The status of a number from the wire; unknown numbers are {@link #UNKNOWN}. */
	public static RpcStatus ofCode(int code) {
		return (code >= 0 && code < VALUES.length) ? VALUES[code] : UNKNOWN;
	}

}
