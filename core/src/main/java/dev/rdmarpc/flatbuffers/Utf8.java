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

package dev.rdmarpc.flatbuffers;

import java.nio.ByteBuffer;

import dev.rdmarpc.codec.UnencodableValueException;

/**
 * UTF-8 straight between strings and buffers, strict in both directions: no unpaired
 * surrogates out, no overlong forms, surrogates or code points above U+10FFFF in.
 */
final class Utf8 {

	private static final long NON_ASCII = 0x8080808080808080L;

	private Utf8() {
	}

	/**
	 * Number of bytes of the encoded text. Only right for well-formed text.
	 */
	static long encodedBytes(String text) {
		int length = text.length();
		long bytes = length;
		for (int i = 0; i < length; i++) {
			char c = text.charAt(i);
			if (c >= 0x80) {
				bytes += (c < 0x800 || Character.isSurrogate(c)) ? 1 : 2;
			}
		}
		return bytes;
	}

	/**
	 * Encodes a text.
	 * @param target little-endian memory with enough room: three bytes per character
	 * always are, {@link #encodedBytes} are for well-formed text
	 * @param index where to begin
	 * @return the index after the last byte
	 * @throws UnencodableValueException if the text has an unpaired surrogate
	 */
	static int encode(String text, ByteBuffer target, int index) {
		int length = text.length();
		if (length < 8) {
			return encodeShort(text, target, index);
		}
		int i = 0;
		for (; i <= length - 8; i += 8) {
			long eight = eightOf(text, i);
			if (eight < 0) {
				return encodeSlowly(text, i, target, index + i);
			}
			target.putLong(index + i, eight);
		}
		if (i < length) {
			long eight = eightOf(text, length - 8);
			if (eight < 0) {
				return encodeSlowly(text, i, target, index + i);
			}
			target.putLong(index + length - 8, eight);
		}
		return index + length;
	}

	/** Eight characters as bytes, negative if they are not all ASCII. */
	private static long eightOf(String text, int i) {
		long low = text.charAt(i) | ((long) text.charAt(i + 1) << 16) | ((long) text.charAt(i + 2) << 32)
				| ((long) text.charAt(i + 3) << 48);
		long high = text.charAt(i + 4) | ((long) text.charAt(i + 5) << 16) | ((long) text.charAt(i + 6) << 32)
				| ((long) text.charAt(i + 7) << 48);
		if (((low | high) & 0xFF80FF80FF80FF80L) != 0) {
			return -1;
		}
		return narrow(low) | (narrow(high) << 32);
	}

	private static int encodeShort(String text, ByteBuffer target, int index) {
		int length = text.length();
		for (int i = 0; i < length; i++) {
			char c = text.charAt(i);
			if (c >= 0x80) {
				return encodeSlowly(text, i, target, index + i);
			}
			target.put(index + i, (byte) c);
		}
		return index + length;
	}

	private static long narrow(long fourChars) {
		long pairs = (fourChars | (fourChars >>> 8)) & 0x0000FFFF0000FFFFL;
		return (pairs | (pairs >>> 16)) & 0xFFFFFFFFL;
	}

	private static int encodeSlowly(String text, int from, ByteBuffer target, int index) {
		int at = index;
		for (int i = from; i < text.length(); i++) {
			char c = text.charAt(i);
			if (c < 0x80) {
				target.put(at++, (byte) c);
			}
			else if (c < 0x800) {
				target.put(at, (byte) (0xC0 | (c >> 6)));
				target.put(at + 1, (byte) (0x80 | (c & 0x3F)));
				at += 2;
			}
			else if (!Character.isSurrogate(c)) {
				target.put(at, (byte) (0xE0 | (c >> 12)));
				target.put(at + 1, (byte) (0x80 | ((c >> 6) & 0x3F)));
				target.put(at + 2, (byte) (0x80 | (c & 0x3F)));
				at += 3;
			}
			else {
				i++;
				if (!Character.isHighSurrogate(c) || i == text.length() || !Character.isLowSurrogate(text.charAt(i))) {
					throw new UnencodableValueException("text has an unpaired surrogate at index " + (i - 1));
				}
				int codePoint = Character.toCodePoint(c, text.charAt(i));
				target.put(at, (byte) (0xF0 | (codePoint >> 18)));
				target.put(at + 1, (byte) (0x80 | ((codePoint >> 12) & 0x3F)));
				target.put(at + 2, (byte) (0x80 | ((codePoint >> 6) & 0x3F)));
				target.put(at + 3, (byte) (0x80 | (codePoint & 0x3F)));
				at += 4;
			}
		}
		return at;
	}

	/** Whether the bytes are well-formed UTF-8. */
	static boolean isValid(ByteBuffer source, int index, int lengthBytes) {
		int i = index;
		int end = index + lengthBytes;
		while (i <= end - 8 && (source.getLong(i) & NON_ASCII) == 0) {
			i += 8;
		}
		while (i < end) {
			int lead = source.get(i);
			if (lead >= 0) {
				i++;
				continue;
			}
			int bytes = validSequence(source, i, end, lead & 0xFF);
			if (bytes == 0) {
				return false;
			}
			i += bytes;
		}
		return true;
	}

	private static int validSequence(ByteBuffer source, int i, int end, int lead) {
		int bytes = (lead < 0xE0) ? 2 : (lead < 0xF0) ? 3 : 4;
		if (lead < 0xC2 || lead > 0xF4 || bytes > end - i) {
			return 0;
		}
		int second = source.get(i + 1) & 0xFF;
		int lowest = (lead == 0xE0) ? 0xA0 : (lead == 0xF0) ? 0x90 : 0x80;
		int highest = (lead == 0xED) ? 0x9F : (lead == 0xF4) ? 0x8F : 0xBF;
		if (second < lowest || second > highest) {
			return 0;
		}
		for (int k = 2; k < bytes; k++) {
			if ((source.get(i + k) & 0xC0) != 0x80) {
				return 0;
			}
		}
		return bytes;
	}

}
