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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Shared receive queues. */
abstract class AbstractSharedReceiveQueueTests extends AbstractVerbsTests {

	private static final int SLOT_BYTES = 3000;

	private static final int PROMISED = 4;

	private final Map<Long, Integer> slotsById = new HashMap<>();

	private final boolean flushesTaken;

	AbstractSharedReceiveQueueTests(VerbsFixture fixture, boolean flushesTaken) {
		super(fixture);
		this.flushesTaken = flushesTaken;
	}

	private void post(SharedReceives receives, GuardedMemory sink, int slot) {
		this.slotsById.put(receives.receive(sink.segment(slot * SLOT_BYTES, SLOT_BYTES)), slot);
	}

	private List<ConnectedPair> connect(SharedReceives receives, int count) {
		return connect(receives, count, 0);
	}

	/** Connects queue pairs whose peers are promised that many receives. */
	private List<ConnectedPair> connect(SharedReceives receives, int count, int promised) {
		CompletionCollector rightQueue = this.fixture.right().collector(64 * count);
		EndpointOptions options = EndpointOptions.DEFAULTS.withDepths(32, 1).withSegments(2);
		return Stream.generate(() -> {
			VerbsEndpoint right = this.fixture.right()
				.endpoint(options.withSharedReceives(receives).withCollector(rightQueue));
			if (promised > 0) {
				right.queuePair().allowReceives(promised);
			}
			return this.fixture.connect(this.fixture.left().endpoint(options), right);
		}).limit(count).toList();
	}

	/** A Send beyond what was promised would be refused, however many are posted. */
	@Test
	void manyQueuePairsTakeFromOneQueue() {
		SharedReceives receives = this.fixture.right().sharedReceives(64);
		GuardedMemory sink = this.fixture.right().memory(64 * SLOT_BYTES);
		for (int i = 0; i < 64; i++) {
			post(receives, sink, i);
		}
		assertThat(receives.queue().posted()).isEqualTo(64);
		List<ConnectedPair> pairs = connect(receives, 16, PROMISED);
		GuardedMemory source = this.fixture.left().memory(16 * SLOT_BYTES);
		int[] sentBy = new int[16];
		int[] deliveredBy = new int[16];
		int[] delivered = new int[1];
		for (int i = 0; i < 16; i++) {
			int index = i;
			pairs.get(i).right().observe((completed) -> {
				if (completed.opcode() == WorkOpcode.RECEIVE && completed.isSuccess()) {
					int slot = this.slotsById.get(completed.id());
					ByteBuffer message = sink.view(slot * SLOT_BYTES, (int) completed.byteLength());
					assertThat(message.getInt(0)).as("sender").isEqualTo(index);
					assertThat(message.getInt(4)).as("number").isEqualTo(deliveredBy[index]++);
					assertThat(message.getInt(8)).as("length").isEqualTo(message.capacity());
					sink.assertHolds(slot * SLOT_BYTES + 12,
							source.view(index * SLOT_BYTES + 12, message.capacity() - 12));
					delivered[0]++;
					post(receives, sink, slot);
					pairs.get(index).right().queuePair().allowReceives(1);
				}
			});
		}
		int messages = TestEnvironment.rounds(4000, 400);
		for (int sent = 0; sent < messages; sent++) {
			int index = between(0, 15);
			VerbsEndpoint left = pairs.get(index).left();
			int limit = sent - 63;
			this.fixture.await("a receive and the slot of the sender", () -> delivered[0] >= limit
					&& left.sends().due() == 0 && sentBy[index] - deliveredBy[index] < PROMISED);
			int length = between(12, SLOT_BYTES);
			ByteBuffer message = source.view(index * SLOT_BYTES, length);
			message.putInt(0, index).putInt(4, sentBy[index]++).putInt(8, length);
			left.send(source.segment(index * SLOT_BYTES, length));
		}
		this.fixture.await("all messages", () -> delivered[0] == messages);
		assertThat(deliveredBy).isEqualTo(sentBy);
		assertThat(receives.queue().posted()).isEqualTo(64);
	}

	@Test
	void theQueueHoldsAsManyAsItWasCreatedFor() {
		SharedReceives receives = this.fixture.right().sharedReceives(3);
		for (int i = 0; i < 3; i++) {
			assertThat(receives.tryReceive(i)).isEqualTo(PostResult.POSTED);
		}
		assertThat(receives.tryReceive(3)).isEqualTo(PostResult.QUEUE_FULL);
		assertThat(receives.queue().posted()).isEqualTo(3);
		ConnectedPair pair = connect(receives, 1).get(0);
		pair.left().send();
		this.fixture.await("a message", () -> receives.ledger().completedCount() == 1);
		assertThat(receives.queue().posted()).isEqualTo(2);
		assertThat(receives.tryReceive(4)).isEqualTo(PostResult.POSTED);
		assertThat(receives.tryReceive(5)).isEqualTo(PostResult.QUEUE_FULL);
	}

	@Test
	void manyReceivesArePostedInOneStepAsFarAsThereIsRoom() {
		SharedReceiveQueue queue = this.fixture.right().domain().createSharedReceiveQueue(6, 1);
		WorkRequest[] requests = Stream.generate(() -> new WorkRequest(1)).limit(8).toArray(WorkRequest[]::new);
		for (int i = 0; i < 8; i++) {
			requests[i].receive(i);
		}
		assertThat(queue.postReceives(requests, 0)).isZero();
		assertThat(queue.postReceives(requests, 4)).isEqualTo(4);
		assertThat(queue.posted()).isEqualTo(4);
		assertThat(queue.postReceives(requests, 8)).isEqualTo(2);
		assertThat(queue.posted()).isEqualTo(6);
		assertThat(queue.postReceives(requests, 8)).isZero();
		requests[0].send(0);
		assertThatExceptionOfType(VerbsException.class).isThrownBy(() -> queue.postReceives(requests, 1))
			.extracting(VerbsException::error)
			.isEqualTo(VerbsError.INVALID_ARGUMENT);
		queue.close();
	}

	@Test
	void receivesThatNobodyHasTakenAreWithdrawnWhereTheDeviceCan() {
		SharedReceiveQueue queue = this.fixture.right().domain().createSharedReceiveQueue(6, 1);
		WorkRequest request = new WorkRequest(1);
		for (int i = 0; i < 6; i++) {
			queue.postReceive(request.receive(10 + i));
		}
		long[] ids = new long[8];
		int some = queue.withdrawReceives(ids, 4);
		assertThat(some).isIn(0, 4);
		assertThat(queue.posted()).isEqualTo(6 - some);
		if (some > 0) {
			assertThat(queue.withdrawReceives(ids, 0)).isZero();
			assertThat(queue.postReceive(request.receive(20))).isEqualTo(PostResult.POSTED);
			long[] rest = new long[8];
			assertThat(queue.withdrawReceives(rest, 8)).isEqualTo(3);
			assertThat(LongStream.concat(LongStream.of(ids).limit(4), LongStream.of(rest).limit(3)))
				.containsExactlyInAnyOrder(10L, 11L, 12L, 13L, 14L, 15L, 20L);
			assertThat(queue.posted()).isZero();
		}
		queue.close();
	}

	@Test
	void aSendThatFindsTheQueueEmptyFailsOnlyItsConnection() {
		SharedReceives receives = this.fixture.right().sharedReceives(4);
		GuardedMemory sink = this.fixture.right().memory(4 * SLOT_BYTES);
		GuardedMemory source = this.fixture.left().memory(100);
		List<ConnectedPair> pairs = connect(receives, 2);
		pairs.get(0).left().send(source.all());
		pairs.get(0).assertRefusedByRight(WorkStatus.REMOTE_INVALID_REQUEST);
		post(receives, sink, 0);
		pairs.get(1).awaitSuccess(pairs.get(1).left(), pairs.get(1).left().send(source.all()));
		this.fixture.await("the message", () -> receives.ledger().completedCount() == 1);
		sink.assertHolds(0, source, 0, 100);
	}

	@Test
	void aQueuePairThatEndsLeavesTheReceivesToTheOthers() {
		SharedReceives receives = this.fixture.right().sharedReceives(8);
		GuardedMemory sink = this.fixture.right().memory(8 * SLOT_BYTES);
		for (int i = 0; i < 8; i++) {
			post(receives, sink, i);
		}
		List<ConnectedPair> pairs = connect(receives, 3);
		pairs.get(0).left().queuePair().disconnect();
		pairs.get(0).awaitEnd();
		pairs.get(1).right().close();
		this.fixture.awaitSettled(pairs.get(1).left());
		assertThat(receives.queue().posted()).isEqualTo(8);
		GuardedMemory source = this.fixture.left().memory(SLOT_BYTES);
		for (int i = 0; i < 8; i++) {
			pairs.get(2).awaitSuccess(pairs.get(2).left(), pairs.get(2).left().send(source.all()));
		}
		this.fixture.await("all", () -> receives.ledger().completedCount() == 8);
		assertThat(receives.queue().posted()).isZero();
		for (int i = 0; i < 8; i++) {
			sink.assertHolds(i * SLOT_BYTES, source, 0, SLOT_BYTES);
		}
	}

	@Test
	void aReceiveTakenByAMessageThatNeverEndsIsFlushed() {
		SharedReceives receives = this.fixture.right().sharedReceives(2);
		GuardedMemory sink = this.fixture.right().memory(largestBytes());
		GuardedMemory source = this.fixture.left().memory(largestBytes());
		long taken = receives.receive(sink.all());
		receives.receive();
		ConnectedPair pair = connect(receives, 1).get(0);
		pair.left().send(source.all());
		this.fixture.await("the first bytes",
				() -> sink.view().getLong(0) == source.view().getLong(0) || receives.queue().posted() < 2);
		pair.left().close();
		this.fixture.awaitSettled(pair.right());
		if (!this.flushesTaken) {
			assertThatNoneIsLost(receives);
			return;
		}
		this.fixture.await("the end of the receive", () -> receives.ledger().completedCount() > 0);
		assertThat(receives.ledger().completed()).singleElement()
			.satisfies((completed) -> assertThat(completed.id()).isEqualTo(taken))
			.matches((completed) -> !completed.isSuccess() || this.fixture.right().limits().automaticProgress(),
					"flushed, unless the message has ended without our help");
		assertThat(receives.queue().posted()).isOne();
	}

	/** Others receive with what did not come back flushed. */
	private void assertThatNoneIsLost(SharedReceives receives) {
		ConnectedPair next = connect(receives, 1).get(0);
		while (receives.queue().posted() > 0) {
			int completed = receives.ledger().completedCount();
			next.awaitSuccess(next.left(), next.left().send());
			this.fixture.await("a message", () -> receives.ledger().completedCount() > completed);
		}
		assertThat(receives.ledger().completedCount()).isEqualTo(2);
	}

	@Test
	void aMessageTooLongForItsReceiveFailsOnlyItsConnection() {
		SharedReceives receives = this.fixture.right().sharedReceives(4);
		GuardedMemory sink = this.fixture.right().memory(4 * SLOT_BYTES);
		for (int i = 0; i < 4; i++) {
			post(receives, sink, i);
		}
		List<ConnectedPair> pairs = connect(receives, 2);
		pairs.get(0).left().send(this.fixture.left().memory(SLOT_BYTES + 1).all());
		pairs.get(0).awaitEnd();
		assertThat(receives.ledger().completed()).extracting(Completed::status)
			.containsExactly(WorkStatus.LOCAL_LENGTH_ERROR);
		pairs.get(1).left().send(this.fixture.left().memory(SLOT_BYTES).all());
		this.fixture.await("the message", () -> receives.ledger().completedCount() == 2);
		assertThat(receives.ledger().completedAt(1).isSuccess()).isTrue();
		assertThat(receives.queue().posted()).isEqualTo(2);
	}

	/** The fixture sees to it that no receive is lost or reported twice. */
	@Test
	void queuePairsComeAndGo() {
		int longest = 1 << 20;
		SharedReceives receives = this.fixture.right().sharedReceives(32);
		GuardedMemory sink = this.fixture.right().memory(longest);
		GuardedMemory source = this.fixture.left().memory(longest);
		CompletionCollector rightQueue = this.fixture.right().collector(64);
		EndpointOptions options = EndpointOptions.DEFAULTS.withDepths(32, 1).withSegments(2);
		for (int round = 0; round < TestEnvironment.rounds(60, 12); round++) {
			while (receives.queue().posted() < 32) {
				receives.receive(sink.all());
			}
			ConnectedPair pair = this.fixture.connect(this.fixture.left().endpoint(options),
					this.fixture.right().endpoint(options.withSharedReceives(receives).withCollector(rightQueue)));
			int sends = between(1, 8);
			for (int i = 0; i < sends; i++) {
				pair.left().send(source.segment(0, between(0, longest)));
			}
			int enough = between(0, 40);
			for (int i = 0; i < enough; i++) {
				this.fixture.progress();
			}
			switch (round % 3) {
				case 0 -> pair.left().close();
				case 1 -> pair.left().queuePair().disconnect();
				default -> pair.right().queuePair().disconnect();
			}
			this.fixture.awaitSettled(pair.right());
			assertThat(receives.queue().posted()).isEqualTo(receives.ledger().due());
			pair.right().close();
		}
	}

	@Test
	void theQueueIsBusyWhileQueuePairsUseIt() {
		SharedReceives receives = this.fixture.right().sharedReceives(4);
		List<VerbsEndpoint> endpoints = new ArrayList<>();
		EndpointOptions options = EndpointOptions.DEFAULTS.withSegments(2).withSharedReceives(receives);
		endpoints.add(this.fixture.right().endpoint(options));
		endpoints.add(this.fixture.right().endpoint(options));
		receives.queue().postReceive(new WorkRequest(0).receive(1));
		assertBusy(receives);
		endpoints.get(0).close();
		assertBusy(receives);
		assertThat(receives.queue().posted()).isOne();
		endpoints.get(1).close();
		receives.queue().close();
		receives.queue().close();
		assertFails(VerbsError.CLOSED, () -> receives.queue().postReceive(new WorkRequest(0).receive(2)));
		this.fixture.forget(receives);
	}

	private void assertBusy(SharedReceives receives) {
		assertFails(VerbsError.BUSY, () -> receives.queue().close());
	}

}
