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

package dev.rdmarpc.verbs.iwarp.rdmap;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.TerminateError;

/**
 * Thrown when a stream cannot go on: what to tell the peer in a Terminate, how this side
 * names the fault, and how the receive that a segment had taken ends.
 */
@SuppressWarnings("serial")
public final class ProtocolViolation extends Exception {

	private final TerminateError error;

	private final WorkStatus faultStatus;

	private final @Nullable WorkStatus receiveStatus;

	private final boolean headerIncluded;

	private final byte @Nullable [] header;

	private ProtocolViolation(TerminateError error, String message, WorkStatus faultStatus,
			@Nullable WorkStatus receiveStatus, boolean headerIncluded, byte @Nullable [] header) {
		super(message, null, false, false);
		this.error = error;
		this.faultStatus = faultStatus;
		this.receiveStatus = receiveStatus;
		this.headerIncluded = headerIncluded;
		this.header = header;
	}

	/** The peer's segment is at fault; the Terminate shows it its header. */
	static ProtocolViolation of(TerminateError error, String message) {
		return new ProtocolViolation(error, message, error.requesterStatus(), null, true, null);
	}

	/** The peer's segment does not agree with the receive it took. */
	static ProtocolViolation ofReceive(TerminateError error, WorkStatus receiveStatus, String message) {
		return new ProtocolViolation(error, message, receiveStatus, receiveStatus, true, null);
	}

	/** A segment handled earlier is at fault; the Terminate shows it the header given. */
	static ProtocolViolation ofResponse(TerminateError error, byte[] header, String message) {
		return new ProtocolViolation(error, message, error.requesterStatus(), null, true, header);
	}

	/** The peer has not sent in time what it has begun. */
	public static ProtocolViolation ofDelay(TerminateError error, String message) {
		return new ProtocolViolation(error, message, WorkStatus.REMOTE_OPERATION_ERROR, null, false, null);
	}

	/** Something other than a segment is at fault. */
	public static ProtocolViolation ofStream(TerminateError error, String message) {
		return new ProtocolViolation(error, message, error.requesterStatus(), null, false, null);
	}

	/** Work posted on this side is at fault. */
	public static ProtocolViolation ofLocal(WorkStatus status, String message) {
		return new ProtocolViolation(TerminateError.RDMAP_LOCAL_CATASTROPHIC, message, status, null, false, null);
	}

	public TerminateError error() {
		return this.error;
	}

	/** The kind of failure for the queue pair's fault. */
	public WorkStatus faultStatus() {
		return this.faultStatus;
	}

	/** The status of the receive in use, or {@code null} to flush it. */
	public @Nullable WorkStatus receiveStatus() {
		return this.receiveStatus;
	}

	/** Whether the Terminate carries a header. */
	boolean headerIncluded() {
		return this.headerIncluded;
	}

	/** The header to include if it is not that of the segment being handled. */
	byte @Nullable [] header() {
		return this.header;
	}

}
