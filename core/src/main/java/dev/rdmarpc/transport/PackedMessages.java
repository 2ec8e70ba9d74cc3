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
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * Several small messages of a stream in one frame. Each follows its length, so that it
 * begins at a multiple of 8, and is padded to one:
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Length                             |  0
 *  +---------------------------------------------------------------+
 *  |                          Reserved, 0                          |  4
 *  +---------------------------------------------------------------+
 *  |                      Message, and padding                     |  8
 * </pre>
 *
 * {@code for (int at = view.position(); at < end; at = PackedMessages.after(view))} goes
 * over them, with {@link #select} in its body.
 */
public final class PackedMessages {

	private static final int PREFIX_LENGTH = 8;

	private PackedMessages() {
	}

	/** How much a message takes. */
	static int entryBytes(int messageBytes) {
		return PREFIX_LENGTH + FrameFlyweight.padded(messageBytes);
	}

	/**
	 * Appends a message.
	 * @param from has the message at {@code index}
	 * @return where the next one goes
	 */
	static int put(ByteBuffer frame, int at, ByteBuffer from, int index, int messageBytes) {
		int end = at + entryBytes(messageBytes);
		frame.putLong(end - PREFIX_LENGTH, 0);
		frame.putLong(at, messageBytes);
		frame.put(at + PREFIX_LENGTH, from, index, messageBytes);
		return end;
	}

	/**
	 * Appends a message.
	 * @return where the next one goes
	 */
	static int put(ByteBuffer frame, int at, MessageSegments message) {
		int bytes = message.totalBytes();
		int end = at + entryBytes(bytes);
		frame.putLong(end - PREFIX_LENGTH, 0);
		frame.putLong(at, bytes);
		message.copyTo(frame.limit(at + PREFIX_LENGTH + bytes).position(at + PREFIX_LENGTH));
		frame.clear();
		return end;
	}

	/**
	 * What is wrong with the message that begins somewhere, or {@code null}.
	 * @param pack its limit is the end of them all
	 */
	static @Nullable String problem(ByteBuffer pack, int at) {
		int left = pack.limit() - at - PREFIX_LENGTH;
		if (left < 0) {
			return "frame of several messages with " + (left + PREFIX_LENGTH) + " bytes behind the last one";
		}
		int bytes = pack.getInt(at);
		if (bytes < 0 || bytes > left || FrameFlyweight.padded(bytes) > left || pack.getInt(at + 4) != 0) {
			return "message of " + bytes + " bytes among several in a frame that has " + left + " bytes for it";
		}
		return null;
	}

	/**
	 * How many there are, up to one with which something is wrong.
	 * @param pack position to limit
	 */
	static int count(ByteBuffer pack) {
		int count = 0;
		for (int at = pack.position(); at < pack.limit(); at += entryBytes(messageBytes(pack, at))) {
			if (problem(pack, at) != null) {
				return count;
			}
			count++;
		}
		return count;
	}

	/** The length of the message that begins somewhere. */
	static int messageBytes(ByteBuffer pack, int at) {
		return pack.getInt(at);
	}

	/**
	 * Moves position and limit of a view of them all to the one that begins somewhere.
	 */
	public static void select(ByteBuffer view, int at) {
		int bytes = view.getInt(at);
		view.limit(at + PREFIX_LENGTH + bytes).position(at + PREFIX_LENGTH);
	}

	/**
	 * Hands over one after the other, each with a reference of its own to the memory of
	 * all. Those behind one whose consumer throws are dropped.
	 * @param memory where they lie; takes ownership
	 * @param pack position to limit
	 * @param consumer takes ownership of the memory
	 */
	public static void forEach(RegisteredBuffer memory, ByteBuffer pack,
			BiConsumer<RegisteredBuffer, ByteBuffer> consumer) {
		int end = pack.limit();
		try {
			for (int at = pack.position(); at < end; at = after(pack)) {
				select(pack.limit(end), at);
				consumer.accept(memory.retain(), pack.duplicate().order(ByteOrder.LITTLE_ENDIAN));
			}
		}
		finally {
			memory.release();
		}
	}

	/** Where the next one begins. */
	public static int after(ByteBuffer selected) {
		return FrameFlyweight.padded(selected.limit());
	}

}
