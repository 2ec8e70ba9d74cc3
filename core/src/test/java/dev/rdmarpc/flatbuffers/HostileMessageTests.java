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

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.LocalTime;
import java.util.HexFormat;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.ValuesTooLargeException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Messages made to hurt, each with one thing wrong. */
class HostileMessageTests {

	private static final int ROOT = 12;

	/**
	 * A table at byte 12 with the fields text, children, numbers, and room for targets
	 * from 32 on.
	 */
	private final ByteBuffer message = ByteBuffer.allocateDirect(256)
		.order(ByteOrder.LITTLE_ENDIAN)
		.putInt(0, ROOT)
		.putShort(4, (short) 8)
		.putShort(6, (short) 16)
		.putShort(8, (short) 4)
		.putShort(10, (short) 8)
		.putInt(ROOT, ROOT - 4)
		.putInt(16, 16)
		.putInt(20, 44)
		.putInt(32, 3)
		.put(36, "abc".getBytes(StandardCharsets.UTF_8))
		.putInt(64, 0);

	@Test
	void theMessageIsFineBeforeItIsBroken() {
		assertThat(decode()).isEqualTo(new Node("abc", List.of(), null));
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 3, 4, 7 })
	void tooShort(int length) {
		this.message.limit(length);
		expect("message of " + length + " bytes at byte 0");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 256, 253, Integer.MAX_VALUE, Integer.MIN_VALUE, -1 })
	void rootOutOfBounds(int offset) {
		this.message.putInt(0, offset);
		expect("reference out of bounds at byte 0");
	}

	@Test
	void rootMisaligned() {
		this.message.putInt(0, ROOT + 1);
		expect("misaligned reference at byte 0");
	}

	@ParameterizedTest
	@ValueSource(ints = { Integer.MIN_VALUE, Integer.MAX_VALUE, ROOT + 1, ROOT - 253, 7 })
	void vtableOutOfBounds(int offset) {
		this.message.putInt(ROOT, offset);
		expect("vtable out of bounds at byte 12");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 2, 3, 9, 254, 65535 })
	void vtableOfBrokenSize(int size) {
		this.message.putShort(4, (short) size);
		expect("vtable of " + size + " bytes");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 3 })
	void tableSmallerThanItsHeader(int size) {
		this.message.putShort(6, (short) size);
		expect("for a table of " + size);
	}

	@Test
	void tableBeyondTheEnd() {
		this.message.putShort(6, (short) 245);
		expect("table of 245 bytes beyond the end at byte 12");
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 3, 13, 16, 65535 })
	void fieldOutOfBounds(int offset) {
		this.message.putShort(8, (short) offset);
		expect("field 'text' out of bounds of its table");
	}

	@Test
	void fieldMisaligned() {
		this.message.putShort(8, (short) 6);
		expect("misaligned field 'text'");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 240, -4, Integer.MIN_VALUE })
	void stringOutOfBounds(int offset) {
		this.message.putInt(16, offset);
		expect("reference out of bounds at byte 16");
	}

	@ParameterizedTest
	@ValueSource(ints = { 221, 65536, Integer.MAX_VALUE, -1 })
	void stringBeyondTheEnd(int length) {
		this.message.putInt(32, length);
		expect("beyond the end at byte 32");
	}

	@Test
	void stringWithoutTerminator() {
		this.message.putInt(32, 2);
		expect("string without terminator at byte 32");
		this.message.putInt(32, 220);
		expect("string without terminator at byte 32");
	}

	@ParameterizedTest
	@ValueSource(strings = { "80", "C0AF", "C1BF", "E0809F", "EDA080", "EDBFBF", "F0808080", "F4908080", "F5808080",
			"FF", "C3", "E282", "F09F98", "C3C3", "E28228", "414243444546474880" })
	void stringThatIsNotUtf8(String hex) {
		byte[] bytes = HexFormat.of().parseHex(hex);
		this.message.putInt(32, bytes.length).put(36, bytes).put(36 + bytes.length, (byte) 0);
		expect("string that is not UTF-8 at byte 32");
	}

	@ParameterizedTest
	@ValueSource(ints = { 48, 0x4000_0000, 0x2000_0001, Integer.MAX_VALUE, -1 })
	void vectorBeyondTheEnd(int count) {
		this.message.putInt(64, count);
		expect("beyond the end at byte 64");
	}

	@Test
	void vectorMisaligned() {
		this.message.putShort(4, (short) 10).putShort(12, (short) 8);
		this.message.putInt(0, 16).putShort(8, (short) 0).putShort(10, (short) 0).putInt(16, 12);
		this.message.putInt(24, 40).putInt(64, 1);
		this.message.putInt(24, 44).putInt(68, 1);
		assertThat(((Node) decode()).numbers()).hasSize(1);
		this.message.putInt(24, 40).putInt(64, 1);
		expect("misaligned vector at byte 64");
	}

	@Test
	void tooDeep() {
		assertThatExceptionOfType(MalformedMessageException.class)
			.isThrownBy(() -> Messages.decode(Messages.result(Node.class), chain(65)))
			.withMessageContaining("nested deeper than 64 tables");
		Node node = (Node) Messages.decode(Messages.result(Node.class), chain(64));
		int depth = 0;
		for (; node.children() != null; node = node.children().get(0)) {
			depth++;
		}
		assertThat(depth).isEqualTo(63);
	}

	/** Tables that each hold the next as their only child. */
	private static ByteBuffer chain(int depth) {
		ByteBuffer message = ByteBuffer.allocateDirect(12 + 16 * depth).order(ByteOrder.LITTLE_ENDIAN);
		message.putInt(12).putShort((short) 8).putShort((short) 8).putShort((short) 0).putShort((short) 4);
		for (int i = 0; i < depth - 1; i++) {
			message.putInt(message.position() - 4).putInt(4).putInt(1).putInt(4);
		}
		message.putInt(message.position() - 4).putInt(0);
		int last = message.position() - 8;
		message.putShort(last - 0, (short) 0);
		message.putInt(last, last - (message.capacity() - 8));
		message.putShort(message.capacity() - 8, (short) 4).putShort(message.capacity() - 6, (short) 4);
		return message.rewind();
	}

	@Test
	void sharedContentIsLimited() {
		int children = 1000;
		ByteBuffer bomb = ByteBuffer.allocateDirect(64 + 2 * 4 * (children + 1) + 1024).order(ByteOrder.LITTLE_ENDIAN);
		int levels = 2;
		int at = 12;
		bomb.putInt(0, at).putShort(4, (short) 8).putShort(6, (short) 8).putShort(8, (short) 0).putShort(10, (short) 4);
		for (int level = 0; level < levels; level++) {
			bomb.putInt(at, at - 4).putInt(at + 4, 4).putInt(at + 8, children);
			int next = at + 12 + 4 * children;
			for (int i = 0; i < children; i++) {
				int slot = at + 12 + 4 * i;
				bomb.putInt(slot, next - slot);
			}
			at = next;
		}
		bomb.putShort(at + 4, (short) 4).putShort(at + 6, (short) 4).putInt(at, -4);
		assertThatExceptionOfType(ValuesTooLargeException.class)
			.isThrownBy(() -> Messages.decode(Messages.result(Node.class), bomb))
			.withMessageContaining("more than 40 bytes for each of its own");
	}

	@Test
	void valuesThatTheTypeRejects() {
		ByteBuffer time = Messages.encode(Messages.result(LocalTime.class), LocalTime.MAX);
		for (int i = time.position(); i < time.limit() - 8; i++) {
			if (time.getLong(i) == LocalTime.MAX.toNanoOfDay()) {
				time.putLong(i, Long.MAX_VALUE);
			}
		}
		assertThatExceptionOfType(MalformedMessageException.class)
			.isThrownBy(() -> Messages.decode(Messages.result(LocalTime.class), time))
			.withMessageContaining("TestService.call result rejects its content: Invalid value for NanoOfDay");
		ByteBuffer negative = Messages.encode(Messages.result(Choosy.class), new Choosy(1));
		negative.putInt(8, -1);
		assertThatExceptionOfType(MalformedMessageException.class)
			.isThrownBy(() -> Messages.decode(Messages.result(Choosy.class), negative))
			.withMessageContaining("Choosy rejects its content: value -1 (expected: at least 0)")
			.withCauseInstanceOf(IllegalArgumentException.class);
	}

	@Test
	void aNumberWithoutDigits() {
		ByteBuffer number = Messages.encode(Messages.result(BigDecimal.class), BigDecimal.TEN);
		int root = number.position() + number.getInt(number.position());
		number.putShort(root - number.getInt(root) + 4, (short) 0);
		assertThatExceptionOfType(MalformedMessageException.class)
			.isThrownBy(() -> Messages.decode(Messages.result(BigDecimal.class), number))
			.withMessageContaining("java.math.BigDecimal rejects its content: a number without digits")
			.withCauseInstanceOf(IllegalArgumentException.class);
	}

	@Test
	void theOffsetOfTheBufferDoesNotMatter() {
		ByteBuffer shifted = ByteBuffer.allocateDirect(300).order(ByteOrder.LITTLE_ENDIAN);
		shifted.position(7).put(this.message.duplicate()).position(7).limit(7 + 256);
		assertThat(Messages.decode(Messages.result(Node.class), shifted)).isEqualTo(decode());
		assertThat(Messages.decode(Messages.result(Node.class), shifted.order(ByteOrder.BIG_ENDIAN)))
			.isEqualTo(decode());
		assertThat(shifted.position()).isEqualTo(7);
	}

	private Object decode() {
		return Messages.decode(Messages.result(Node.class), this.message);
	}

	private void expect(String reason) {
		assertThatExceptionOfType(MalformedMessageException.class).isThrownBy(this::decode)
			.withMessageContaining(reason);
	}

	record Node(String text, List<Node> children, List<Long> numbers) {

	}

	record Choosy(int value) {

		Choosy {
			if (value < 0) {
				throw new IllegalArgumentException("value " + value + " (expected: at least 0)");
			}
		}

	}

}
