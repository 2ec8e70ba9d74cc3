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
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** Several threads on the same objects, and closing under load. */
abstract class AbstractConcurrencyTests extends AbstractVerbsTests {

	AbstractConcurrencyTests(VerbsFixture fixture) {
		super(fixture);
	}

	private static WorkCompletion[] batch(int size) {
		WorkCompletion[] batch = new WorkCompletion[size];
		for (int i = 0; i < size; i++) {
			batch[i] = new WorkCompletion();
		}
		return batch;
	}

	private static boolean isClosed(VerbsException ex) {
		return ex.error() == VerbsError.CLOSED;
	}

	@Test
	void severalThreadsPostToOneQueuePair() {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(32, 128));
		pair.left().collector().handsOff(true);
		int posters = 3;
		int each = TestEnvironment.rounds(4000, 300);
		GuardedMemory source = this.fixture.left().memory(posters * each * 8);
		GuardedMemory sink = this.fixture.right().memory(128 * 8);
		Semaphore receives = new Semaphore(0);
		List<Integer> slots = new ArrayList<>();
		int[] next = new int[posters];
		for (int i = 0; i < 128; i++) {
			pair.right().receive(sink.segment(i * 8, 8));
			slots.add(i);
			receives.release();
		}
		pair.right().observe((completed) -> {
			if (completed.isSuccess()) {
				int slot = slots.get(slots.size() - 128);
				ByteBuffer message = sink.view(slot * 8, 8);
				assertThat(message.getInt(4)).isEqualTo(next[message.getInt(0)]++);
				pair.right().receive(sink.segment(slot * 8, 8));
				slots.add(slot);
				receives.release();
			}
		});
		BitSet completed = new BitSet(posters * each);
		List<FutureTask<Void>> tasks = new ArrayList<>();
		for (int poster = 0; poster < posters; poster++) {
			int number = poster;
			tasks.add(this.fixture.inBackground("poster-" + poster, () -> {
				WorkRequest request = new WorkRequest(1);
				for (int i = 0; i < each; i++) {
					receives.acquire();
					int index = number * each + i;
					source.view(index * 8, 8).putInt(0, number).putInt(4, i);
					request.send(index).addSegment(source.region(), index * 8, 8);
					while (pair.left().queuePair().postSend(request) == PostResult.QUEUE_FULL) {
						VerbsFixture.letOthersRun();
					}
					pair.left().queuePair().ringDoorbell();
				}
				return null;
			}));
		}
		WorkCompletion[] batch = batch(7);
		this.fixture.await("all completions", () -> {
			int count = pair.left().collector().queue().poll(batch);
			for (int i = 0; i < count; i++) {
				assertThat(batch[i].status()).isEqualTo(WorkStatus.SUCCESS);
				assertThat(completed.get((int) batch[i].id())).as("completed twice").isFalse();
				completed.set((int) batch[i].id());
			}
			return completed.cardinality() == posters * each;
		});
		this.fixture.await("all deliveries", () -> next[0] + next[1] + next[2] == posters * each);
		for (FutureTask<Void> task : tasks) {
			this.fixture.awaitEnd(task);
		}
		pair.left().collector().handsOff(false);
	}

	@Test
	void severalThreadsPollOneQueue() throws InterruptedException {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(128, 128));
		pair.left().collector().handsOff(true);
		pair.right().collector().handsOff(true);
		int messages = TestEnvironment.rounds(12_000, 1000);
		Semaphore credits = new Semaphore(128);
		AtomicInteger remaining = new AtomicInteger(2 * messages);
		AtomicIntegerArray completions = new AtomicIntegerArray(2 * messages);
		WorkRequest receive = new WorkRequest(0);
		for (int i = 0; i < messages && i < 128; i++) {
			pair.right().queuePair().postReceive(receive.receive(messages + i));
		}
		AtomicInteger nextReceive = new AtomicInteger(messages + 128);
		List<FutureTask<Void>> pollers = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			pollers.add(this.fixture.inBackground("poller-" + i, () -> {
				WorkCompletion[] batch = batch(5);
				WorkRequest repost = new WorkRequest(0);
				while (remaining.get() > 0) {
					for (VerbsEndpoint endpoint : List.of(pair.left(), pair.right())) {
						int count = endpoint.collector().queue().poll(batch);
						for (int k = 0; k < count; k++) {
							assertThat(batch[k].status()).isEqualTo(WorkStatus.SUCCESS);
							completions.incrementAndGet((int) batch[k].id());
							if (batch[k].opcode() == WorkOpcode.RECEIVE) {
								int id = nextReceive.getAndIncrement();
								if (id < 2 * messages) {
									endpoint.queuePair().postReceive(repost.receive(id));
									credits.release();
								}
							}
						}
						remaining.addAndGet(-count);
					}
				}
				return null;
			}));
		}
		WorkRequest send = new WorkRequest(0);
		for (int i = 0; i < messages; i++) {
			credits.acquire();
			while (pair.left().queuePair().postSend(send.send(i)) == PostResult.QUEUE_FULL) {
				VerbsFixture.letOthersRun();
			}
		}
		for (FutureTask<Void> poller : pollers) {
			this.fixture.awaitEnd(poller);
		}
		for (int i = 0; i < 2 * messages; i++) {
			assertThat(completions.get(i)).as("completions of request %s", i).isOne();
		}
		pair.left().collector().handsOff(false);
		pair.right().collector().handsOff(false);
	}

	@Test
	void closingAQueuePairWhileAnotherThreadPosts() {
		GuardedMemory local = this.fixture.left().memory(100_000);
		for (int round = 0; round < TestEnvironment.rounds(60, 10); round++) {
			ConnectedPair pair = this.fixture.connect();
			GuardedMemory lent = this.fixture.right().memory(100_000, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
			pair.left().collector().handsOff(true);
			pair.right().collector().handsOff(true);
			CountingWork work = new CountingWork(pair, local, lent, between(1, 100_000));
			FutureTask<Void> posting = this.fixture.inBackground("poster", work::postUntilClosed);
			FutureTask<Void> polling = this.fixture.inBackground("poller", work::pollUntilStopped);
			this.fixture.await("work under way", () -> work.completed.get() >= 5);
			spin(between(0, 20_000));
			pair.left().close();
			this.fixture.awaitEnd(posting);
			work.stopped.set(true);
			this.fixture.awaitEnd(polling);
			assertThat(pair.left().collector().queue().poll(batch(16))).as("completions after the close").isZero();
			pair.right().collector().handsOff(false);
			this.fixture.awaitSettled(pair.right());
			lent.assertGuardsIntact();
		}
	}

	@Test
	void disconnectingWhileAnotherThreadPosts() {
		GuardedMemory source = this.fixture.left().memory(1 << 20);
		for (int round = 0; round < TestEnvironment.rounds(40, 10); round++) {
			ConnectedPair pair = this.fixture.connect();
			GuardedMemory sink = this.fixture.right().memory(1 << 20, AccessFlag.REMOTE_WRITE);
			int length = between(1, 1 << 20);
			FutureTask<Void> posting = this.fixture.inBackground("poster", () -> {
				for (int after = 0; after < 10;) {
					boolean ended = pair.left().state() == QueuePairState.ERROR;
					WorkRequest request = pair.left()
						.request()
						.write(pair.left().nextId(), sink.remote().address(), sink.remote().key());
					if (pair.left().tryPost(Segment.addAll(request, source.segment(0, length))) == PostResult.POSTED) {
						after += ended ? 1 : 0;
					}
					else {
						VerbsFixture.letOthersRun();
					}
				}
				return null;
			});
			this.fixture.await("work under way", () -> pair.left().sends().completedCount() >= 3);
			((round % 2 == 0) ? pair.left() : pair.right()).queuePair().disconnect();
			this.fixture.awaitEnd(posting);
			pair.awaitEnd();
			pair.left().close();
			pair.right().close();
			sink.close();
		}
	}

	@Test
	void closingBothSidesAtOnce() {
		for (int round = 0; round < TestEnvironment.rounds(60, 10); round++) {
			ConnectedPair pair = this.fixture.connect();
			pair.left().receive();
			pair.right().receive();
			pair.left().send();
			FutureTask<Void> closing = this.fixture.inBackground("closing", () -> {
				pair.left().close();
				return null;
			});
			if (round % 2 == 0) {
				pair.right().collector().poll();
			}
			pair.right().close();
			this.fixture.awaitEnd(closing);
			assertThat(pair.left().state()).isEqualTo(QueuePairState.CLOSED);
			assertThat(pair.right().state()).isEqualTo(QueuePairState.CLOSED);
		}
	}

	@Test
	void closingADeviceUnderLoad() {
		for (int round = 0; round < TestEnvironment.rounds(15, 4); round++) {
			VerbsSide side = new VerbsSide(this.fixture, "doomed", this.fixture.openDevice());
			VerbsEndpoint endpoint = side.endpoint();
			ConnectedPair pair = this.fixture.connect(endpoint, this.fixture.right().endpoint());
			endpoint.collector().handsOff(true);
			GuardedMemory local = side.memory(100_000);
			GuardedMemory lent = this.fixture.right().memory(100_000, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
			CountingWork work = new CountingWork(pair, local, lent, 100_000);
			FutureTask<Void> posting = this.fixture.inBackground("poster", work::postUntilClosed);
			FutureTask<Void> polling = this.fixture.inBackground("poller", work::pollUntilClosed);
			this.fixture.await("work under way", () -> work.completed.get() >= 3);
			spin(between(0, 20_000));
			endpoint.leaveUnaccounted();
			side.device().close();
			this.fixture.awaitEnd(posting);
			this.fixture.awaitEnd(polling);
			this.fixture.awaitSettled(pair.right());
		}
	}

	@Test
	void closingACompletionQueueUnderLoad() {
		GuardedMemory local = this.fixture.left().memory(100_000);
		GuardedMemory lent = this.fixture.right().memory(100_000, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
		for (int round = 0; round < TestEnvironment.rounds(30, 6); round++) {
			ConnectedPair pair = this.fixture.connect();
			pair.left().collector().handsOff(true);
			CountingWork work = new CountingWork(pair, local, lent, between(1, 100_000));
			FutureTask<Void> posting = this.fixture.inBackground("poster", work::postUntilClosed);
			FutureTask<Void> polling = this.fixture.inBackground("poller", work::pollUntilClosed);
			this.fixture.await("work under way", () -> work.completed.get() >= 3);
			spin(between(0, 20_000));
			pair.left().collector().close();
			this.fixture.await("the error", () -> pair.left().state() == QueuePairState.ERROR);
			pair.left().close();
			this.fixture.awaitEnd(posting);
			this.fixture.awaitEnd(polling);
			this.fixture.awaitSettled(pair.right());
		}
	}

	/** Posts whatever there is, until the queue pair is closed under it. */
	private static final class CountingWork {

		private final ConnectedPair pair;

		private final GuardedMemory local;

		private final GuardedMemory lent;

		private final int length;

		private final AtomicInteger completed = new AtomicInteger();

		private final AtomicBoolean stopped = new AtomicBoolean();

		CountingWork(ConnectedPair pair, GuardedMemory local, GuardedMemory lent, int length) {
			this.pair = pair;
			this.local = local;
			this.lent = lent;
			this.length = length;
		}

		Void postUntilClosed() {
			WorkRequest request = new WorkRequest(1);
			QueuePair queuePair = this.pair.left().queuePair();
			MemoryRegion there = this.lent.region();
			try {
				for (long id = 0; id < Long.MAX_VALUE; id++) {
					PostResult result = switch ((int) (id % 3)) {
						case 0 -> queuePair.postSend(request.write(id, there.remoteAddress(), there.remoteKey())
							.addSegment(this.local.region(), 0, this.length));
						case 1 -> queuePair.postSend(request.read(id, there.remoteAddress(), there.remoteKey())
							.addSegment(this.local.region(), 0, this.length));
						default -> queuePair.postReceive(request.receive(id));
					};
					queuePair.ringDoorbell();
					if (result == PostResult.QUEUE_FULL) {
						VerbsFixture.letOthersRun();
					}
				}
			}
			catch (VerbsException ex) {
				if (!isClosed(ex)) {
					throw ex;
				}
			}
			return null;
		}

		Void pollUntilClosed() {
			try {
				return pollUntilStopped();
			}
			catch (VerbsException ex) {
				if (!isClosed(ex)) {
					throw ex;
				}
				return null;
			}
		}

		Void pollUntilStopped() {
			WorkCompletion[] batch = batch(4);
			while (!this.stopped.get()) {
				int count = this.pair.left().collector().queue().poll(batch);
				for (int i = 0; i < count; i++) {
					assertThat(batch[i].queuePair()).isSameAs(this.pair.left().queuePair());
					assertThat(batch[i].status()).isEqualTo(WorkStatus.SUCCESS);
				}
				this.completed.addAndGet(count);
				this.pair.right().collector().poll();
			}
			return null;
		}

	}

}
