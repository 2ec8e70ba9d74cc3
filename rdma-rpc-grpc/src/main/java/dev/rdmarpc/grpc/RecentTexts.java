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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Short texts that peers send again and again, such as names of methods and headers:
 * reading one that was read before makes no new object. There are at most
 * {@value #SLOTS}, of at most {@value #MOST_BYTES} bytes each, and the last two of
 * several with the same hash are kept. Arrays are shared, so that nobody may change them.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. Texts do not change, but for the string that is made of one when
 * it is first wanted. A slot is read and written without an order: what another thread
 * has put there is seen whole, or not at all. A new text takes the place of the one
 * before, which goes to the neighbouring slot: a request has some ten texts, of which two
 * would drive each other out for good otherwise.
 */
final class RecentTexts {

	static final int SLOTS = 256;

	static final int MOST_BYTES = 64;

	private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

	private static final long MIXER = 0x9E3779B97F4A7C15L;

	private static final int SLOT_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(SLOTS);

	private final @Nullable Text[] texts = new Text[SLOTS];

	/**
	 * The text at a place.
	 * @param source little-endian
	 */
	Text read(ByteBuffer source, int offset, int length) {
		return (length <= MOST_BYTES) ? recent(source, offset, length) : new Text(copy(source, offset, length));
	}

	/** The bytes at a place, which nobody else has. */
	static byte[] copy(ByteBuffer source, int offset, int length) {
		byte[] bytes = new byte[length];
		source.get(offset, bytes);
		return bytes;
	}

	private Text recent(ByteBuffer source, int offset, int length) {
		Objects.checkFromIndexSize(offset, length, source.limit());
		int slot = slot(source, offset, length);
		Text first = this.texts[slot];
		if (first != null && first.matches(source, offset, length)) {
			return first;
		}
		Text second = this.texts[slot ^ 1];
		if (second != null && second.matches(source, offset, length)) {
			return second;
		}
		Text unknown = new Text(copy(source, offset, length));
		if (first != null) {
			this.texts[slot ^ 1] = first;
		}
		this.texts[slot] = unknown;
		return unknown;
	}

	private static int slot(ByteBuffer source, int offset, int length) {
		long hash = length;
		int at = 0;
		for (; at <= length - Long.BYTES; at += Long.BYTES) {
			hash = (hash + source.getLong(offset + at)) * MIXER;
			hash ^= hash >>> Integer.SIZE;
		}
		for (; at < length; at++) {
			hash = (hash + source.get(offset + at)) * MIXER;
		}
		return (int) ((hash * MIXER) >>> SLOT_SHIFT);
	}

	/** A text, and what is known of it. */
	static final class Text {

		private final byte[] bytes;

		private final boolean printable;

		private @Nullable String text;

		Text(byte[] bytes) {
			this.bytes = bytes;
			this.printable = HeaderBlock.isPrintable(bytes);
		}

		/** Its bytes, shared: nobody may change them. */
		byte[] bytes() {
			return this.bytes;
		}

		/** Whether it is printable ASCII. */
		boolean isPrintable() {
			return this.printable;
		}

		/** The bytes as UTF-8. */
		String text() {
			String made = this.text;
			if (made == null) {
				made = new String(this.bytes, StandardCharsets.UTF_8);
				this.text = made;
			}
			return made;
		}

		boolean matches(ByteBuffer source, int offset, int length) {
			if (length != this.bytes.length) {
				return false;
			}
			int at = 0;
			for (; at <= length - Long.BYTES; at += Long.BYTES) {
				if ((long) LONGS.get(this.bytes, at) != source.getLong(offset + at)) {
					return false;
				}
			}
			for (; at < length; at++) {
				if (this.bytes[at] != source.get(offset + at)) {
					return false;
				}
			}
			return true;
		}

	}

}
