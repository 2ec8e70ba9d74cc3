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

package dev.rdmarpc.rpc;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Continuations that block, call and throw: nobody else notices, and they never run in a
 * thread that serves or calls somebody else.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcContinuationTests {

	/** For calls that have to succeed: only a hang takes as long. */
	private static final CallOptions PATIENT = CallOptions.deadline(TestEnvironment.patience(Duration.ofSeconds(20)));

	private static final ThreadLocal<Object> OWN = new ThreadLocal<>();

	private final CountDownLatch release = new CountDownLatch(1);

	private final Held first = new Held();

	private final Held second = new Held();

	private final RpcNode a = serving(this.first);

	private final RpcNode b = serving(this.second);

	private final RpcNode caller = new RpcNode();

	@AfterEach
	void nothingIsLeft() {
		this.release.countDown();
		this.first.answerAll();
		this.second.answerAll();
		RpcNode.close(List.of(this.caller, this.a, this.b));
	}

	@Test
	void interruptOfOneContinuationDoesNotReachTheNext() throws Exception {
		Holding target = calling(this.a);
		Queue<Boolean> seen = new ConcurrentLinkedQueue<>();
		List<CompletableFuture<Void>> all = new ArrayList<>();
		for (int i = 0; i < 64; i++) {
			all.add(target.hold("held").thenAccept((answer) -> {
				seen.add(Thread.currentThread().isInterrupted());
				Thread.currentThread().interrupt();
			}));
		}
		this.first.answer("held", 64);
		for (CompletableFuture<Void> one : all) {
			one.get(60, TimeUnit.SECONDS);
		}
		assertThat(seen).hasSize(64).containsOnly(false);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 3 })
	void continuationThatBlocksHoldsUpNobody(int blocked) throws Exception {
		RpcClient client = this.caller.client(this.a);
		Holding target = PATIENT.on(client.proxy(Holding.class));
		Holding other = calling(this.b);
		assertThat(other.echo("there")).isEqualTo("there");
		CountDownLatch begun = new CountDownLatch(blocked);
		List<CompletableFuture<String>> blocking = new ArrayList<>();
		for (int i = 0; i < blocked; i++) {
			blocking.add(target.hold("held").thenApply((answer) -> block(begun, answer)));
		}
		CompletableFuture<String> outstanding = target.hold("late");
		this.first.answer("held", blocked);
		assertThat(begun.await(20, TimeUnit.SECONDS)).as("continuations that block at the same time").isTrue();
		for (int i = 0; i < 200; i++) {
			String text = "call " + i;
			assertThat(other.echo(text)).isEqualTo(text);
			assertThat(target.echo(text)).isEqualTo(text);
			assertThat(target.echoAsync(text).get(20, TimeUnit.SECONDS)).isEqualTo(text);
			assertThat(target.onExecutor(text)).isEqualTo(text);
		}
		this.first.answer("late", 1);
		assertThat(outstanding.get(20, TimeUnit.SECONDS)).isEqualTo("late");
		Holding newcomer = calling(this.a);
		assertThat(newcomer.echo("new")).isEqualTo("new");
		assertThat(blocking).noneMatch(CompletableFuture::isDone);
		this.release.countDown();
		assertEndWith("held", blocking);
	}

	/**
	 * B's continuations run neither in the threads of A's callers, whose thread-locals
	 * and monitors they would have, nor in those of its own that only wait.
	 */
	@Test
	void continuationsDoNotRunInBlockingCallsOfOthers() throws Exception {
		Holding slow = calling(this.a);
		Holding busy = calling(this.b);
		assertThat(slow.echo("there")).isEqualTo(busy.echo("there"));
		Object monitor = new Object();
		AtomicInteger inCalls = new AtomicInteger();
		AtomicInteger run = new AtomicInteger();
		int rounds = TestEnvironment.rounds(100, 20);
		for (int i = 0; i < rounds; i++) {
			String name = "round " + i;
			CompletableFuture<Boolean> answered = busy.hold(name).thenApply((answer) -> {
				run.incrementAndGet();
				if (OWN.get() != null) {
					inCalls.incrementAndGet();
				}
				return !Thread.holdsLock(monitor);
			});
			CompletableFuture<String> outcome = new CompletableFuture<>();
			Thread thread = new Thread(() -> {
				OWN.set("of the caller of A");
				synchronized (monitor) {
					try {
						outcome.complete(slow.holdAndWait(name));
					}
					catch (Throwable ex) {
						outcome.completeExceptionally(ex);
					}
				}
			});
			thread.start();
			RpcFixture.awaitTrue(() -> this.first.holds(name) && this.second.holds(name));
			this.second.answer(name, 1);
			assertThat(answered.get(20, TimeUnit.SECONDS)).as("without the monitor of another call").isTrue();
			assertThat(outcome.isDone()).isFalse();
			this.first.answer(name, 1);
			assertThat(outcome.get(20, TimeUnit.SECONDS)).isEqualTo(name);
			thread.join();
		}
		assertThat(run).hasValue(rounds);
		assertThat(inCalls).as("continuations that ran in a call of A").hasValue(0);
	}

	@Test
	void continuationsOfFailedConnectionsDoNotStopConnectingAndAccepting() throws Exception {
		Holding backup = calling(this.b);
		int port = Nobody.address().getPort();
		CountDownLatch known = new CountDownLatch(1);
		List<CompletableFuture<String>> rescued = new ArrayList<>();
		CountDownLatch begun = new CountDownLatch(4);
		for (int i = 0; i < 4; i++) {
			Holding primary = unreachable(known, port);
			rescued.add(primary.echoAsync("x").exceptionally((failure) -> backup.echo(block(begun, "rescued"))));
		}
		known.countDown();
		assertThat(begun.await(20, TimeUnit.SECONDS)).as("continuations that block at the same time").isTrue();
		Holding newcomer = calling(this.a);
		assertThat(newcomer.echo("connected")).isEqualTo("connected");
		this.caller.serve(Holding.class, new Held());
		Holding accepted = PATIENT.on(this.a.client(this.caller).proxy(Holding.class));
		assertThat(accepted.echo("accepted")).isEqualTo("accepted");
		assertThat(rescued).noneMatch(CompletableFuture::isDone);
		this.release.countDown();
		assertEndWith("rescued", rescued);
	}

	/** Without a connection yet, which the thread that told of the failure is to make. */
	@Test
	void continuationsOfFailedConnectionsMayCallAnother() throws Exception {
		Holding backup = CallOptions.deadline(TestEnvironment.patience(Duration.ofSeconds(60)))
			.withWaitForReady()
			.on(this.caller.client(this.b).proxy(Holding.class));
		int port = Nobody.address().getPort();
		CountDownLatch known = new CountDownLatch(1);
		List<CompletableFuture<String>> rescued = new ArrayList<>();
		for (int i = 0; i < 16; i++) {
			Holding primary = unreachable(known, port);
			rescued.add(primary.echoAsync("x").exceptionally((failure) -> backup.echo("rescued")));
		}
		known.countDown();
		assertEndWith("rescued", rescued);
	}

	/** The time-outs of the whole process have one thread. */
	@Test
	void continuationOfACallThatFoundNoConnectionInTimeStopsNoOtherTimeout() throws Exception {
		try (ServerSocket silent = new ServerSocket(0, 10, TestEnvironment.address())) {
			Holding primary = this.caller
				.client("silent", () -> new InetSocketAddress(TestEnvironment.address(), silent.getLocalPort()),
						(options) -> options.withConnectTimeout(TestEnvironment.scaled(Duration.ofMillis(500))))
				.proxy(Holding.class);
			CountDownLatch begun = new CountDownLatch(1);
			CompletableFuture<String> rescued = primary.echoAsync("x")
				.exceptionally((failure) -> block(begun, "rescued"));
			assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
			assertThat(new CompletableFuture<String>().completeOnTimeout("in time", 1, TimeUnit.MILLISECONDS)
				.get(20, TimeUnit.SECONDS)).isEqualTo("in time");
			Holding newcomer = calling(this.a);
			assertThat(newcomer.echo("connected")).isEqualTo("connected");
			this.release.countDown();
			assertThat(rescued.get(20, TimeUnit.SECONDS)).isEqualTo("rescued");
		}
	}

	/** The deadline of a future is watched by the loop. */
	@Test
	void continuationOfACallWhoseDeadlinePassedHoldsUpNobody() throws Exception {
		RpcClient client = this.caller.client(this.a);
		Holding target = PATIENT.on(client.proxy(Holding.class));
		assertThat(target.echo("there")).isEqualTo("there");
		Holding hasty = CallOptions.deadline(TestEnvironment.scaled(Duration.ofMillis(500)))
			.on(client.proxy(Holding.class));
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<String> late = hasty.hold("never").exceptionally((failure) -> block(begun, "late"));
		CompletableFuture<String> later = hasty.hold("never");
		assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> later.get(20, TimeUnit.SECONDS))
			.withMessageContaining("DEADLINE_EXCEEDED");
		for (int i = 0; i < 100; i++) {
			assertThat(target.echo("x")).isEqualTo("x");
		}
		this.release.countDown();
		assertThat(late.get(20, TimeUnit.SECONDS)).isEqualTo("late");
	}

	@ParameterizedTest
	@ValueSource(ints = { 128, 256, 1000 })
	void continuationsOfManyCallsMayAllMakeBlockingCalls(int calls) throws Exception {
		Holding target = CallOptions.deadline(TestEnvironment.patience(Duration.ofSeconds(60)))
			.on(this.caller.client(this.a).proxy(Holding.class));
		List<CompletableFuture<String>> chained = new ArrayList<>();
		for (int i = 0; i < calls; i++) {
			String text = "call " + i;
			chained.add(target.hold(text).thenApply((answer) -> target.echo(answer) + target.onExecutor(", again")));
		}
		RpcFixture.awaitTrue(() -> this.first.held() == calls);
		this.first.answerAll();
		for (int i = 0; i < calls; i++) {
			assertThat(chained.get(i).get(120, TimeUnit.SECONDS)).isEqualTo("call " + i + ", again");
		}
	}

	/** Each makes the next one from its continuation. */
	@Test
	void continuationsMayMakeBlockingCallsInChains() throws Exception {
		Holding target = calling(this.a);
		Holding other = calling(this.b);
		List<CompletableFuture<Integer>> chains = new ArrayList<>();
		for (int i = 0; i < 16; i++) {
			CompletableFuture<Integer> chain = CompletableFuture.completedFuture(0);
			for (int step = 0; step < 50; step++) {
				chain = chain.thenCompose((done) -> target.echoAsync("step")
					.thenApply((answer) -> done + other.echo(answer).length())
					.thenCompose((sum) -> other.echoAsync("x")
						.thenApply((answer) -> sum + target.onExecutor("y").length())));
			}
			chains.add(chain);
		}
		for (CompletableFuture<Integer> chain : chains) {
			assertThat(chain.get(60, TimeUnit.SECONDS)).isEqualTo(50 * 5);
		}
	}

	private Holding calling(RpcNode node) {
		return PATIENT.on(this.caller.client(node).proxy(Holding.class));
	}

	/** A service whose address is known once the test says so, and where nobody is. */
	private Holding unreachable(CountDownLatch known, int port) {
		return this.caller.client("primary", () -> {
			Await.latch(known);
			return new InetSocketAddress(TestEnvironment.address(), port);
		}, UnaryOperator.identity()).proxy(Holding.class);
	}

	private static void assertEndWith(String result, List<CompletableFuture<String>> futures) throws Exception {
		for (CompletableFuture<String> future : futures) {
			assertThat(future.get(60, TimeUnit.SECONDS)).isEqualTo(result);
		}
	}

	private String block(CountDownLatch begun, String result) {
		begun.countDown();
		Await.latch(this.release);
		return result;
	}

	private static RpcNode serving(Held service) {
		return new RpcNode().serve(Holding.class, service, (options) -> options.withLimits(64, 4096),
				UnaryOperator.identity());
	}

	/** Answers at once, or when the test says so. */
	interface Holding {

		@RdmaMethod(inline = true)
		String echo(String text);

		@RdmaMethod(inline = true)
		CompletableFuture<String> echoAsync(String text);

		String onExecutor(String text);

		@RdmaMethod(inline = true)
		CompletableFuture<String> hold(String name);

		String holdAndWait(String name);

	}

	/** Serves it. */
	private static final class Held implements Holding {

		private final Set<HeldCall> calls = ConcurrentHashMap.newKeySet();

		@Override
		public String echo(String text) {
			return text;
		}

		@Override
		public CompletableFuture<String> echoAsync(String text) {
			return CompletableFuture.completedFuture(text);
		}

		@Override
		public String onExecutor(String text) {
			return text;
		}

		@Override
		public CompletableFuture<String> hold(String name) {
			HeldCall call = new HeldCall(name, new CompletableFuture<>());
			this.calls.add(call);
			return call.answer();
		}

		@Override
		public String holdAndWait(String name) {
			return hold(name).join();
		}

		boolean holds(String name) {
			return this.calls.stream().anyMatch((call) -> call.name().equals(name));
		}

		int held() {
			return this.calls.size();
		}

		/** Answers so many calls, which may be still to come. */
		void answer(String name, int count) {
			RpcFixture.awaitTrue(() -> this.calls.stream().filter((call) -> call.name().equals(name)).count() == count);
			this.calls.stream().filter((call) -> call.name().equals(name)).forEach(this::answer);
		}

		void answerAll() {
			this.calls.forEach(this::answer);
		}

		private void answer(HeldCall call) {
			this.calls.remove(call);
			call.answer().complete(call.name());
		}

	}

	/** A call that waits for its answer. */
	private record HeldCall(String name, CompletableFuture<String> answer) {

	}

}
