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
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.logging.PeerText;

/**
 * The body of {@code HELLO} and {@code HELLO_REPLY}, after the frame header;
 * little-endian.
 *
 * <pre>
 *  +---------------------------------------------------------------+
 *  |                     Magic "RRPC" 0x43505252                   | 16
 *  +-------------------------------+-------------------------------+
 *  |    Lowest / chosen version    |        Highest version        | 20
 *  +-------------------------------+-------------------------------+
 *  |                    Largest frame accepted                     | 24
 *  +---------------------------------------------------------------+
 *  |                   Largest message accepted                    | 28
 *  +---------------------------------------------------------------+
 *  |                      Most calls at once                       | 32
 *  +-------------------------------+-------------------------------+
 *  |       Credits at first        |     Refusal (0 is none)       | 36
 *  +-------------------------------+-------------------------------+
 *  |           Features            |         Most credits          | 40
 *  +-------------------------------+-------------------------------+
 *  |          Text length          |  UTF-8 text: codec, or why   | 44
 *  +-------------------------------+         refused  ...          +
 *  +-------------------------------+-------------------------------+
 *  |     Most metadata accepted    |  after the text, with FEATURE_METADATA
 *  +-------------------------------+-------------------------------+
 *  |                  Window of a stream, in bytes                 |  then, with FEATURE_STREAMS
 *  +-------------------------------+-------------------------------+
 *  |         Token length          |          Token  ...           |  then, with FEATURE_TOKEN
 *  +-------------------------------+-------------------------------+
 * </pre>
 */
final class HelloFlyweight {

	static final int MAGIC = 0x43505252;

	static final int VERSION = 1;

	static final int REFUSED_VERSION = 1;

	static final int REFUSED_BUSY = 2;

	static final int REFUSED_DRAINING = 3;

	static final int REFUSED_CODEC = 4;

	static final int REFUSED_UNAUTHENTICATED = 5;

	/** The sender can Read messages from the peer's memory. */
	static final int FEATURE_READS = 0x01;

	/** The sender knows {@link FrameType#READ_PROGRESS}. */
	static final int FEATURE_READ_PROGRESS = 0x02;

	/** The sender says after the text how much metadata it accepts. */
	static final int FEATURE_METADATA = 0x04;

	/** The sender knows streams, and says after the metadata what window each has. */
	static final int FEATURE_STREAMS = 0x08;

	/** The sender answers questions about the schemas of its methods. */
	static final int FEATURE_SCHEMAS = 0x10;

	/** The connecting side shows a token at the end. */
	static final int FEATURE_TOKEN = 0x20;

	/** The sender knows requests without reply. */
	static final int FEATURE_ONE_WAY = 0x40;

	/** The sender takes several frames in one Send. */
	static final int FEATURE_BUNDLES = 0x80;

	/** What a side accepts that does not say so. */
	static final int UNTOLD_METADATA_BYTES = 1024;

	static final int LENGTH = 46;

	static final int MAX_TEXT_BYTES = 400;

	private HelloFlyweight() {
	}

	/** Writes the body after a header at 0 and returns the length of the whole frame. */
	static int put(ByteBuffer frame, int low, int high, ChannelOptions options, int refusal, String text) {
		byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
		int textBytes = Math.min(utf8.length, MAX_TEXT_BYTES);
		frame.putInt(16, MAGIC);
		frame.putShort(20, (short) low);
		frame.putShort(22, (short) high);
		frame.putInt(24, options.frameBytes());
		frame.putInt(28, options.maxMessageBytes());
		frame.putInt(32, options.maxCalls());
		frame.putShort(36, (short) options.minCredits());
		frame.putShort(38, (short) refusal);
		frame.putShort(40, (short) 0);
		frame.putShort(42, (short) options.credits());
		frame.putShort(44, (short) textBytes);
		frame.put(LENGTH, utf8, 0, textBytes);
		return LENGTH + textBytes;
	}

	/**
	 * Checks a received body before anything of it is read. Of a refusal only refusal and
	 * text may be read.
	 * @return what is wrong, or {@code null}
	 */
	static @Nullable String problem(ByteBuffer frame, int frameLength) {
		if (frameLength < LENGTH) {
			return "handshake of " + frameLength + " bytes (expected: at least " + LENGTH + ")";
		}
		if (frame.getInt(16) != MAGIC) {
			return "handshake without magic: the peer does not speak rdma-rpc";
		}
		if (refusal(frame) != 0) {
			return null;
		}
		if (frame.getInt(24) < ChannelOptions.MIN_FRAME_BYTES || frame.getInt(24) > ChannelOptions.MAX_FRAME_BYTES
				|| frame.getInt(24) % 8 != 0) {
			return "handshake with a frame size of " + frame.getInt(24);
		}
		if (frame.getInt(28) < 1 || frame.getInt(32) < 1 || frame.getInt(32) > ChannelOptions.MAX_CALLS) {
			return "handshake with limits of " + frame.getInt(28) + " bytes and " + frame.getInt(32) + " calls";
		}
		int credits = credits(frame);
		if (credits < ChannelOptions.MIN_CREDITS || credits > ChannelOptions.MAX_CREDITS) {
			return "handshake with " + credits + " credits";
		}
		if (mostCredits(frame) < credits || mostCredits(frame) > ChannelOptions.MAX_CREDITS) {
			return "handshake with " + credits + " and at most " + mostCredits(frame) + " credits";
		}
		if (metadataBytes(frame, frameLength) > ChannelOptions.mostMetadataBytes(frameBytes(frame))) {
			return "handshake with " + metadataBytes(frame, frameLength) + " bytes of metadata in frames of "
					+ frameBytes(frame);
		}
		if (knowsStreams(frame)) {
			int window = streamWindowBytes(frame, frameLength);
			if (window < ChannelOptions.MIN_STREAM_WINDOW_BYTES || window > ChannelOptions.MAX_STREAM_WINDOW_BYTES) {
				return "handshake with streams of " + window + " bytes";
			}
		}
		if (showsToken(frame)) {
			int at = tokenOffset(frame);
			if (at + Short.BYTES > frameLength || at + Short.BYTES + tokenBytes(frame, at) > frameLength
					|| tokenBytes(frame, at) > ChannelSecurity.MAX_TOKEN_BYTES) {
				return "handshake with a token that is cut off or too long";
			}
		}
		return null;
	}

	/** Says behind the text how much metadata is accepted; returns the new length. */
	static int putMetadataBytes(ByteBuffer frame, int frameLength, int bytes) {
		putFeatures(frame, features(frame) | FEATURE_METADATA);
		frame.putShort(frameLength, (short) bytes);
		return frameLength + Short.BYTES;
	}

	/** The most metadata accepted. */
	static int metadataBytes(ByteBuffer frame, int frameLength) {
		int at = LENGTH + (frame.getShort(44) & 0xFFFF);
		boolean told = (features(frame) & FEATURE_METADATA) != 0 && at + Short.BYTES <= frameLength;
		return told ? frame.getShort(at) & 0xFFFF : UNTOLD_METADATA_BYTES;
	}

	/**
	 * Says behind the metadata what window each stream to this side has; returns the new
	 * length.
	 */
	static int putStreamWindowBytes(ByteBuffer frame, int frameLength, int bytes) {
		putFeatures(frame, features(frame) | FEATURE_STREAMS);
		frame.putInt(frameLength, bytes);
		return frameLength + Integer.BYTES;
	}

	/** The window of each stream to the sender; 0 if it knows no streams. */
	static int streamWindowBytes(ByteBuffer frame, int frameLength) {
		int metadata = ((features(frame) & FEATURE_METADATA) != 0) ? Short.BYTES : 0;
		int at = LENGTH + (frame.getShort(44) & 0xFFFF) + metadata;
		return (knowsStreams(frame) && at + Integer.BYTES <= frameLength) ? frame.getInt(at) : 0;
	}

	/** Shows a token, behind all else; returns the new length. */
	static int putToken(ByteBuffer frame, int frameLength, byte[] token) {
		putFeatures(frame, features(frame) | FEATURE_TOKEN);
		frame.putShort(frameLength, (short) token.length);
		frame.put(frameLength + Short.BYTES, token);
		return frameLength + Short.BYTES + token.length;
	}

	/** The token shown, or {@code null}. */
	static byte @Nullable [] token(ByteBuffer frame) {
		if (!showsToken(frame)) {
			return null;
		}
		int at = tokenOffset(frame);
		byte[] token = new byte[tokenBytes(frame, at)];
		frame.get(at + Short.BYTES, token);
		return token;
	}

	/** How many bytes of frames may be in one Send; 0 if that is for one frame only. */
	static int bundleBytes(ByteBuffer frame) {
		return ((features(frame) & FEATURE_BUNDLES) != 0) ? frameBytes(frame) : 0;
	}

	private static boolean showsToken(ByteBuffer frame) {
		return (features(frame) & FEATURE_TOKEN) != 0;
	}

	private static int tokenOffset(ByteBuffer frame) {
		int metadata = ((features(frame) & FEATURE_METADATA) != 0) ? Short.BYTES : 0;
		return LENGTH + (frame.getShort(44) & 0xFFFF) + metadata + (knowsStreams(frame) ? Integer.BYTES : 0);
	}

	private static int tokenBytes(ByteBuffer frame, int at) {
		return frame.getShort(at) & 0xFFFF;
	}

	private static boolean knowsStreams(ByteBuffer frame) {
		return (features(frame) & FEATURE_STREAMS) != 0;
	}

	static int lowVersion(ByteBuffer frame) {
		return frame.getShort(20) & 0xFFFF;
	}

	static int highVersion(ByteBuffer frame) {
		return frame.getShort(22) & 0xFFFF;
	}

	static int frameBytes(ByteBuffer frame) {
		return frame.getInt(24);
	}

	static int maxMessageBytes(ByteBuffer frame) {
		return frame.getInt(28);
	}

	static int maxCalls(ByteBuffer frame) {
		return frame.getInt(32);
	}

	static int credits(ByteBuffer frame) {
		return frame.getShort(36) & 0xFFFF;
	}

	/** The most credits there will be; 0 says that they stay as many as at first. */
	static int mostCredits(ByteBuffer frame) {
		int most = frame.getShort(42) & 0xFFFF;
		return (most != 0) ? most : credits(frame);
	}

	static void putFeatures(ByteBuffer frame, int features) {
		frame.putShort(40, (short) features);
	}

	static int features(ByteBuffer frame) {
		return frame.getShort(40) & 0xFFFF;
	}

	static int refusal(ByteBuffer frame) {
		return frame.getShort(38) & 0xFFFF;
	}

	/**
	 * The reason of a refusal, or else the name of the codec, empty if it is not told.
	 * Control characters are replaced, for it may be logged.
	 */
	static String text(ByteBuffer frame, int frameLength) {
		int bytes = Math.min(frame.getShort(44) & 0xFFFF, Math.min(MAX_TEXT_BYTES, frameLength - LENGTH));
		byte[] utf8 = new byte[Math.max(0, bytes)];
		frame.get(LENGTH, utf8);
		return PeerText.oneLine(new String(utf8, StandardCharsets.UTF_8));
	}

}
