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
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Random;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.UnencodableValueException;

import static org.assertj.core.api.Assertions.assertThat;

/** Against the JDK's strict encoder and decoder. */
class Utf8Tests {

	private static final long SEED = 99;

	private static final int[] ALPHABET = { 'a', 'z', 0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xDBFF, 0xDC00,
			0xDFFF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF };

	private final ByteBuffer memory = ByteBuffer.allocateDirect(1024).order(ByteOrder.LITTLE_ENDIAN);

	@Test
	void encodesLikeTheJdk() {
		Random random = new Random(SEED);
		for (int i = 0; i < 50_000; i++) {
			String text = text(random);
			byte[] expected = strictBytes(text);
			byte[] actual = null;
			try {
				int end = Utf8.encode(text, this.memory, 3);
				actual = new byte[end - 3];
				this.memory.get(3, actual);
			}
			catch (UnencodableValueException ex) {
				assertThat(ex).hasMessageContaining("unpaired surrogate");
			}
			assertThat(actual).as("seed %d, text %d", SEED, i).isEqualTo(expected);
			if (expected != null) {
				assertThat(Utf8.encodedBytes(text)).isEqualTo(expected.length);
			}
		}
	}

	@Test
	void validatesLikeTheJdk() {
		Random random = new Random(SEED);
		for (int i = 0; i < 50_000; i++) {
			byte[] bytes = text(random).getBytes(StandardCharsets.UTF_8);
			for (int changes = random.nextInt(3); changes > 0 && bytes.length > 0; changes--) {
				bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
			}
			int length = random.nextInt(bytes.length + 1);
			this.memory.put(5, bytes);
			assertThat(Utf8.isValid(this.memory, 5, length)).as("seed %d, text %d", SEED, i)
				.isEqualTo(isValid(ByteBuffer.wrap(bytes, 0, length)));
		}
	}

	private static String text(Random random) {
		StringBuilder text = new StringBuilder();
		boolean ascii = random.nextInt(4) == 0;
		for (int length = random.nextInt(20); length > 0; length--) {
			text.appendCodePoint((ascii || random.nextBoolean()) ? 'a' + random.nextInt(26)
					: ALPHABET[random.nextInt(ALPHABET.length)]);
		}
		return text.toString();
	}

	private static byte[] strictBytes(String text) {
		try {
			ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
			byte[] array = new byte[bytes.remaining()];
			bytes.get(array);
			return array;
		}
		catch (CharacterCodingException ex) {
			return null;
		}
	}

	private static boolean isValid(ByteBuffer bytes) {
		try {
			StandardCharsets.UTF_8.newDecoder().decode(bytes);
			return true;
		}
		catch (CharacterCodingException ex) {
			return false;
		}
	}

}
