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

import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.Status;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;

/**
 * Metadata as bytes: for each entry {@code u16 length, name, u32 length, value}, without
 * padding, little-endian. Values of names that end in {@code -bin} are any bytes, others
 * are printable ASCII.
 */
final class HeaderBlock {

	/** No metadata. */
	static final byte[][] NONE = {};

	private static final RateLimitedLogger omissions = new RateLimitedLogger(
			LoggerFactory.getLogger(HeaderBlock.class));

	/** What an entry counts for beside name and value, as in HTTP/2. */
	private static final int ENTRY_OVERHEAD_BYTES = 32;

	private static final int NAME_LENGTH_BYTES = 2;

	private static final int ENTRY_LENGTH_BYTES = NAME_LENGTH_BYTES + 4;

	/** Names, and values that are text: nobody is given the arrays of those. */
	private static final RecentTexts TEXTS = new RecentTexts();

	private HeaderBlock() {
	}

	/** The names and values of metadata in turn, without those that may not be sent. */
	static byte[][] of(Metadata metadata) {
		if (InternalMetadata.headerCount(metadata) == 0) {
			return NONE;
		}
		byte[][] all = InternalMetadata.serialize(metadata);
		int kept = 0;
		for (int i = 0; i < all.length; i += 2) {
			if (isBinary(all[i]) || isPrintable(all[i + 1])) {
				all[kept] = all[i];
				all[kept + 1] = all[i + 1];
				kept += 2;
			}
			else {
				omissions.log(Level.WARN, "Metadata {} was not sent: its value is not printable ASCII",
						new String(all[i], StandardCharsets.US_ASCII));
			}
		}
		return (kept == all.length) ? all : Arrays.copyOf(all, kept);
	}

	/** How many bytes they take. */
	static int length(byte[][] entries) {
		int length = entries.length / 2 * ENTRY_LENGTH_BYTES;
		for (byte[] part : entries) {
			length += part.length;
		}
		return length;
	}

	/** Writes them at a place; returns the end. */
	static int put(byte[][] entries, ByteBuffer target, int offset) {
		int at = offset;
		for (int i = 0; i < entries.length; i += 2) {
			byte[] name = entries[i];
			byte[] value = entries[i + 1];
			target.putShort(at, (short) name.length);
			target.put(at + NAME_LENGTH_BYTES, name);
			at += NAME_LENGTH_BYTES + name.length;
			target.putInt(at, value.length);
			target.put(at + Integer.BYTES, value);
			at += Integer.BYTES + value.length;
		}
		return at;
	}

	/**
	 * Reads metadata that a peer has sent.
	 * @param source little-endian
	 * @param what it is, for the error
	 * @param maxBytes the most that is accepted, counted as in HTTP/2
	 * @throws io.grpc.StatusRuntimeException with {@code RESOURCE_EXHAUSTED} if it is too
	 * much, with {@code INTERNAL} if it is malformed
	 */
	static Metadata read(ByteBuffer source, int offset, int length, String what, int maxBytes) {
		int end = offset + length;
		int count = 0;
		long total = 0;
		for (int at = offset; at < end; count++) {
			int next = next(source, at, end, what);
			total += (long) next - at - ENTRY_LENGTH_BYTES + ENTRY_OVERHEAD_BYTES;
			at = next;
		}
		if (total > maxBytes) {
			throw Status.RESOURCE_EXHAUSTED.withDescription(what + " larger than " + maxBytes + ": " + total)
				.asRuntimeException();
		}
		byte[][] entries = new byte[2 * count][];
		int at = offset;
		for (int i = 0; i < entries.length; i += 2) {
			byte[] name = TEXTS.read(source, at + NAME_LENGTH_BYTES, nameLength(source, at)).bytes();
			check(name, what);
			at += NAME_LENGTH_BYTES + name.length;
			int valueBytes = source.getInt(at);
			at += Integer.BYTES;
			entries[i] = name;
			entries[i + 1] = value(source, at, valueBytes, name, what);
			at += valueBytes;
		}
		return InternalMetadata.newMetadata(entries);
	}

	/** The end of the entry at a place. */
	private static int next(ByteBuffer source, int at, int end, String what) {
		if (end - at < ENTRY_LENGTH_BYTES) {
			throw malformed(what, "entry of " + (end - at) + " bytes");
		}
		int name = nameLength(source, at);
		if (name == 0 || name > end - at - ENTRY_LENGTH_BYTES) {
			throw malformed(what, "name of " + name + " bytes");
		}
		int value = source.getInt(at + NAME_LENGTH_BYTES + name);
		if (value < 0 || value > end - at - ENTRY_LENGTH_BYTES - name) {
			throw malformed(what, "value of " + value + " bytes");
		}
		return at + ENTRY_LENGTH_BYTES + name + value;
	}

	private static int nameLength(ByteBuffer source, int at) {
		return source.getShort(at) & 0xFFFF;
	}

	private static byte[] value(ByteBuffer source, int offset, int length, byte[] name, String what) {
		if (isBinary(name)) {
			return RecentTexts.copy(source, offset, length);
		}
		RecentTexts.Text value = TEXTS.read(source, offset, length);
		if (!value.isPrintable()) {
			throw malformed(what,
					"value of " + new String(name, StandardCharsets.US_ASCII) + " that is not printable ASCII");
		}
		return value.bytes();
	}

	private static void check(byte[] name, String what) {
		for (byte character : name) {
			boolean valid = (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9')
					|| character == '-' || character == '_' || character == '.';
			if (!valid) {
				throw malformed(what, "name with character " + (character & 0xFF));
			}
		}
	}

	private static RuntimeException malformed(String what, String problem) {
		return Status.INTERNAL.withDescription(what + " is malformed: " + problem).asRuntimeException();
	}

	private static boolean isBinary(byte[] name) {
		int from = name.length - 4;
		return from >= 0 && name[from] == '-' && name[from + 1] == 'b' && name[from + 2] == 'i'
				&& name[from + 3] == 'n';
	}

	/** Whether text is printable ASCII. */
	static boolean isPrintable(String text) {
		for (int i = 0; i < text.length(); i++) {
			if (text.charAt(i) < ' ' || text.charAt(i) > '~') {
				return false;
			}
		}
		return true;
	}

	/** Whether bytes are printable ASCII. */
	static boolean isPrintable(byte[] value) {
		for (byte character : value) {
			if (character < ' ' || character > '~') {
				return false;
			}
		}
		return true;
	}

}
