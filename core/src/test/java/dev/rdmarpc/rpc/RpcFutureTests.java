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
import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Futures that end before the reply, and calls that wait or are made again. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcFutureTests {

	static Stream<Named<Consumer<CompletableFuture<String>>>> waysToEnd() {
		return Stream.of(Named.of("cancel", (future) -> future.cancel(true)),
				Named.of("complete", (future) -> future.complete("enough")),
				Named.of("completeExceptionally", (future) -> future.completeExceptionally(new IOException("enough"))),
				Named.of("completeAsync", (future) -> future.completeAsync(() -> "enough")),
				Named.of("completeAsync that fails", (future) -> future.completeAsync(() -> {
					throw new IllegalStateException("enough");
				})), Named.of("orTimeout", (future) -> future.orTimeout(1, TimeUnit.MILLISECONDS)),
				Named.of("completeOnTimeout", (future) -> future.completeOnTimeout("enough", 1, TimeUnit.MILLISECONDS)),
				Named.of("obtrudeValue", (future) -> future.obtrudeValue("enough")),
				Named.of("obtrudeException", (future) -> future.obtrudeException(new IOException("enough"))));
	}

	@ParameterizedTest
	@MethodSource("waysToEnd")
	void futureThatIsEndedEndsItsCallAtBothSides(Consumer<CompletableFuture<String>> way) throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Letters service = new Letters();
			try (RpcServer server = fixture.startServer(Letterbox.class, service);
					RpcClient client = fixture.newClient(server)) {
				CompletableFuture<String> future = client.proxy(Letterbox.class).send(new byte[0]);
				RpcFixture.awaitTrue(() -> service.received.size() == 1);
				way.accept(future);
				RpcFixture.awaitTrue(() -> future.isDone() && client.metrics().outstandingCalls() == 0
						&& server.activeCalls() == 0 && service.answers.get(0).isCancelled());
			}
		}
	}

	@Test
	void whatDependsOnAFutureMayEndWithoutTheCall() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Letters service = new Letters();
			try (RpcServer server = fixture.startServer(Letterbox.class, service);
					RpcClient client = fixture.newClient(server)) {
				CompletableFuture<String> future = client.proxy(Letterbox.class).send(new byte[0]);
				RpcFixture.awaitTrue(() -> service.received.size() == 1);
				assertThat(future.thenApply(String::length).cancel(true)).isTrue();
				assertThatExceptionOfType(ExecutionException.class)
					.isThrownBy(() -> future.copy().orTimeout(1, TimeUnit.MILLISECONDS).get())
					.withCauseInstanceOf(TimeoutException.class);
				service.answers.get(0).complete("late");
				assertThat(future.get(20, TimeUnit.SECONDS)).isEqualTo("late");
			}
		}
	}

	@Test
	void futureThatIsEndedBeforeThereIsAConnectionSendsNothing() throws Exception {
		try (RpcFixture fixture = new RpcFixture(); ServerSocket silent = silent()) {
			try (RpcClient client = client(fixture, silent.getLocalPort())) {
				CompletableFuture<String> future = client.proxy(Letterbox.class).send(new byte[100]);
				assertThat(future.complete("not needed")).isTrue();
				assertThat(future.get()).isEqualTo("not needed");
			}
		}
	}

	/** Though there is no connection that could end its wait. */
	@ParameterizedTest
	@CsvSource({ "true, false", "true, true", "false, false", "false, true" })
	void aCallThatWaitsNoLongerIsForgotten(boolean cancelled, boolean severalAddresses) {
		try (RpcFixture fixture = new RpcFixture()) {
			InetSocketAddress unknown = InetSocketAddress.createUnresolved(RpcFixture.UNKNOWN_HOST, 1);
			RpcClient.Builder builder = RpcClient.builder().transport(fixture.clientTransport);
			builder = severalAddresses ? builder.addresses("nobody", List.of(Nobody.address(), unknown))
					: builder.target("nobody", Nobody::address);
			try (RpcClient client = builder.options(RpcClientOptions.DEFAULTS.withWaitForReady(true)).build()) {
				Letterbox waiting = CallOptions.deadline(cancelled ? Duration.ofHours(1) : Duration.ofMillis(1))
					.on(client.proxy(Letterbox.class));
				WeakReference<CompletableFuture<String>> call = giveUp(waiting, cancelled);
				Await.until(() -> {
					System.gc();
					return call.get() == null;
				});
			}
		}
	}

	@Test
	void aStreamThatIsNotAwaitedAnyLongerIsForgotten() {
		try (RpcFixture fixture = new RpcFixture();
				RpcClient client = fixture.newClient(Nobody::address,
						RpcClientOptions.DEFAULTS.withWaitForReady(true))) {
			WeakReference<byte[]> forgotten = subscribeInVain(
					CallOptions.deadline(Duration.ofHours(1)).on(client.proxy(Numbers.class)));
			Await.until(() -> {
				System.gc();
				return forgotten.get() == null;
			});
		}
	}

	private static WeakReference<byte[]> subscribeInVain(Numbers numbers) {
		byte[] kept = new byte[100];
		AtomicReference<Flow.Subscription> waiting = new AtomicReference<>();
		numbers.count(3).subscribe(new Flow.Subscriber<>() {

			@Override
			public void onSubscribe(Flow.Subscription subscription) {
				waiting.set(subscription);
				subscription.request(1);
			}

			@Override
			public void onNext(Integer number) {
				kept[number]++;
			}

			@Override
			public void onError(Throwable failure) {
				kept[0]++;
			}

			@Override
			public void onComplete() {
				kept[1]++;
			}

		});
		waiting.get().cancel();
		return new WeakReference<>(kept);
	}

	private static WeakReference<CompletableFuture<String>> giveUp(Letterbox waiting, boolean cancelled) {
		CompletableFuture<String> call = waiting.send(letter(100));
		if (cancelled) {
			assertThat(call.cancel(true)).isTrue();
		}
		else {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> call.get(20, TimeUnit.SECONDS))
				.withMessageContaining("DEADLINE_EXCEEDED");
		}
		return new WeakReference<>(call);
	}

	@Test
	void callOfAnInterruptedThreadIsNotSent() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			fixture.echo.touch();
			CompletableFuture<RpcException> refused = new CompletableFuture<>();
			Thread caller = new Thread(() -> {
				Thread.currentThread().interrupt();
				RpcException failure = RpcFixture.failureOf(fixture.echo::touch);
				assertThat(Thread.currentThread().isInterrupted()).isTrue();
				refused.complete(failure);
			});
			caller.start();
			assertThat(refused.get(20, TimeUnit.SECONDS).status()).isEqualTo(RpcStatus.CANCELLED);
			assertThat(refused.get()).hasMessageContaining("before the call was sent");
			caller.join();
			fixture.echo.touch();
			assertThat(fixture.service.touched).hasValue(2);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void callThatWaitsForAConnectionEndsWithItsTransport(boolean listening) throws Exception {
		try (RpcFixture fixture = new RpcFixture(); ServerSocket silent = silent()) {
			RpcClient client = client(fixture, listening ? silent.getLocalPort() : Nobody.address().getPort());
			Letterbox letterbox = CallOptions.NONE.withWaitForReady().on(client.proxy(Letterbox.class));
			CompletableFuture<RpcException> blocking = new CompletableFuture<>();
			Thread caller = new Thread(
					() -> blocking.complete(RpcFixture.failureOf(() -> letterbox.sendAndWait(new byte[1]))));
			caller.start();
			CompletableFuture<String> future = letterbox.send(new byte[1]);
			RpcFixture.awaitTrue(() -> caller.getState() != Thread.State.RUNNABLE
					&& client.state() == (listening ? ConnectionState.CONNECTING : ConnectionState.BACKOFF));
			fixture.client.close();
			fixture.clientTransport.close();
			assertThat(blocking.get(20, TimeUnit.SECONDS).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> future.get(20, TimeUnit.SECONDS))
				.withMessageContaining("UNAVAILABLE");
			assertThat(client.state()).isEqualTo(ConnectionState.CLOSED);
			assertThat(RpcFixture.failureOf(() -> letterbox.sendAndWait(new byte[1])).status())
				.isEqualTo(RpcStatus.UNAVAILABLE);
			caller.join();
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 10, 1000, 30_000, 60_000, 1_000_000 })
	void callMadeBeforeThereIsAConnectionSendsWhatItWasGiven(int length) throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Letters service = new Letters();
			try (RpcServer server = fixture.startServer(Letterbox.class, service);
					RpcClient client = fixture.newClient(server)) {
				byte[] letter = letter(length);
				CompletableFuture<String> future = client.proxy(Letterbox.class).send(letter);
				Arrays.fill(letter, (byte) 0);
				RpcFixture.awaitTrue(() -> service.received.size() == 1);
				assertThat(service.received.get(0)).isEqualTo(letter(length));
				service.answers.get(0).complete("thanks");
				assertThat(future.get(20, TimeUnit.SECONDS)).isEqualTo("thanks");
			}
		}
	}

	@Test
	void callMadeAgainReadsTheRegisteredMemoryThatIsLentToIt() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Letters service = new Letters();
			try (RpcServer server = fixture.startServer(Letterbox.class, service);
					RpcClient client = fixture.newClient(server)) {
				RegisteredBuffer buffer = fixture.clientMemory.allocate(100_000);
				buffer.buffer().put(0, letter(100_000));
				Letterbox letterbox = CallOptions.NONE.withWaitForReady().on(client.proxy(Letterbox.class));
				CompletableFuture<String> future = letterbox.sendBuffer(buffer);
				RpcFixture.awaitTrue(() -> service.received.size() == 1);
				server.channels().forEach((channel) -> channel.close("lost"));
				RpcFixture.awaitTrue(() -> service.received.size() == 2);
				assertThat(service.received.get(1)).isEqualTo(letter(100_000));
				service.answers.get(1).complete("thanks");
				assertThat(future.get(20, TimeUnit.SECONDS)).isEqualTo("thanks");
				buffer.release();
			}
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 10, 1000, 30_000 })
	void callMadeAgainSendsWhatItWasGiven(int length) throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Letters service = new Letters();
			try (RpcServer server = fixture.startServer(Letterbox.class, service);
					RpcClient client = fixture.newClient(server)) {
				Letterbox letterbox = CallOptions.NONE.withWaitForReady().on(client.proxy(Letterbox.class));
				byte[] letter = letter(length);
				CompletableFuture<String> future = letterbox.send(letter);
				RpcFixture.awaitTrue(() -> service.received.size() == 1);
				Arrays.fill(letter, (byte) 0);
				server.channels().forEach((channel) -> channel.close("lost"));
				RpcFixture.awaitTrue(() -> service.received.size() == 2);
				assertThat(service.received.get(1)).isEqualTo(letter(length));
				service.answers.get(1).complete("thanks");
				assertThat(future.get(20, TimeUnit.SECONDS)).isEqualTo("thanks");
				assertThat(client.metrics().repetitions()).isOne();
			}
		}
	}

	@Test
	void callThatWasTooLargeToBeKeptIsNotMadeAgain() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Letters service = new Letters();
			try (RpcServer server = fixture.startServer(Letterbox.class, service);
					RpcClient client = fixture.newClient(server)) {
				Letterbox letterbox = CallOptions.NONE.withWaitForReady().on(client.proxy(Letterbox.class));
				assertThat(letterbox.sendAndWait(new byte[0])).isEqualTo("received");
				CompletableFuture<String> future = letterbox.send(letter(1_000_000));
				RpcFixture.awaitTrue(() -> service.received.size() == 2);
				server.channels().forEach((channel) -> channel.close("lost"));
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> future.get(20, TimeUnit.SECONDS))
					.withMessageContaining("UNAVAILABLE");
			}
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 10, 1000, 9000, 30_000 })
	void callThatWasNotSentIsSentWithWhatItWasGiven(int length) throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			Letters service = new Letters();
			try (RpcServer server = fixture.startServer(Letterbox.class, service);
					RpcClient client = fixture.newClient(server)) {
				Letterbox letterbox = CallOptions.NONE.withWaitForReady().on(client.proxy(Letterbox.class));
				assertThat(letterbox.sendAndWait(new byte[0])).isEqualTo("received");
				ChannelLoop loop = fixture.clientTransport.loops().get(0);
				RpcChannel channel = loop.channels().get(0);
				CountDownLatch release = RpcFixture.hold(loop);
				channel.close("lost");
				assertThat(channel.isOpen()).isTrue();
				byte[] letter = letter(length);
				CompletableFuture<String> future = letterbox.sendOnce(letter);
				Arrays.fill(letter, (byte) 0);
				release.countDown();
				RpcFixture.awaitTrue(() -> service.received.size() == 2);
				assertThat(service.received.get(1)).isEqualTo(letter(length));
				service.answers.get(0).complete("thanks");
				assertThat(future.get(20, TimeUnit.SECONDS)).isEqualTo("thanks");
			}
		}
	}

	private static byte[] letter(int length) {
		byte[] letter = new byte[length];
		for (int i = 0; i < length; i++) {
			letter[i] = (byte) (i * 31 + 7);
		}
		return letter;
	}

	private static ServerSocket silent() throws IOException {
		return new ServerSocket(0, 10, TestEnvironment.address());
	}

	private static RpcClient client(RpcFixture fixture, int port) {
		return RpcClient.builder()
			.transport(fixture.clientTransport)
			.target(TestEnvironment.host(), port)
			.options(RpcClientOptions.DEFAULTS.withBackoff(Duration.ofSeconds(30), Duration.ofSeconds(60)))
			.build();
	}

	@Test
	void futuresThatCannotBeWaitedForOtherwiseAreRefused() {
		try (RpcFixture fixture = new RpcFixture()) {
			assertThatThrownBy(() -> fixture.client.proxy(Promises.class))
				.hasMessageContaining("Promises/promise returns java.util.concurrent.Future "
						+ "(expected: CompletableFuture or CompletionStage, if callers are not to wait)");
		}
	}

	/** Nobody can be told when these are complete. */
	interface Promises {

		Future<String> promise();

	}

	/** Of a server that there is not. */
	interface Numbers {

		Flow.Publisher<Integer> count(int to);

	}

	/** Takes what callers may change afterwards. */
	interface Letterbox {

		@RdmaMethod(idempotent = true)
		CompletableFuture<String> send(byte[] letter);

		CompletableFuture<String> sendOnce(byte[] letter);

		@RdmaMethod(idempotent = true)
		CompletableFuture<String> sendBuffer(RegisteredBuffer letter);

		String sendAndWait(byte[] letter);

	}

	/** Serves it; the test answers. */
	private static final class Letters implements Letterbox {

		private final List<byte[]> received = new CopyOnWriteArrayList<>();

		private final List<CompletableFuture<String>> answers = new CopyOnWriteArrayList<>();

		@Override
		public CompletableFuture<String> send(byte[] letter) {
			CompletableFuture<String> answer = new CompletableFuture<>();
			this.answers.add(answer);
			this.received.add(letter);
			return answer;
		}

		@Override
		public CompletableFuture<String> sendOnce(byte[] letter) {
			return send(letter);
		}

		@Override
		public CompletableFuture<String> sendBuffer(RegisteredBuffer letter) {
			byte[] bytes = new byte[letter.length()];
			letter.buffer().get(0, bytes);
			return send(bytes);
		}

		@Override
		public String sendAndWait(byte[] letter) {
			this.received.add(letter);
			return "received";
		}

	}

}
