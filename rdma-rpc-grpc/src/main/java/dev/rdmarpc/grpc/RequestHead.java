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
import java.util.Objects;

import io.grpc.Metadata;
import io.grpc.Status;

import dev.rdmarpc.codec.MessageSegments;

/**
 * What a request begins with, little-endian. <pre>
 * offset  field
 *      0  u16  length of the method's full name
 *      2  u16  length of the authority
 *      4  u32  length of the headers
 *      8       name, authority, headers, then framed messages
 * </pre>
 *
 * @param method full name of the method
 * @param authority of the call
 * @param headers of the call
 */
record RequestHead(String method, String authority, Metadata headers) {

	private static final int FIXED_BYTES = 8;

	private static final int MOST_TEXT_BYTES = 0xFFFF;

	private static final RecentTexts TEXTS = new RecentTexts();

	/**
	 * Appends a head to a message.
	 * @param more further headers
	 */
	static void add(MessageSegments message, String method, String authority, byte[][] headers, byte[][] more) {
		check(method, "method name");
		check(authority, "authority");
		int block = HeaderBlock.length(headers) + HeaderBlock.length(more);
		int length = FIXED_BYTES + method.length() + authority.length() + block;
		ByteBuffer target = message.claimMemory(length);
		target.putShort(0, (short) method.length());
		target.putShort(2, (short) authority.length());
		target.putInt(4, block);
		put(method, target, FIXED_BYTES);
		put(authority, target, FIXED_BYTES + method.length());
		int at = HeaderBlock.put(headers, target, FIXED_BYTES + method.length() + authority.length());
		HeaderBlock.put(more, target, at);
		message.add(target, 0, length);
	}

	private static void check(String text, String what) {
		if (text.length() > MOST_TEXT_BYTES || !HeaderBlock.isPrintable(text)) {
			throw Status.INTERNAL
				.withDescription(what + " of " + text.length() + " characters (expected: at most " + MOST_TEXT_BYTES
						+ ", of printable ASCII)")
				.asRuntimeException();
		}
	}

	private static void put(String text, ByteBuffer target, int offset) {
		for (int i = 0; i < text.length(); i++) {
			target.put(offset + i, (byte) text.charAt(i));
		}
	}

	/**
	 * Reads the head of a message, whose position is moved behind it.
	 * @param maxMetadataBytes the most that is accepted
	 * @throws io.grpc.StatusRuntimeException if it cannot be accepted
	 */
	static RequestHead read(ByteBuffer message, int maxMetadataBytes) {
		int available = message.remaining() - FIXED_BYTES;
		int at = message.position();
		if (available < 0) {
			throw Status.INTERNAL.withDescription("request of " + message.remaining() + " bytes without head")
				.asRuntimeException();
		}
		int name = message.getShort(at) & 0xFFFF;
		int host = message.getShort(at + 2) & 0xFFFF;
		int block = message.getInt(at + 4);
		if (block < 0 || block > available - name - host) {
			throw Status.INTERNAL
				.withDescription("request head of " + name + ", " + host + " and " + block + " bytes in " + available)
				.asRuntimeException();
		}
		at += FIXED_BYTES;
		RecentTexts.Text method = TEXTS.read(message, at, name);
		RecentTexts.Text authority = TEXTS.read(message, at + name, host);
		if (!method.isPrintable() || !authority.isPrintable()) {
			throw Status.INTERNAL.withDescription("method name or authority that is not printable ASCII")
				.asRuntimeException();
		}
		Metadata headers = HeaderBlock.read(message, at + name + host, block, "Request metadata", maxMetadataBytes);
		message.position(at + name + host + block);
		return new RequestHead(method.text(), authority.text(), headers);
	}

	/** Text of a message. */
	static String text(ByteBuffer message, int offset, int length) {
		Objects.checkFromIndexSize(offset, length, message.limit());
		byte[] bytes = new byte[length];
		message.get(offset, bytes);
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
