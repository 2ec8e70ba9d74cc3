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

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** Depths of queues, and completion queues that several queue pairs share. */
abstract class AbstractQueueTests extends AbstractVerbsTests {

	AbstractQueueTests(VerbsFixture fixture) {
		super(fixture);
	}

	@Test
	void aReceiveQueueHoldsAsManyAsItWasCreatedFor() {
		EndpointOptions options = EndpointOptions.DEFAULTS.withDepths(8, 5);
		VerbsEndpoint right = this.fixture.right().endpoint(options);
		GuardedMemory sink = this.fixture.right().memory(600);
		for (int i = 0; i < 5; i++) {
			assertThat(right.tryReceive(right.nextId(), sink.segment(i * 100, 100))).isEqualTo(PostResult.POSTED);
		}
		assertThat(right.tryReceive(right.nextId(), sink.segment(500, 100))).isEqualTo(PostResult.QUEUE_FULL);
		ConnectedPair pair = this.fixture.connect(this.fixture.left().endpoint(options), right);
		GuardedMemory source = this.fixture.left().memory(100);
		for (int i = 1; i <= 20; i++) {
			pair.awaitSuccess(pair.left(), pair.left().send(source.all()));
			int arrived = i;
			this.fixture.await("a receive", () -> right.receives().completedCount() == arrived);
			assertThat(right.tryReceive(right.nextId(), sink.segment(0, 100))).isEqualTo(PostResult.POSTED);
			assertThat(right.tryReceive(right.nextId(), sink.segment(0, 100))).isEqualTo(PostResult.QUEUE_FULL);
		}
	}

	@Test
	void aSendQueueHoldsAsManyAsItWasCreatedFor() {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(5, 64));
		GuardedMemory source = this.fixture.left().memory(100);
		for (int round = 0; round < 10; round++) {
			for (int i = 0; i < 5; i++) {
				pair.right().receive(this.fixture.right().memory(100).all());
				pair.left().post(pair.left().request().send(pair.left().nextId()), source.all());
			}
			assertThat(pair.left().tryPost(pair.left().request().send(pair.left().nextId())))
				.isEqualTo(PostResult.QUEUE_FULL);
			this.fixture.await("room", () -> pair.left().sends().due() < 5);
			this.fixture.await("the rest", () -> pair.left().sends().due() == 0 && pair.right().receives().due() == 0);
		}
		assertThat(pair.right().receives().completedCount()).isEqualTo(50);
	}

	@Test
	void aFullSendQueueDoesNotDisturbWhatIsUnderWay() {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(3, 8));
		GuardedMemory lent = this.fixture.right().memory(4 << 20, AccessFlag.REMOTE_READ);
		GuardedMemory sink = this.fixture.left().memory(4 << 20);
		int refused = 0;
		int posted = 0;
		while (posted < 40) {
			RemoteRegion from = lent.segment((posted % 4) << 20, 1 << 20).remote();
			WorkRequest request = pair.left().request().read(pair.left().nextId(), from.address(), from.key());
			Segment.addAll(request, sink.segment((posted % 4) << 20, 1 << 20));
			if (pair.left().tryPost(request) == PostResult.POSTED) {
				posted++;
			}
			else {
				refused++;
				this.fixture.progress();
			}
		}
		assertThat(refused).isPositive();
		this.fixture.await("all reads", () -> pair.left().sends().due() == 0);
		assertThat(pair.left().sends().completed()).hasSize(40).allMatch(Completed::isSuccess);
		sink.assertHolds(0, lent, 0, 4 << 20);
	}

	@Test
	void deepQueuesWorkToTheLimit() {
		DeviceLimits limits = this.fixture.left().limits();
		int depth = Math.min(Math.min(8192, limits.maxCompletionQueueEntries() / 2),
				Math.min(limits.maxSendQueueDepth(), limits.maxReceiveQueueDepth()));
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(depth, depth));
		GuardedMemory source = this.fixture.left().memory(depth * 16);
		GuardedMemory sink = this.fixture.right().memory(depth * 16);
		for (int i = 0; i < depth; i++) {
			pair.right().receive(sink.segment(i * 16, 16));
		}
		assertThat(pair.right().tryReceive(pair.right().nextId())).isEqualTo(PostResult.QUEUE_FULL);
		for (int i = 0; i < depth; i++) {
			pair.left().post(pair.left().request().send(pair.left().nextId()), source.segment(i * 16, 16));
		}
		pair.left().queuePair().ringDoorbell();
		this.fixture.await("everything", () -> pair.left().sends().due() == 0 && pair.right().receives().due() == 0);
		sink.assertHolds(0, source, 0, depth * 16);
	}

	@Test
	void manyQueuePairsShareOneCompletionQueue() {
		CompletionCollector leftQueue = this.fixture.left().collector(12 * 40);
		CompletionCollector rightQueue = this.fixture.right().collector(12 * 40);
		EndpointOptions options = EndpointOptions.DEFAULTS.withDepths(20, 20);
		List<MessageStream> streams = new ArrayList<>();
		for (int i = 0; i < 12; i++) {
			ConnectedPair pair = this.fixture.connect(this.fixture.left().endpoint(options.withCollector(leftQueue)),
					this.fixture.right().endpoint(options.withCollector(rightQueue)));
			streams.add(new MessageStream(pair, 20_000, 20));
		}
		for (int i = 0; i < TestEnvironment.rounds(6000, 600); i++) {
			streams.get(between(0, 11)).send(between(8, (i % 10 == 0) ? 20_000 : 100), false);
		}
		streams.forEach(MessageStream::finish);
	}

	@Test
	void theFailureOfOneQueuePairLeavesItsNeighboursAlone() {
		CompletionCollector leftQueue = this.fixture.left().collector(4 * 128);
		CompletionCollector rightQueue = this.fixture.right().collector(4 * 128);
		List<ConnectedPair> pairs = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			pairs.add(this.fixture.connect(
					this.fixture.left().endpoint(EndpointOptions.DEFAULTS.withCollector(leftQueue)),
					this.fixture.right().endpoint(EndpointOptions.DEFAULTS.withCollector(rightQueue))));
		}
		List<MessageStream> streams = pairs.subList(1, 4)
			.stream()
			.map((pair) -> new MessageStream(pair, 5000, 32))
			.toList();
		int messages = TestEnvironment.rounds(600, 120);
		for (int i = 0; i < messages; i++) {
			streams.get(between(0, 2)).send(between(8, 5000), false);
			if (i == messages / 3) {
				pairs.get(0).left().send(this.fixture.left().memory(100).all());
			}
		}
		pairs.get(0).awaitEnd();
		streams.forEach(MessageStream::finish);
		if (this.fixture.explainsFaults()) {
			assertThat(pairs.get(0).right().fault().status()).isEqualTo(WorkStatus.REMOTE_INVALID_REQUEST);
		}
		assertThat(pairs.subList(1, 4)).allMatch((pair) -> pair.left().state() == QueuePairState.READY_TO_SEND);
	}

	@Test
	void manyCompletionQueuesMayBeOpen() {
		List<CompletionQueue> queues = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			queues.add(this.fixture.left().device().createCompletionQueue(16));
		}
		queues.forEach(CompletionQueue::close);
	}

	@Test
	void queuePairNumbersAreUniqueAndListenersAreKept() {
		List<Integer> numbers = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			QueuePairListener listener = (queuePair, fault) -> {
			};
			QueuePair queuePair = this.fixture.left()
				.domain()
				.createQueuePair(
						new QueuePairOptions(this.fixture.left().collector(2).queue(), null, 1, 1, 1, 1, listener));
			assertThat(queuePair.listener()).isSameAs(listener);
			assertThat(queuePair.state()).isEqualTo(QueuePairState.INITIALIZED);
			assertThat(queuePair.fault()).isNull();
			numbers.add(queuePair.number());
		}
		assertThat(numbers).doesNotHaveDuplicates();
	}

	@Test
	void pollingTakesNoMoreThanAskedAndKeepsTheRest() {
		ConnectedPair pair = this.fixture.connect();
		CompletionQueue queue = pair.right().collector().handsOff(true).queue();
		assertThat(queue.poll(new WorkCompletion[0])).isZero();
		for (int i = 0; i < 10; i++) {
			pair.right().receive();
		}
		for (int i = 0; i < 10; i++) {
			pair.left().send();
		}
		WorkCompletion[] two = { new WorkCompletion(), new WorkCompletion() };
		int[] taken = new int[1];
		this.fixture.await("ten receives, at most two at a time", () -> {
			int count = queue.poll(two);
			assertThat(count).isBetween(0, 2);
			for (int i = 0; i < count; i++) {
				assertThat(two[i].queuePair()).isSameAs(pair.right().queuePair());
				assertThat(two[i].status()).isEqualTo(WorkStatus.SUCCESS);
				assertThat(pair.right().receives().complete(Completed.copyOf(two[i]))).isNull();
			}
			taken[0] += count;
			return taken[0] == 10;
		});
		pair.right().collector().handsOff(false);
	}

}
