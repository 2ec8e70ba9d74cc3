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

package dev.rdmarpc.memory;

import java.util.Objects;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class ExtentMemoryTests {

	private static final int MIB = 1 << 20;

	private final ExtentMemory memory = new ExtentMemory(16 * MIB);

	private ExtentMemory.Piece take(int bytes) {
		return Objects.requireNonNull(this.memory.take(bytes, bytes));
	}

	@Test
	void whatWasGivenBackIsTakenAgain() {
		ExtentMemory.Piece piece = take(4 * MIB);
		piece.memory().putLong(0, 42);
		this.memory.give(piece);
		ExtentMemory.Piece again = take(4 * MIB);
		assertThat(again).isSameAs(piece);
		assertThat(again.memory().getLong(0)).isEqualTo(42);
		assertThat(again.memory().alignmentOffset(0, MemoryOptions.PAGE_BYTES)).isZero();
		assertThat(this.memory.leftBytes()).isEqualTo(12 * MIB);
	}

	@Test
	void idleMemoryCountsUntilItIsFreed() {
		this.memory.give(take(8 * MIB));
		assertThat(this.memory.idleBytes()).isEqualTo(8 * MIB);
		assertThat(this.memory.leftBytes()).isEqualTo(8 * MIB);
		assertThat(this.memory.take(9 * MIB, 9 * MIB)).isNull();
		collectFor(16 * MIB);
		assertThat(this.memory.idleBytes()).isZero();
		assertThat(take(16 * MIB).memory().capacity()).isEqualTo(16 * MIB);
		assertThat(this.memory.take(1, 1)).isNull();
	}

	@Test
	void memoryInUseIsNotFreed() {
		ExtentMemory.Piece used = take(8 * MIB);
		this.memory.give(take(8 * MIB));
		assertThat(this.memory.want(9 * MIB)).as("it would not be enough").isFalse();
		collectFor(8 * MIB);
		assertThat(used.memory().capacity()).isEqualTo(8 * MIB);
	}

	private void collectFor(int bytes) {
		while (this.memory.leftBytes() < bytes) {
			assertThat(this.memory.want(bytes)).isTrue();
			this.memory.collect();
		}
	}

	@Test
	void pieceOfAboutTheRightSizeIsTakenFirstThenNewMemory() {
		ExtentMemory.Piece large = take(8 * MIB);
		ExtentMemory.Piece small = take(2 * MIB);
		this.memory.give(large);
		this.memory.give(small);
		assertThat(take(MIB)).isSameAs(small);
		ExtentMemory.Piece fresh = take(MIB);
		assertThat(fresh).isNotSameAs(large);
		assertThat(take(5 * MIB)).isSameAs(large);
	}

	@Test
	void anyLargerPieceIsTakenWhenTheBudgetIsSpent() {
		ExtentMemory.Piece all = take(16 * MIB);
		this.memory.give(all);
		assertThat(take(MIB)).isSameAs(all);
		assertThat(this.memory.leftBytes()).isZero();
	}

	@Test
	void lessThanAskedForIsGivenWhenNoMoreIsLeft() {
		take(14 * MIB);
		ExtentMemory.Piece rest = this.memory.take(MIB, 4 * MIB);
		assertThat(rest).isNotNull();
		assertThat(rest.memory().capacity()).isEqualTo(2 * MIB);
		assertThat(this.memory.take(1, 1)).isNull();
	}

}
