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

import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** Arming, awaiting and waking completion queues. */
abstract class AbstractNotificationTests extends AbstractVerbsTests {

	/**
	 * Interrupts that may be lost in a test. Java 17 sets the status of a thread only
	 * after it has looked for a selector to wake, so that one which begins to select in
	 * between sleeps on, once in thousands of times; Java 25 sets it before.
	 */
	private static final int MOST_LOST = (Runtime.version().feature() < 25) ? 1 : 0;

	private static final long NEVER = VerbsFixture.DEADLINE.toNanos();

	private static final long SHORT = TimeUnit.MILLISECONDS.toNanos(30);

	AbstractNotificationTests(VerbsFixture fixture) {
		super(fixture);
	}

	@Test
	void awaitingWithNothingToComeReturnsFalseWhenTheTimeIsOver() {
		CompletionQueue queue = this.fixture.left().collector(4).queue();
		queue.requestNotification(false);
		long start = System.nanoTime();
		assertThat(queue.await(SHORT)).isFalse();
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT * 9 / 10);
		assertThat(queue.await(0)).isFalse();
	}

	@Test
	void anUnarmedQueueDoesNotFire() {
		ConnectedPair pair = this.fixture.connect();
		pair.greet();
		assertThat(pair.right().collector().queue().await(SHORT)).isFalse();
		assertThat(pair.left().collector().queue().await(SHORT)).isFalse();
	}

	@Test
	void anArmedQueueFiresOnAReceive() {
		ConnectedPair pair = this.fixture.connect();
		CompletionCollector collector = pair.right().collector().handsOff(true);
		long received = pair.right().receive();
		collector.queue().requestNotification(false);
		assertThat(collector.poll()).isZero();
		FutureTask<Boolean> fired = this.fixture.inBackground("awaiting", () -> collector.queue().await(NEVER));
		pair.left().send();
		assertThat(this.fixture.awaitEnd(fired)).isTrue();
		collector.handsOff(false);
		pair.awaitSuccess(pair.right(), received);
	}

	@Test
	void anArmedQueueFiresOnTheCompletionOfASend() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory lent = this.fixture.right().memory(1000, AccessFlag.REMOTE_READ);
		GuardedMemory sink = this.fixture.left().memory(1000);
		this.fixture.whilePolled(pair.right().collector(), () -> {
			CompletionQueue queue = pair.left().collector().queue();
			for (int i = 0; i < 20; i++) {
				queue.requestNotification(false);
				long read = pair.left().read(lent.remote(), sink.all());
				assertThat(queue.await(NEVER)).isTrue();
				pair.awaitSuccess(pair.left(), read);
			}
		});
	}

	@Test
	void oneRequestFiresOnce() {
		ConnectedPair pair = this.fixture.connect();
		CompletionQueue queue = pair.right().collector().queue();
		queue.requestNotification(false);
		pair.greet();
		assertThat(queue.await(NEVER)).isTrue();
		pair.greet();
		assertThat(queue.await(SHORT)).isFalse();
	}

	@Test
	void completionsAlreadyInTheQueueDoNotCount() {
		ConnectedPair pair = this.fixture.connect();
		CompletionCollector collector = pair.right().collector().handsOff(true);
		CompletionQueue queue = collector.queue();
		long first = pair.right().receive();
		long second = pair.right().receive();
		this.fixture.whilePolled(pair.left().collector(), () -> {
			queue.requestNotification(false);
			pair.left().send();
			assertThat(queue.await(NEVER)).isTrue();
			queue.requestNotification(false);
			assertThat(queue.await(SHORT)).isFalse();
			pair.left().send();
			assertThat(queue.await(NEVER)).isTrue();
		});
		collector.handsOff(false);
		pair.awaitSuccess(pair.right(), first);
		pair.awaitSuccess(pair.right(), second);
	}

	@Test
	void aSolicitedOnlyRequestFiresOnSolicitedSendsAlone() {
		ConnectedPair pair = this.fixture.connect();
		CompletionCollector collector = pair.right().collector();
		long plain = pair.right().receive();
		long solicited = pair.right().receive();
		collector.queue().requestNotification(true);
		pair.awaitSuccess(pair.left(), pair.left().send());
		pair.awaitSuccess(pair.right(), plain);
		if (this.fixture.notifiesOfSolicitedAlone()) {
			assertThat(collector.queue().await(SHORT)).isFalse();
		}
		collector.handsOff(true);
		this.fixture.whilePolled(pair.left().collector(), () -> {
			pair.left().sendSolicited();
			assertThat(collector.queue().await(NEVER)).isTrue();
		});
		collector.handsOff(false);
		pair.awaitSuccess(pair.right(), solicited);
	}

	@Test
	void aSolicitedOnlyRequestFiresOnErrors() {
		ConnectedPair pair = this.fixture.connect();
		CompletionCollector collector = pair.right().collector().handsOff(true);
		pair.right().receive();
		collector.queue().requestNotification(true);
		this.fixture.whilePolled(pair.left().collector(), () -> {
			pair.left().queuePair().disconnect();
			assertThat(collector.queue().await(NEVER)).isTrue();
		});
		collector.handsOff(false);
		pair.awaitEnd();
	}

	@Test
	void anArmedQueueFiresOnFlushes() {
		ConnectedPair pair = this.fixture.connect();
		CompletionCollector collector = pair.right().collector().handsOff(true);
		long received = pair.right().receive();
		collector.queue().requestNotification(false);
		pair.left().close();
		assertThat(collector.queue().await(NEVER)).isTrue();
		collector.handsOff(false);
		assertThat(this.fixture.awaitCompletion(pair.right(), received).isSuccess()).isFalse();
	}

	@Test
	void awaitingServesThePassiveSideOfReadsAndWrites() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory lent = this.fixture.right().memory(3 << 20, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
		GuardedMemory local = this.fixture.left().memory(3 << 20);
		CompletionCollector collector = pair.right().collector().handsOff(true);
		collector.queue().requestNotification(false);
		FutureTask<Boolean> fired = this.fixture.inBackground("awaiting", () -> collector.queue().await(NEVER));
		pair.left().write(lent.remote(), local.all());
		GuardedMemory back = this.fixture.left().memory(3 << 20);
		pair.awaitSuccess(pair.left(), pair.left().read(lent.remote(), back.all()));
		back.assertHolds(0, local, 0, 3 << 20);
		collector.queue().wakeUp();
		assertThat(this.fixture.awaitEnd(fired)).isFalse();
		collector.handsOff(false);
	}

	@Test
	void armPollAwaitLosesNoEvent() {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(64, 64));
		int messages = TestEnvironment.rounds(6000, 600);
		CompletionCollector collector = pair.right().collector().handsOff(true);
		for (int i = 0; i < 32; i++) {
			pair.right().receive();
		}
		AtomicInteger consumed = new AtomicInteger();
		FutureTask<Integer> consumer = this.fixture.inBackground("consumer", () -> {
			int awaited = 0;
			while (consumed.get() < messages) {
				int count = collector.poll();
				if (count == 0) {
					collector.queue().requestNotification(false);
					count = collector.poll();
				}
				if (count == 0) {
					awaited++;
					if (!collector.queue().await(NEVER)) {
						throw new AssertionError("an event was lost after " + consumed + " messages");
					}
				}
				for (int i = 0; i < count; i++) {
					pair.right().receive();
				}
				consumed.addAndGet(count);
			}
			return awaited;
		});
		for (int sent = 0; sent < messages; sent++) {
			int limit = sent - 31;
			this.fixture.await("a receive and room",
					() -> (consumed.get() >= limit && pair.left().sends().due() < 60) || consumer.isDone());
			if (consumer.isDone()) {
				break;
			}
			pair.left().send();
			spin(between(0, (sent % 3 == 0) ? 3000 : 50));
			if (sent % 5 == 0) {
				int all = sent + 1;
				this.fixture.await("idleness", () -> consumed.get() >= all || consumer.isDone());
				spin(between(0, 200));
			}
		}
		assertThat(this.fixture.awaitEnd(consumer)).as("times the consumer went to sleep").isPositive();
		collector.handsOff(false);
	}

	@Test
	void wakeUpEndsTheCurrentOrTheNextAwait() {
		CompletionQueue queue = this.fixture.left().collector(4).queue();
		for (int i = 0; i < TestEnvironment.rounds(300, 30); i++) {
			queue.requestNotification(i % 2 == 0);
			FutureTask<Boolean> awaiting = this.fixture.inBackground("awaiting", () -> queue.await(NEVER));
			spin(between(0, 20_000));
			queue.wakeUp();
			assertThat(this.fixture.awaitEnd(awaiting)).isFalse();
		}
		queue.wakeUp();
		queue.wakeUp();
		assertThat(queue.await(NEVER)).isFalse();
		assertThat(queue.await(SHORT)).isFalse();
	}

	@Test
	void closingTheQueueEndsAnAwait() {
		for (int i = 0; i < TestEnvironment.rounds(100, 15); i++) {
			CompletionCollector collector = this.fixture.left().collector(4);
			FutureTask<Boolean> awaiting = this.fixture.inBackground("awaiting", () -> {
				assertFails(VerbsError.CLOSED, () -> collector.queue().await(NEVER));
				return true;
			});
			spin(between(0, 20_000));
			collector.close();
			assertThat(this.fixture.awaitEnd(awaiting)).isTrue();
		}
	}

	@Test
	void interruptingEndsAnAwaitAndHarmsNoConnection() throws Exception {
		ConnectedPair pair = this.fixture.connect();
		CompletionCollector collector = pair.right().collector().handsOff(true);
		int lost = 0;
		for (int i = 0; i < TestEnvironment.rounds(50, 10); i++) {
			FutureTask<Boolean> awaiting = new FutureTask<>(() -> {
				assertThat(collector.queue().await(NEVER)).isFalse();
				return Thread.interrupted();
			});
			Thread thread = new Thread(awaiting, "awaiting");
			thread.setDaemon(true);
			thread.start();
			spin(between(0, 20_000));
			thread.interrupt();
			if (isLost(awaiting)) {
				lost++;
				thread.interrupt();
			}
			assertThat(awaiting.get(VerbsFixture.DEADLINE.toSeconds(), TimeUnit.SECONDS))
				.as("whether the interrupt status was kept")
				.isTrue();
		}
		assertThat(lost).as("interrupts that were not noticed").isLessThanOrEqualTo(MOST_LOST);
		collector.handsOff(false);
		pair.greet();
	}

	/** Looks long before the wait would end by itself. */
	private static boolean isLost(FutureTask<Boolean> awaiting) throws Exception {
		try {
			awaiting.get(VerbsFixture.DEADLINE.toSeconds() / 3, TimeUnit.SECONDS);
			return false;
		}
		catch (TimeoutException ex) {
			return true;
		}
	}

	@Test
	void anInterruptedThreadPostsAndPollsAsEver() {
		ConnectedPair pair = this.fixture.connect();
		Thread.currentThread().interrupt();
		try {
			pair.greet();
			pair.reversed().greet();
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
		}
		finally {
			assertThat(Thread.interrupted()).isTrue();
		}
	}

	@Test
	void aClosedQueueRefusesEverythingAndMayBeClosedAgain() {
		CompletionCollector collector = this.fixture.left().collector(4);
		collector.close();
		collector.close();
		assertFails(VerbsError.CLOSED, () -> collector.queue().poll(new WorkCompletion[] { new WorkCompletion() }));
		assertFails(VerbsError.CLOSED, () -> collector.queue().await(1));
	}

}
