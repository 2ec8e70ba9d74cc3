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
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/** A deadline reaches the handler, and who it calls in turn, as it was meant. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcDeadlineTests {

	private static final String NONE = "none";

	private static final int MANY_BYTES = 256 * 1024;

	@ParameterizedTest
	@ValueSource(strings = { "PT20S", "PT35M", "PT36M", "PT1H", "PT2H", "PT71M", "P3D", "P24D", "P30D", "P40000D",
			"PT2562047788015215H30M7.999999999S" })
	void deadlinesOfAnyLengthArriveAndAreInherited(String text) {
		Duration deadline = Duration.parse(text);
		Remaining service = new Remaining();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, service);
				RpcClient client = fixture.newClient(server, (options) -> options.withDefaultDeadline(Duration.ZERO))) {
			Echo echo = client.proxy(Echo.class);
			service.next(echo);
			Echo limited = CallOptions.deadline(deadline).on(echo);
			assertRemaining(limited.echo("x"), deadline);
			assertRemaining(limited.echoOnExecutor("x"), deadline);
			assertRemaining(limited.echoAsync("x").thenApply((same) -> limited.echo("x")).join(), deadline);
			assertThat(echo.echo("x")).isEqualTo(NONE);
		}
	}

	/** As where a device or the appender of a log is stuck. */
	@Test
	void callEndsThoughItsLoopDoesNotTurn() {
		try (RpcFixture fixture = new RpcFixture()) {
			assertThat(fixture.echo.echo("before")).isEqualTo("before");
			CountDownLatch release = RpcFixture.hold(fixture.clientTransport.loops().get(0));
			try {
				Echo hasty = CallOptions.deadline(Duration.ofMillis(500)).on(fixture.echo);
				RpcException failure = RpcFixture.failureOf(() -> hasty.echo("late"));
				assertThat(failure.status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
				assertThat(failure.detail()).contains("held up");
			}
			finally {
				release.countDown();
			}
			assertThat(fixture.echo.echo("after")).isEqualTo("after");
		}
	}

	@Test
	void aDeadlineEndsTheWaitForMemory() {
		try (RpcNode server = new RpcNode().serve(Echo.class, new EchoService()); RpcNode caller = new RpcNode()) {
			Echo echo = caller.client(server).proxy(Echo.class);
			assertThat(echo.echo("before")).isEqualTo("before");
			List<RegisteredBuffer> all = new ArrayList<>();
			try {
				int most = (int) (caller.memory.options().maxBytes() / 16);
				for (int size = most; size >= MANY_BYTES; size /= 2) {
					for (RegisteredBuffer one = caller.memory.tryAllocate(size); one != null; one = caller.memory
						.tryAllocate(size)) {
						all.add(one);
					}
				}
				Echo hasty = CallOptions.deadline(Duration.ofMillis(200)).on(echo);
				byte[] many = new byte[MANY_BYTES];
				RpcException failure = RpcFixture.failureOf(() -> hasty.bytes(many));
				assertThat(failure.status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
				assertThat(failure.detail()).contains("no registered memory for");
			}
			finally {
				all.forEach(RegisteredBuffer::release);
			}
			assertThat(echo.bytes(new byte[MANY_BYTES])).hasSize(MANY_BYTES);
		}
	}

	@Test
	void callsWithoutDeadlineHaveThirtySeconds() {
		Remaining service = new Remaining();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, service);
				RpcClient client = fixture.newClient(server)) {
			assertRemaining(client.proxy(Echo.class).echo("x"), Duration.ofSeconds(30));
		}
	}

	private static void assertRemaining(String text, Duration deadline) {
		if (deadline.compareTo(Duration.ofDays(24)) > 0) {
			assertThat(text).isEqualTo(NONE);
		}
		else {
			assertThat(Duration.parse(text)).isLessThanOrEqualTo(deadline).isGreaterThan(deadline.minusSeconds(19));
		}
	}

	private static final class Remaining extends EchoService {

		private Echo next = this;

		@Override
		public String echo(String text) {
			return remaining();
		}

		@Override
		public String echoOnExecutor(String text) {
			return this.next.echo(text);
		}

		private static String remaining() {
			long deadline = Objects.requireNonNull(RpcContext.current()).deadlineNanos();
			return (deadline != Long.MAX_VALUE) ? Duration.ofNanos(deadline - System.nanoTime()).toString() : NONE;
		}

		@Override
		Echo next(Echo echo) {
			this.next = echo;
			return this;
		}

	}

}
