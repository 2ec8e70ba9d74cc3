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
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;

/** Observers learn how long requests have waited for credits, if they have. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcCreditWaitTests {

	private static final Duration HELD = Duration.ofMillis(20);

	/** Much longer than it takes to send a request. */
	private static final Duration PATIENCE = TestEnvironment.scaled(Duration.ofMillis(300));

	/** Too long to share a Send, and so the credit of another one. */
	private static final String LONG = "x".repeat(2000);

	private static final String NUMBER = "number";

	/** What each call was told, by its number; the order of calls is that of sending. */
	private final Map<String, AtomicLong> waits = new ConcurrentHashMap<>();

	private final Map<String, AtomicLong> waitsAtEnd = new ConcurrentHashMap<>();

	@Test
	void requestsThatFindCreditsAreNotSaidToHaveWaited() {
		run((echo, server, client) -> {
			for (int i = 0; i < 200; i++) {
				assertThat(numbered(i).on(echo).echo("x")).isEqualTo("x");
				assertThat(numbered(1000 + i).on(echo).echoAsync("x").join()).isEqualTo("x");
			}
			assertThat(this.waitsAtEnd).hasSize(400).allSatisfy((number, wait) -> assertThat(wait).hasValue(0));
		});
	}

	@Test
	void requestsThatWaitSayForHowLong() {
		run((echo, server, client) -> {
			List<CompletableFuture<String>> replies = new ArrayList<>();
			CompletableFuture<String> blocking;
			CountDownLatch release = hold(server);
			try {
				for (int i = 0; i < 2 * ChannelOptions.MIN_CREDITS; i++) {
					replies.add(numbered(i).on(echo).echoAsync(LONG));
				}
				blocking = RpcFixture.inThread(() -> numbered(99).on(echo).echo("y"));
				RpcFixture.awaitTrue(() -> client.metrics().outstandingCalls() == 2 * ChannelOptions.MIN_CREDITS + 1);
				holdOn();
			}
			finally {
				release.countDown();
			}
			replies.forEach((reply) -> assertThat(reply.join()).isEqualTo(LONG));
			assertThat(blocking.join()).isEqualTo("y");
			assertThat(this.waitsAtEnd.get("0")).as("first request").hasValue(0);
			assertThat(this.waitsAtEnd.get("1")).as("second request").hasValue(0);
			String last = String.valueOf(2 * ChannelOptions.MIN_CREDITS - 1);
			assertThat(this.waitsAtEnd.get(last)).as("last request").hasValueGreaterThanOrEqualTo(HELD.toNanos());
			assertThat(this.waitsAtEnd.get("99")).as("request of a waiting thread").hasValueGreaterThan(0);
		});
	}

	@Test
	void requestThatIsGivenUpSaysForHowLongItHasWaited() {
		run((echo, server, client) -> {
			List<CompletableFuture<String>> replies = new ArrayList<>();
			CountDownLatch release = hold(server);
			try {
				for (int i = 0; i < ChannelOptions.MIN_CREDITS; i++) {
					replies.add(numbered(i).on(echo).echoAsync(LONG));
				}
				Echo hasty = numbered(50).withDeadline(PATIENCE).on(echo);
				assertThat(RpcFixture.failureOf(() -> hasty.echo("late")).status())
					.isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
				assertThat(hasty.echoAsync("later").handle((reply, failure) -> failure != null).join()).isTrue();
			}
			finally {
				release.countDown();
			}
			replies.forEach((reply) -> assertThat(reply.join()).isEqualTo(LONG));
			assertThat(this.waitsAtEnd.get("50")).as("two requests").hasValueGreaterThan(PATIENCE.toNanos());
			numbered(60).on(echo).echo("x");
			assertThat(this.waitsAtEnd.get("60")).as("next request of the thread").hasValue(0);
		});
	}

	private static CallOptions numbered(int number) {
		return CallOptions.NONE.withMetadata(NUMBER, String.valueOf(number));
	}

	/** Has the server's loop do nothing, so that it grants no credits. */
	private static CountDownLatch hold(RpcServer server) {
		return RpcFixture.hold(server.channels().get(0).loop());
	}

	/** Lets more time pass than what is outstanding by now is to have waited. */
	private static void holdOn() {
		long begun = System.nanoTime();
		RpcFixture.awaitTrue(() -> System.nanoTime() - begun >= 2 * HELD.toNanos());
	}

	private void run(Check test) {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(
						RpcFixture.serverOptions(0)
							.withChannel(RpcServerOptions.DEFAULTS.channel()
								.withCredits(ChannelOptions.MIN_CREDITS, ChannelOptions.MIN_CREDITS)),
						Echo.class, fixture.service);
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target("server", () -> server.address())
					.observer(this::observe)
					.build()) {
			Echo echo = client.proxy(Echo.class);
			assertThat(numbered(12345).on(echo).echo("connected")).isEqualTo("connected");
			this.waits.clear();
			this.waitsAtEnd.clear();
			test.check(echo, server, client);
			RpcFixture.assertServesOn(server, client);
		}
	}

	private CallObservation observe(MethodDescriptor method, String peer, CallMetadata metadata) {
		String number = String.valueOf(metadata.get(NUMBER));
		return new CallObservation() {

			@Override
			public Scope openScope() {
				return Scope.NONE;
			}

			@Override
			public void requestSent(RpcChannel channel) {
				RpcCreditWaitTests.this.waits.computeIfAbsent(number, (key) -> new AtomicLong());
			}

			@Override
			public void requestHeldBack(long nanos) {
				RpcCreditWaitTests.this.waits.get(number).addAndGet(nanos);
			}

			@Override
			public void callEnded(RpcStatus status, @Nullable Throwable error) {
				RpcCreditWaitTests.this.waitsAtEnd.put(number,
						new AtomicLong(RpcCreditWaitTests.this.waits.get(number).get()));
			}

		};
	}

	/** What a test does. */
	private interface Check {

		void check(Echo echo, RpcServer server, RpcClient client);

	}

}
