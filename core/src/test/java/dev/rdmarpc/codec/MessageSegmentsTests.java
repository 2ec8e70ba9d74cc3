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

package dev.rdmarpc.codec;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class MessageSegmentsTests {

	private final MessageSegments segments = new MessageSegments();

	@Test
	void concatenatesWhatWasAdded() {
		ByteBuffer memory = bytes("0123456789");
		this.segments.add(memory, 2, 3);
		this.segments.add(memory, 0, 0);
		this.segments.add(bytes("abc"), 1, 2);
		ByteBuffer part = bytes("xyz").position(1);
		this.segments.addBytes(part);
		assertThat(this.segments.totalBytes()).isEqualTo(7);
		assertThat(this.segments.segmentCount()).isEqualTo(3);
		assertThat(slice(0, 100)).isEqualTo("234bcyz");
		assertThat(part.position()).isEqualTo(1);
	}

	@Test
	void neighboursBecomeOneSegment() {
		ByteBuffer memory = bytes("0123456789");
		this.segments.add(memory, 2, 3);
		this.segments.add(memory, 5, 2);
		this.segments.add(memory, 2, 1);
		assertThat(this.segments.segmentCount()).isEqualTo(2);
		assertThat(this.segments.segmentOffset(0)).isEqualTo(2);
		assertThat(this.segments.segmentLength(0)).isEqualTo(5);
		assertThat(this.segments.segmentMemory(1)).isSameAs(memory);
	}

	@Test
	void copiesAnySlice() {
		StringBuilder all = new StringBuilder();
		for (int i = 0; i < 20; i++) {
			String text = "x".repeat(i % 5) + i;
			all.append(text);
			this.segments.addBytes(bytes(text));
		}
		for (int from = 0; from <= all.length(); from++) {
			for (int length = 0; length <= all.length() - from + 2; length++) {
				assertThat(slice(from, length)).isEqualTo(all.substring(from, Math.min(from + length, all.length())));
			}
		}
		assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> slice(all.length() + 1, 1));
		assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> slice(-1, 1));
	}

	@Test
	void copiesTheWholeOrNothing() {
		this.segments.addBytes(bytes("abcd"));
		ByteBuffer target = ByteBuffer.allocate(3);
		assertThatExceptionOfType(BufferOverflowException.class).isThrownBy(() -> this.segments.copyTo(target));
		assertThat(target.position()).isZero();
	}

	@Test
	void keepsTheLimit() {
		assertThat(this.segments.maxBytes()).isEqualTo(Integer.MAX_VALUE);
		this.segments.maxBytes(5).addBytes(bytes("abc"));
		assertThatExceptionOfType(MessageTooLargeException.class).isThrownBy(() -> this.segments.addBytes(bytes("def")))
			.withMessage("message is larger than the limit of 5 bytes")
			.satisfies((ex) -> assertThat(ex.maxBytes()).isEqualTo(5));
		this.segments.clear();
		assertThat(this.segments.maxBytes()).isEqualTo(5);
		assertThatIllegalArgumentException().isThrownBy(() -> this.segments.maxBytes(-1))
			.withMessage("maxBytes -1 (expected: at least 0)");
	}

	@Test
	void claimedMemoryIsDistinctUntilClearedAndThenReused() {
		Set<ByteBuffer> claimed = Collections.newSetFromMap(new IdentityHashMap<>());
		List<ByteBuffer> inOrder = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			ByteBuffer memory = this.segments.claimMemory(100);
			assertThat(claimed.add(memory)).isTrue();
			assertThat(memory.isDirect()).isTrue();
			assertThat(memory.capacity()).isGreaterThanOrEqualTo(100);
			inOrder.add(memory);
		}
		this.segments.clear();
		assertThat(this.segments.claimMemory(1)).isSameAs(inOrder.get(0));
		ByteBuffer large = this.segments.claimMemory(50_000_000);
		assertThat(large.capacity()).isGreaterThanOrEqualTo(50_000_000);
		this.segments.clear();
		long retained = 0;
		claimed.clear();
		for (int i = 0; i < 5; i++) {
			retained += this.segments.claimMemory(1).capacity();
		}
		assertThat(retained).isLessThan(10_000_000);
	}

	@Test
	void workspacesAreKeptByType() {
		StringBuilder first = this.segments.workspace(StringBuilder.class, StringBuilder::new);
		this.segments.clear();
		assertThat(this.segments.workspace(StringBuilder.class, StringBuilder::new)).isSameAs(first);
		assertThat(this.segments.workspace(Object.class, Object::new)).isSameAs(first);
		assertThat(this.segments.workspace(Thread.class, Thread::new)).isNotNull();
		assertThat(this.segments.workspace(StringBuilder.class, StringBuilder::new)).isNotSameAs(first);
	}

	private String slice(int from, int length) {
		ByteBuffer target = ByteBuffer.allocate(length + 1).position(1);
		int copied = this.segments.copyTo(from, target);
		assertThat(target.position()).isEqualTo(copied + 1);
		return new String(target.array(), 1, copied, StandardCharsets.UTF_8);
	}

	private static ByteBuffer bytes(String text) {
		return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
	}

}
