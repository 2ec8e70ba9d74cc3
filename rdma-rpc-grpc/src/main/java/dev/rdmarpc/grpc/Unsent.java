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

package dev.rdmarpc.grpc;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;

import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.transport.ReplyLimitException;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/** Why something could not be sent, as a status. */
final class Unsent {

	private Unsent() {
	}

	/** What a call of this side ends with of which a message could not be sent. */
	static Status request(Throwable cause) {
		if (cause instanceof StatusRuntimeException known) {
			return known.getStatus();
		}
		if (isMemory(cause)) {
			return Status.RESOURCE_EXHAUSTED.withDescription(cause.getMessage());
		}
		Status status = (cause instanceof VerbsException) ? Status.UNAVAILABLE : Status.INTERNAL;
		return status.withDescription("the request could not be sent: " + FailureText.of(cause)).withCause(cause);
	}

	/**
	 * What the caller is told whose reply could not be sent: which limit it has reached,
	 * if it was one of its own, and otherwise nothing about this side.
	 */
	static Status reply(Throwable cause) {
		if (cause instanceof ReplyLimitException) {
			return Status.RESOURCE_EXHAUSTED.withDescription(cause.getMessage());
		}
		return isMemory(cause) ? Status.RESOURCE_EXHAUSTED.withDescription("no registered memory for the reply")
				: Status.INTERNAL.withDescription("the reply could not be sent");
	}

	/** Whether less may fit where this did not. */
	static boolean isMemory(Throwable cause) {
		return cause instanceof MemoryExhaustedException || cause instanceof OutOfMemoryError
				|| (cause instanceof VerbsException failure && failure.error() == VerbsError.LIMIT_EXCEEDED);
	}

}
