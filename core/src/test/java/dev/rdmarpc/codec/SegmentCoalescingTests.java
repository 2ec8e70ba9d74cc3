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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class SegmentCoalescingTests {

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20260302L);

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withLeakDetection(LeakDetection.PARANOID));

	private final MessageSegments segments = new MessageSegments();

	@AfterEach
	void nothingIsOutstanding() {
		this.segments.clear();
		assertThat(this.memory.metrics().outstanding()).as("buffers outstanding").isZero();
		this.memory.close();
	}

	@Test
	void theSmallestAreCopiedAndTheLargeStay() {
		List<ByteBuffer> parts = parts(10, 5000, 20, 30, 6000, 7000, 40);
		this.segments.coalesce(6);
		assertThat(lengths()).containsExactly(10, 5000, 50, 6000, 7000, 40);
		assertThat(this.segments.segmentMemory(1)).isSameAs(parts.get(1));
		this.segments.coalesce(5);
		assertThat(lengths()).containsExactly(5010, 50, 6000, 7000, 40);
	}

	@Test
	void fewEnoughStayAsTheyAre() {
		List<ByteBuffer> parts = parts(10, 5000, 20);
		this.segments.coalesce(3);
		assertThat(lengths()).containsExactly(10, 5000, 20);
		assertThat(this.segments.segmentMemory(0)).isSameAs(parts.get(0));
	}

	@Test
	void largeRegisteredMemoryStaysWhereItIs() {
		RegisteredBuffer large = this.memory.allocate(4000);
		parts(100, 200);
		this.segments.add(large, 0, 4000);
		large.release();
		parts(300);
		this.segments.coalesce(3);
		assertThat(lengths()).containsExactly(300, 4000, 300);
		assertThat(this.segments.segmentBuffer(1)).isSameAs(large);
		assertThat(this.memory.metrics().outstanding()).isOne();
	}

	@Test
	void everySegmentIsOneWhenOnlyOneIsAllowed() {
		parts(1, 2, 3, 100_000, 4);
		String before = content();
		this.segments.coalesce(1);
		assertThat(lengths()).containsExactly(100_010);
		assertThat(content()).isEqualTo(before);
		assertThatIllegalArgumentException().isThrownBy(() -> this.segments.coalesce(0))
			.withMessage("maxSegments 0 (expected: at least 1)");
	}

	@Test
	void anEmptyMessageStaysEmpty() {
		this.segments.coalesce(1);
		assertThat(this.segments.segmentCount()).isZero();
	}

	@Test
	void contentNeverChanges() {
		for (long seed = SEED; seed < SEED + 500; seed++) {
			Random random = new Random(seed);
			int count = random.nextInt(60);
			for (int i = 0; i < count; i++) {
				int length = 1 + random.nextInt(random.nextBoolean() ? 10 : 2000);
				if (random.nextBoolean()) {
					parts(length);
				}
				else {
					RegisteredBuffer buffer = this.memory.allocate(length);
					this.segments.add(buffer, 0, length);
					buffer.release();
				}
			}
			String before = content();
			int limit = 1 + random.nextInt(10);
			this.segments.coalesce(limit);
			assertThat(this.segments.segmentCount()).as("seed %s", seed).isLessThanOrEqualTo(limit);
			assertThat(content()).as("seed %s", seed).isEqualTo(before);
			this.segments.clear();
		}
	}

	private List<ByteBuffer> parts(int... lengths) {
		List<ByteBuffer> parts = new ArrayList<>();
		for (int length : lengths) {
			ByteBuffer part = ByteBuffer.allocate(length);
			IntStream.range(0, length).forEach((i) -> part.put(i, (byte) ('a' + (i + length) % 26)));
			this.segments.addBytes(part);
			parts.add(part);
		}
		return parts;
	}

	private List<Integer> lengths() {
		return IntStream.range(0, this.segments.segmentCount()).mapToObj(this.segments::segmentLength).toList();
	}

	private String content() {
		ByteBuffer all = ByteBuffer.allocate(this.segments.totalBytes());
		this.segments.copyTo(all);
		return new String(all.array(), java.nio.charset.StandardCharsets.ISO_8859_1);
	}

}
