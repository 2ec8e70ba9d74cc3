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

package dev.rdmarpc.verbs.shm.ring;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkStatus;

/**
 * Thrown when a link cannot go on: how this side names the fault, what it tells the peer,
 * and how the receive in use ends.
 */
@SuppressWarnings("serial")
public final class LinkFailure extends Exception {

	private final WorkStatus status;

	private final WorkStatus told;

	private final @Nullable WorkStatus receiveStatus;

	private final int sequence;

	private LinkFailure(WorkStatus status, WorkStatus told, @Nullable WorkStatus receiveStatus, int sequence,
			String message) {
		super(message, null, false, false);
		this.status = status;
		this.told = told;
		this.receiveStatus = receiveStatus;
		this.sequence = sequence;
	}

	/** The peer's request is refused. */
	static LinkFailure ofRequest(WorkStatus status, int sequence, String message) {
		return new LinkFailure(status, status, null, sequence, message);
	}

	/** The peer's Send does not agree with the receive that it took. */
	static LinkFailure ofReceive(WorkStatus status, WorkStatus told, int sequence, String message) {
		return new LinkFailure(status, told, status, sequence, message);
	}

	/** The peer has written what makes no sense. */
	static LinkFailure ofNonsense(String message) {
		return new LinkFailure(WorkStatus.REMOTE_INVALID_REQUEST, WorkStatus.REMOTE_INVALID_REQUEST, null, 0,
				"peer violates the protocol: " + message);
	}

	/** Work posted on this side cannot be executed. */
	public static LinkFailure ofLocal(WorkStatus status) {
		return new LinkFailure(status, WorkStatus.REMOTE_OPERATION_ERROR, null, 0, "work request cannot be executed");
	}

	/** The kind of failure for the queue pair's fault. */
	public WorkStatus status() {
		return this.status;
	}

	/** The kind of failure for the peer. */
	WorkStatus told() {
		return this.told;
	}

	/** The status of the receive in use, or {@code null} to flush it. */
	public @Nullable WorkStatus receiveStatus() {
		return this.receiveStatus;
	}

	/** The number of the peer's request that failed. */
	int sequence() {
		return this.sequence;
	}

}
