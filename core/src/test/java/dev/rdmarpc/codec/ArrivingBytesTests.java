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
import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Arrays that are filled while their message arrives, and what they take of the heap. */
class ArrivingBytesTests {

	private static final int LENGTH = 300_000;

	private static final int INDEX = 24;

	private final HeapBudget budget = new HeapBudget(4L * LENGTH);

	private final ByteBuffer message = ByteBuffer.allocateDirect(INDEX + LENGTH + 100);

	private final byte[] content = new byte[LENGTH];

	ArrivingBytesTests() {
		new Random(3).nextBytes(this.content);
		this.message.put(INDEX, this.content);
	}

	@Test
	void isFilledInPiecesAndHandedOutOnce() {
		ArrivingBytes arriving = ArrivingBytes.of(this.budget, INDEX, LENGTH);
		ReceivedMemory memory = ReceivedMemory.lent();
		memory.expect(arriving);
		for (int end : new int[] { 0, INDEX, INDEX + 1, 70_000, 70_000, 200_000 }) {
			arriving.fill(this.message, end);
		}
		for (int i = INDEX; i < 200_000; i++) {
			this.message.put(i, (byte) 0);
		}
		byte[] first = memory.bytes(this.message, INDEX, LENGTH);
		assertThat(first).as("copied as it arrived").isEqualTo(this.content);
		assertThat(memory.bytes(this.message, INDEX, LENGTH)).isNotSameAs(first).isNotEqualTo(this.content);
		memory.release();
		assertThat(this.budget.takenBytes()).isZero();
	}

	@Test
	void isForNoOtherBytesThanTheVerifiedMessageHas() {
		ReceivedMemory memory = ReceivedMemory.given();
		memory.expect(ArrivingBytes.of(this.budget, INDEX, LENGTH));
		assertThat(memory.bytes(this.message, INDEX, LENGTH - 1)).hasSize(LENGTH - 1);
		assertThat(memory.bytes(this.message, INDEX + 4, LENGTH)).hasSize(LENGTH);
		assertThat(memory.bytes(this.message, INDEX, LENGTH)).isEqualTo(this.content);
		memory.handOver();
		assertThat(this.budget.takenBytes()).isZero();
	}

	@Test
	void isChargedOnce() {
		ReceivedMemory memory = ReceivedMemory.lent();
		memory.expect(ArrivingBytes.of(this.budget, INDEX, LENGTH));
		assertThat(this.budget.takenBytes()).isEqualTo(LENGTH);
		memory.charge(this.budget, LENGTH + 100_000);
		assertThat(this.budget.takenBytes()).isEqualTo(LENGTH + 100_000);
		memory.release();
		assertThat(this.budget.takenBytes()).isZero();
		memory.expect(ArrivingBytes.of(this.budget, INDEX, LENGTH));
		assertThatExceptionOfType(ValuesTooLargeException.class)
			.isThrownBy(() -> memory.charge(this.budget, 6L * LENGTH));
		memory.release();
		assertThat(this.budget.takenBytes()).isZero();
	}

	@Test
	void messagesThatArriveLeaveMostOfTheHeapToThoseThatAreThere() {
		ArrivingBytes first = ArrivingBytes.of(this.budget, INDEX, LENGTH);
		assertThat(first).isNotNull();
		assertThat(ArrivingBytes.of(this.budget, INDEX, LENGTH)).as("more than a quarter").isNull();
		assertThat(this.budget.take(3L * LENGTH)).isEqualTo(3L * LENGTH);
		first.release();
		first.release();
		assertThat(this.budget.takenBytes()).isEqualTo(3L * LENGTH);
		assertThat(ArrivingBytes.of(this.budget, INDEX, LENGTH)).as("others have taken it").isNull();
		assertThat(ArrivingBytes.of(new HeapBudget(1L << 40), INDEX, 1000)).as("not worth it").isNull();
		this.budget.giveBack(3L * LENGTH);
		assertThat(this.budget.takenBytes()).isZero();
	}

	@Test
	void arrayThatTheHeapHasNoRoomForIsLeftOut() {
		HeapBudget large = new HeapBudget(1L << 40);
		assertThat(ArrivingBytes.of(large, INDEX, Integer.MAX_VALUE)).isNull();
		assertThat(large.takenBytes()).isZero();
	}

}
