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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.VerbsException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The memory for what peers have begun: nothing twice, nothing lost. */
class StagingMemoryTests {

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20261122L);

	private static final int BYTES = 2 * StagingMemory.MOST_BYTES;

	private final StagingMemory memory = new StagingMemory(BYTES);

	@Test
	void memoryThatTheProcessDoesNotHaveIsNamed() {
		int bytes = Integer.MAX_VALUE / StagingMemory.MOST_BYTES * StagingMemory.MOST_BYTES;
		assertThatExceptionOfType(VerbsException.class).isThrownBy(() -> new StagingMemory(bytes))
			.withMessageContaining("no direct memory for " + bytes + " bytes")
			.withCauseInstanceOf(OutOfMemoryError.class);
	}

	@Test
	void blocksAreRoundedUpModestly() {
		for (int bytes : new int[] { 1, 5, 256, 257, 4096, 65_544, StagingMemory.MOST_BYTES }) {
			StagingMemory.Block block = this.memory.tryAllocate(bytes);
			assertThat(block).isNotNull();
			assertThat(block.bytes()).isGreaterThanOrEqualTo(bytes)
				.isLessThanOrEqualTo(Math.max(StagingMemory.LEAST_BYTES, 2 * bytes - 1));
			assertThat(block.buffer().capacity()).isEqualTo(block.bytes());
			block.release();
		}
		assertThat(this.memory.tryAllocate(StagingMemory.MOST_BYTES + 1)).isNull();
		assertThat(this.memory.usedBytes()).isZero();
	}

	@Test
	void manySmallBlocksLeaveRoomForLargeOnesAfterwards() {
		List<StagingMemory.Block> blocks = new ArrayList<>();
		for (int i = 0; i < BYTES / StagingMemory.LEAST_BYTES; i++) {
			blocks.add(this.memory.tryAllocate(5));
		}
		assertThat(blocks).doesNotContainNull().doesNotHaveDuplicates();
		assertThat(this.memory.usedBytes()).isEqualTo(BYTES);
		assertThat(this.memory.tryAllocate(1)).isNull();
		blocks.forEach(StagingMemory.Block::release);
		assertThat(this.memory.usedBytes()).isZero();
		assertThat(this.memory.tryAllocate(StagingMemory.MOST_BYTES)).isNotNull();
		assertThat(this.memory.tryAllocate(StagingMemory.MOST_BYTES)).isNotNull();
		assertThat(this.memory.tryAllocate(1)).isNull();
	}

	@Test
	void noByteBelongsToTwo() {
		Random random = new Random(SEED);
		List<StagingMemory.Block> blocks = new ArrayList<>();
		List<Byte> marks = new ArrayList<>();
		for (int i = 0; i < 20_000; i++) {
			StagingMemory.Block block = random.nextBoolean()
					? this.memory.tryAllocate(1 + random.nextInt(1 << (6 + random.nextInt(12)))) : null;
			if (block != null) {
				byte mark = (byte) random.nextInt();
				fill(block, mark);
				blocks.add(block);
				marks.add(mark);
			}
			else if (!blocks.isEmpty()) {
				int index = random.nextInt(blocks.size());
				block = blocks.remove(index);
				assertHolds(block, marks.remove(index));
				block.release();
			}
			assertThat(this.memory.usedBytes()).as("in use at step %d, seed %d", i, SEED)
				.isEqualTo(blocks.stream().mapToInt(StagingMemory.Block::bytes).sum());
		}
		blocks.forEach(StagingMemory.Block::release);
		assertThat(this.memory.usedBytes()).isZero();
		assertThat(this.memory.tryAllocate(StagingMemory.MOST_BYTES)).isNotNull();
		assertThat(this.memory.tryAllocate(StagingMemory.MOST_BYTES)).isNotNull();
	}

	private static void fill(StagingMemory.Block block, byte mark) {
		ByteBuffer buffer = block.buffer();
		for (int at = 0; at < buffer.capacity(); at += 64) {
			buffer.put(at, mark);
		}
	}

	private static void assertHolds(StagingMemory.Block block, byte mark) {
		ByteBuffer buffer = block.buffer();
		for (int at = 0; at < buffer.capacity(); at += 64) {
			assertThat(buffer.get(at)).as("seed %d", SEED).isEqualTo(mark);
		}
	}

}
