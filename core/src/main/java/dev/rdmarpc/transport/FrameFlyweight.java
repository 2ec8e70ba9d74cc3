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

import java.nio.ByteBuffer;

import dev.rdmarpc.codec.MessageSegments;

/**
 * The header of a frame. One frame is one Send, unless there are several in it
 * ({@link BundleFlyweight}); all integers are little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------+---------------+-------------------------------+
 *  |     Type      |     Flags     |            Credits            |  0
 *  +---------------+---------------+-------------------------------+
 *  |                          Request id                           |  4
 *  +---------------------------------------------------------------+
 *  |                        Message length                         |  8
 *  +---------------------------------------------------------------+
 *  |                            Offset                             | 12
 *  +---------------------------------------------------------------+
 *  REQUEST only, where Offset is the first demand with FLAG_STREAM:
 *  +---------------------------------------------------------------+
 *  |                           Method id                           | 16
 *  |                                                               | 20
 *  +---------------------------------------------------------------+
 *  |             Remaining deadline (us, 0 is none)                | 24
 *  +---------------+---------------+-------------------------------+
 *  |   Priority    |   Arguments   |        Metadata length        | 28
 *  +---------------+---------------+-------------------------------+
 *  REPLY only:
 *  +---------------+---------------+-------------------------------+
 *  |    Status     |   Reserved    |        Metadata length        | 16
 *  +---------------+---------------+-------------------------------+
 *  |                           Reserved                            | 20
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * Metadata follows the header, padded to a multiple of 8, then the message from
 * {@code Offset} on; {@code Message length} counts the whole message without metadata.
 * With {@link #FLAG_READ} a {@link WindowListFlyweight} stands in place of the message.
 * In {@code DEMAND} the message length counts messages, and the offset bytes. In
 * {@code METADATA} the message is metadata, not padded.
 */
final class FrameFlyweight {

	static final int TYPE_OFFSET = 0;

	static final int FLAGS_OFFSET = 1;

	static final int CREDITS_OFFSET = 2;

	static final int REQUEST_ID_OFFSET = 4;

	static final int MESSAGE_LENGTH_OFFSET = 8;

	static final int OFFSET_OFFSET = 12;

	static final int HEADER_LENGTH = 16;

	/** The receiver Reads the message from where a {@link WindowListFlyweight} says. */
	static final int FLAG_READ = 0x01;

	/** A message had to wait for credits since the last frame, or does so now. */
	static final int FLAG_HELD_BACK = 0x02;

	/** The reply to this request is a stream, of which so many messages may be sent. */
	static final int FLAG_STREAM = 0x04;

	/** Messages of the caller follow this request. */
	static final int FLAG_FOLLOWED = 0x08;

	/** Nobody waits for the reply to this request, which tells of a refusal only. */
	static final int FLAG_ONE_WAY = 0x10;

	/** Another frame follows in the same Send, as {@link BundleFlyweight} says. */
	static final int FLAG_BUNDLED = 0x20;

	/** This message is the last one of the caller's. */
	static final int FLAG_LAST = 0x08;

	/** This frame has several messages, as {@link PackedMessages} says. */
	static final int FLAG_PACK = 0x10;

	static final int METHOD_ID_OFFSET = 16;

	static final int DEADLINE_OFFSET = 24;

	/** What remains of the deadline is in milliseconds. */
	static final int DEADLINE_IN_MILLIS = 0x80000000;

	static final int PRIORITY_OFFSET = 28;

	static final int ARGUMENTS_OFFSET = 29;

	static final int REQUEST_METADATA_LENGTH_OFFSET = 30;

	static final int REQUEST_HEADER_LENGTH = 32;

	static final int STATUS_OFFSET = 16;

	static final int REPLY_METADATA_LENGTH_OFFSET = 18;

	static final int REPLY_HEADER_LENGTH = 24;

	private FrameFlyweight() {
	}

	static void putHeader(ByteBuffer frame, int at, int type, int requestId, int messageBytes, int offsetBytes) {
		frame.put(at + TYPE_OFFSET, (byte) type);
		frame.put(at + FLAGS_OFFSET, (byte) 0);
		frame.putShort(at + CREDITS_OFFSET, (short) 0);
		frame.putInt(at + REQUEST_ID_OFFSET, requestId);
		frame.putInt(at + MESSAGE_LENGTH_OFFSET, messageBytes);
		frame.putInt(at + OFFSET_OFFSET, offsetBytes);
	}

	static void putRequestFields(ByteBuffer frame, int at, long methodId, long remainingNanos, int priority,
			int argumentCount, int metadataBytes) {
		frame.putLong(at + METHOD_ID_OFFSET, methodId);
		frame.putInt(at + DEADLINE_OFFSET, deadline(remainingNanos));
		frame.put(at + PRIORITY_OFFSET, (byte) priority);
		frame.put(at + ARGUMENTS_OFFSET, (byte) argumentCount);
		frame.putShort(at + REQUEST_METADATA_LENGTH_OFFSET, (short) metadataBytes);
	}

	static void putReplyFields(ByteBuffer frame, int at, int status, int metadataBytes) {
		frame.put(at + STATUS_OFFSET, (byte) status);
		frame.put(at + STATUS_OFFSET + 1, (byte) 0);
		frame.putShort(at + REPLY_METADATA_LENGTH_OFFSET, (short) metadataBytes);
		frame.putInt(at + STATUS_OFFSET + 4, 0);
	}

	static void putFlags(ByteBuffer frame, int at, int flags) {
		frame.put(at + FLAGS_OFFSET, (byte) flags);
	}

	/**
	 * What the deadline field says for a time: microseconds, above half of what the field
	 * holds milliseconds with bit 31, and no deadline where that is too little as well.
	 * @param nanos what remains, more than 0, or 0 for no deadline
	 */
	static int deadline(long nanos) {
		long micros = nanos / 1000;
		if (micros <= Integer.MAX_VALUE) {
			return (nanos > 0) ? (int) Math.max(1, micros) : 0;
		}
		long millis = micros / 1000;
		return (millis <= Integer.MAX_VALUE) ? (int) millis | DEADLINE_IN_MILLIS : 0;
	}

	/** The time that a deadline field stands for, in nanoseconds; 0 is no deadline. */
	static long deadlineNanos(int field) {
		return (field >= 0) ? field * 1000L : (field & ~DEADLINE_IN_MILLIS) * 1_000_000L;
	}

	static int flags(ByteBuffer frame) {
		return flags(frame, 0);
	}

	static int flags(ByteBuffer frames, int at) {
		return frames.get(at + FLAGS_OFFSET) & 0xFF;
	}

	static int type(ByteBuffer frame) {
		return type(frame, 0);
	}

	static int type(ByteBuffer frames, int at) {
		return frames.get(at + TYPE_OFFSET) & 0xFF;
	}

	static int credits(ByteBuffer frame) {
		return frame.getShort(CREDITS_OFFSET) & 0xFFFF;
	}

	static int requestId(ByteBuffer frame) {
		return requestId(frame, 0);
	}

	static int requestId(ByteBuffer frames, int at) {
		return frames.getInt(at + REQUEST_ID_OFFSET);
	}

	/** Writes another number over the one that is there. */
	static void putRequestId(ByteBuffer frame, int requestId) {
		frame.putInt(REQUEST_ID_OFFSET, requestId);
	}

	static int messageBytes(ByteBuffer frame) {
		return messageBytes(frame, 0);
	}

	static int messageBytes(ByteBuffer frames, int at) {
		return frames.getInt(at + MESSAGE_LENGTH_OFFSET);
	}

	static int offsetBytes(ByteBuffer frame) {
		return offsetBytes(frame, 0);
	}

	static int offsetBytes(ByteBuffer frames, int at) {
		return frames.getInt(at + OFFSET_OFFSET);
	}

	/** The length of the header of the first frame of a message. */
	static int headerLength(int type) {
		return switch (type) {
			case FrameType.REQUEST -> REQUEST_HEADER_LENGTH;
			case FrameType.REPLY -> REPLY_HEADER_LENGTH;
			default -> HEADER_LENGTH;
		};
	}

	static int padded(int bytes) {
		return (bytes + 7) & ~7;
	}

	/** How many bytes of memory a message takes with all its frame headers. */
	static long claimBytes(int headerLength, int metadataBytes, int messageBytes, int frameBytes) {
		int first = headerLength + padded(metadataBytes);
		long total = (long) first + messageBytes;
		if (total > frameBytes) {
			long rest = total - frameBytes;
			int perFrame = frameBytes - HEADER_LENGTH;
			total += (rest + perFrame - 1) / perFrame * HEADER_LENGTH;
		}
		return total;
	}

	/** The message of a request whose frames lie back to back. */
	static byte[] content(ByteBuffer frames, int totalBytes, int frameBytes) {
		byte[] content = new byte[messageBytes(frames)];
		int metadataBytes = frames.getShort(REQUEST_METADATA_LENGTH_OFFSET) & 0xFFFF;
		int from = REQUEST_HEADER_LENGTH + padded(metadataBytes);
		int copied = 0;
		for (int at = 0; at < totalBytes; at += frameBytes) {
			int bytes = Math.min(frameBytes, totalBytes - at) - from;
			frames.get(at + from, content, copied, bytes);
			copied += bytes;
			from = HEADER_LENGTH;
		}
		return content;
	}

	/** Writes the credits into a frame, and whether messages wait for some. */
	static void putCredits(ByteBuffer frames, int at, int credits, boolean heldBack) {
		frames.putShort(at + CREDITS_OFFSET, (short) credits);
		if (heldBack) {
			putFlags(frames, at, frames.get(at + FLAGS_OFFSET) | FLAG_HELD_BACK);
		}
	}

	/**
	 * Writes a message from the position on, into as many frames of one size as it takes.
	 * @return where the last of them ends
	 */
	static int putMessage(ByteBuffer frames, int requestId, int frameBytes, MessageSegments message) {
		int messageBytes = message.totalBytes();
		int copied = Math.min(messageBytes, frameBytes - frames.position());
		frames.limit(frames.position() + copied);
		message.copyTo(0, frames);
		while (copied < messageBytes) {
			int at = frames.limit();
			frames.clear();
			putHeader(frames, at, FrameType.CONTINUATION, requestId, messageBytes, copied);
			int chunk = Math.min(messageBytes - copied, frameBytes - HEADER_LENGTH);
			frames.position(at + HEADER_LENGTH);
			frames.limit(at + HEADER_LENGTH + chunk);
			message.copyTo(copied, frames);
			copied += chunk;
		}
		return frames.limit();
	}

}
