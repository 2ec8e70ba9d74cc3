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
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The bytes of docs/wire-protocol.md, section "Connections". */
class HelloFlyweightTests {

	private final ByteBuffer frame = ByteBuffer.allocate(ChannelOptions.MIN_FRAME_BYTES).order(ByteOrder.LITTLE_ENDIAN);

	@Test
	void hello() {
		FrameFlyweight.putHeader(this.frame, 0, FrameType.HELLO, 0, 0, 0);
		int length = HelloFlyweight.put(this.frame, 1, 2,
				ChannelOptions.DEFAULTS.withFrames(8192, 128).withLimits(16 << 20, 4096), 0, "");
		assertThat(length).isEqualTo(46);
		assertThat(bytes(length)).isEqualTo("01" + "00".repeat(15) // frame header
				+ "52525043" + "0100" + "0200" + "00200000" + "00000001" + "00100000" + "0800" + "0000" + "0000"
				+ "8000" + "0000");
		assertThat(HelloFlyweight.problem(this.frame, length)).isNull();
		assertThat(HelloFlyweight.lowVersion(this.frame)).isEqualTo(1);
		assertThat(HelloFlyweight.highVersion(this.frame)).isEqualTo(2);
		assertThat(HelloFlyweight.frameBytes(this.frame)).isEqualTo(8192);
		assertThat(HelloFlyweight.maxMessageBytes(this.frame)).isEqualTo(16 << 20);
		assertThat(HelloFlyweight.maxCalls(this.frame)).isEqualTo(4096);
		assertThat(HelloFlyweight.credits(this.frame)).isEqualTo(8);
		assertThat(HelloFlyweight.mostCredits(this.frame)).isEqualTo(128);
		HelloFlyweight.putFeatures(this.frame, HelloFlyweight.FEATURE_READS);
		assertThat(HelloFlyweight.features(this.frame)).isEqualTo(HelloFlyweight.FEATURE_READS);
		assertThat(HelloFlyweight.mostCredits(this.frame)).isEqualTo(128);
	}

	@Test
	void noMostOfCreditsMeansThatTheyStay() {
		int length = HelloFlyweight.put(this.frame, 1, 1, ChannelOptions.DEFAULTS.withCredits(20, 30), 0, "");
		this.frame.putShort(42, (short) 0);
		assertThat(HelloFlyweight.problem(this.frame, length)).isNull();
		assertThat(HelloFlyweight.mostCredits(this.frame)).isEqualTo(20);
	}

	@Test
	void metadataIsAnnouncedBehindTheText() {
		int length = HelloFlyweight.put(this.frame, 1, 1, ChannelOptions.DEFAULTS, 0, "codec");
		assertThat(HelloFlyweight.metadataBytes(this.frame, length)).isEqualTo(1024);
		length = HelloFlyweight.putMetadataBytes(this.frame, length, 7640);
		assertThat(HelloFlyweight.problem(this.frame, length)).isNull();
		assertThat(HelloFlyweight.metadataBytes(this.frame, length)).isEqualTo(7640);
		assertThat(HelloFlyweight.text(this.frame, length)).isEqualTo("codec");
		assertThat(HelloFlyweight.metadataBytes(this.frame, length - 1)).as("cut off").isEqualTo(1024);
		HelloFlyweight.putMetadataBytes(this.frame, length - 2, 7641);
		assertThat(HelloFlyweight.problem(this.frame, length)).contains("7641 bytes of metadata in frames of 8192");
		HelloFlyweight.putMetadataBytes(this.frame, length - 2, 0xFFFF);
		assertThat(HelloFlyweight.problem(this.frame, length)).contains("65535 bytes of metadata");
		this.frame.putShort(44, (short) 0xFFFF);
		assertThat(HelloFlyweight.metadataBytes(this.frame, length)).as("behind the frame").isEqualTo(1024);
	}

	@Test
	void windowOfStreamsIsAnnouncedBehindTheMetadata() {
		int length = HelloFlyweight.put(this.frame, 1, 1, ChannelOptions.DEFAULTS, 0, "codec");
		assertThat(HelloFlyweight.streamWindowBytes(this.frame, length)).as("not announced").isZero();
		length = HelloFlyweight.putMetadataBytes(this.frame, length, 0x0102);
		length = HelloFlyweight.putStreamWindowBytes(this.frame, length, 0x0304_0506);
		assertThat(bytes(length)).contains("0c00" + "8000" + "0500" + "636f646563" + "0201" + "06050403");
		assertThat(HelloFlyweight.problem(this.frame, length)).isNull();
		assertThat(HelloFlyweight.streamWindowBytes(this.frame, length)).isEqualTo(0x0304_0506);
		assertThat(HelloFlyweight.metadataBytes(this.frame, length)).isEqualTo(0x0102);
		assertThat(HelloFlyweight.problem(this.frame, length - 1)).as("cut off").contains("streams of 0 bytes");
		HelloFlyweight.putStreamWindowBytes(this.frame, length - 4, 1023);
		assertThat(HelloFlyweight.problem(this.frame, length)).contains("streams of 1023 bytes");
		HelloFlyweight.putStreamWindowBytes(this.frame, length - 4, -1);
		assertThat(HelloFlyweight.problem(this.frame, length)).contains("streams of -1 bytes");
	}

	@Test
	void tokenIsShownBehindAllElse() {
		int length = HelloFlyweight.put(this.frame, 1, 1, ChannelOptions.DEFAULTS, 0, "codec");
		assertThat(HelloFlyweight.token(this.frame)).as("not shown").isNull();
		length = HelloFlyweight.putMetadataBytes(this.frame, length, 0x0102);
		length = HelloFlyweight.putStreamWindowBytes(this.frame, length, 0x0304_0506);
		length = HelloFlyweight.putToken(this.frame, length, new byte[] { 7, 8, 9 });
		assertThat(bytes(length)).contains("2c00" + "8000" + "0500" + "636f646563" + "0201" + "06050403")
			.endsWith("0300" + "070809");
		assertThat(HelloFlyweight.problem(this.frame, length)).isNull();
		assertThat(HelloFlyweight.token(this.frame)).containsExactly(7, 8, 9);
		assertThat(HelloFlyweight.problem(this.frame, length - 1)).as("cut off").contains("token that is cut off");
		assertThat(HelloFlyweight.problem(this.frame, length - 4)).as("cut off").contains("token that is cut off");
		this.frame.putShort(length - 5, (short) 0xFFFF);
		assertThat(HelloFlyweight.problem(this.frame, length)).contains("token that is cut off");
		this.frame.putShort(length - 5, (short) 1025);
		assertThat(HelloFlyweight.problem(this.frame, ChannelOptions.MIN_FRAME_BYTES)).contains("too long");
		this.frame.putShort(44, (short) 0xFFFF);
		assertThat(HelloFlyweight.problem(this.frame, length)).as("behind the frame").isNotNull();
	}

	@Test
	void refusal() {
		FrameFlyweight.putHeader(this.frame, 0, FrameType.HELLO_REPLY, 0, 0, 0);
		int length = HelloFlyweight.put(this.frame, 1, 1, ChannelOptions.DEFAULTS, HelloFlyweight.REFUSED_DRAINING,
				"nö");
		assertThat(bytes(length)).startsWith("02").endsWith("0300" + "00008000" + "0300" + "6ec3b6");
		assertThat(HelloFlyweight.problem(this.frame, length)).isNull();
		assertThat(HelloFlyweight.refusal(this.frame)).isEqualTo(3);
		assertThat(HelloFlyweight.text(this.frame, length)).isEqualTo("nö");
	}

	@Test
	void longTextIsCut() {
		int length = HelloFlyweight.put(this.frame, 1, 1, ChannelOptions.DEFAULTS, 2, "x".repeat(1000));
		assertThat(length).isEqualTo(46 + 400);
		assertThat(HelloFlyweight.text(this.frame, length)).isEqualTo("x".repeat(400));
	}

	@Test
	void controlCharactersAreReplaced() {
		int length = HelloFlyweight.put(this.frame, 1, 1, ChannelOptions.DEFAULTS, 2,
				"a\nb\r\tc\u001B[2Kd\u007Fe\u0085f\u009B2Kg\u2028h\u2029i");
		assertThat(HelloFlyweight.text(this.frame, length)).isEqualTo("a?b??c?[2Kd?e?f?2Kg?h?i");
	}

	@Test
	void textIsNotReadBeyondTheFrame() {
		int length = HelloFlyweight.put(this.frame, 1, 1, ChannelOptions.DEFAULTS, 2, "because");
		this.frame.put(length, "secret".getBytes(StandardCharsets.US_ASCII));
		this.frame.putShort(44, (short) 0xFFFF);
		assertThat(HelloFlyweight.text(this.frame, length)).isEqualTo("because");
		assertThat(HelloFlyweight.text(this.frame, 46)).isEmpty();
		assertThat(HelloFlyweight.text(this.frame, 20)).isEmpty();
	}

	@ParameterizedTest
	@MethodSource
	void impossibleValuesAreProblems(String expected, Consumer<ByteBuffer> damage) {
		int length = HelloFlyweight.put(this.frame, 1, 1, ChannelOptions.DEFAULTS, 0, "");
		damage.accept(this.frame);
		assertThat(HelloFlyweight.problem(this.frame, length)).contains(expected);
	}

	static Stream<Arguments> impossibleValuesAreProblems() {
		return Stream.of(damaged("without magic", (frame) -> frame.putInt(16, 0x4350_5253)),
				damaged("frame size of 2040", (frame) -> frame.putInt(24, 2040)),
				damaged("frame size of 0", (frame) -> frame.putInt(24, 0)),
				damaged("frame size of -8", (frame) -> frame.putInt(24, -8)),
				damaged("frame size of 1048584", (frame) -> frame.putInt(24, (1 << 20) + 8)),
				damaged("frame size of 2049", (frame) -> frame.putInt(24, 2049)),
				damaged("limits of 0 bytes", (frame) -> frame.putInt(28, 0)),
				damaged("limits of -1 bytes", (frame) -> frame.putInt(28, -1)),
				damaged("and 0 calls", (frame) -> frame.putInt(32, 0)),
				damaged("and 65537 calls", (frame) -> frame.putInt(32, 65537)),
				damaged("and -1 calls", (frame) -> frame.putInt(32, -1)),
				damaged("with 7 credits", (frame) -> frame.putShort(36, (short) 7)),
				damaged("with 16385 credits", (frame) -> frame.putShort(36, (short) 16385)),
				damaged("with 65535 credits", (frame) -> frame.putShort(36, (short) -1)),
				damaged("with 8 and at most 7 credits", (frame) -> frame.putShort(42, (short) 7)),
				damaged("with 8 and at most 16385 credits", (frame) -> frame.putShort(42, (short) 16385)),
				damaged("with 8 and at most 65535 credits", (frame) -> frame.putShort(42, (short) -1)));
	}

	private static Arguments damaged(String expected, Consumer<ByteBuffer> damage) {
		return Arguments.of(expected, damage);
	}

	@Test
	void limitsAtTheirBoundsAreNoProblem() {
		ChannelOptions least = ChannelOptions.DEFAULTS.withFrames(2048, 8).withLimits(1, 1);
		assertThat(HelloFlyweight.problem(this.frame, HelloFlyweight.put(this.frame, 1, 1, least, 0, ""))).isNull();
		ChannelOptions most = ChannelOptions.DEFAULTS.withFrames(1 << 20, 1 << 14).withLimits((1 << 30) - 1, 1 << 16);
		assertThat(HelloFlyweight.problem(this.frame, HelloFlyweight.put(this.frame, 1, 1, most, 0, ""))).isNull();
	}

	@Test
	void truncatedBodyIsAProblemAtEveryLength() {
		int length = HelloFlyweight.put(this.frame, 1, 1, ChannelOptions.DEFAULTS, 0, "");
		for (int shorter = 0; shorter < length; shorter++) {
			assertThat(HelloFlyweight.problem(this.frame, shorter)).as("%d bytes", shorter).contains("at least 46");
		}
	}

	private String bytes(int length) {
		return HexFormat.of().formatHex(this.frame.array(), 0, length);
	}

}
