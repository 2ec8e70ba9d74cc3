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
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What users' code throws though it declares nothing of the kind, as Kotlin's does, and
 * code that never returns: it ends the call that it belongs to and nothing else.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcThrowableTests {

	private static final CallOptions TEN_SECONDS = CallOptions.deadline(Duration.ofSeconds(10));

	@ParameterizedTest
	@ValueSource(strings = { "unchecked", "checked", "error", "speechless" })
	void recordThatRefusesItsReplyFailsThatCallOnly(String kind) throws Exception {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Plain.class, new PlainService());
				RpcClient client = fixture.newClient(server)) {
			Refusing refusing = client.proxy(Plain.class.getName(), Refusing.class);
			Refusing patient = TEN_SECONDS.on(refusing);
			assertThat(patient.get("good").kind()).isEqualTo("good");
			CompletableFuture<Refused> late = CallOptions.deadline(Duration.ofMillis(500)).on(refusing).never();
			assertThat(RpcFixture.failureOf(() -> patient.get(kind)).status()).isEqualTo(RpcStatus.INTERNAL);
			CompletableFuture<Refused> async = patient.getLater(kind);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> async.get(10, TimeUnit.SECONDS))
				.satisfies((ex) -> assertThat(((RpcException) ex.getCause()).status()).isEqualTo(RpcStatus.INTERNAL));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> late.get(20, TimeUnit.SECONDS))
				.satisfies((ex) -> assertThat(((RpcException) ex.getCause()).status())
					.isEqualTo(RpcStatus.DEADLINE_EXCEEDED));
			assertThat(patient.get("good").kind()).isEqualTo("good");
			assertThat(fixture.clientTransport.problems()).isEmpty();
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "unchecked", "checked", "error", "speechless" })
	void observerThatThrowsHarmsNoCall(String kind) throws Exception {
		AtomicInteger asked = new AtomicInteger();
		CallObserver broken = new BrokenObserver(kind, asked);
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = RpcServer.builder()
					.transport(fixture.serverTransport)
					.options(RpcFixture.serverOptions(0))
					.service(Echo.class, fixture.service)
					.observer(broken)
					.observer((method, peer, metadata) -> new BrokenObservation("none", asked))
					.observer((method, peer, metadata) -> new BrokenObservation(kind, asked))
					.build()
					.start();
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target(TestEnvironment.host(), server.port())
					.observer(broken)
					.observer((method, peer, metadata) -> new BrokenObservation(kind, asked))
					.build()) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			for (int i = 0; i < 5; i++) {
				assertThat(echo.echo("inline")).isEqualTo("inline");
				assertThat(echo.echoOnExecutor("executor")).isEqualTo("executor");
				assertThat(echo.echoAsync("async").get(10, TimeUnit.SECONDS)).isEqualTo("async");
			}
			assertThat(asked.get()).isGreaterThanOrEqualTo(15 * 7);
			assertThat(fixture.clientTransport.problems()).isEmpty();
			assertThat(fixture.serverTransport.problems()).isEmpty();
		}
	}

	@Test
	void inlineHandlerThatWaitsForEverIsInterruptedWhenTheServerStops() throws Exception {
		CountDownLatch interrupted = new CountDownLatch(1);
		CountDownLatch running = new CountDownLatch(1);
		UnaryOperator<RpcServerOptions> hurried = (options) -> options.withDrainTimeout(Duration.ofMillis(50));
		try (RpcFixture fixture = new RpcFixture(hurried, UnaryOperator.identity());
				RpcServer server = fixture.startServer(hurried.apply(RpcFixture.serverOptions(0)), Blocking.class,
						() -> {
							running.countDown();
							try {
								new CountDownLatch(1).await();
							}
							catch (InterruptedException ex) {
								interrupted.countDown();
							}
						});
				RpcClient client = fixture.newClient(server)) {
			CompletableFuture<@Nullable Void> call = CompletableFuture
				.runAsync(() -> TEN_SECONDS.on(client.proxy(Blocking.class)).block());
			assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
			server.stop();
			assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
			assertThat(call.handle((result, failure) -> "over").get(20, TimeUnit.SECONDS)).isEqualTo("over");
		}
	}

	/** Also where it has held up its loop, which has another thread by then. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void inlineHandlerCannotStopItsServer(boolean heldUp) {
		AtomicReference<@Nullable RpcServer> own = new AtomicReference<>();
		AtomicReference<@Nullable Throwable> refusal = new AtomicReference<>();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(RpcFixture.serverOptions(0), Blocking.class, () -> {
					RpcServer running = own.get();
					if (running != null) {
						if (heldUp) {
							Await.until(() -> running.loops().get(0).metrics().takeOvers() > 0);
						}
						refusal.set(catchThrowable(running::stop));
					}
				});
				RpcClient client = fixture.newClient(server)) {
			own.set(server);
			Blocking service = TEN_SECONDS.on(client.proxy(Blocking.class));
			service.block();
			assertThat(refusal.get()).hasMessageContaining("cannot be stopped");
			assertThat(server.isRunning()).isTrue();
			own.set(null);
			service.block();
		}
	}

	/** The stream is subscribed to, and begins, where the handler ran. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void publisherOnALoopCannotStopItsServer(boolean heldUp) {
		AtomicReference<@Nullable RpcServer> own = new AtomicReference<>();
		AtomicReference<@Nullable Throwable> refusal = new AtomicReference<>();
		Listing listing = () -> Stream.of(1, 2).peek((number) -> {
			RpcServer running = own.get();
			if (running != null && running.loops().get(0).isOwnThread()) {
				own.set(null);
				if (heldUp) {
					Await.until(() -> running.loops().get(0).metrics().takeOvers() > 0);
				}
				refusal.set(catchThrowable(running::stop));
			}
		});
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(
						RpcFixture.serverOptions(0).withHandlers(HandlerOptions.DEFAULTS.withDispatch(Dispatch.INLINE)),
						Listing.class, listing);
				RpcClient client = fixture.newClient(server)) {
			own.set(server);
			while (own.get() != null) {
				// on another thread where the loop's was held up by others
				try (Stream<Integer> numbers = client.proxy(Listing.class).list()) {
					assertThat(numbers).containsExactly(1, 2);
				}
			}
			assertThat(refusal.get()).hasMessageContaining("cannot be stopped");
			assertThat(server.isRunning()).isTrue();
		}
	}

	@Test
	void serverStopsThoughAnInlineHandlerNeverReturns() throws Exception {
		CountDownLatch release = new CountDownLatch(1);
		CountDownLatch running = new CountDownLatch(1);
		UnaryOperator<RpcServerOptions> hurried = (options) -> options.withDrainTimeout(Duration.ofMillis(50));
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(hurried.apply(RpcFixture.serverOptions(0)), Blocking.class,
						() -> {
							running.countDown();
							while (release.getCount() > 0) {
								LockSupport.parkNanos(1_000_000);
								Thread.interrupted();
							}
						});
				RpcClient client = fixture.newClient(server)) {
			CompletableFuture<@Nullable Void> call = CompletableFuture
				.runAsync(() -> TEN_SECONDS.on(client.proxy(Blocking.class)).block());
			assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();
			server.stop();
			assertThat(release.getCount()).as("handlers that may still run").isOne();
			assertThat(fixture.serverTransport.problems()).as("the loop does not wait for it").isEmpty();
			release.countDown();
			assertThat(call.handle((result, failure) -> "over").get(20, TimeUnit.SECONDS)).isEqualTo("over");
			fixture.server.close();
			fixture.serverTransport.close();
			// whoever closes does not wait for the handler either
			Await.until(() -> fixture.serverMemory.metrics().allocatedBytes() == 0);
		}
	}

	private static void fire(String kind) {
		switch (kind) {
			case "unchecked" -> throw new IllegalStateException("thrown by the test");
			case "checked" -> RpcThrowableTests.<RuntimeException>throwAny(new IOException("thrown by the test"));
			case "error" -> throw new OutOfMemoryError("thrown by the test");
			case "speechless" -> throw new Speechless();
			default -> {
				// nothing is thrown
			}
		}
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> void throwAny(Throwable failure) throws T {
		throw (T) failure;
	}

	private static final class Speechless extends RuntimeException {

		@Override
		public String getMessage() {
			throw new IllegalStateException("no words");
		}

	}

	/** As the server sees it. */
	interface Plain {

		Told get(String kind);

		CompletableFuture<Told> getLater(String kind);

		CompletableFuture<Told> never();

	}

	/** What the server answers. */
	record Told(String kind) {

	}

	/** The same as the client sees it. */
	interface Refusing {

		Refused get(String kind);

		CompletableFuture<Refused> getLater(String kind);

		CompletableFuture<Refused> never();

	}

	/** A value that does not accept every content. */
	record Refused(String kind) {

		Refused {
			fire(kind);
		}

	}

	/** Never returns by itself. */
	interface Blocking {

		@RdmaMethod(inline = true)
		void block();

	}

	private static final class PlainService implements Plain {

		@Override
		public Told get(String kind) {
			return new Told(kind);
		}

		@Override
		public CompletableFuture<Told> getLater(String kind) {
			return CompletableFuture.completedFuture(new Told(kind));
		}

		@Override
		public CompletableFuture<Told> never() {
			return new CompletableFuture<>();
		}

	}

	private record BrokenObserver(String kind, AtomicInteger asked) implements CallObserver {

		@Override
		public CallObservation callStarted(MethodDescriptor method, String peer, CallMetadata metadata) {
			this.asked.incrementAndGet();
			fire(this.kind);
			return new BrokenObservation(this.kind, this.asked);
		}

	}

	private record BrokenObservation(String kind, AtomicInteger asked) implements CallObservation {

		@Override
		public Scope openScope() {
			this.asked.incrementAndGet();
			fire(this.kind);
			return () -> fire("checked");
		}

		@Override
		public void callEnded(RpcStatus status, @Nullable Throwable error) {
			this.asked.incrementAndGet();
			fire(this.kind);
		}

	}

	/** Replies with a stream. */
	interface Listing {

		Stream<Integer> list();

	}

}
