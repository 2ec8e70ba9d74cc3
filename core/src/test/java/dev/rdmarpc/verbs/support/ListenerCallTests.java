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

package dev.rdmarpc.verbs.support;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/** A listener is called without the lock, and never after close has returned. */
class ListenerCallTests {

	private static final long DEADLINE_SECONDS = 20;

	private static final Duration LESS_THAN_PATIENCE = Duration.ofSeconds(4);

	/** A thread for each task: from Java 25 on, the common pool may have one thread. */
	private static final Executor THREADS = (task) -> new Thread(task, "listener-call").start();

	private final ReentrantLock lock = new ReentrantLock();

	@Test
	void callsTheListenerWithoutTheLock() {
		AtomicBoolean locked = new AtomicBoolean(true);
		Lost lost = new Lost((queuePair, fault) -> locked.set(this.lock.isHeldByCurrentThread()));
		lost.call.make();
		assertThat(locked).isFalse();
		assertThat(this.lock.isLocked()).isFalse();
	}

	@Test
	void callsNobodyOnceTheQueuePairIsClosed() {
		AtomicInteger calls = new AtomicInteger();
		Lost lost = new Lost((queuePair, fault) -> calls.incrementAndGet());
		lost.close();
		lost.call.make();
		assertThat(calls).hasValue(0);
	}

	@Test
	void closeWaitsForACallInAnotherThread() throws Exception {
		CountDownLatch inListener = new CountDownLatch(1);
		CountDownLatch mayReturn = new CountDownLatch(1);
		AtomicBoolean returned = new AtomicBoolean();
		Lost lost = new Lost((queuePair, fault) -> {
			inListener.countDown();
			await(mayReturn);
			returned.set(true);
		});
		CompletableFuture<Void> caller = CompletableFuture.runAsync(lost.call::make, THREADS);
		await(inListener);
		CompletableFuture<Boolean> returnedBeforeClose = CompletableFuture.supplyAsync(() -> {
			this.lock.lock();
			try {
				lost.close();
				return returned.get();
			}
			finally {
				this.lock.unlock();
			}
		}, THREADS);
		await(lost.closing);
		// To be had only when close waits, or is over without having waited.
		this.lock.lock();
		try {
			mayReturn.countDown();
		}
		finally {
			this.lock.unlock();
		}
		assertThat(returnedBeforeClose.get(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
		caller.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
	}

	@Test
	void aListenerMayCloseItsQueuePair() {
		Lost lost = new Lost((queuePair, fault) -> queuePair.close());
		assertThat(CompletableFuture.runAsync(lost.call::make, THREADS)).succeedsWithin(LESS_THAN_PATIENCE);
		assertThat(lost.state()).isEqualTo(QueuePairState.CLOSED);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void closeDoesNotWaitForAListenerThatFailed(boolean error) throws Exception {
		Lost lost = new Lost((queuePair, fault) -> {
			if (error) {
				throw new OutOfMemoryError("a listener that throws, on purpose");
			}
			throw new IllegalStateException("a listener that throws, on purpose");
		});
		CompletableFuture.runAsync(lost.call::make, THREADS).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
		assertThat(CompletableFuture.runAsync(lost::close, THREADS)).succeedsWithin(LESS_THAN_PATIENCE);
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	/** A queue pair that has lost its connection. */
	private final class Lost implements QueuePair {

		private final QueuePairListener listener;

		private final ListenerCall call;

		private final CountDownLatch closing = new CountDownLatch(1);

		private volatile QueuePairState state = QueuePairState.ERROR;

		Lost(QueuePairListener listener) {
			this.listener = listener;
			this.call = new ListenerCall(this, ListenerCallTests.this.lock);
		}

		@Override
		public int number() {
			return 1;
		}

		@Override
		public QueuePairListener listener() {
			return this.listener;
		}

		@Override
		public QueuePairState state() {
			return this.state;
		}

		@Override
		public @Nullable QueuePairFault fault() {
			return new QueuePairFault(WorkStatus.CONNECTION_LOST, QueuePairFault.Origin.LOCAL, "on purpose");
		}

		@Override
		public PostResult postSend(WorkRequest request) {
			return PostResult.QUEUE_FULL;
		}

		@Override
		public PostResult postReceive(WorkRequest request) {
			return PostResult.QUEUE_FULL;
		}

		@Override
		public void ringDoorbell() {
		}

		@Override
		public void disconnect() {
		}

		@Override
		public void close() {
			ListenerCallTests.this.lock.lock();
			try {
				this.state = QueuePairState.CLOSED;
				this.closing.countDown();
				this.call.awaitEnd();
			}
			finally {
				ListenerCallTests.this.lock.unlock();
			}
		}

	}

}
