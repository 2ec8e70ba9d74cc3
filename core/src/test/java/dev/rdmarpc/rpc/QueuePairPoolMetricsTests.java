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
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a client tells about its queue pairs, and what a server does when there are too
 * many of them. Each fixture checks what is left.
 */
class QueuePairPoolMetricsTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private static RpcFixture fixture(int min, int max, int calls, Duration idle) {
		return fixture(UnaryOperator.identity(), min, max, calls, idle);
	}

	private static RpcFixture fixture(UnaryOperator<RpcServerOptions> server, int min, int max, int calls,
			Duration idle) {
		return new RpcFixture(server,
				(options) -> options.withQueuePairs(new QueuePairPoolOptions(min, max, calls, idle)));
	}

	private static List<RpcChannel> accepted(RpcFixture fixture) {
		return fixture.serverTransport.loops().stream().flatMap((loop) -> loop.channels().stream()).toList();
	}

	@Test
	void queuePairsGrownUnderLoadAreReusedByTheNext() {
		try (RpcFixture fixture = fixture(1, 3, 2, LONG)) {
			QueuePairPoolMetrics metrics = fixture.client.metrics();
			assertThat(metrics.open()).isZero();
			assertThat(metrics.health()).isEqualTo(QueuePairPoolHealth.UP);
			for (int wave = 0; wave < 3; wave++) {
				List<CompletableFuture<Void>> calls = new ArrayList<>();
				RpcFixture.awaitTrue(() -> {
					calls.add(fixture.echo.never());
					return metrics.open() == metrics.max()
							&& fixture.client.queuePairs().stream().allMatch((pair) -> pair.outstandingCalls() > 0);
				});
				calls.forEach((call) -> call.cancel(true));
				RpcFixture.awaitTrue(() -> metrics.outstandingCalls() == 0);
			}
			assertThat(metrics.connects()).as("connections made for three waves").isEqualTo(3);
			assertThat(metrics.growths()).isEqualTo(2);
			assertThat(metrics.shrinks()).isZero();
			assertThat(metrics.losses()).isZero();
		}
	}

	@Test
	void shrinkingIsNoLoss() {
		try (RpcFixture fixture = fixture(1, 2, 1, Duration.ofMillis(50))) {
			QueuePairPoolMetrics metrics = fixture.client.metrics();
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			RpcFixture.awaitTrue(() -> {
				calls.add(fixture.echo.never());
				return metrics.open() == 2;
			});
			calls.forEach((call) -> call.cancel(true));
			RpcFixture.awaitTrue(() -> metrics.shrinks() == metrics.growths() && metrics.open() == 1);
			assertThat(metrics.shrinks()).isPositive();
			assertThat(metrics.min()).isEqualTo(1);
			assertThat(metrics.losses()).isZero();
			assertThat(metrics.health()).isEqualTo(QueuePairPoolHealth.UP);
		}
	}

	@Test
	void lossesAreCountedAndHealthSaysWhatIsLeft() {
		UnaryOperator<RpcClientOptions> patient = (options) -> options
			.withQueuePairs(new QueuePairPoolOptions(2, 2, 100, LONG))
			.withBackoff(Duration.ofHours(1), Duration.ofHours(1));
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), patient)) {
			QueuePairPoolMetrics metrics = fixture.client.metrics();
			fixture.client.connect();
			RpcFixture.awaitTrue(() -> metrics.open() == 2);
			assertThat(metrics.health()).isEqualTo(QueuePairPoolHealth.UP);
			accepted(fixture).get(0).close("lost by the test");
			RpcFixture.awaitTrue(() -> metrics.losses() == 1);
			assertThat(metrics.health()).isEqualTo(QueuePairPoolHealth.DEGRADED);
			assertThat(fixture.client.state()).isEqualTo(ConnectionState.READY);
			assertThat(fixture.echo.add(1, 2)).isEqualTo(3);
			accepted(fixture).get(0).close("lost by the test");
			RpcFixture.awaitTrue(() -> metrics.losses() == 2);
			assertThat(metrics.health()).isEqualTo(QueuePairPoolHealth.DOWN);
			assertThat(metrics.open()).isZero();
			assertThat(metrics.connects()).isEqualTo(2);
		}
	}

	@Test
	void poolRefillsItselfWithoutACall() {
		try (RpcFixture fixture = fixture(3, 3, 100, LONG)) {
			QueuePairPoolMetrics metrics = fixture.client.metrics();
			fixture.client.connect();
			RpcFixture.awaitTrue(() -> metrics.open() == 3);
			accepted(fixture).forEach((channel) -> channel.close("lost by the test"));
			RpcFixture.awaitTrue(() -> metrics.losses() == 3);
			RpcFixture.awaitTrue(() -> metrics.open() == 3);
			assertThat(metrics.connects()).isEqualTo(6);
			assertThat(metrics.health()).isEqualTo(QueuePairPoolHealth.UP);
		}
	}

	@Test
	void repeatedCallsAreCounted() {
		try (RpcFixture fixture = fixture(2, 2, 100, LONG)) {
			QueuePairPoolMetrics metrics = fixture.client.metrics();
			fixture.client.connect();
			RpcFixture.awaitTrue(() -> metrics.open() == 2);
			assertThat(fixture.echo.echo("a")).isEqualTo("a");
			assertThat(metrics.repetitions()).isZero();
			CompletableFuture<Void> call = fixture.client.proxy(Echo.class.getName(), Repeatable.class).never();
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 1);
			// one after the other, so that there is always one to repeat the call on
			for (int i = 0; metrics.repetitions() == 0; i++) {
				accepted(fixture).get(i % 2).close("lost by the test");
				int lost = i + 1;
				RpcFixture.awaitTrue(
						() -> metrics.losses() == lost && metrics.open() == 2 && metrics.outstandingCalls() == 1);
				RpcFixture.awaitTrue(() -> accepted(fixture).size() == 2 && fixture.server.activeCalls() == 1);
			}
			assertThat(metrics.repetitions()).isEqualTo(1);
			assertThat(call).isNotDone();
			call.cancel(true);
		}
	}

	@Test
	void serverRefusesQueuePairsBeyondItsLimitWithAReason() {
		try (RpcFixture fixture = fixture((options) -> options.withLimits(2, 64), 2, 2, 100, LONG)) {
			fixture.client.connect();
			RpcFixture.awaitTrue(() -> fixture.client.metrics().open() == 2);
			List<CompletableFuture<Void>> calls = List.of(fixture.echo.never(), fixture.echo.never());
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 2);
			try (RpcClient another = fixture.newClient()) {
				Echo echo = another.proxy(Echo.class);
				RpcException failure = RpcFixture.failureOf(() -> echo.add(1, 2));
				assertThat(failure.status()).isEqualTo(RpcStatus.UNAVAILABLE);
				assertThat(failure).hasMessageContaining("too many connections (limit 2)");
				assertThat(another.metrics().health()).isEqualTo(QueuePairPoolHealth.DOWN);
				assertThat(fixture.echo.add(1, 2)).as("those that are there go on").isEqualTo(3);
				calls.forEach((call) -> call.cancel(true));
				fixture.client.close();
				assertThat(CallOptions.deadline(Duration.ofSeconds(20)).withWaitForReady().on(echo).add(1, 2))
					.isEqualTo(3);
			}
		}
	}

	@Test
	void growingBeyondTheServersLimitHarmsNobody() {
		try (RpcFixture fixture = fixture((options) -> options.withLimits(2, 64), 1, 4, 1, LONG)) {
			QueuePairPoolMetrics metrics = fixture.client.metrics();
			assertThat(fixture.echo.add(1, 2)).isEqualTo(3);
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			for (int busy = 1; busy <= 2; busy++) {
				calls.add(fixture.echo.never());
				int open = busy;
				RpcFixture.awaitTrue(() -> metrics.open() == open && fixture.client.queuePairs()
					.stream()
					.filter((pair) -> pair.outstandingCalls() == 1)
					.count() == open);
				RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == open);
				RpcFixture.awaitTrue(() -> fixture.echo.add(1, 2) == 3 && metrics.growths() == open);
				RpcFixture.awaitTrue(() -> metrics.open() == 2 || fixture.client.lastFailure().contains("too many"));
			}
			RpcFixture.awaitTrue(() -> fixture.client.lastFailure().contains("too many connections (limit 2)"));
			assertThat(metrics.open()).isEqualTo(2);
			assertThat(metrics.health()).isEqualTo(QueuePairPoolHealth.UP);
			assertThat(fixture.echo.add(1, 2)).isEqualTo(3);
			assertThat(calls).noneMatch(CompletableFuture::isDone);
			calls.forEach((call) -> call.cancel(true));
		}
	}

	/** The echo service for clients that may repeat calls. */
	public interface Repeatable {

		@RdmaMethod(idempotent = true)
		CompletableFuture<Void> never();

	}

}
