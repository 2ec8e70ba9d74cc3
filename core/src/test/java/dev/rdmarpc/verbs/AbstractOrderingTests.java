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

package dev.rdmarpc.verbs;

import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** Order of deliveries and completions under mixed load, and that full load flows. */
abstract class AbstractOrderingTests extends AbstractVerbsTests {

	AbstractOrderingTests(VerbsFixture fixture) {
		super(fixture);
	}

	@Test
	void manySmallMessagesArriveInPostingOrder() {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(100, 200));
		MessageStream stream = new MessageStream(pair, 256, 200);
		for (int i = 0; i < TestEnvironment.rounds(20_000, 1500); i++) {
			stream.send(between(8, 256), i % 3 != 0);
		}
		stream.finish();
	}

	@Test
	void messagesOfMixedSizesArriveInPostingOrder() {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(16, 16));
		MessageStream stream = new MessageStream(pair, 1 << 20, 16);
		for (int i = 0; i < TestEnvironment.rounds(500, 60); i++) {
			stream.send((i % 7 == 0) ? between(100_000, 1 << 20) : between(8, 2000), i % 5 == 0);
		}
		stream.finish();
	}

	/**
	 * A seeded mixture of everything: each Send names a Write posted just before it,
	 * which must be in its place when the Send is delivered; Reads must bring what is
	 * there.
	 */
	@Test
	void sendsWritesAndReadsInterleave() {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(64, 32));
		GuardedMemory source = this.fixture.left().memory(1 << 20);
		GuardedMemory written = this.fixture.right().memory(32 * 40_000, AccessFlag.REMOTE_WRITE);
		MessageStream stream = new MessageStream(pair, 64, 32).onDelivery((message) -> {
			if (message.getInt(8) >= 0) {
				written.assertHolds(message.getInt(8) * 40_000, source, message.getInt(12), message.getInt(16));
			}
		});
		ReadStream reads = new ReadStream(pair, 100_000, 8);
		int writes = 0;
		for (int i = 0; i < TestEnvironment.rounds(4000, 400); i++) {
			switch (between(0, 3)) {
				case 0 -> reads.read(between(0, 100_000));
				case 1 -> {
					int slot = writes++ % 32;
					int length = between(0, 40_000);
					int from = between(0, source.lengthBytes() - length);
					this.fixture.await("room for a Write and its Send", stream::canSend);
					pair.left().write(written.segment(slot * 40_000, length).remote(), source.segment(from, length));
					stream.send(20, false, slot, from, length);
				}
				default -> stream.send(between(24, 64), i % 2 == 0, -1);
			}
		}
		stream.finish();
		reads.finish();
	}

	@Test
	void bothSidesSendLargeMessagesWithFewReceives() {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(4, 3)).greet();
		MessageStream there = new MessageStream(pair, 3 << 20, 3);
		MessageStream back = new MessageStream(pair.reversed(), 3 << 20, 3);
		for (int i = 0; i < TestEnvironment.rounds(60, 10); i++) {
			there.send(between(1 << 20, 3 << 20), false);
			back.send(between(1 << 20, 3 << 20), false);
		}
		there.finish();
		back.finish();
	}

	@Test
	void everythingFlowsBothWaysAtOnce() {
		loadBothWays(this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(64, 64)).greet());
	}

	@Test
	void everythingFlowsBothWaysAtOnceOnTwoThreads() {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(64, 64)).greet();
		this.fixture.whilePolled(pair.right().collector(), () -> loadBothWays(pair));
	}

	private void loadBothWays(ConnectedPair pair) {
		MessageStream there = new MessageStream(pair, 100_000, 64);
		MessageStream back = new MessageStream(pair.reversed(), 100_000, 64);
		ReadStream readsThere = new ReadStream(pair, 1 << 20, 4);
		ReadStream readsBack = new ReadStream(pair.reversed(), 1 << 20, 4);
		for (int i = 0; i < TestEnvironment.rounds(300, 40); i++) {
			there.send(between(8, 100_000), false);
			back.send(between(8, 100_000), false);
			if (i % 4 == 0) {
				readsThere.read(between(1, 1 << 20));
				readsBack.read(between(1, 1 << 20));
			}
		}
		there.finish();
		back.finish();
		readsThere.finish();
		readsBack.finish();
	}

	/**
	 * Reads from a library at the right into slots at the left, checked on completion.
	 */
	private final class ReadStream {

		private final ConnectedPair pair;

		private final GuardedMemory library;

		private final GuardedMemory sink;

		private final int slotBytes;

		private final Deque<Integer> freeSlots = new ConcurrentLinkedDeque<>();

		private final Map<Long, Reading> readings = new ConcurrentHashMap<>();

		ReadStream(ConnectedPair pair, int slotBytes, int slots) {
			this.pair = pair;
			this.slotBytes = slotBytes;
			this.library = pair.right().side().memory(2 * slotBytes, AccessFlag.REMOTE_READ);
			this.sink = pair.left().side().memory(slots * slotBytes);
			IntStream.range(0, slots).forEach(this.freeSlots::add);
			pair.left().observe(this::completed);
		}

		void read(int length) {
			AbstractOrderingTests.this.fixture.await("room for a Read", () -> !this.freeSlots.isEmpty()
					&& this.pair.left().sends().outstanding() + 2 <= this.pair.left().sendDepth());
			int slot = this.freeSlots.remove();
			int from = between(0, this.slotBytes);
			WorkRequest request = this.pair.left().request();
			RemoteRegion remote = this.library.segment(from, length).remote();
			request.read(this.pair.left().nextId(), remote.address(), remote.key());
			this.readings.put(request.id(), new Reading(slot, from, length));
			this.pair.left().post(request, this.sink.segment(slot * this.slotBytes, length));
			this.pair.left().queuePair().ringDoorbell();
		}

		private void completed(Completed completed) {
			Reading reading = this.readings.remove(completed.id());
			if (reading != null) {
				assertThat(completed.status()).isEqualTo(WorkStatus.SUCCESS);
				this.sink.assertHolds(reading.slot() * this.slotBytes, this.library, reading.from(), reading.length());
				this.freeSlots.add(reading.slot());
			}
		}

		void finish() {
			AbstractOrderingTests.this.fixture.await("all Reads", this.readings::isEmpty);
		}

		private record Reading(int slot, int from, int length) {
		}

	}

}
