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

import org.jspecify.annotations.Nullable;

/**
 * Several frames in one Send, which are all requests or all replies and have their whole
 * messages. Each is a frame like any other and begins at a multiple of 8; all but the
 * last have {@link FrameFlyweight#FLAG_BUNDLED}, and only the first has credits:
 *
 * <pre>
 *  +---------------------------------------------------------------+
 *  |         Header of a REQUEST or REPLY, with FLAG_BUNDLED       |
 *  +-------------------------------+-------------------------------+
 *  |    Metadata and message       |     Padding, 0 to 7 zeros     |
 *  +-------------------------------+-------------------------------+
 *  |    The same without credits, 0 to 14 times                    |
 *  +---------------------------------------------------------------+
 *  |    The same without credits and FLAG_BUNDLED                  |
 *  +-------------------------------+-------------------------------+
 *  |    Metadata and message       |
 *  +-------------------------------+
 * </pre>
 */
final class BundleFlyweight {

	/** How many frames there are at most: a peer is not to have many turns at once. */
	static final int MOST_FRAMES = 16;

	private BundleFlyweight() {
	}

	/**
	 * Copies a frame behind others.
	 * @param frame at the beginning of its buffer
	 * @param more whether another one follows
	 * @return where that begins
	 */
	static int put(ByteBuffer bundle, int at, ByteBuffer frame, int frameBytes, boolean more) {
		int end = at + FrameFlyweight.padded(frameBytes);
		if (more) {
			bundle.putLong(end - Long.BYTES, 0);
		}
		bundle.put(at, frame, 0, frameBytes);
		int flags = FrameFlyweight.flags(bundle, at) & ~FrameFlyweight.FLAG_HELD_BACK;
		FrameFlyweight.putFlags(bundle, at, more ? flags | FrameFlyweight.FLAG_BUNDLED : flags);
		FrameFlyweight.putCredits(bundle, at, 0, false);
		return end;
	}

	/** Whether another frame follows the one that begins somewhere. */
	static boolean isFollowed(ByteBuffer bundle, int at) {
		return (FrameFlyweight.flags(bundle, at) & FrameFlyweight.FLAG_BUNDLED) != 0;
	}

	/** Where the next frame begins, whose Send has no {@link #problem}. */
	static int next(ByteBuffer bundle, int at) {
		return (int) padded(end(bundle, at));
	}

	private static long end(ByteBuffer bundle, int at) {
		int type = FrameFlyweight.type(bundle, at);
		int metadataBytes = bundle.getShort(at + ((type == FrameType.REQUEST)
				? FrameFlyweight.REQUEST_METADATA_LENGTH_OFFSET : FrameFlyweight.REPLY_METADATA_LENGTH_OFFSET))
				& 0xFFFF;
		return (long) at + FrameFlyweight.headerLength(type) + FrameFlyweight.padded(metadataBytes)
				+ FrameFlyweight.messageBytes(bundle, at);
	}

	private static long padded(long bytes) {
		return bytes + 7 & ~7L;
	}

	/**
	 * Checks the frame that begins somewhere, before anything of it is read.
	 * @param at 0, or {@link #next} to one that is followed and has no problem
	 * @param bytes of all frames
	 * @param type of all of them, {@link FrameType#REQUEST} or {@link FrameType#REPLY}
	 * @return what is wrong, or {@code null}
	 */
	static @Nullable String problem(ByteBuffer bundle, int at, int bytes, int type) {
		int left = bytes - at;
		if (left < FrameFlyweight.headerLength(type)) {
			return "frame of " + left + " bytes among others in one Send";
		}
		if (FrameFlyweight.type(bundle, at) != type) {
			return FrameType.name(FrameFlyweight.type(bundle, at)) + " in one Send with " + FrameType.name(type);
		}
		if ((FrameFlyweight.flags(bundle, at) & FrameFlyweight.FLAG_READ) != 0) {
			return "message to be Read in one Send with others";
		}
		if (at > 0 && bundle.getShort(at + FrameFlyweight.CREDITS_OFFSET) != 0) {
			return "credits in a frame that is not the first one in its Send";
		}
		int messageBytes = FrameFlyweight.messageBytes(bundle, at);
		long end = end(bundle, at);
		boolean fits = isFollowed(bundle, at) ? padded(end) < bytes : end == bytes;
		return (messageBytes >= 0 && fits) ? null
				: "message of " + messageBytes + " bytes in one Send with others, which has " + left + " for it";
	}

}
