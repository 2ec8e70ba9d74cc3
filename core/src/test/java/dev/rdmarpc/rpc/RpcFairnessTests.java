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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** One connection with more calls than the server can execute, and others beside it. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcFairnessTests {

	private static final int THREADS = 4;

	private final RpcFixture fixture = new RpcFixture();

	private final Bench bench = new Bench();

	private final List<RpcClient> clients = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private @Nullable RpcServer server;

	@AfterEach
	void nothingIsLeft() {
		this.bench.permits.release(1_000_000);
		this.clients.forEach(RpcClient::close);
		if (this.server != null) {
			this.server.close();
			assertThat(this.server.activeCalls()).isZero();
		}
		this.threads.shutdownNow();
		this.fixture.close();
	}

	@Test
	void callsBesideThoseOfABusyConnectionAreServedInTurn() throws Exception {
		start(new ThreadPoolExecutor(THREADS, THREADS, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(4096)),
				UnaryOperator.identity());
		Work busy = newClient();
		List<CompletableFuture<String>> many = new ArrayList<>();
		for (int i = 0; i < 1100; i++) {
			many.add(busy.hold("busy"));
		}
		RpcFixture.awaitTrue(() -> this.bench.begun.get() == THREADS && refused(many) == 1100 - 820);
		Work other = newClient();
		List<CompletableFuture<String>> few = List.of(other.hold("other"), other.hold("other"), other.hold("other"));
		RpcFixture.awaitTrue(() -> running().activeCalls() == 820 + 3);
		int ended = 0;
		while (answered(few) < few.size()) {
			this.bench.permits.release();
			int expected = ++ended;
			RpcFixture.awaitTrue(() -> answered(many) + answered(few) == expected);
			assertThat(ended).as("calls served until those of the other connection were")
				.isLessThanOrEqualTo(2 * (THREADS + few.size()));
		}
	}

	@Test
	void whatIsTooMuchIsRefusedToTheConnectionThatHasTooMuch() throws Exception {
		start(this.threads, (options) -> options.withLimits(8, 64));
		Work busy = newClient();
		List<CompletableFuture<String>> many = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			many.add(busy.hold("busy"));
		}
		RpcFixture.awaitTrue(() -> refused(many) == 48);
		assertThat(running().activeCalls()).isEqualTo(52);
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> CompletableFuture.anyOf(many.toArray(CompletableFuture[]::new)).get(30, TimeUnit.SECONDS))
			.withMessageContaining("RESOURCE_EXHAUSTED")
			.withMessageContaining("the connection has 52 of the 64 calls");
		Work other = newClient();
		List<CompletableFuture<String>> few = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			few.add(other.hold("other"));
		}
		RpcFixture.awaitTrue(() -> this.bench.others.get() == 6);
		assertThat(other.inline("at once")).isEqualTo("at once");
		this.bench.permits.release(100);
		for (CompletableFuture<String> call : few) {
			assertThat(call.get(30, TimeUnit.SECONDS)).isEqualTo("other");
		}
	}

	@Test
	void callsThatWaitAreGivenUpWithoutAThread() throws Exception {
		start(fixedThreads(1), UnaryOperator.identity());
		Work busy = newClient();
		List<CompletableFuture<String>> calls = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			calls.add(busy.hold("busy"));
		}
		RpcFixture.awaitTrue(() -> this.bench.begun.get() == 1 && running().activeCalls() == 50);
		calls.subList(1, 50).forEach((call) -> call.cancel(true));
		RpcFixture.awaitTrue(() -> running().activeCalls() == 1);
		assertThat(this.bench.begun).hasValue(1);
		CompletableFuture<String> next = newClient().hold("other");
		this.bench.permits.release(2);
		assertThat(next.get(30, TimeUnit.SECONDS)).isEqualTo("other");
		assertThat(calls.get(0).get(30, TimeUnit.SECONDS)).isEqualTo("busy");
	}

	@Test
	void callsThatWaitEndWithTheirConnection() throws Exception {
		start(stuck(), UnaryOperator.identity());
		Work busy = newClient();
		List<CompletableFuture<String>> calls = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			calls.add(busy.hold("busy"));
		}
		RpcFixture.awaitTrue(() -> running().activeCalls() == 50);
		running().channels().forEach((channel) -> channel.close("enough"));
		RpcFixture.awaitTrue(() -> running().activeCalls() == 0 && refused(calls) == 50);
		assertThat(this.bench.begun).hasValue(0);
		assertThat(this.fixture.serverMemory.metrics().failures()).isZero();
	}

	@Test
	void callsGivenUpLeaveNothingInTheExecutor() throws Exception {
		ThreadPoolExecutor executor = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(4096));
		start(executor, UnaryOperator.identity());
		Work busy = newClient();
		CompletableFuture<String> first = busy.hold("busy");
		RpcFixture.awaitTrue(() -> this.bench.begun.get() == 1);
		for (int i = 0; i < 500; i++) {
			CompletableFuture<String> call = busy.hold("busy");
			RpcFixture.awaitTrue(() -> running().activeCalls() == 2);
			call.cancel(true);
			RpcFixture.awaitTrue(() -> running().activeCalls() == 1);
		}
		assertThat(executor.getQueue()).as("a turn, and recounts").hasSizeLessThanOrEqualTo(8);
		this.bench.permits.release();
		assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo("busy");
	}

	@Test
	void executorThatIsFullRefusesThoseWithTheMostCalls() throws Exception {
		ThreadPoolExecutor full = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(10));
		start(full, UnaryOperator.identity());
		Work busy = newClient();
		List<CompletableFuture<String>> many = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			many.add(busy.hold("busy"));
		}
		RpcFixture.awaitTrue(() -> refused(many) == 9);
		CompletableFuture<String> other = newClient().hold("other");
		RpcFixture.awaitTrue(() -> refused(many) == 10);
		this.bench.permits.release(3);
		assertThat(other.get(30, TimeUnit.SECONDS)).isEqualTo("other");
	}

	/** A client with one connection. */
	private Work newClient() {
		RpcClient client = RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.target(TestEnvironment.host(), running().port())
			.options(RpcClientOptions.DEFAULTS.withQueuePairs(QueuePairPoolOptions.fixed(1)))
			.build();
		this.clients.add(client);
		Work work = CallOptions.NONE.withWaitForReady().on(client.proxy(Work.class));
		assertThat(work.inline("here")).isEqualTo("here");
		return work;
	}

	private RpcServer running() {
		assertThat(this.server).isNotNull();
		return this.server;
	}

	private ExecutorService fixedThreads(int count) {
		return new ThreadPoolExecutor(count, count, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(4096));
	}

	/** An executor that has lost its threads. */
	private static Executor stuck() {
		return (task) -> {
		};
	}

	private void start(Executor executor, UnaryOperator<RpcServerOptions> options) {
		this.server = RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(options.apply(RpcFixture.serverOptions(0).withDrainTimeout(Duration.ZERO)))
			.executor(executor)
			.service(Work.class, this.bench)
			.build()
			.start();
	}

	private static long refused(List<CompletableFuture<String>> calls) {
		return calls.stream().filter(CompletableFuture::isCompletedExceptionally).count();
	}

	private static long answered(List<CompletableFuture<String>> calls) {
		return calls.stream().filter((call) -> call.isDone() && !call.isCompletedExceptionally()).count();
	}

	/** Calls that last as long as they are wanted to. */
	interface Work {

		CompletableFuture<String> hold(String name);

		@RdmaMethod(inline = true)
		String inline(String name);

	}

	/** Serves them, blocking a thread each. */
	private static final class Bench implements Work {

		private final Semaphore permits = new Semaphore(0, true);

		private final AtomicInteger begun = new AtomicInteger();

		private final AtomicInteger others = new AtomicInteger();

		@Override
		public CompletableFuture<String> hold(String name) {
			this.begun.incrementAndGet();
			if (name.equals("other")) {
				this.others.incrementAndGet();
			}
			try {
				this.permits.acquire();
			}
			catch (InterruptedException ex) {
				throw new RpcException(RpcStatus.CANCELLED, "interrupted");
			}
			return CompletableFuture.completedFuture(name);
		}

		@Override
		public String inline(String name) {
			return name;
		}

	}

}
