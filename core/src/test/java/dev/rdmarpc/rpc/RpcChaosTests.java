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
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.verbs.iwarp.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * All that can happen to calls, at once: sizes from nothing to 1 MiB, in frames or by
 * Read, blocking or not, cancelled, late, failing, and connections that are cut. Each
 * call ends exactly once, with the right result or with a status it may have; in the end
 * nothing is outstanding.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcChaosTests {

	private static final int THREADS = 4;

	private static final int CALLS_PER_THREAD = 250;

	private final Map<RpcStatus, AtomicInteger> failures = new EnumMap<>(RpcStatus.class);

	private final AtomicInteger successes = new AtomicInteger();

	private final AtomicInteger cancelled = new AtomicInteger();

	private final AtomicInteger ends = new AtomicInteger();

	private final ConcurrentLinkedQueue<Throwable> wrong = new ConcurrentLinkedQueue<>();

	RpcChaosTests() {
		for (RpcStatus status : RpcStatus.values()) {
			this.failures.put(status, new AtomicInteger());
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 20260801, 20260802, 20260803, 20260804 })
	void everyCallEndsOnceAndRight(long seed) throws Exception {
		Random random = new Random(seed);
		ChannelOptions channel = ChannelOptions.DEFAULTS.withFrames(8192, 16 + random.nextInt(64))
			.withLimits(2 << 20, 128)
			.withEagerLimit(random.nextBoolean() ? 32 * 1024 : 4 << 20);
		UnaryOperator<RpcServerOptions> serverOptions = (options) -> options.withChannel(channel)
			.withLoops(1 + random.nextInt(2));
		UnaryOperator<RpcClientOptions> clientOptions = (options) -> options.withChannel(channel);
		try (RpcFixture fixture = new RpcFixture(serverOptions, clientOptions);
				TcpProxy proxy = new TcpProxy(fixture.server.address());
				RpcClient cut = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target(TestEnvironment.host(), proxy.address().getPort())
					.options(RpcClientOptions.DEFAULTS.withChannel(channel)
						.withBackoff(Duration.ofMillis(1), Duration.ofMillis(10)))
					.build()) {
			Echo[] echoes = { fixture.echo, cut.proxy(Echo.class) };
			AtomicBoolean over = new AtomicBoolean();
			Thread killer = start(() -> killNowAndThen(proxy, new Random(seed + 1), over));
			List<Caller> callers = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				callers.add(new Caller(echoes, new Random(seed * 31 + i)));
			}
			List<Thread> threads = callers.stream().map((caller) -> start(caller)).toList();
			for (Thread thread : threads) {
				thread.join(60_000);
				assertThat(thread.isAlive()).as("seed %d: a caller hangs", seed).isFalse();
			}
			over.set(true);
			killer.join();
			for (Caller caller : callers) {
				caller.awaitFutures(seed);
			}
			assertThat(this.wrong).as("seed %d", seed).isEmpty();
			assertThat(this.ends).as("seed %d: calls that ended", seed).hasValue(THREADS * CALLS_PER_THREAD);
			assertThat(this.successes.get()).as("seed %d: %s", seed, this)
				.isGreaterThan(THREADS * CALLS_PER_THREAD / 4);
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 0);
			RpcFixture.awaitTrue(() -> fixture.clientTransport.loops().get(0).outstandingCalls() == 0);
			assertThat(fixture.echo.echo("still there")).as("seed %d", seed).isEqualTo("still there");
		}
	}

	@Override
	public String toString() {
		return this.successes + " successes, " + this.cancelled + " cancelled, failures " + this.failures;
	}

	private static void killNowAndThen(TcpProxy proxy, Random random, AtomicBoolean over) {
		while (!over.get()) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20 + random.nextInt(150)));
			proxy.cut(random.nextBoolean());
		}
	}

	private static Thread start(Runnable body) {
		Thread thread = new Thread(body, "chaos");
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	/** One thread that calls. */
	private final class Caller implements Runnable {

		private final Echo[] echoes;

		private final Random random;

		private final List<CompletableFuture<?>> futures = new ArrayList<>();

		private final CountDownLatch ended = new CountDownLatch(1);

		Caller(Echo[] echoes, Random random) {
			this.echoes = echoes;
			this.random = random;
		}

		@Override
		public void run() {
			for (int i = 0; i < CALLS_PER_THREAD; i++) {
				boolean brief = this.random.nextInt(8) == 0;
				CallOptions options = CallOptions
					.deadline(brief ? Duration.ofNanos(1 + this.random.nextInt(3_000_000)) : Duration.ofSeconds(20));
				if (!brief && this.random.nextBoolean()) {
					options = options.withWaitForReady();
				}
				Echo echo = options.on(this.echoes[this.random.nextInt(this.echoes.length)]);
				switch (this.random.nextInt(8)) {
					case 0, 1, 2 -> bytes(echo);
					case 3 -> fails(echo);
					case 4 -> blocking(() -> assertThat(echo.add(40, 2)).isEqualTo(42));
					case 5 -> slow(echo);
					case 6 -> cancels(echo.never());
					default -> async(echo, i);
				}
			}
			this.ended.countDown();
		}

		private void bytes(Echo echo) {
			byte[] bytes = new byte[this.random.nextInt(1 << this.random.nextInt(21))];
			this.random.nextBytes(bytes);
			blocking(() -> assertThat(Arrays.equals(echo.bytes(bytes), bytes)).as("%d bytes", bytes.length).isTrue());
		}

		private void fails(Echo echo) {
			boolean own = this.random.nextBoolean();
			blocking(() -> {
				try {
					echo.fail(own ? "rpc" : "other");
					throw new AssertionError("the handler failed but the call did not");
				}
				catch (RpcException ex) {
					if (ex.status() != (own ? RpcStatus.NOT_FOUND : RpcStatus.UNKNOWN)) {
						throw ex;
					}
				}
			});
		}

		private void slow(Echo echo) {
			long millis = this.random.nextInt(5);
			blocking(() -> assertThat(echo.slow(millis)).isEqualTo("slept"));
		}

		private void blocking(Runnable call) {
			try {
				call.run();
				RpcChaosTests.this.successes.incrementAndGet();
			}
			catch (Throwable ex) {
				failed(ex);
			}
			RpcChaosTests.this.ends.incrementAndGet();
		}

		private void cancels(CompletableFuture<Void> never) {
			watch(never, null);
			if (this.random.nextBoolean()) {
				LockSupport.parkNanos(this.random.nextInt(500_000));
			}
			never.cancel(true);
		}

		private void async(Echo echo, int number) {
			String text = ("call " + number + " ").repeat(this.random.nextInt(1 << this.random.nextInt(14)));
			CompletableFuture<String> call = echo.echoAsync(text);
			watch(call, text);
			if (this.random.nextInt(4) == 0) {
				call.cancel(true);
			}
		}

		private void watch(CompletableFuture<?> call, @Nullable String expected) {
			AtomicInteger times = new AtomicInteger();
			this.futures.add(call.handle((result, failure) -> {
				if (times.incrementAndGet() > 1) {
					RpcChaosTests.this.wrong.add(new AssertionError("ended twice"));
				}
				RpcChaosTests.this.ends.incrementAndGet();
				if (failure != null) {
					failed((failure.getCause() != null && !(failure instanceof RpcException)) ? failure.getCause()
							: failure);
				}
				else if (expected == null || !expected.equals(result)) {
					RpcChaosTests.this.wrong.add(new AssertionError("wrong result: " + result));
				}
				else {
					RpcChaosTests.this.successes.incrementAndGet();
				}
				return null;
			}));
		}

		private void failed(Throwable failure) {
			if (failure instanceof CancellationException) {
				RpcChaosTests.this.cancelled.incrementAndGet();
				return;
			}
			if (!(failure instanceof RpcException rpc)) {
				RpcChaosTests.this.wrong.add(failure);
				return;
			}
			RpcChaosTests.this.failures.get(rpc.status()).incrementAndGet();
			switch (rpc.status()) {
				case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED -> {
					// the connection was cut, or time was short
				}
				default -> RpcChaosTests.this.wrong.add(rpc);
			}
		}

		void awaitFutures(long seed) throws Exception {
			assertThat(this.ended.await(1, TimeUnit.SECONDS)).isTrue();
			for (CompletableFuture<?> future : this.futures) {
				assertThat(future).as("seed %d: a call that does not end", seed).succeedsWithin(Duration.ofSeconds(30));
			}
		}

	}

}
