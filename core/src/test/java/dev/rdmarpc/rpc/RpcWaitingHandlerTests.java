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

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers that wait: for each other, for their own server, in cycles over several, and
 * for longer than anybody expects. Nothing else on the server waits with them.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcWaitingHandlerTests {

	private static final Duration PATIENCE = TestEnvironment.patience(Duration.ofSeconds(20));

	private static final CallOptions PATIENT = CallOptions.deadline(PATIENCE);

	/** For calls that wait until the test ends them. */
	private static final CallOptions UNHURRIED = CallOptions.deadline(Duration.ofMinutes(2));

	private final List<RpcNode> nodes = new ArrayList<>();

	private final RpcNode caller = new RpcNode();

	private final ExecutorService callers = Executors.newCachedThreadPool();

	private final CountDownLatch release = new CountDownLatch(1);

	@AfterEach
	void nothingIsLeft() throws Exception {
		this.release.countDown();
		this.callers.shutdown();
		assertThat(this.callers.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
		this.nodes.add(0, this.caller);
		RpcNode.close(this.nodes);
	}

	/** Handlers on the loop's thread wait for other servers, and those for them. */
	@ParameterizedTest
	@CsvSource({ "2, 1, 6, true", "3, 1, 9, true", "2, 4, 6, true", "3, 4, 9, true", "2, 1, 6, false", "3, 1, 9, false",
			"2, 4, 6, false", "3, 4, 9, false" })
	void handlersThatWaitInACycleEndWithTheirResults(int servers, int callersPerServer, int hops, boolean inline)
			throws Exception {
		List<Station> stations = ring(servers, UnaryOperator.identity());
		List<Future<Integer>> results = new ArrayList<>();
		for (int round = 0; round < 5; round++) {
			for (int i = 0; i < servers * callersPerServer; i++) {
				Station station = PATIENT.on(stations.get(i % servers));
				results.add(this.callers.submit(() -> inline ? station.aroundInline(hops) : station.around(hops)));
			}
			for (Future<Integer> result : results) {
				assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo(hops);
			}
		}
	}

	/** There is one thread for handlers, and the one who waits has it. */
	@ParameterizedTest
	@ValueSource(ints = { 2, 3 })
	void handlersThatWaitInACycleWithoutThreadsEndByTheirDeadline(int servers) throws Exception {
		List<Station> stations = ring(servers, (server) -> server
			.executor(new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(64))));
		CallOptions soon = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(2)));
		List<Future<@Nullable RpcException>> outcomes = new ArrayList<>();
		for (int i = 0; i < 8 * servers; i++) {
			Station station = soon.on(stations.get(i % servers));
			boolean inline = i % 2 == 0;
			outcomes.add(this.callers.submit(() -> RpcFixture.failureOf(() -> {
				int hops = inline ? station.aroundInline(5 * servers) : station.around(5 * servers);
				assertThat(hops).isEqualTo(5 * servers);
			})));
		}
		for (Future<@Nullable RpcException> outcome : outcomes) {
			RpcException failure = outcome.get(60, TimeUnit.SECONDS);
			if (failure != null) {
				assertThat(failure.status()).isIn(RpcStatus.DEADLINE_EXCEEDED, RpcStatus.RESOURCE_EXHAUSTED,
						RpcStatus.CANCELLED, RpcStatus.FAILED_PRECONDITION);
			}
		}
		for (Station station : stations) {
			assertThat(PATIENT.on(station).echo("after")).isEqualTo("after");
		}
	}

	@ParameterizedTest
	@CsvSource({ "16, false", "64, false", "16, true", "64, true" })
	void handlersMayCallTheirOwnService(int count, boolean inline) throws Exception {
		Station station = PATIENT.on(ring(1, UnaryOperator.identity()).get(0));
		CyclicBarrier together = new CyclicBarrier(count);
		List<Future<Integer>> results = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			results.add(this.callers.submit(() -> {
				together.await(20, TimeUnit.SECONDS);
				return inline ? station.aroundInline(1) : station.around(1);
			}));
		}
		for (Future<Integer> result : results) {
			assertThat(result.get(60, TimeUnit.SECONDS)).isOne();
		}
	}

	/** As many as 32 calls of 300 ms, which take 300 ms if they run at the same time. */
	@ParameterizedTest
	@ValueSource(ints = { 32, 64 })
	void handlersThatTakeLongRunAtTheSameTime(int count) throws Exception {
		CyclicBarrier meeting = new CyclicBarrier(count);
		RpcNode node = serving(new Stop(this.release, meeting), UnaryOperator.identity());
		Station station = PATIENT.on(this.caller.client(node).proxy(Station.class));
		List<Future<Boolean>> calls = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			calls.add(this.callers.submit(station::meet));
		}
		for (Future<Boolean> call : calls) {
			assertThat(call.get(60, TimeUnit.SECONDS)).as("met all others").isTrue();
		}
	}

	/** The handler has declared that it never blocks, and is wrong. */
	@ParameterizedTest
	@ValueSource(ints = { 1, 4 })
	void inlineHandlerThatBlocksHoldsUpNobody(int blocked) throws Exception {
		RpcNode node = serving(new Stop(this.release), UnaryOperator.identity());
		RpcClient client = this.caller.client(node);
		Station station = UNHURRIED.on(client.proxy(Station.class));
		List<Future<String>> blocking = new ArrayList<>();
		for (int i = 0; i < blocked; i++) {
			blocking.add(this.callers.submit(() -> station.blockInline("x")));
		}
		RpcFixture.awaitTrue(() -> node.server().activeCalls() == blocked);
		assertServes(node, client);
		for (int i = 0; i < 200; i++) {
			assertThat(PATIENT.on(station).onExecutor("y")).isEqualTo("y");
		}
		assertThat(node.transport.problems()).isEmpty();
		this.release.countDown();
		for (Future<String> each : blocking) {
			assertThat(each.get(20, TimeUnit.SECONDS)).isEqualTo("x");
		}
	}

	/**
	 * To the virtual machine a thread that waits for a socket runs, and here no processor
	 * is free for long.
	 */
	@Test
	void inlineHandlerThatReadsFromASocketHoldsUpNobody() throws Exception {
		try (ServerSocket listening = new ServerSocket(0, 1, TestEnvironment.address());
				Socket silent = new Socket(TestEnvironment.address(), listening.getLocalPort());
				Socket accepted = listening.accept()) {
			Stop stop = new Stop(this.release);
			stop.source = accepted.getInputStream();
			RpcNode node = serving(stop, UnaryOperator.identity());
			RpcClient client = this.caller.client(node);
			Station station = UNHURRIED.on(client.proxy(Station.class));
			Station patient = PATIENT.on(station);
			assertThat(patient.echo("there")).isEqualTo("there");
			for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
				this.callers.execute(this::compute);
			}
			Future<Integer> reading = this.callers.submit(station::readInline);
			RpcFixture.awaitTrue(() -> node.server().activeCalls() == 1);
			for (int i = 0; i < 20; i++) {
				assertThat(patient.echo("x")).isEqualTo("x");
			}
			assertThat(reading.isDone()).isFalse();
			silent.getOutputStream().write(7);
			assertThat(reading.get(20, TimeUnit.SECONDS)).isEqualTo(7);
		}
	}

	private void compute() {
		while (this.release.getCount() > 0) {
			Thread.onSpinWait();
		}
	}

	/** The loop gives tasks to the user's executor, which is not meant to run them. */
	@Test
	void executorThatBlocksOrRunsTheHandlerItselfHoldsUpNobody() throws Exception {
		RpcNode node = serving(new Stop(this.release), (server) -> server.executor(Runnable::run));
		RpcClient client = this.caller.client(node);
		Station station = UNHURRIED.on(client.proxy(Station.class));
		Future<String> blocking = this.callers.submit(() -> station.block("x"));
		RpcFixture.awaitTrue(() -> node.server().activeCalls() == 1);
		assertServes(node, client);
		this.release.countDown();
		assertThat(blocking.get(20, TimeUnit.SECONDS)).isEqualTo("x");
	}

	/** What depends on the future of a handler runs when its caller gives up. */
	@Test
	void continuationOfACancelledHandlerHoldsUpNobody() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		Stop stop = new Stop(this.release);
		CompletableFuture<CompletableFuture<String>> promised = new CompletableFuture<>();
		stop.onPromise = (promise) -> {
			promise.whenComplete((result, failure) -> {
				begun.countDown();
				stop.block("cancelled");
			});
			promised.complete(promise);
		};
		RpcNode node = serving(stop, UnaryOperator.identity());
		RpcClient client = this.caller.client(node);
		CompletableFuture<String> call = PATIENT.on(client.proxy(Station.class)).promise();
		CompletableFuture<String> promise = promised.get(20, TimeUnit.SECONDS);
		RpcFixture.awaitTrue(() -> promise.getNumberOfDependents() == 2);
		assertThat(call.cancel(true)).isTrue();
		assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
		assertServes(node, client);
	}

	/** Observers are users' code too. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void observerThatBlocksHoldsUpNobodyElse(boolean atTheBegin) throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CallObserver observer = (method, peer, metadata) -> {
			boolean blocks = method.name().equals("onExecutor");
			if (blocks && atTheBegin) {
				block(begun);
			}
			return new CallObservation() {

				@Override
				public Scope openScope() {
					return () -> {
					};
				}

				@Override
				public void callEnded(RpcStatus status, @Nullable Throwable error) {
					if (blocks && !atTheBegin) {
						block(begun);
					}
				}

			};
		};
		RpcNode node = serving(new Stop(this.release), (server) -> server.observer(observer));
		RpcClient client = this.caller.client(node);
		Station slow = UNHURRIED.on(client.proxy(Station.class));
		Future<String> observed = this.callers.submit(() -> slow.onExecutor("observed"));
		assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
		assertServes(node, client);
		this.release.countDown();
		assertThat(observed.get(20, TimeUnit.SECONDS)).isEqualTo("observed");
	}

	private void block(CountDownLatch begun) {
		begun.countDown();
		Await.latch(this.release);
	}

	/** Others are served meanwhile, on this connection and on a new one. */
	private void assertServes(RpcNode node, RpcClient client) {
		Station station = PATIENT.on(client.proxy(Station.class));
		for (int i = 0; i < 200; i++) {
			assertThat(station.echo("x")).isEqualTo("x");
		}
		Station newcomer = PATIENT.on(this.caller.client(node).proxy(Station.class));
		assertThat(newcomer.echo("new")).isEqualTo("new");
	}

	/** Servers of which each calls the next one; clients of all of them. */
	private List<Station> ring(int servers, UnaryOperator<RpcServer.Builder> more) {
		List<Stop> stops = new ArrayList<>();
		for (int i = 0; i < servers; i++) {
			stops.add(new Stop(this.release));
			serving(stops.get(i), more);
		}
		List<Station> stations = new ArrayList<>();
		for (int i = 0; i < servers; i++) {
			RpcNode next = this.nodes.get((i + 1) % servers);
			stops.get(i).next = this.nodes.get(i).client(next).proxy(Station.class);
			stations.add(this.caller.client(this.nodes.get(i)).proxy(Station.class));
		}
		return stations;
	}

	private RpcNode serving(Stop service, UnaryOperator<RpcServer.Builder> more) {
		RpcNode node = new RpcNode().serve(Station.class, service, UnaryOperator.identity(), more);
		this.nodes.add(node);
		return node;
	}

	/** One of several, each of which knows the next. */
	interface Station {

		@RdmaMethod(inline = true)
		String echo(String text);

		String onExecutor(String text);

		/** How many hops it took, of so many. */
		int around(int hops);

		@RdmaMethod(inline = true)
		int aroundInline(int hops);

		boolean meet();

		String block(String text);

		@RdmaMethod(inline = true)
		String blockInline(String text);

		@RdmaMethod(inline = true)
		int readInline();

		CompletableFuture<String> promise();

	}

	/** Serves it. */
	private static final class Stop implements Station {

		private final CountDownLatch release;

		private final CyclicBarrier meeting;

		private volatile @Nullable Station next;

		private volatile Consumer<CompletableFuture<String>> onPromise = (promise) -> {
		};

		private volatile InputStream source = InputStream.nullInputStream();

		Stop(CountDownLatch release) {
			this(release, new CyclicBarrier(1));
		}

		Stop(CountDownLatch release, CyclicBarrier meeting) {
			this.release = release;
			this.meeting = meeting;
		}

		@Override
		public String echo(String text) {
			return text;
		}

		@Override
		public String onExecutor(String text) {
			return text;
		}

		@Override
		public int around(int hops) {
			return (hops == 0) ? 0 : 1 + next().around(hops - 1);
		}

		@Override
		public int aroundInline(int hops) {
			return (hops == 0) ? 0 : 1 + next().aroundInline(hops - 1);
		}

		private Station next() {
			Station known = this.next;
			if (known == null) {
				throw new IllegalStateException("no next station");
			}
			return known;
		}

		@Override
		public boolean meet() {
			try {
				this.meeting.await(15, TimeUnit.SECONDS);
				return true;
			}
			catch (Exception ex) {
				return false;
			}
		}

		@Override
		public String block(String text) {
			try {
				return this.release.await(120, TimeUnit.SECONDS) ? text : "too late";
			}
			catch (InterruptedException ex) {
				return "interrupted";
			}
		}

		@Override
		public String blockInline(String text) {
			return block(text);
		}

		@Override
		public CompletableFuture<String> promise() {
			CompletableFuture<String> promise = new CompletableFuture<>();
			this.onPromise.accept(promise);
			return promise;
		}

		@Override
		public int readInline() {
			try {
				return this.source.read();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
