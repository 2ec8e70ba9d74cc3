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

package dev.rdmarpc.tools.ping;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

class PingDataTests {

	/** What {@code rping -c} sent, from a capture. */
	@ParameterizedTest
	@CsvSource({ "0, 'rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr'",
			"1, 'rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs'" })
	void isThatOfRping(int ping, String text) {
		ByteBuffer buffer = ByteBuffer.allocate(70);
		buffer.put(64, (byte) 1);
		PingData.fill(buffer, 64, ping);
		assertThat(new String(buffer.array(), 0, 64, StandardCharsets.US_ASCII)).isEqualTo(text + "\0");
		assertThat(buffer.get(64)).as("behind").isEqualTo((byte) 1);
	}

	@Test
	void lettersBeginAgainAfterTheLast() {
		ByteBuffer buffer = ByteBuffer.allocate(20);
		PingData.fill(buffer, 20, 57);
		assertThat(new String(buffer.array(), StandardCharsets.US_ASCII)).isEqualTo("rdma-ping-57: zABCD\0");
		PingData.fill(buffer, 20, 58);
		assertThat(new String(buffer.array(), StandardCharsets.US_ASCII)).isEqualTo("rdma-ping-58: ABCDE\0");
	}

	@ParameterizedTest
	@ValueSource(ints = { 16, 17, 100, 65536 })
	void hasNoZeroBeforeItsEnd(int size) {
		ByteBuffer buffer = ByteBuffer.allocate(size);
		PingData.fill(buffer, size, 1_234_567_890);
		for (int i = 0; i < size; i++) {
			assertThat(buffer.get(i) == 0).as("byte %d", i).isEqualTo(i == size - 1);
		}
	}

	@Test
	void theFirstWrongByteIsNamed() {
		ByteBuffer expected = ByteBuffer.allocate(32);
		PingData.fill(expected, 32, 3);
		ByteBuffer actual = ByteBuffer.allocate(64).put(0, expected, 0, 32).put(40, (byte) 9);
		assertThatNoException().isThrownBy(() -> PingData.check(expected, actual, 32, "data"));
		actual.put(20, (byte) 0xfe).put(31, (byte) 1);
		assertThatExceptionOfType(PingException.class).isThrownBy(() -> PingData.check(expected, actual, 32, "data"))
			.withMessage("data is wrong: byte 20 of 32 is 0xfe (expected: 0x%02x)", expected.get(20));
	}

}
