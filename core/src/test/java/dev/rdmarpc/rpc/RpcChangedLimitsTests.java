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
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Limits that are changed while calls are made. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcChangedLimitsTests {

	@Test
	void limitOfConcurrentCallsHoldsFromTheNextCallOn() {
		try (RpcFixture fixture = new RpcFixture((options) -> options.withLimits(8, 2), (options) -> options)) {
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			assertThat(admitted(fixture, calls)).isEqualTo(2);
			fixture.server.maxConcurrentCalls(4);
			assertThat(fixture.server.options().maxConcurrentCalls()).isEqualTo(4);
			assertThat(admitted(fixture, calls)).isEqualTo(4);
			fixture.server.maxConcurrentCalls(1);
			assertThat(admitted(fixture, calls)).isEqualTo(4);
			assertThat(calls.get(calls.size() - 1)).failsWithin(Duration.ofSeconds(30))
				.withThrowableThat()
				.withMessageContaining("the server is executing 4 calls already");
			calls.forEach((call) -> call.cancel(false));
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 0);
			assertThat(fixture.echo.echoOnExecutor("one")).isEqualTo("one");
			assertThat(fixture.client.metrics().losses()).isZero();
		}
	}

	/** Makes calls until one is refused; returns how many are active. */
	private static int admitted(RpcFixture fixture, List<CompletableFuture<Void>> calls) {
		while (true) {
			CompletableFuture<Void> call = fixture.echo.never();
			calls.add(call);
			long open = calls.stream().filter((other) -> !other.isDone()).count();
			RpcFixture.awaitTrue(() -> call.isDone() || fixture.server.activeCalls() == open);
			if (call.isDone()) {
				return fixture.server.activeCalls();
			}
		}
	}

	@Test
	void handlersGetAsManyThreadsAsThereMayBeCallsNow() {
		try (RpcFixture fixture = new RpcFixture((options) -> options.withLimits(8, 1), (options) -> options)) {
			assertThat(fixture.server.metrics().maxThreads()).isEqualTo(1);
			fixture.server.maxConcurrentCalls(7);
			assertThat(fixture.server.metrics().maxThreads()).isEqualTo(7);
			fixture.server.stop();
			fixture.server.maxConcurrentCalls(5);
			fixture.server.start();
			assertThat(fixture.server.metrics().maxThreads()).isEqualTo(5);
			assertThatIllegalArgumentException().isThrownBy(() -> fixture.server.maxConcurrentCalls(0))
				.withMessageContaining("0 concurrent calls (expected: all at least 1)");
			assertThat(fixture.server.options().maxConcurrentCalls()).isEqualTo(5);
		}
	}

	@Test
	void defaultDeadlineHoldsFromTheNextCallOn() {
		Told service = new Told();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, service);
				RpcClient client = fixture.newClient(server)) {
			Echo echo = client.proxy(Echo.class);
			assertThat(client.defaultDeadline()).isEqualTo(Duration.ofSeconds(30));
			client.defaultDeadline(Duration.ofHours(2));
			assertThat(Duration.parse(echo.echo("x"))).isBetween(Duration.ofHours(1), Duration.ofHours(2));
			assertThat(Duration.parse(CallOptions.deadline(Duration.ofHours(5)).on(echo).echo("x")))
				.isBetween(Duration.ofHours(4), Duration.ofHours(5));
			client.defaultDeadline(Duration.ZERO);
			assertThat(Duration.parse(echo.echo("x"))).isGreaterThan(Duration.ofDays(1000));
			assertThatIllegalArgumentException().isThrownBy(() -> client.defaultDeadline(Duration.ofMillis(-1)))
				.withMessage("default deadline PT-0.001S (expected: not negative)");
			assertThat(client.defaultDeadline()).isZero();
		}
	}

	/** Answers with what is left until the deadline. */
	private static final class Told extends EchoService {

		@Override
		public String echo(String text) {
			long deadline = Objects.requireNonNull(RpcContext.current()).deadlineNanos();
			return Duration.ofNanos((deadline != Long.MAX_VALUE) ? deadline - System.nanoTime() : deadline).toString();
		}

	}

}
