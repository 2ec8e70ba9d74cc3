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
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Frames as a peer would write them, byte by byte from docs/wire-protocol.md, so that
 * tests do not depend on the code they test, and may lie.
 */
public final class Frames {

	private Frames() {
	}

	/** A frame that is only a header. */
	public static byte[] control(int type, int credits, int requestId) {
		byte[] frame = new byte[16];
		header(frame, type, credits, requestId, 0, 0);
		return frame;
	}

	/** A handshake with the values of {@link ChannelOptions#DEFAULTS} but for credits. */
	public static byte[] hello(int type, int credits) {
		return hello(type, 8192, 16 << 20, 4096, credits, 0);
	}

	/** A handshake that names a codec, of less than 128 bytes. */
	public static byte[] hello(int type, int credits, String text) {
		byte[] frame = hello(type, credits);
		byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
		byte[] whole = Arrays.copyOf(frame, 46 + utf8.length);
		whole[44] = (byte) utf8.length;
		System.arraycopy(utf8, 0, whole, 46, utf8.length);
		return whole;
	}

	/** A handshake. */
	public static byte[] hello(int type, int frameBytes, int messageBytes, int calls, int credits, int refusal) {
		byte[] frame = new byte[46];
		header(frame, type, 0, 0, 0, 0).putInt(16, 0x43505252)
			.putShort(20, (short) 1)
			.putShort(22, (short) 1)
			.putInt(24, frameBytes)
			.putInt(28, messageBytes)
			.putInt(32, calls)
			.putShort(36, (short) credits)
			.putShort(38, (short) refusal);
		return frame;
	}

	/** A handshake whose credits may become more. */
	public static byte[] hello(int type, int credits, int mostCredits) {
		return withInt(hello(type, credits), 40, mostCredits << 16);
	}

	/** A copy of a handshake, without text, that announces a window for streams. */
	public static byte[] withStreams(byte[] hello, int windowBytes) {
		byte[] copy = withInt(Arrays.copyOf(hello, 50), 46, windowBytes);
		copy[40] |= 8;
		return copy;
	}

	/** A copy of a handshake that shows a token, behind all else. */
	public static byte[] withToken(byte[] hello, byte[] token) {
		byte[] copy = Arrays.copyOf(hello, hello.length + 2 + token.length);
		ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN).putShort(hello.length, (short) token.length);
		System.arraycopy(token, 0, copy, hello.length + 2, token.length);
		copy[40] |= 32;
		return copy;
	}

	/** A copy of a request that asks for a stream. */
	public static byte[] streamed(byte[] request, int demand) {
		byte[] copy = withInt(request, 12, demand);
		copy[1] |= 4;
		return copy;
	}

	/** A copy of a request to which nobody wants a reply. */
	public static byte[] oneWay(byte[] request) {
		byte[] copy = request.clone();
		copy[1] |= 16;
		return copy;
	}

	/** A copy of a handshake that takes several frames in one Send. */
	public static byte[] withBundles(byte[] hello) {
		byte[] copy = hello.clone();
		copy[40] |= (byte) 128;
		return copy;
	}

	/** Several frames in one Send. */
	public static byte[] bundle(byte[]... frames) {
		byte[] bundle = {};
		for (int i = 0; i < frames.length; i++) {
			int at = (bundle.length + 7) / 8 * 8;
			bundle = Arrays.copyOf(bundle, at + frames[i].length);
			System.arraycopy(frames[i], 0, bundle, at, frames[i].length);
			bundle[at + 1] |= (byte) ((i < frames.length - 1) ? 32 : 0);
		}
		return bundle;
	}

	/** A copy of a handshake that knows such requests. */
	public static byte[] withOneWay(byte[] hello) {
		byte[] copy = hello.clone();
		copy[40] |= 64;
		return copy;
	}

	/** The first frame of a message of a stream. */
	public static byte[] message(int requestId, int messageBytes, byte[] part) {
		byte[] frame = new byte[16 + part.length];
		header(frame, 14, 0, requestId, messageBytes, 0).put(16, part);
		return frame;
	}

	/** Several messages of a stream in one frame. */
	public static byte[] pack(int requestId, byte[]... messages) {
		byte[] frame = new byte[16];
		for (byte[] message : messages) {
			int at = frame.length;
			frame = withInt(Arrays.copyOf(frame, at + 8 + (message.length + 7) / 8 * 8), at, message.length);
			System.arraycopy(message, 0, frame, at + 8, message.length);
		}
		header(frame, 14, 0, requestId, frame.length - 16, 0);
		frame[1] = 16;
		return frame;
	}

	/** A copy of a request that messages follow. */
	public static byte[] followed(byte[] request) {
		byte[] copy = request.clone();
		copy[1] |= 8;
		return copy;
	}

	/** A copy of a message of a stream that says that it is the last one. */
	public static byte[] last(byte[] message) {
		byte[] copy = message.clone();
		copy[1] |= 8;
		return copy;
	}

	/** What is said before the first message of a stream. */
	public static byte[] metadata(int requestId, byte[] content) {
		byte[] frame = new byte[16 + content.length];
		header(frame, 17, 0, requestId, content.length, 0).put(16, content);
		return frame;
	}

	/** A grant to a stream. */
	public static byte[] demand(int requestId, int messages, int bytes) {
		byte[] frame = new byte[16];
		header(frame, 15, 0, requestId, messages, bytes);
		return frame;
	}

	/** A copy of a frame that says that messages had to wait for credits. */
	public static byte[] heldBack(byte[] frame) {
		byte[] copy = frame.clone();
		copy[1] |= 2;
		return copy;
	}

	/** The first frame of a request without metadata or deadline. */
	public static byte[] request(int credits, int requestId, long methodId, int arguments, int messageBytes,
			byte[] part) {
		byte[] frame = new byte[32 + part.length];
		header(frame, 3, credits, requestId, messageBytes, 0).putLong(16, methodId)
			.put(28, (byte) 1)
			.put(29, (byte) arguments)
			.put(32, part);
		return frame;
	}

	/** A request whose bytes are to be Read from one window. */
	public static byte[] describedRequest(int requestId, long methodId, int messageBytes) {
		byte[] list = new byte[24];
		ByteBuffer.wrap(list).order(ByteOrder.LITTLE_ENDIAN).putInt(0, 1).putInt(20, messageBytes);
		byte[] frame = request(0, requestId, methodId, 1, messageBytes, list);
		frame[1] |= 1;
		return frame;
	}

	/** The first frame of a reply. */
	public static byte[] reply(int credits, int requestId, int status, int messageBytes, byte[] part) {
		byte[] frame = new byte[24 + part.length];
		header(frame, 4, credits, requestId, messageBytes, 0).put(16, (byte) status).put(24, part);
		return frame;
	}

	/** A further frame. */
	public static byte[] continuation(int credits, int requestId, int messageBytes, int offset, byte[] part) {
		byte[] frame = new byte[16 + part.length];
		header(frame, 5, credits, requestId, messageBytes, offset).put(16, part);
		return frame;
	}

	/** A copy of a frame with one integer overwritten. */
	public static byte[] withInt(byte[] frame, int at, int value) {
		byte[] copy = frame.clone();
		ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
		return copy;
	}

	/** The first bytes of a frame. */
	public static byte[] truncated(byte[] frame, int length) {
		return Arrays.copyOf(frame, length);
	}

	private static ByteBuffer header(byte[] frame, int type, int credits, int requestId, int messageBytes, int offset) {
		ByteBuffer view = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
		view.put(0, (byte) type).putShort(2, (short) credits).putInt(4, requestId);
		return view.putInt(8, messageBytes).putInt(12, offset);
	}

}
