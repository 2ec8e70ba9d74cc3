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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

/** What a client does with more than one queue pair. Each fixture checks what is left. */
class QueuePairPoolTests {

	private static RpcFixture fixture(int min, int max, int calls, Duration idle) {
		return new RpcFixture(UnaryOperator.identity(),
				(options) -> options.withQueuePairs(new QueuePairPoolOptions(min, max, calls, idle)));
	}

	private static List<RpcChannel> accepted(RpcFixture fixture) {
		return fixture.serverTransport.loops().stream().flatMap((loop) -> loop.channels().stream()).toList();
	}

	private static void awaitReady(RpcFixture fixture, int count) {
		RpcFixture.awaitTrue(() -> fixture.client.queuePairs().size() == count
				&& fixture.client.queuePairs().stream().allMatch((pair) -> pair.state() == ConnectionState.READY));
	}

	@Test
	void theMinimumIsPreparedBeforeTheFirstCall() {
		try (RpcFixture fixture = fixture(3, 5, 10, Duration.ofMinutes(1))) {
			assertThat(fixture.client.queuePairs()).hasSize(3)
				.allSatisfy((pair) -> assertThat(pair.state()).isEqualTo(ConnectionState.IDLE));
			fixture.client.connect();
			awaitReady(fixture, 3);
			assertThat(fixture.echo.add(1, 2)).isEqualTo(3);
			RpcFixture.awaitTrue(() -> accepted(fixture).size() == 3);
		}
	}

	@Test
	void queuePairsSpreadOverTheLoopsInTurn() {
		QueuePairPoolOptions spread = QueuePairPoolOptions.fixed(4).withLoops(2);
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(),
				(options) -> options.withQueuePairs(spread))) {
			fixture.client.connect();
			awaitReady(fixture, 4);
			assertThat(fixture.clientTransport.loops()).extracting(ChannelLoop::name, (loop) -> loop.channels().size())
				.containsExactlyInAnyOrder(tuple("rdma-rpc-client-8192", 2), tuple("rdma-rpc-client-8192-1", 2));
			List<CompletableFuture<Void>> held = new ArrayList<>();
			for (int i = 0; i < 8; i++) {
				held.add(fixture.echo.never());
				int started = i + 1;
				RpcFixture.awaitTrue(() -> outstanding(fixture) == started);
			}
			assertThat(fixture.clientTransport.loops()).extracting(ChannelLoop::outstandingCalls).containsOnly(4);
			List<CompletableFuture<String>> quick = new ArrayList<>();
			for (int i = 0; i < 100; i++) {
				quick.add(fixture.echo.echoAsync("call " + i).thenApply((text) -> text + "!"));
			}
			assertThat(quick).extracting(CompletableFuture::join).contains("call 0!", "call 99!").hasSize(100);
			assertThat(fixture.echo.add(1, 2)).isEqualTo(3);
			held.forEach((call) -> call.cancel(true));
			RpcFixture.awaitTrue(() -> outstanding(fixture) == 0);
		}
	}

	@Test
	void loopsWithoutAQueuePairAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> QueuePairPoolOptions.fixed(2).withLoops(3))
			.withMessageContaining("3 loops (expected: 1 to 2");
		assertThatIllegalArgumentException().isThrownBy(() -> QueuePairPoolOptions.DEFAULTS.withLoops(0));
	}

	@Test
	void callsSpreadOverTheQueuePairsWithTheFewest() {
		try (RpcFixture fixture = fixture(3, 3, 100, Duration.ofMinutes(1))) {
			fixture.client.connect();
			awaitReady(fixture, 3);
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			for (int i = 0; i < 9; i++) {
				calls.add(fixture.echo.never());
				int started = i + 1;
				RpcFixture.awaitTrue(() -> outstanding(fixture) == started);
			}
			assertThat(fixture.client.queuePairs()).extracting(QueuePairHealth::outstandingCalls)
				.containsExactly(3, 3, 3);
			calls.forEach((call) -> call.cancel(true));
		}
	}

	private static int outstanding(RpcFixture fixture) {
		return fixture.client.queuePairs().stream().mapToInt(QueuePairHealth::outstandingCalls).sum();
	}

	@Test
	void growsUnderLoadAndShrinksWhenIdle() {
		try (RpcFixture fixture = fixture(1, 3, 2, Duration.ofMillis(50))) {
			fixture.echo.touch();
			List<CompletableFuture<Void>> calls = growTo(fixture, 3);
			for (int i = 0; i < 20; i++) {
				calls.add(fixture.echo.never());
			}
			assertThat(fixture.client.queuePairs()).as("the maximum").hasSize(3);
			calls.forEach((call) -> call.cancel(true));
			RpcFixture.awaitTrue(() -> fixture.client.queuePairs().size() == 1);
			RpcFixture.awaitTrue(() -> accepted(fixture).size() == 1);
			assertThat(fixture.echo.add(2, 3)).isEqualTo(5);
		}
	}

	/** Makes calls that do not end until so many queue pairs are ready, all with some. */
	private static List<CompletableFuture<Void>> growTo(RpcFixture fixture, int count) {
		List<CompletableFuture<Void>> calls = new ArrayList<>();
		RpcFixture.awaitTrue(() -> {
			calls.add(fixture.echo.never());
			List<QueuePairHealth> pairs = fixture.client.queuePairs();
			return pairs.size() == count && pairs.stream().allMatch((pair) -> pair.outstandingCalls() > 0);
		});
		return calls;
	}

	@Test
	void queuePairIsNotIdleWhileItIsBeingConnected() throws Exception {
		Duration idle = Duration.ofMillis(50);
		try (RpcFixture fixture = fixture(1, 2, 1, idle)) {
			fixture.echo.touch();
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			CountDownLatch release = RpcFixture.hold(accepted(fixture).get(0).loop());
			try {
				calls.add(fixture.echo.never());
				RpcFixture.awaitTrue(() -> outstanding(fixture) == 1);
				calls.add(fixture.echo.never());
				fixture.clientTransport.timer()
					.schedule(() -> true, 6 * idle.toMillis(), TimeUnit.MILLISECONDS)
					.get(60, TimeUnit.SECONDS);
				assertThat(fixture.client.queuePairs()).extracting(QueuePairHealth::state)
					.containsExactly(ConnectionState.READY, ConnectionState.CONNECTING);
			}
			finally {
				release.countDown();
			}
			calls.addAll(growTo(fixture, 2));
			calls.forEach((call) -> call.cancel(true));
			RpcFixture.awaitTrue(() -> fixture.client.queuePairs().size() == 1);
		}
	}

	@Test
	void losingOneQueuePairFailsItsCallsOnlyAndIsMadeGood() throws Exception {
		try (RpcFixture fixture = fixture(2, 2, 100, Duration.ofMinutes(1))) {
			fixture.client.connect();
			awaitReady(fixture, 2);
			CompletableFuture<Void> one = fixture.echo.never();
			RpcFixture.awaitTrue(() -> outstanding(fixture) == 1);
			CompletableFuture<Void> other = fixture.echo.never();
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 2);
			accepted(fixture).get(0).close("lost by the test");
			CompletableFuture.anyOf(one, other).exceptionally((failure) -> null).get(20, TimeUnit.SECONDS);
			assertThat(List.of(one, other)).filteredOn(CompletableFuture::isDone).singleElement().satisfies((lost) -> {
				RpcException failure = RpcFixture.failureOf(() -> joined(lost));
				assertThat(failure.status()).isEqualTo(RpcStatus.UNAVAILABLE);
			});
			awaitReady(fixture, 2);
			RpcFixture.awaitTrue(() -> accepted(fixture).size() == 2);
			one.cancel(true);
			other.cancel(true);
		}
	}

	private static void joined(CompletableFuture<?> call) {
		try {
			call.get(20, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			throw (RpcException) ex.getCause();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void idempotentCallsAreMadeAgainWhenTheirConnectionGoes() throws Exception {
		AtomicInteger calls = new AtomicInteger();
		try (RpcFixture fixture = new RpcFixture(); RpcServer server = lossy(fixture, calls)) {
			try (RpcClient client = client(fixture, server)) {
				Repeatable service = client.proxy("lossy", Repeatable.class);
				CompletableFuture<String> async = service.answer();
				CompletableFuture<String> blocking = CompletableFuture.supplyAsync(service::answerBlocking);
				RpcFixture.awaitTrue(() -> calls.get() == 2);
				accepted(fixture).forEach((channel) -> channel.close("lost by the test"));
				assertThat(async.get(20, TimeUnit.SECONDS)).startsWith("answer");
				assertThat(blocking.get(20, TimeUnit.SECONDS)).startsWith("answer");
				assertThat(calls).hasValue(4);
			}
		}
	}

	@Test
	void otherCallsAreNot() {
		AtomicInteger calls = new AtomicInteger();
		try (RpcFixture fixture = new RpcFixture(); RpcServer server = lossy(fixture, calls)) {
			try (RpcClient client = client(fixture, server)) {
				CompletableFuture<String> call = client.proxy("lossy", Lossy.class).answer();
				RpcFixture.awaitTrue(() -> calls.get() == 1);
				accepted(fixture).forEach((channel) -> channel.close("lost by the test"));
				assertThat(RpcFixture.failureOf(() -> joined(call)).status()).isEqualTo(RpcStatus.UNAVAILABLE);
				assertThat(calls).hasValue(1);
			}
		}
	}

	private static RpcServer lossy(RpcFixture fixture, AtomicInteger calls) {
		return RpcServer.builder()
			.transport(fixture.serverTransport)
			.options(RpcFixture.serverOptions(0).withDrainTimeout(Duration.ZERO))
			.service("lossy", Lossy.class, new FirstTwoUnanswered(calls))
			.build()
			.start();
	}

	private static RpcClient client(RpcFixture fixture, RpcServer server) {
		return RpcClient.builder()
			.transport(fixture.clientTransport)
			.target(TestEnvironment.host(), server.port())
			.build();
	}

	@ParameterizedTest
	@EnumSource
	void onlyWhatCannotHaveHappenedTwiceIsRepeated(CallFailure failure) {
		MethodDescriptor idempotent = method(Repeatable.class);
		MethodDescriptor other = method(Lossy.class);
		assertThat(RetryPolicy.isAllowed(failure, other, 1)).isEqualTo(failure == CallFailure.NOT_SENT);
		assertThat(RetryPolicy.isAllowed(failure, idempotent, 1))
			.isEqualTo(failure == CallFailure.NOT_SENT || failure == CallFailure.CONNECTION_LOST);
		assertThat(RetryPolicy.isAllowed(failure, idempotent, 3)).isFalse();
		assertThat(RetryPolicy.isAllowed(null, idempotent, 1)).isFalse();
	}

	private static MethodDescriptor method(Class<?> type) {
		return ServiceDescriptor.of("lossy", type, new FlatBuffersCodec()).methods().get(0);
	}

	@Test
	void optionsThatMakeNoSenseAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new QueuePairPoolOptions(2, 1, 1, Duration.ofSeconds(1)))
			.withMessageContaining("2 to 1");
		assertThatIllegalArgumentException().isThrownBy(() -> new QueuePairPoolOptions(0, 1, 1, Duration.ofSeconds(1)));
		assertThatIllegalArgumentException().isThrownBy(() -> new QueuePairPoolOptions(1, 1, 0, Duration.ofSeconds(1)));
		assertThatIllegalArgumentException().isThrownBy(() -> new QueuePairPoolOptions(1, 1, 1, Duration.ZERO));
	}

	/** The service as it is. */
	public interface Lossy {

		CompletableFuture<String> answer();

		String answerBlocking();

	}

	/** The same for clients that may repeat calls. */
	public interface Repeatable {

		@RdmaMethod(idempotent = true)
		CompletableFuture<String> answer();

		@RdmaMethod(idempotent = true)
		String answerBlocking();

	}

	private static final class FirstTwoUnanswered implements Lossy {

		private final AtomicInteger calls;

		private final CompletableFuture<String> never = new CompletableFuture<>();

		FirstTwoUnanswered(AtomicInteger calls) {
			this.calls = calls;
		}

		@Override
		public CompletableFuture<String> answer() {
			return (this.calls.incrementAndGet() > 2) ? CompletableFuture.completedFuture("answer")
					: new CompletableFuture<>();
		}

		@Override
		public String answerBlocking() {
			if (this.calls.incrementAndGet() > 2) {
				return "answer";
			}
			try {
				return this.never.get();
			}
			catch (InterruptedException | ExecutionException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
