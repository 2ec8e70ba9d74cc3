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

package dev.rdmarpc.verbs.iwarp.wire;

import java.util.HexFormat;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkStatus;

/**
 * What a Terminate can say: layer, error type and error code (RFC 5040, section 4.8; RFC
 * 5041, section 8.2; RFC 5044, section 8; RFC 6581, section 8), and the status in which
 * the work at fault ends at the side that asked for it.
 */
public enum TerminateError {

	/** The sender of the Terminate failed by itself. */
	RDMAP_LOCAL_CATASTROPHIC(0, 0, 0x00, WorkStatus.REMOTE_OPERATION_ERROR),

	/** A Read Request named an unknown source STag. */
	RDMAP_INVALID_STAG(0, 1, 0x00, WorkStatus.REMOTE_ACCESS_ERROR),

	/** A Read Request reached outside its source region. */
	RDMAP_BASE_OR_BOUNDS(0, 1, 0x01, WorkStatus.REMOTE_ACCESS_ERROR),

	/** The region does not permit what was asked. */
	RDMAP_ACCESS_RIGHTS(0, 1, 0x02, WorkStatus.REMOTE_ACCESS_ERROR),

	/** The region belongs to another protection domain. */
	RDMAP_STAG_NOT_ASSOCIATED(0, 1, 0x03, WorkStatus.REMOTE_ACCESS_ERROR),

	/** Tagged offset and size wrap around. */
	RDMAP_TO_WRAP(0, 1, 0x04, WorkStatus.REMOTE_ACCESS_ERROR),

	/** The region may not be invalidated by a peer. */
	RDMAP_STAG_CANNOT_BE_INVALIDATED(0, 1, 0x09, WorkStatus.REMOTE_ACCESS_ERROR),

	/** Some protection error. */
	RDMAP_PROTECTION_UNSPECIFIED(0, 1, 0xFF, WorkStatus.REMOTE_ACCESS_ERROR),

	/** RDMAP version other than 1. */
	RDMAP_INVALID_VERSION(0, 2, 0x05, WorkStatus.REMOTE_INVALID_REQUEST),

	/** An opcode that does not exist, or not here. */
	RDMAP_UNEXPECTED_OPCODE(0, 2, 0x06, WorkStatus.REMOTE_INVALID_REQUEST),

	/** The receiving stream failed. */
	RDMAP_CATASTROPHIC_STREAM(0, 2, 0x07, WorkStatus.REMOTE_OPERATION_ERROR),

	/** The receiving device failed. */
	RDMAP_CATASTROPHIC_GLOBAL(0, 2, 0x08, WorkStatus.REMOTE_OPERATION_ERROR),

	/** A Send with Invalidate named a region that the peer may not invalidate. */
	RDMAP_CANNOT_INVALIDATE(0, 2, 0x09, WorkStatus.REMOTE_ACCESS_ERROR),

	/** Some failure of a remote operation. */
	RDMAP_OPERATION_UNSPECIFIED(0, 2, 0xFF, WorkStatus.REMOTE_OPERATION_ERROR),

	/** DDP failed by itself. */
	DDP_LOCAL_CATASTROPHIC(1, 0, 0x00, WorkStatus.REMOTE_OPERATION_ERROR),

	/** A tagged segment named an unknown STag. */
	DDP_TAGGED_INVALID_STAG(1, 1, 0x00, WorkStatus.REMOTE_ACCESS_ERROR),

	/** A tagged segment reached outside its region. */
	DDP_TAGGED_BASE_OR_BOUNDS(1, 1, 0x01, WorkStatus.REMOTE_ACCESS_ERROR),

	/** A tagged segment named a region of another protection domain. */
	DDP_TAGGED_STAG_NOT_ASSOCIATED(1, 1, 0x02, WorkStatus.REMOTE_ACCESS_ERROR),

	/** A tagged segment's offset and length wrap around. */
	DDP_TAGGED_TO_WRAP(1, 1, 0x03, WorkStatus.REMOTE_ACCESS_ERROR),

	/** DDP version other than 1 in a tagged segment. */
	DDP_TAGGED_INVALID_VERSION(1, 1, 0x04, WorkStatus.REMOTE_INVALID_REQUEST),

	/** No such untagged queue. */
	DDP_UNTAGGED_INVALID_QUEUE(1, 2, 0x01, WorkStatus.REMOTE_INVALID_REQUEST),

	/** No buffer: no receive is posted, or too many Read Requests are outstanding. */
	DDP_UNTAGGED_NO_BUFFER(1, 2, 0x02, WorkStatus.REMOTE_INVALID_REQUEST),

	/** The message sequence number is not the one expected. */
	DDP_UNTAGGED_MSN_RANGE(1, 2, 0x03, WorkStatus.REMOTE_INVALID_REQUEST),

	/** The message offset is not the one expected. */
	DDP_UNTAGGED_INVALID_OFFSET(1, 2, 0x04, WorkStatus.REMOTE_INVALID_REQUEST),

	/** The message is longer than the posted receive. */
	DDP_UNTAGGED_TOO_LONG(1, 2, 0x05, WorkStatus.REMOTE_INVALID_REQUEST),

	/** DDP version other than 1 in an untagged segment. */
	DDP_UNTAGGED_INVALID_VERSION(1, 2, 0x06, WorkStatus.REMOTE_INVALID_REQUEST),

	/** The TCP connection is broken, or silent in the middle of a frame. */
	MPA_CONNECTION_LOST(2, 0, 0x01, WorkStatus.CONNECTION_LOST),

	/** The CRC of an FPDU is wrong. */
	MPA_CRC(2, 0, 0x02, WorkStatus.REMOTE_OPERATION_ERROR),

	/** A marker does not point to its FPDU. */
	MPA_MARKER(2, 0, 0x03, WorkStatus.REMOTE_OPERATION_ERROR),

	/** A request or reply frame is malformed. */
	MPA_INVALID_FRAME(2, 0, 0x04, WorkStatus.REMOTE_OPERATION_ERROR),

	/** MPA failed by itself. */
	MPA_LOCAL_CATASTROPHIC(2, 0, 0x05, WorkStatus.REMOTE_OPERATION_ERROR),

	/** The responder serves fewer Reads at once than the initiator needs. */
	MPA_INSUFFICIENT_IRD(2, 0, 0x06, WorkStatus.REMOTE_OPERATION_ERROR),

	/** The responder chose a ready-to-receive frame that was not offered. */
	MPA_NO_MATCHING_RTR(2, 0, 0x07, WorkStatus.REMOTE_OPERATION_ERROR);

	private static final TerminateError[] VALUES = values();

	private final int layer;

	private final int type;

	private final int code;

	private final WorkStatus requesterStatus;

	TerminateError(int layer, int type, int code, WorkStatus requesterStatus) {
		this.layer = layer;
		this.type = type;
		this.code = code;
		this.requesterStatus = requesterStatus;
	}

	public int layer() {
		return this.layer;
	}

	public int type() {
		return this.type;
	}

	public int code() {
		return this.code;
	}

	/** How the work at fault ends at the side that receives the Terminate. */
	public WorkStatus requesterStatus() {
		return this.requesterStatus;
	}

	/** The constant of these numbers, or {@code null} if there is none. */
	public static @Nullable TerminateError of(int layer, int type, int code) {
		for (TerminateError error : VALUES) {
			if (error.layer == layer && error.type == type && error.code == code) {
				return error;
			}
		}
		return null;
	}

	/** The status for numbers that may have no constant. */
	public static WorkStatus requesterStatus(int layer, int type, int code) {
		TerminateError error = of(layer, type, code);
		if (error != null) {
			return error.requesterStatus;
		}
		boolean protection = (layer == 0 || layer == 1) && type == 1;
		return protection ? WorkStatus.REMOTE_ACCESS_ERROR : WorkStatus.REMOTE_OPERATION_ERROR;
	}

	/** The numbers in the form {@code layer/type/code}. */
	public static String describe(int layer, int type, int code) {
		TerminateError error = of(layer, type, code);
		String numbers = layer + "/" + type + "/0x" + HexFormat.of().toHexDigits((byte) code);
		return (error != null) ? error + " (" + numbers + ")" : numbers;
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', ' ');
	}

}
