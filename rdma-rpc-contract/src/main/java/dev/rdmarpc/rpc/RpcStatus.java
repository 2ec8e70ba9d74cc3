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

	/** The handler failed with an exception that has no status. */
	UNKNOWN,

	/** The arguments are wrong regardless of the state of the system. */
	INVALID_ARGUMENT,

	/** The deadline passed before the reply arrived. */
	DEADLINE_EXCEEDED,

	/** The requested object does not exist. */
	NOT_FOUND,

	/** The object to be created already exists. */
	ALREADY_EXISTS,

	/** The caller does not have permission. */
	PERMISSION_DENIED,

	/** Memory, a queue or a quota is exhausted. */
	RESOURCE_EXHAUSTED,

	/** The system is not in a suitable state. */
	FAILED_PRECONDITION,

	/** A conflict with a concurrent operation. */
	ABORTED,

	/** Past the valid range. */
	OUT_OF_RANGE,

	/** The peer has no such service or method. */
	UNIMPLEMENTED,

	/** An internal error: a message that cannot be decoded, or a bug. */
	INTERNAL,

	/** There is no connection, or it was lost before the reply. */
	UNAVAILABLE,

	/** Data was lost permanently. */
	DATA_LOSS,

	/** The caller is not authenticated. */
	UNAUTHENTICATED;

	private static final RpcStatus[] VALUES = values();

	/**
	 * The number on the wire; the constants are in the order of gRPC's numbers.
	 */
	@SuppressWarnings("EnumOrdinal")
	public int code() {
		return ordinal();
	}

	/** The status for a number on the wire; unknown numbers are {@link #UNKNOWN}. */
	public static RpcStatus ofCode(int code) {
		return (code >= 0 && code < VALUES.length) ? VALUES[code] : UNKNOWN;
	}

}
