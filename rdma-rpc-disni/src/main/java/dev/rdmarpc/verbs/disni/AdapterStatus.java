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

import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * What libibverbs' {@code ibv_wc_status} mean in the words of the SPI. The position of a
 * constant is its number.
 */
enum AdapterStatus {

	SUCCESS(WorkStatus.SUCCESS, WorkStatus.SUCCESS),

	LOCAL_LENGTH_ERROR(WorkStatus.LOCAL_LENGTH_ERROR, WorkStatus.LOCAL_LENGTH_ERROR),

	/** Of a receive, see {@link ReceiveSlots#outcome}. */
	LOCAL_QUEUE_PAIR_OPERATION_ERROR(WorkStatus.LOCAL_OPERATION_ERROR, WorkStatus.LOCAL_OPERATION_ERROR),

	LOCAL_END_TO_END_CONTEXT_ERROR(WorkStatus.LOCAL_OPERATION_ERROR, WorkStatus.LOCAL_OPERATION_ERROR),

	LOCAL_PROTECTION_ERROR(WorkStatus.LOCAL_PROTECTION_ERROR, WorkStatus.LOCAL_PROTECTION_ERROR),

	FLUSHED(WorkStatus.FLUSHED, WorkStatus.FLUSHED),

	WINDOW_BIND_ERROR(WorkStatus.LOCAL_OPERATION_ERROR, WorkStatus.LOCAL_OPERATION_ERROR),

	BAD_RESPONSE(WorkStatus.REMOTE_OPERATION_ERROR, WorkStatus.REMOTE_OPERATION_ERROR),

	LOCAL_ACCESS_ERROR(WorkStatus.LOCAL_PROTECTION_ERROR, WorkStatus.LOCAL_PROTECTION_ERROR),

	/** Of a receive: the message did not fit. */
	REMOTE_INVALID_REQUEST(WorkStatus.REMOTE_INVALID_REQUEST, WorkStatus.LOCAL_LENGTH_ERROR),

	REMOTE_ACCESS_ERROR(WorkStatus.REMOTE_ACCESS_ERROR, WorkStatus.REMOTE_ACCESS_ERROR),

	REMOTE_OPERATION_ERROR(WorkStatus.REMOTE_OPERATION_ERROR, WorkStatus.LOCAL_PROTECTION_ERROR),

	RETRIES_EXCEEDED(WorkStatus.CONNECTION_LOST, WorkStatus.CONNECTION_LOST),

	/** No receive was posted. */
	RECEIVER_NOT_READY_RETRIES_EXCEEDED(WorkStatus.REMOTE_INVALID_REQUEST, WorkStatus.CONNECTION_LOST),

	LOCAL_DOMAIN_VIOLATION(WorkStatus.LOCAL_OPERATION_ERROR, WorkStatus.LOCAL_OPERATION_ERROR),

	REMOTE_INVALID_DATAGRAM(WorkStatus.REMOTE_INVALID_REQUEST, WorkStatus.REMOTE_INVALID_REQUEST),

	REMOTE_ABORTED(WorkStatus.CONNECTION_LOST, WorkStatus.CONNECTION_LOST),

	INVALID_END_TO_END_CONTEXT_NUMBER(WorkStatus.LOCAL_OPERATION_ERROR, WorkStatus.LOCAL_OPERATION_ERROR),

	INVALID_END_TO_END_CONTEXT_STATE(WorkStatus.LOCAL_OPERATION_ERROR, WorkStatus.LOCAL_OPERATION_ERROR),

	FATAL(WorkStatus.LOCAL_OPERATION_ERROR, WorkStatus.LOCAL_OPERATION_ERROR),

	RESPONSE_TIMED_OUT(WorkStatus.CONNECTION_LOST, WorkStatus.CONNECTION_LOST),

	/** Also what was under way when an iWARP connection broke. */
	GENERAL_ERROR(WorkStatus.CONNECTION_LOST, WorkStatus.CONNECTION_LOST);

	private static final AdapterStatus[] VALUES = values();

	private final WorkStatus ofSend;

	private final WorkStatus ofReceive;

	AdapterStatus(WorkStatus ofSend, WorkStatus ofReceive) {
		this.ofSend = ofSend;
		this.ofReceive = ofReceive;
	}

	/** The status with a number; those that libibverbs adds later are general errors. */
	static AdapterStatus of(int number) {
		return (number >= 0 && number < VALUES.length) ? VALUES[number] : GENERAL_ERROR;
	}

	/**
	 * What it means for a request of a send queue.
	 * @param siw whether the kernel's siw says so, which tells of all that it could not
	 * send, because the connection is no more, that it could not be executed
	 */
	WorkStatus ofSend(boolean siw) {
		return (siw && this == LOCAL_QUEUE_PAIR_OPERATION_ERROR) ? WorkStatus.CONNECTION_LOST : this.ofSend;
	}

	/** What it means for a receive. */
	WorkStatus ofReceive() {
		return this.ofReceive;
	}

	/** Who found the failure that a status stands for. */
	static Origin originOf(WorkStatus status) {
		return switch (status) {
			case REMOTE_INVALID_REQUEST, REMOTE_ACCESS_ERROR, REMOTE_OPERATION_ERROR -> Origin.REMOTE;
			default -> Origin.LOCAL;
		};
	}

}
