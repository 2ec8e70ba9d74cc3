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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.MessageAssembler.Assembly;
import dev.rdmarpc.transport.MessageAssembler.Outcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class MessageAssemblerTests {

	private static final int STEP = 10;

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(1 << 20)
		.withInitialBytes(0)
		.withExtentBytes(1 << 20)
		.withThreadCacheBytes(0)
		.withLeakDetection(LeakDetection.PARANOID));

	private final MessageAssembler assembler = new MessageAssembler(
			(bytes) -> this.declined ? null : this.memory.tryAllocate(bytes), 4, 20_000, STEP);

	private boolean declined;

	private long nowNanos;

	@AfterEach
	void nothingIsOutstanding() {
		this.assembler.close(Integer.MAX_VALUE);
		assertThat(this.memory.metrics().allocatedBytes()).isZero();
		this.memory.close();
	}

	@Test
	void framesMakeTheMessageWithItsMetadata() {
		byte[] message = bytes(1, 100);
		byte[] metadata = bytes(2, 16);
		assertThat(begin(7, metadata, message, 10, false)).isTrue();
		assertThat(add(7, message, 10, 50)).isEqualTo(Outcome.INCOMPLETE);
		assertThat(add(7, message, 60, 40)).isEqualTo(Outcome.COMPLETE);
		Assembly assembly = this.assembler.takeCompleted(7);
		RegisteredBuffer target = assembly.memory();
		IncomingMessage assembled = assembly.complete();
		assertThat(copy(assembled.message())).isEqualTo(message);
		assertThat(copy(assembled.metadata())).isEqualTo(metadata);
		assertThat(assembled.requestId()).isEqualTo(7);
		assertThat(assembled.methodId()).isEqualTo(99);
		assertThat(assembled.argumentCount()).isEqualTo(2);
		assertThat(assembly.isRequest()).isTrue();
		assertThat(assembled.release()).isFalse();
		target.release();
	}

	@Test
	void firstFrameMayHoldNothingOfTheMessage() {
		byte[] message = bytes(3, 8);
		assertThat(begin(1, new byte[0], message, 0, false)).isTrue();
		assertThat(add(1, message, 0, 8)).isEqualTo(Outcome.COMPLETE);
		RegisteredBuffer target = this.assembler.takeCompleted(1).memory();
		assertThat(target.buffer().get(7)).isEqualTo(message[7]);
		target.release();
	}

	@Test
	void continuationMustFitWhatWentBefore() {
		byte[] message = bytes(4, 100);
		begin(1, new byte[0], message, 10, false);
		assertThat(add(2, message, 10, 10)).as("unknown message").isEqualTo(Outcome.VIOLATION);
		assertThat(add(1, message, 20, 10)).as("gap").isEqualTo(Outcome.VIOLATION);
		assertThat(add(1, message, 0, 20)).as("overlap").isEqualTo(Outcome.VIOLATION);
		assertThat(add(1, message, -1, 1)).as("before the beginning").isEqualTo(Outcome.VIOLATION);
		assertThat(add(1, bytes(4, 120), 10, 91)).as("another length").isEqualTo(Outcome.VIOLATION);
		assertThat(addRaw(1, 100, 10, new byte[91])).as("too long").isEqualTo(Outcome.VIOLATION);
		assertThat(addRaw(1, 100, 10, new byte[0])).as("empty").isEqualTo(Outcome.VIOLATION);
		assertThat(add(1, message, 10, 90)).as("what was expected").isEqualTo(Outcome.COMPLETE);
		this.assembler.takeCompleted(1).release();
	}

	@Test
	void messageIsBegunOnce() {
		byte[] message = bytes(5, 100);
		assertThat(begin(1, new byte[0], message, 10, false)).isTrue();
		assertThat(begin(1, new byte[0], message, 10, false)).isFalse();
	}

	@Test
	void onlySoManyMayBeUnfinished() {
		byte[] message = bytes(6, 100);
		for (int id = 0; id < 4; id++) {
			assertThat(begin(id, new byte[0], message, 10, false)).isTrue();
		}
		assertThat(begin(4, new byte[0], message, 10, false)).isFalse();
		this.assembler.cancel(2);
		assertThat(begin(4, new byte[0], message, 10, false)).isTrue();
	}

	@Test
	void droppedMessageIsReadToItsEndWithoutMemory() {
		byte[] message = bytes(7, 100);
		begin(1, new byte[0], message, 10, true);
		assertThat(this.memory.metrics().allocatedBytes()).isZero();
		assertThat(add(1, message, 10, 89)).isEqualTo(Outcome.INCOMPLETE);
		assertThat(add(1, message, 99, 1)).isEqualTo(Outcome.COMPLETE);
		Assembly assembly = this.assembler.takeCompleted(1);
		assertThat(assembly.memory()).isNull();
		assertThat(assembly.head().messageBytes()).isEqualTo(100);
	}

	@Test
	void messageForWhichThereIsNoMemoryIsDropped() {
		byte[] message = bytes(8, 100);
		this.declined = true;
		begin(1, new byte[0], message, 10, false);
		this.declined = false;
		assertThat(this.memory.metrics().allocatedBytes()).isZero();
		assertThat(add(1, message, 10, 90)).isEqualTo(Outcome.COMPLETE);
		assertThat(this.assembler.takeCompleted(1).memory()).isNull();
	}

	@Test
	void droppingLaterGivesTheMemoryBackAndReadsOn() {
		byte[] message = bytes(9, 100);
		begin(1, new byte[0], message, 10, false);
		assertThat(this.memory.metrics().allocatedBytes()).isPositive();
		this.assembler.drop(1);
		assertThat(this.memory.metrics().allocatedBytes()).isZero();
		assertThat(add(1, message, 10, 90)).isEqualTo(Outcome.COMPLETE);
		assertThat(this.assembler.takeCompleted(1).memory()).isNull();
	}

	@Test
	void cancelledMessageIsForgotten() {
		byte[] message = bytes(10, 100);
		begin(1, new byte[0], message, 10, false);
		this.assembler.cancel(1);
		this.assembler.cancel(1);
		this.assembler.drop(1);
		assertThat(this.memory.metrics().allocatedBytes()).isZero();
		assertThat(add(1, message, 10, 90)).isEqualTo(Outcome.VIOLATION);
		assertThatIllegalStateException().isThrownBy(() -> this.assembler.takeCompleted(1));
	}

	@Test
	void messageTakesNoMoreThanAFewTimesWhatHasArrived() {
		byte[] message = bytes(15, 300_000);
		begin(1, new byte[0], message, 100, false);
		for (int received = 100; received < message.length - 1000; received += 1000) {
			assertThat(this.memory.metrics().allocatedBytes()).as("%d have arrived", received)
				.isLessThanOrEqualTo(Math.max(2L * received, Math.min(8L * received, 64 * 1024)) / 8 * 9)
				.isLessThanOrEqualTo(message.length / 8L * 9);
			assertThat(add(1, message, received, 1000)).isEqualTo(Outcome.INCOMPLETE);
		}
		assertThat(add(1, message, 299_100, 900)).isEqualTo(Outcome.COMPLETE);
		RegisteredBuffer target = this.assembler.takeCompleted(1).memory();
		assertThat(copy(target.buffer())).isEqualTo(message);
		target.release();
		assertThat(this.assembler.heldBytes()).isZero();
	}

	@Test
	void messageOfTheUsualSizeIsCopiedOnce() {
		byte[] message = bytes(16, 40_000);
		begin(1, new byte[0], message, 8000, false);
		long allocations = this.memory.metrics().allocations();
		assertThat(add(1, message, 8000, 32_000)).isEqualTo(Outcome.COMPLETE);
		assertThat(this.memory.metrics().allocations()).isEqualTo(allocations);
		this.assembler.takeCompleted(1).release();
	}

	@Test
	void unfinishedMessagesTakeNoMoreThanTheyMay() {
		byte[] large = bytes(11, 15_000);
		byte[] small = bytes(12, 5000);
		begin(1, new byte[0], large, 8000, false);
		begin(2, new byte[8], small, 3000, false);
		assertThat(this.assembler.heldBytes()).as("there is no room for the second").isEqualTo(15_000);
		assertThat(add(2, small, 3000, 2000)).isEqualTo(Outcome.COMPLETE);
		assertThat(this.assembler.takeCompleted(2).memory()).isNull();
		begin(3, new byte[0], small, 10, false);
		assertThat(add(3, small, 10, 4990)).isEqualTo(Outcome.COMPLETE);
		this.assembler.takeCompleted(3).release();
		this.assembler.drop(1);
		this.assembler.drop(1);
		begin(4, new byte[0], large, 10, false);
		assertThat(add(4, large, 10, 14_990)).isEqualTo(Outcome.COMPLETE);
		this.assembler.takeCompleted(4).release();
	}

	@Test
	void messageThatCannotGrowIsDropped() {
		byte[] large = bytes(17, 30_000);
		begin(1, new byte[0], bytes(18, 5000), 4000, false);
		begin(2, new byte[0], large, 1000, false);
		assertThat(this.assembler.heldBytes()).isEqualTo(5000 + 8000);
		assertThat(add(2, large, 1000, 9000)).isEqualTo(Outcome.INCOMPLETE);
		assertThat(this.assembler.heldBytes()).as("the second is dropped").isEqualTo(5000);
		assertThat(add(2, large, 10_000, 20_000)).isEqualTo(Outcome.COMPLETE);
		assertThat(this.assembler.takeCompleted(2).memory()).isNull();
	}

	@Test
	void oneMessageMayAlwaysBeBegun() {
		byte[] huge = bytes(13, 100_000);
		begin(1, new byte[0], huge, 10, false);
		assertThat(add(1, huge, 10, 99_990)).isEqualTo(Outcome.COMPLETE);
		RegisteredBuffer target = this.assembler.takeCompleted(1).memory();
		assertThat(copy(target.buffer())).isEqualTo(huge);
		target.release();
	}

	@Test
	void largestMessagesAreShedFirst() {
		byte[] message = bytes(19, 5000);
		begin(1, new byte[0], message, 100, false);
		begin(2, new byte[0], message, 300, false);
		begin(3, new byte[0], message, 200, false);
		assertThat(this.assembler.heldBytes()).isEqualTo(8 * 600);
		assertThat(this.assembler.shed(8 * 300 + 1)).isTrue();
		assertThat(this.assembler.heldBytes()).isEqualTo(8 * 100);
		assertThat(this.assembler.shed(1)).isTrue();
		assertThat(this.assembler.shed(1)).as("there is nothing left").isFalse();
		assertThat(this.memory.metrics().allocatedBytes()).isZero();
		assertThat(add(2, message, 300, 4700)).isEqualTo(Outcome.COMPLETE);
		assertThat(this.assembler.takeCompleted(2).memory()).isNull();
	}

	@Test
	void whatIsShedIsFoundWhateverBecameOfOtherMessages() {
		long seed = Long.getLong("rdmarpc.test.seed", System.nanoTime());
		Random random = new Random(seed);
		byte[] message = bytes(21, 5000);
		Map<Integer, Integer> received = new HashMap<>();
		for (int step = 0; step < 20_000; step++) {
			int id = random.nextInt(4);
			String context = "step " + step + " of -Drdmarpc.test.seed=" + seed;
			Integer before = received.get(id);
			switch (random.nextInt(6)) {
				case 0, 1 -> {
					int first = 1 + random.nextInt(1500);
					assertThat(begin(id, new byte[0], message, first, random.nextInt(8) == 0)).as(context)
						.isEqualTo(before == null);
					received.putIfAbsent(id, first);
				}
				case 2, 3 -> {
					if (before == null) {
						continue;
					}
					int more = Math.min(1 + random.nextInt(2000), message.length - before);
					if (add(id, message, before, more) == Outcome.COMPLETE) {
						this.assembler.takeCompleted(id).release();
						received.remove(id);
					}
					else {
						received.put(id, before + more);
					}
				}
				case 4 -> {
					if (random.nextBoolean()) {
						this.assembler.cancel(id);
						received.remove(id);
					}
					else {
						this.assembler.drop(id);
					}
				}
				default -> {
					long held = this.assembler.heldBytes();
					int bytes = 1 + random.nextInt(20_000);
					assertThat(this.assembler.shed(bytes)).as(context).isEqualTo(held > 0);
					assertThat(this.assembler.heldBytes()).as(context).isLessThanOrEqualTo(Math.max(0, held - bytes));
				}
			}
			assertThat(this.assembler.count()).as(context).isEqualTo(received.size());
		}
		this.assembler.shed(Long.MAX_VALUE);
		assertThat(this.assembler.heldBytes()).isZero();
		assertThat(this.memory.metrics().allocatedBytes()).isZero();
	}

	@Test
	void messageThatTricklesInDoesNotGoOn() {
		byte[] message = bytes(20, 100);
		begin(1, new byte[0], message, 10, false);
		for (int i = 1; i < STEP; i++) {
			this.nowNanos++;
			add(1, message, 9 + i, 1);
		}
		assertThat(this.assembler.anyStalled(1)).as("less than a step has arrived").isTrue();
		this.nowNanos++;
		add(1, message, 9 + STEP, 1);
		assertThat(this.assembler.anyStalled(this.nowNanos)).isFalse();
	}

	@Test
	void messageWithoutProgressIsNoticed() {
		byte[] message = bytes(14, 100);
		this.nowNanos = Long.MAX_VALUE - 5;
		begin(1, new byte[0], message, 10, true);
		this.nowNanos += 10;
		begin(2, new byte[0], message, 10, false);
		assertThat(this.assembler.anyStalled(Long.MAX_VALUE - 5)).isFalse();
		assertThat(this.assembler.anyStalled(Long.MAX_VALUE - 4)).isTrue();
		add(1, message, 10, 10);
		assertThat(this.assembler.anyStalled(Long.MAX_VALUE - 4)).isFalse();
		assertThat(this.assembler.anyStalled(this.nowNanos + 1)).isTrue();
		this.assembler.close(Integer.MAX_VALUE);
		assertThat(this.assembler.anyStalled(this.nowNanos + 1)).isFalse();
	}

	@Test
	void closingGivesMemoryBackSomeAtATimeAndThenForgetsTheRestAtOnce() {
		byte[] message = bytes(15, 100);
		begin(1, new byte[0], message, 10, true);
		begin(2, new byte[0], message, 10, false);
		begin(3, new byte[0], message, 10, false);
		begin(4, new byte[0], message, 10, false);
		assertThat(this.assembler.close(0)).isZero();
		assertThat(this.assembler.heldBytes()).isPositive();
		assertThat(this.assembler.close(2)).isEqualTo(2);
		assertThat(this.assembler.count()).as("they count until none holds memory").isEqualTo(4);
		assertThat(this.assembler.close(2)).as("one has no memory").isEqualTo(1);
		assertThat(this.assembler.count()).isZero();
		assertThat(this.assembler.heldBytes()).isZero();
	}

	@ParameterizedTest
	@ValueSource(longs = { 21, 22, 23, 24, 25 })
	void interleavedMessagesStayApart(long seed) {
		Random random = new Random(seed);
		Map<Integer, byte[]> messages = new HashMap<>();
		Map<Integer, Integer> sent = new HashMap<>();
		int finished = 0;
		for (int nextId = 0; finished < 200;) {
			if (messages.size() < 4 && random.nextBoolean()) {
				byte[] message = bytes(random.nextLong(), 2 + random.nextInt(5000));
				int first = random.nextInt(Math.min(message.length, 1000));
				assertThat(begin(nextId, bytes(nextId, 8 * random.nextInt(4)), message, first, false)).isTrue();
				messages.put(nextId, message);
				sent.put(nextId++, first);
			}
			if (messages.isEmpty()) {
				continue;
			}
			List<Integer> open = new ArrayList<>(messages.keySet());
			int id = open.get(random.nextInt(open.size()));
			byte[] message = messages.get(id);
			int from = sent.get(id);
			int count = 1 + random.nextInt(message.length - from);
			Outcome outcome = add(id, message, from, count);
			sent.put(id, from + count);
			if (from + count == message.length) {
				assertThat(outcome).as("seed %d", seed).isEqualTo(Outcome.COMPLETE);
				Assembly assembly = this.assembler.takeCompleted(id);
				RegisteredBuffer target = assembly.memory();
				assertThat(copy(assembly.complete().message())).as("seed %d, message %d", seed, id).isEqualTo(message);
				target.release();
				messages.remove(id);
				finished++;
			}
			else {
				assertThat(outcome).as("seed %d", seed).isEqualTo(Outcome.INCOMPLETE);
			}
		}
	}

	private boolean begin(int id, byte[] metadata, byte[] message, int received, boolean drop) {
		return begin(id, metadata, message.length, message, received, drop);
	}

	private boolean begin(int id, byte[] metadata, int messageBytes, byte[] message, int received, boolean drop) {
		int length = 32 + metadata.length + received;
		ByteBuffer frame = ByteBuffer.allocate(8192).order(ByteOrder.LITTLE_ENDIAN);
		FrameFlyweight.putHeader(frame, 0, FrameType.REQUEST, id, messageBytes, 0);
		FrameFlyweight.putRequestFields(frame, 0, 99, 0, 1, 2, metadata.length);
		frame.put(32, metadata).put(32 + metadata.length, message, 0, received);
		RegisteredBuffer buffer = this.memory.allocate(64);
		try {
			IncomingMessage head = new IncomingMessage();
			head.wrap(buffer, frame, 0);
			return this.assembler.begin(head, frame, length, true, drop, this.nowNanos);
		}
		finally {
			buffer.release();
		}
	}

	private Outcome add(int id, byte[] message, int offset, int count) {
		byte[] part = new byte[count];
		System.arraycopy(message, Math.max(0, offset), part, 0, count);
		return addRaw(id, message.length, offset, part);
	}

	private Outcome addRaw(int id, int messageBytes, int offset, byte[] part) {
		byte[] frame = Frames.continuation(0, id, messageBytes, offset, part);
		return this.assembler.add(ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN), frame.length, this.nowNanos);
	}

	private static byte[] bytes(long seed, int count) {
		byte[] bytes = new byte[count];
		new Random(seed).nextBytes(bytes);
		return bytes;
	}

	private static byte[] copy(ByteBuffer view) {
		byte[] bytes = new byte[view.remaining()];
		view.get(bytes);
		return bytes;
	}

}
