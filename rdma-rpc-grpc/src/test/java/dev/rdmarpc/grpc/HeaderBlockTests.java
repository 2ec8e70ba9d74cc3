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
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Random;

import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** The bytes of metadata, and what is made of others. */
class HeaderBlockTests {

	private static final Metadata.Key<String> TEXT = Metadata.Key.of("text", Metadata.ASCII_STRING_MARSHALLER);

	private static final Metadata.Key<byte[]> BINARY = Metadata.Key.of("a-bin", Metadata.BINARY_BYTE_MARSHALLER);

	private static final String GOLDEN = "0400" + "74657874" + "02000000" + "6869" + "0500" + "612d62696e" + "03000000"
			+ "00ff0a";

	private static ByteBuffer write(Metadata metadata) {
		byte[][] entries = HeaderBlock.of(metadata);
		ByteBuffer target = ByteBuffer.allocate(HeaderBlock.length(entries)).order(ByteOrder.LITTLE_ENDIAN);
		Assertions.assertThat(HeaderBlock.put(entries, target, 0)).isEqualTo(target.capacity());
		return target;
	}

	private static Metadata read(ByteBuffer source, int maxBytes) {
		return HeaderBlock.read(source, 0, source.capacity(), "Metadata", maxBytes);
	}

	private static Metadata sample() {
		Metadata metadata = new Metadata();
		metadata.put(TEXT, "hi");
		metadata.put(BINARY, new byte[] { 0, -1, 10 });
		return metadata;
	}

	@Test
	void theBytesAreThese() {
		Assertions.assertThat(write(sample()).array()).isEqualTo(HexFormat.of().parseHex(GOLDEN));
	}

	@Test
	void whatIsWrittenIsRead() {
		Metadata read = read(write(sample()), 1000);
		Assertions.assertThat(read.get(TEXT)).isEqualTo("hi");
		Assertions.assertThat(read.get(BINARY)).containsExactly(0, -1, 10);
		Assertions.assertThat(read.keys()).hasSize(2);
	}

	@Test
	void valuesThatAreNotAsciiAreNotSent() {
		Metadata metadata = new Metadata();
		metadata.put(TEXT, "line\nbreak");
		metadata.put(BINARY, new byte[3]);
		Assertions.assertThat(read(write(metadata), 1000).keys()).containsExactly("a-bin");
	}

	@Test
	void eachEntryCountsForMoreThanItsBytes() {
		ByteBuffer bytes = write(sample());
		Assertions.assertThat(read(bytes, 78).keys()).hasSize(2);
		Assertions.assertThatThrownBy(() -> read(bytes, 77))
			.hasMessage("RESOURCE_EXHAUSTED: Metadata larger than 77: 78");
	}

	@Test
	void malformedBytesAreRefused() {
		refused("0000" + "00000000", "name of 0 bytes");
		refused("0400" + "74657874" + "ffffffff", "value of -1 bytes");
		refused("0400" + "74657874" + "03000000" + "6869", "value of 3 bytes");
		refused("0400" + "74657874", "name of 4 bytes");
		refused("04", "entry of 1 bytes");
		refused("0400" + "54657874" + "00000000", "name with character 84");
		refused("0400" + "74657874" + "01000000" + "0a", "value of text that is not printable ASCII");
	}

	private static void refused(String hex, String problem) {
		ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(hex)).order(ByteOrder.LITTLE_ENDIAN);
		Assertions.assertThatThrownBy(() -> read(bytes, 1000))
			.hasMessage("INTERNAL: Metadata is malformed: " + problem);
	}

	@Test
	void corruptedBytesAreReadOrRefused() {
		long seed = Long.getLong("rdmarpc.test.seed", System.nanoTime());
		Random random = new Random(seed);
		for (int i = 0; i < 100_000; i++) {
			byte[] bytes = write(sample()).array();
			for (int change = random.nextInt(4); change >= 0; change--) {
				bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
			}
			try {
				read(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), 1000);
			}
			catch (StatusRuntimeException ex) {
				Assertions.assertThat(ex).as("seed %d", seed).hasMessageContaining("Metadata");
			}
		}
	}

}
