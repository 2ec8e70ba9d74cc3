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
import java.time.Duration;
import java.util.HexFormat;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The bytes of docs/wire-protocol.md, section "Frames". The vectors are written by hand
 * from the table there, not printed by the code.
 */
class FrameFlyweightTests {

	private static final HexFormat HEX = HexFormat.of();

	private final ByteBuffer frame = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);

	@Test
	void request() {
		FrameFlyweight.putHeader(this.frame, 0, FrameType.REQUEST, 0x0102_0304, 0x0A0B_0C0D, 0);
		FrameFlyweight.putRequestFields(this.frame, 0, 0x1122_3344_5566_7788L, 1_000_000_000, 2, 3, 0x0405);
		this.frame.putShort(FrameFlyweight.CREDITS_OFFSET, (short) 0xFFFE);
		assertThat(bytes(FrameFlyweight.REQUEST_HEADER_LENGTH))
			.isEqualTo("03" + "00" + "feff" + "04030201" + "0d0c0b0a" + "00000000" // header
					+ "8877665544332211" + "40420f00" + "02" + "03" + "0504");
		assertThat(FrameFlyweight.type(this.frame)).isEqualTo(3);
		assertThat(FrameFlyweight.credits(this.frame)).isEqualTo(0xFFFE);
		assertThat(FrameFlyweight.requestId(this.frame)).isEqualTo(0x0102_0304);
		assertThat(FrameFlyweight.messageBytes(this.frame)).isEqualTo(0x0A0B_0C0D);
	}

	@Test
	void reply() {
		this.frame.putLong(16, -1);
		FrameFlyweight.putHeader(this.frame, 0, FrameType.REPLY, 0xFFFF_0000, 7, 0);
		FrameFlyweight.putReplyFields(this.frame, 0, 14, 0x0102);
		assertThat(bytes(FrameFlyweight.REPLY_HEADER_LENGTH))
			.isEqualTo("04" + "00" + "0000" + "0000ffff" + "07000000" + "00000000" // header
					+ "0e" + "00" + "0201" + "00000000");
	}

	@ParameterizedTest
	@CsvSource({ "PT0S, 00000000, PT0S", "PT0.000000001S, 00000001, PT0.000001S", "PT0.000001S, 00000001, PT0.000001S",
			"PT30M, 6b49d200, PT30M", "PT35M47.483647S, 7fffffff, PT35M47.483647S",
			"PT35M47.483648S, 8020c49b, PT35M47.483S", "PT1H, 8036ee80, PT1H", "PT72H, 8f731400, PT72H",
			"PT596H31M23.647S, ffffffff, PT596H31M23.647S", "PT596H31M23.648S, 00000000, PT0S" })
	void deadlineField(Duration remaining, String field, Duration read) {
		FrameFlyweight.putRequestFields(this.frame, 0, 0, remaining.toNanos(), 0, 0, 0);
		int written = this.frame.getInt(FrameFlyweight.DEADLINE_OFFSET);
		assertThat(HEX.toHexDigits(written)).isEqualTo(field);
		assertThat(Duration.ofNanos(FrameFlyweight.deadlineNanos(written))).isEqualTo(read);
	}

	@Test
	void continuation() {
		FrameFlyweight.putHeader(this.frame, 0, FrameType.CONTINUATION, 0x0001_0002, 0x0010_0000, 0x1FF0);
		assertThat(bytes(FrameFlyweight.HEADER_LENGTH))
			.isEqualTo("05" + "00" + "0000" + "02000100" + "00001000" + "f01f0000");
		assertThat(FrameFlyweight.offsetBytes(this.frame)).isEqualTo(0x1FF0);
	}

	@Test
	void requestOfAStream() {
		FrameFlyweight.putHeader(this.frame, 0, FrameType.REQUEST, 0x0102_0304, 8, 0x0000_0020);
		FrameFlyweight.putFlags(this.frame, 0, FrameFlyweight.FLAG_STREAM);
		FrameFlyweight.putRequestFields(this.frame, 0, 1, 0, 1, 2, 0);
		assertThat(bytes(FrameFlyweight.REQUEST_HEADER_LENGTH))
			.isEqualTo("03" + "04" + "0000" + "04030201" + "08000000" + "20000000" // header
					+ "0100000000000000" + "00000000" + "01" + "02" + "0000");
	}

	@Test
	void requestWithoutReply() {
		FrameFlyweight.putHeader(this.frame, 0, FrameType.REQUEST, 0x0102_0304, 8, 0);
		FrameFlyweight.putFlags(this.frame, 0, FrameFlyweight.FLAG_ONE_WAY);
		FrameFlyweight.putRequestFields(this.frame, 0, 1, 0, 1, 2, 0);
		assertThat(bytes(FrameFlyweight.REQUEST_HEADER_LENGTH))
			.isEqualTo("03" + "10" + "0000" + "04030201" + "08000000" + "00000000" // header
					+ "0100000000000000" + "00000000" + "01" + "02" + "0000");
	}

	@Test
	void messageOfAStream() {
		FrameFlyweight.putHeader(this.frame, 0, FrameType.MESSAGE, 0x0001_0002, 0x0A0B_0C0D, 0);
		assertThat(bytes(FrameFlyweight.headerLength(FrameType.MESSAGE)))
			.isEqualTo("0e" + "00" + "0000" + "02000100" + "0d0c0b0a" + "00000000");
	}

	@Test
	void demand() {
		FrameFlyweight.putHeader(this.frame, 0, FrameType.DEMAND, 0x0001_0002, 0x7FFF_FFFF, 0x0002_0000);
		assertThat(bytes(16)).isEqualTo("0f" + "00" + "0000" + "02000100" + "ffffff7f" + "00000200");
	}

	@ParameterizedTest
	@CsvSource({ "6, CANCEL, 00030001", "7, CREDIT, 00000000", "8, PING, 00000000", "9, PONG, 00000000",
			"10, GOODBYE, 00000000", "16, END, 00030001" })
	void frameOfNothingButAHeader(int type, String name, String subject) {
		FrameFlyweight.putHeader(this.frame, 0, type, Integer.reverseBytes(Integer.parseInt(subject, 16)), 0, 0);
		assertThat(bytes(16)).isEqualTo(HEX.toHexDigits((byte) type) + "00" + "0000" + subject + "00".repeat(8));
		assertThat(FrameType.name(type)).isEqualTo(name);
	}

	@Test
	void headerOfALaterFrameDoesNotTouchItsNeighbours() {
		for (int i = 0; i < this.frame.capacity(); i++) {
			this.frame.put(i, (byte) 0xEE);
		}
		FrameFlyweight.putHeader(this.frame, 24, FrameType.CONTINUATION, 1, 2, 3);
		assertThat(bytes(64)).isEqualTo("ee".repeat(24) + "05000000010000000200000003000000" + "ee".repeat(24));
	}

	@Test
	void typesAreThoseOfTheDocument() {
		assertThat(IntStream.rangeClosed(0, 18).mapToObj(FrameType::name)).containsExactly("unknown type 0", "HELLO",
				"HELLO_REPLY", "REQUEST", "REPLY", "CONTINUATION", "CANCEL", "CREDIT", "PING", "PONG", "GOODBYE",
				"READ_DONE", "RETURN", "READ_PROGRESS", "MESSAGE", "DEMAND", "END", "METADATA", "unknown type 18");
	}

	@Test
	void paddingReachesTheNextMultipleOfEight() {
		assertThat(IntStream.of(0, 1, 7, 8, 9, 1023, 1024).map(FrameFlyweight::padded)).containsExactly(0, 8, 8, 8, 16,
				1024, 1024);
	}

	private String bytes(int length) {
		return HEX.formatHex(this.frame.array(), 0, length);
	}

}
