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

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.grpc.Metadata;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;

/**
 * What a reply begins with, little-endian. <pre>
 * offset  field
 *      0  u16  bit 0, there are headers, or else they came before or not at all;
 *              bit 1, the call was not begun and may be made again, whatever it is
 *      2  u16  length of the description of the status
 *      4  u32  length of the headers
 *      8  u32  length of the trailers
 *     12       headers, trailers, description in UTF-8, then framed messages
 * </pre> The status itself is in the frame. The first message of a stream of replies
 * begins with {@code u32 length, headers}.
 *
 * @param headers {@code null} if they came before or not at all
 * @param trailers of the call
 * @param description of the status, perhaps empty
 * @param refused whether the call was not begun and may be made again, whatever it is
 */
record ReplyHead(@Nullable Metadata headers, Metadata trailers, String description, boolean refused) {

	private static final int HEADERS_FLAG = 1;

	private static final int REFUSED_FLAG = 2;

	private static final int FIXED_BYTES = 12;

	private static final int MAX_DESCRIPTION_BYTES = 16 * 1024;

	private static final byte[] NO_TEXT = {};

	private static final String HEADERS = "Response header metadata";

	/** Appends a head to a message. */
	static void add(MessageSegments message, byte @Nullable [][] headers, byte[][] trailers,
			@Nullable String description) {
		add(message, (headers != null) ? HEADERS_FLAG : 0, headers, trailers, description);
	}

	/** Appends the head of a reply that says that the call was not begun. */
	static void addRefusal(MessageSegments message, String description) {
		add(message, REFUSED_FLAG, null, HeaderBlock.NONE, description);
	}

	private static void add(MessageSegments message, int flags, byte @Nullable [][] headers, byte[][] trailers,
			@Nullable String description) {
		byte[] text = (description != null) ? description.getBytes(StandardCharsets.UTF_8) : NO_TEXT;
		if (text.length > MAX_DESCRIPTION_BYTES) {
			text = Arrays.copyOf(text, MAX_DESCRIPTION_BYTES);
		}
		int first = (headers != null) ? HeaderBlock.length(headers) : 0;
		int second = HeaderBlock.length(trailers);
		int length = FIXED_BYTES + first + second + text.length;
		ByteBuffer target = message.claimMemory(length);
		target.putShort(0, (short) flags);
		target.putShort(2, (short) text.length);
		target.putInt(4, first);
		target.putInt(8, second);
		if (headers != null) {
			HeaderBlock.put(headers, target, FIXED_BYTES);
		}
		HeaderBlock.put(trailers, target, FIXED_BYTES + first);
		target.put(FIXED_BYTES + first + second, text);
		message.add(target, 0, length);
	}

	/** Appends the headers that the first message of a stream of replies begins with. */
	static void addHeaders(MessageSegments message, byte[][] headers) {
		int length = HeaderBlock.length(headers);
		ByteBuffer target = message.claimMemory(Integer.BYTES + length);
		target.putInt(0, length);
		HeaderBlock.put(headers, target, Integer.BYTES);
		message.add(target, 0, Integer.BYTES + length);
	}

	/**
	 * Reads the head of a message, whose position is moved behind it.
	 * @param maxMetadataBytes the most that is accepted
	 * @throws io.grpc.StatusRuntimeException if it cannot be accepted
	 */
	static ReplyHead read(ByteBuffer message, int maxMetadataBytes) {
		int available = message.remaining() - FIXED_BYTES;
		int at = message.position();
		if (available < 0) {
			throw malformed(message.remaining());
		}
		int flags = message.getShort(at);
		int text = message.getShort(at + 2) & 0xFFFF;
		int first = message.getInt(at + 4);
		int second = message.getInt(at + 8);
		if (first < 0 || second < 0 || (long) first + second + text > available) {
			throw malformed(available);
		}
		at += FIXED_BYTES;
		Metadata headers = ((flags & HEADERS_FLAG) != 0)
				? HeaderBlock.read(message, at, first, HEADERS, maxMetadataBytes) : null;
		Metadata trailers = HeaderBlock.read(message, at + first, second, "Response trailer metadata",
				maxMetadataBytes);
		String description = (text > 0) ? RequestHead.text(message, at + first + second, text) : "";
		message.position(at + first + second + text);
		return new ReplyHead(headers, trailers, description, (flags & REFUSED_FLAG) != 0);
	}

	/** Reads the headers that the first message of a stream of replies begins with. */
	static Metadata readHeaders(ByteBuffer message, int maxMetadataBytes) {
		int available = message.remaining() - Integer.BYTES;
		int at = message.position();
		if (available < 0 || message.getInt(at) < 0 || message.getInt(at) > available) {
			throw malformed(message.remaining());
		}
		int length = message.getInt(at);
		Metadata headers = HeaderBlock.read(message, at + Integer.BYTES, length, HEADERS, maxMetadataBytes);
		message.position(at + Integer.BYTES + length);
		return headers;
	}

	private static RuntimeException malformed(int length) {
		return Status.INTERNAL.withDescription("reply of " + length + " bytes with a malformed head")
			.asRuntimeException();
	}

}
