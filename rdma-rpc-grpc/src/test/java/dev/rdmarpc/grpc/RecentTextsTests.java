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
import java.nio.charset.StandardCharsets;
import java.util.Random;

import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read again and again, and what is not. */
class RecentTextsTests {

	private final RecentTexts texts = new RecentTexts();

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 7, 8, 9, 16, 63, 64 })
	void whatWasReadBeforeIsTheSameObject(int length) {
		String text = "a".repeat(length);
		ByteBuffer first = at(3, text);
		ByteBuffer second = at(11, text);
		byte[] bytes = this.texts.read(first, 3, length).bytes();
		Assertions.assertThat(bytes).isEqualTo(text.getBytes(StandardCharsets.UTF_8));
		Assertions.assertThat(this.texts.read(second, 11, length).bytes()).isSameAs(bytes);
		String read = this.texts.read(first, 3, length).text();
		Assertions.assertThat(read).isEqualTo(text);
		Assertions.assertThat(this.texts.read(second, 11, length).text()).isSameAs(read);
	}

	@Test
	void whatIsLongIsNotKept() {
		ByteBuffer source = at(0, "x".repeat(65));
		Assertions.assertThat(this.texts.read(source, 0, 65).bytes())
			.hasSize(65)
			.isNotSameAs(this.texts.read(source, 0, 65).bytes());
		Assertions.assertThat(this.texts.read(source, 0, 65).text()).hasSize(65);
	}

	@Test
	void noOtherTextDrivesOneOut() {
		String text = "grpc-accept-encoding";
		ByteBuffer source = at(0, text);
		for (int i = 0; i < 4 * RecentTexts.SLOTS; i++) {
			RecentTexts two = new RecentTexts();
			byte[] bytes = two.read(source, 0, text.length()).bytes();
			String other = "other-" + i;
			byte[] others = two.read(at(0, other), 0, other.length()).bytes();
			Assertions.assertThat(two.read(source, 0, text.length()).bytes()).as(other).isSameAs(bytes);
			Assertions.assertThat(two.read(at(0, other), 0, other.length()).bytes()).as(other).isSameAs(others);
		}
	}

	@Test
	void textMayBeAny() {
		String text = "h\u00e9llo \u4e16\u754c";
		int length = text.getBytes(StandardCharsets.UTF_8).length;
		Assertions.assertThat(this.texts.read(at(5, text), 5, length).text()).isEqualTo(text);
	}

	@Test
	void nothingBehindTheSourceIsRead() {
		ByteBuffer source = at(0, "0123456789");
		Assertions.assertThatThrownBy(() -> this.texts.read(source.limit(4), 0, 5).bytes())
			.isInstanceOf(IndexOutOfBoundsException.class);
	}

	@Test
	void manyTextsOfSimilarContentAreToldApart() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		for (int i = 0; i < 200_000; i++) {
			byte[] bytes = new byte[random.nextInt(20)];
			for (int k = 0; k < bytes.length; k++) {
				bytes[k] = (byte) ('a' + random.nextInt(2));
			}
			ByteBuffer source = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
			Assertions.assertThat(this.texts.read(source, 0, bytes.length).bytes())
				.as("seed %d", seed)
				.isEqualTo(bytes);
		}
	}

	private static ByteBuffer at(int offset, String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		return ByteBuffer.allocateDirect(offset + bytes.length).order(ByteOrder.LITTLE_ENDIAN).put(offset, bytes);
	}

}
