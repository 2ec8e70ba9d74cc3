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
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.LoopMetrics;
import dev.rdmarpc.transport.PollingMode;
import dev.rdmarpc.transport.PollingOptions;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls after pauses of any length, so that loops are met polling, about to sleep, asleep
 * and waking: every call is answered, in any mode. (That none waits for the next tick of
 * a loop that sleeps is for the stress tests of the loop, whose ticks are far away.)
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcPollingSoakTests {

	private static final long SOAK_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** Pauses are as likely to be of any order of magnitude up to this. */
	private static final double LONGEST_PAUSE_NANOS = 3_000_000;

	private final long seed = Long.getLong("rdma.test.polling.seed", System.nanoTime());

	@ParameterizedTest
	@EnumSource
	void callsAfterRandomPausesAreAnswered(PollingMode mode) throws Exception {
		TransportOptions options = TransportOptions.DEFAULTS
			.withPolling(new PollingOptions(mode, PollingOptions.DEFAULTS.spinMaxNanos()));
		try (RpcFixture rpc = new RpcFixture(UnaryOperator.identity(),
				(client) -> client.withDefaultDeadline(Duration.ofSeconds(60)), options, options)) {
			rpc.echo.echo("connected");
			List<CompletableFuture<Integer>> callers = new ArrayList<>();
			for (int i = 0; i < 3; i++) {
				SplittableRandom random = new SplittableRandom(this.seed + i);
				callers.add(onThread(() -> call(rpc, random)));
			}
			for (CompletableFuture<Integer> caller : callers) {
				assertThat(caller.get(100, TimeUnit.SECONDS)).as("calls; -Drdma.test.polling.seed=" + this.seed)
					.isPositive();
			}
			for (ChannelLoop loop : loops(rpc)) {
				LoopMetrics metrics = loop.metrics();
				assertThat(metrics.awaits() == 0).as("sleeps of " + loop.name()).isEqualTo(mode == PollingMode.BUSY);
				assertThat(metrics.wakeUps()).isLessThanOrEqualTo(metrics.awaits());
				assertThat(metrics.emptyPolls()).isPositive();
			}
		}
	}

	private static List<ChannelLoop> loops(RpcFixture rpc) {
		List<ChannelLoop> loops = new ArrayList<>(rpc.serverTransport.loops());
		loops.addAll(rpc.clientTransport.loops());
		return loops;
	}

	private static int call(RpcFixture rpc, SplittableRandom random) {
		int calls = 0;
		long begin = System.nanoTime();
		while (System.nanoTime() - begin < SOAK_NANOS) {
			pause((long) Math.exp(random.nextDouble() * Math.log(LONGEST_PAUSE_NANOS)));
			String text = "call " + calls++;
			assertThat(rpc.echo.echo(text)).isEqualTo(text);
		}
		return calls;
	}

	/** Parks, or spins for what is too short for that. */
	private static void pause(long nanos) {
		long begin = System.nanoTime();
		for (long left = nanos; left > 0; left = nanos - (System.nanoTime() - begin)) {
			if (left > 100_000) {
				LockSupport.parkNanos(left);
			}
			else {
				Thread.onSpinWait();
			}
		}
	}

	private static CompletableFuture<Integer> onThread(IntSupplier body) {
		CompletableFuture<Integer> outcome = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				outcome.complete(body.getAsInt());
			}
			catch (Throwable ex) {
				outcome.completeExceptionally(ex);
			}
		}, "caller-of-the-test");
		thread.setDaemon(true);
		thread.start();
		return outcome;
	}

}
