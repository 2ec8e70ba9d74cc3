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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import org.jspecify.annotations.Nullable;

/**
 * What stands in a {@code REQUEST} or {@code REPLY} in place of its message when
 * {@link FrameFlyweight#FLAG_READ} is set: the pieces of the sender's memory that hold
 * the message, in order, for the receiver to Read. Little-endian, after the metadata.
 *
 * <pre>
 *  +---------------------------------------------------------------+
 *  |                     Number of windows                         |  0
 *  +---------------------------------------------------------------+
 *  |                         Reserved, 0                           |  4
 *  +---------------------------------------------------------------+
 *  each window:
 *  +---------------------------------------------------------------+
 *  |                       Remote address                          |  8
 *  |                                                               | 12
 *  +---------------------------------------------------------------+
 *  |                         Remote key                            | 16
 *  +---------------------------------------------------------------+
 *  |                     Length in bytes, not 0                    | 20
 *  +---------------------------------------------------------------+
 * </pre>
 */
final class WindowListFlyweight {

	/** The most windows of one message; as many fit behind the longest metadata. */
	static final int MAX_WINDOWS = 32;

	private static final int HEADER_LENGTH = 8;

	private static final int WINDOW_LENGTH = 16;

	private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

	private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

	private WindowListFlyweight() {
	}

	static int length(int windows) {
		return HEADER_LENGTH + windows * WINDOW_LENGTH;
	}

	static void putCount(ByteBuffer frame, int at, int windows) {
		frame.putInt(at, windows);
		frame.putInt(at + 4, 0);
	}

	static void putWindow(ByteBuffer frame, int at, int index, long address, int key, int lengthBytes) {
		int window = at + length(index);
		frame.putLong(window, address);
		frame.putInt(window + 8, key);
		frame.putInt(window + 12, lengthBytes);
	}

	/**
	 * Checks a received list before anything of it is followed.
	 * @param limit end of the frame
	 * @param messageBytes the length that the windows must sum up to
	 * @return what is wrong, or {@code null}
	 */
	static @Nullable String problem(ByteBuffer frame, int at, int limit, int messageBytes) {
		int windows = (limit - at >= HEADER_LENGTH) ? count(frame, at) : 0;
		if (windows < 1 || windows > MAX_WINDOWS || limit - at != length(windows)) {
			return windows + " windows in " + (limit - at) + " bytes";
		}
		long sum = 0;
		for (int i = 0; i < windows; i++) {
			int bytes = lengthBytes(frame, at, i);
			if (bytes <= 0) {
				return "a window of " + bytes + " bytes";
			}
			sum += bytes;
		}
		return (sum == messageBytes) ? null : "windows of " + sum + " bytes for a message of " + messageBytes;
	}

	static int count(ByteBuffer frame, int at) {
		return frame.getInt(at);
	}

	private static int lengthBytes(ByteBuffer frame, int at, int index) {
		return frame.getInt(at + length(index) + 12);
	}

	/** Of a list that was copied from a frame, as the two below. */
	static long address(byte[] copy, int at, int index) {
		return (long) LONGS.get(copy, at + length(index));
	}

	static int key(byte[] copy, int at, int index) {
		return (int) INTS.get(copy, at + length(index) + 8);
	}

	static int lengthBytes(byte[] copy, int at, int index) {
		return (int) INTS.get(copy, at + length(index) + 12);
	}

}
