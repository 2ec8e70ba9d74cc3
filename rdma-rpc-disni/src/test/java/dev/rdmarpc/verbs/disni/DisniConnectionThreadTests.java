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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.verbs.VerbsException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The connection thread with a connection manager that the test speaks for. */
class DisniConnectionThreadTests {

	private final Semaphore wakeUps = new Semaphore(0);

	private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

	private final Queue<Long> events = new ConcurrentLinkedQueue<>();

	private final Semaphore removals = new Semaphore(0);

	private volatile boolean removing;

	private final Set<Long> open = ConcurrentHashMap.newKeySet();

	private final AtomicLong lastId = new AtomicLong();

	private final DisniConnectionThread thread = new DisniConnectionThread(
			new Adapter("test", 1, null, PlainVerbs.attributes("test")),
			(ConnectionVerbs) Proxy.newProxyInstance(ConnectionVerbs.class.getClassLoader(),
					new Class<?>[] { ConnectionVerbs.class }, (proxy, method, arguments) -> answer(method, arguments)),
			() -> this.removals.release(), TimeUnit.MILLISECONDS.toNanos(50));

	private @Nullable Object answer(Method method, Object[] arguments) throws Throwable {
		switch (method.getName()) {
			case "createId" -> {
				long id = this.lastId.incrementAndGet();
				this.open.add(id);
				return id;
			}
			case "closeId" -> assertThat(this.open.remove(arguments[0])).isTrue();
			case "awaitEvent" -> {
				Throwable problem = this.failure.get();
				if (problem != null) {
					throw problem;
				}
				Long id = this.events.poll();
				if (id != null) {
					boolean request = id < 0;
					((ConnectionEvent) arguments[0]).set(
							request ? ConnectionEventType.CONNECT_REQUEST : this.removing
									? ConnectionEventType.DEVICE_REMOVAL : ConnectionEventType.DISCONNECTED,
							0, Math.abs(id), 1);
					if (request) {
						this.open.add(-id);
					}
					return true;
				}
				long timeoutNanos = (Long) arguments[1];
				boolean woken = this.wakeUps
					.tryAcquire((timeoutNanos >= 0) ? timeoutNanos : TimeUnit.MINUTES.toNanos(5), TimeUnit.NANOSECONDS);
				assertThat(woken || timeoutNanos >= 0).as("woken in the end").isTrue();
				return false;
			}
			case "wake" -> this.wakeUps.release();
			default -> assertThat(method.getName()).isEqualTo("close");
		}
		return null;
	}

	@AfterEach
	void shutDown() {
		this.thread.shutDown();
		assertThat(this.open).as("ids left open").isEmpty();
	}

	private void happen(long event) {
		this.events.add(event);
		this.thread.execute(() -> {
		});
	}

	private <T> T ask(Callable<T> question) throws Exception {
		CompletableFuture<T> answer = new CompletableFuture<>();
		this.thread.execute(() -> {
			try {
				answer.complete(question.call());
			}
			catch (Exception ex) {
				answer.completeExceptionally(ex);
			}
		});
		return answer.get(30, TimeUnit.SECONDS);
	}

	@Test
	void whatIsAskedForWhenSomethingIsDueIsDoneEvenIfNothingElseHappens() throws Exception {
		CompletableFuture<String> done = new CompletableFuture<>();
		this.thread.start();
		this.thread.execute(() -> this.thread.schedule(TimeUnit.MILLISECONDS.toNanos(1),
				() -> this.thread.execute(() -> done.complete("done"))));
		assertThat(done.get(30, TimeUnit.SECONDS)).isEqualTo("done");
	}

	@Test
	void whatIsDueIsDoneInItsOrderAndWhatWasCancelledNot() throws Exception {
		CompletableFuture<String> done = new CompletableFuture<>();
		StringBuilder order = new StringBuilder();
		this.thread.start();
		this.thread.execute(() -> {
			this.thread.schedule(TimeUnit.MILLISECONDS.toNanos(20), () -> done.complete(order.append('c').toString()));
			this.thread.schedule(TimeUnit.MILLISECONDS.toNanos(10), () -> order.append('b'));
			this.thread.schedule(TimeUnit.MILLISECONDS.toNanos(5), () -> order.append('x')).cancel();
			order.append('a');
		});
		assertThat(done.get(30, TimeUnit.SECONDS)).isEqualTo("abc");
	}

	@ParameterizedTest
	@MethodSource
	void noFailureOfATaskEndsTheThread(Throwable failure) throws Exception {
		this.thread.start();
		this.thread.execute(() -> DisniConnectionThreadTests.<RuntimeException>sneak(failure));
		this.thread
			.execute(() -> this.thread.schedule(0, () -> DisniConnectionThreadTests.<RuntimeException>sneak(failure)));
		assertThat(ask(() -> "done")).isEqualTo("done");
		assertThat(this.thread.isRunning()).isTrue();
	}

	static List<Throwable> noFailureOfATaskEndsTheThread() {
		return List.of(new OutOfMemoryError("made up"), new StackOverflowError(), new AssertionError(), new Exception(),
				new IllegalStateException());
	}

	@ParameterizedTest
	@MethodSource("noFailureOfATaskEndsTheThread")
	void noFailureOfAHandlerEndsTheThread(Throwable failure) throws Exception {
		this.thread.start();
		long id = ask(
				() -> this.thread.createId((event) -> DisniConnectionThreadTests.<RuntimeException>sneak(failure)));
		CompletableFuture<ConnectionEventType> heard = new CompletableFuture<>();
		long other = ask(() -> this.thread.createId((event) -> heard.complete(event.type())));
		happen(id);
		happen(other);
		assertThat(heard.get(30, TimeUnit.SECONDS)).isEqualTo(ConnectionEventType.DISCONNECTED);
		assertThat(this.thread.isRunning()).isTrue();
	}

	@Test
	void aRequestWhoseHandlerFailsBeforeItIsKnownIsNotLeftOpen() throws Exception {
		this.thread.start();
		ask(() -> this.thread.createId((event) -> {
			throw new OutOfMemoryError("made up");
		}));
		happen(-7);
		assertThat(ask(() -> "done")).isEqualTo("done");
		assertThat(ask(() -> this.open.contains(7L))).isFalse();
	}

	@ParameterizedTest
	@MethodSource("failuresToTell")
	void aConnectionManagerThatFailsForAWhileIsAskedAgain(Throwable failure) throws Exception {
		CompletableFuture<ConnectionEventType> heard = new CompletableFuture<>();
		this.thread.start();
		long id = ask(() -> this.thread.createId((event) -> heard.complete(event.type())));
		this.failure.set(failure);
		assertThat(ask(() -> "done")).as("tasks meanwhile").isEqualTo("done");
		assertThat(heard.get(30, TimeUnit.SECONDS)).as("what nobody will tell")
			.isEqualTo(ConnectionEventType.DEVICE_REMOVAL);
		assertThat(this.thread.isRunning()).isFalse();
		assertThat(ask(() -> "done")).as("tasks afterwards").isEqualTo("done");
		this.failure.set(null);
		CompletableFuture<ConnectionEventType> later = new CompletableFuture<>();
		ask(() -> {
			this.thread.handle(id, (event) -> later.complete(event.type()));
			return id;
		});
		happen(id);
		assertThat(later.get(30, TimeUnit.SECONDS)).isEqualTo(ConnectionEventType.DISCONNECTED);
		assertThat(this.thread.isRunning()).isTrue();
	}

	/** Unlike that of a connection manager which fails, and may be well again. */
	@Test
	void theRemovalOfTheAdapterIsToldWhateverIdItIsAbout() throws Exception {
		this.thread.start();
		long id = ask(() -> this.thread.createId((event) -> {
		}));
		happen(id);
		assertThat(ask(() -> "done")).isEqualTo("done");
		assertThat(this.removals.availablePermits()).isZero();
		this.removing = true;
		happen(id + 1);
		assertThat(this.removals.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
	}

	static List<Throwable> failuresToTell() {
		return List.of(new IOException("made up"), new OutOfMemoryError("made up"));
	}

	@Test
	void whoeverWaitsForAThreadThatHasEndedIsTold() throws Exception {
		this.thread.start();
		this.thread.shutDown();
		assertThatThrownBy(() -> this.thread.join(new CompletableFuture<Void>())).isInstanceOf(VerbsException.class)
			.hasMessageContaining("has ended");
	}

	@SuppressWarnings("unchecked") // that is the trick
	private static <T extends Throwable> void sneak(Throwable failure) throws T {
		throw (T) failure;
	}

}
