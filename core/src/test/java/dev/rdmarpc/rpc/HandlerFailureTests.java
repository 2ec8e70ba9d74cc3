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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a server's log says of handlers that fail. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HandlerFailureTests {

	private static final CallOptions TEN_SECONDS = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(10)));

	private final Logger logger = (Logger) LoggerFactory.getLogger(HandlerFailures.class);

	private final @Nullable Level usual = this.logger.getLevel();

	private final List<ILoggingEvent> lines = new CopyOnWriteArrayList<>();

	private final AppenderBase<ILoggingEvent> recorder = new AppenderBase<>() {
		@Override
		protected void append(ILoggingEvent event) {
			event.prepareForDeferredProcessing();
			HandlerFailureTests.this.lines.add(event);
		}
	};

	@BeforeEach
	void record() {
		this.logger.setLevel(Level.DEBUG);
		this.logger.setAdditive(false);
		this.logger.addAppender(this.recorder);
		this.recorder.start();
	}

	@AfterEach
	void stop() {
		this.logger.setLevel(this.usual);
		this.logger.setAdditive(true);
		this.logger.detachAppender(this.recorder);
	}

	private List<ILoggingEvent> at(Level level) {
		return this.lines.stream().filter((line) -> line.getLevel() == level).toList();
	}

	@Test
	void anExceptionIsAWarningWithServiceMethodAndPeer() {
		try (RpcFixture fixture = new RpcFixture()) {
			assertThat(RpcFixture.failureOf(() -> fixture.echo.fail("other")).status()).isEqualTo(RpcStatus.UNKNOWN);
			ILoggingEvent line = at(Level.WARN).get(0);
			assertThat(line.getFormattedMessage()).matches("dev\\.rdmarpc\\.rpc\\.Echo/fail failed for \\Q"
					+ fixture.server.channels().get(0).remoteAddress() + "\\E, reference [0-9a-f]{8}");
			assertThat(line.getThrowableProxy().getMessage()).isEqualTo("boom");
			assertThat(line.getThrowableProxy().getStackTraceElementProxyArray()[0].getSTEAsString())
				.contains("EchoService.fail");
		}
	}

	@Test
	void manyAreOneWarningAndEachMethodHasItsOwn() {
		EchoService failing = new EchoService() {
			@Override
			public String echo(String text) {
				throw new IllegalStateException("of echo");
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, failing);
				RpcClient client = fixture.newClient(server)) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			for (int i = 0; i < 50; i++) {
				RpcFixture.failureOf(() -> echo.fail("other"));
				RpcFixture.failureOf(() -> echo.echo("x"));
			}
			assertThat(at(Level.WARN)).hasSizeLessThan(20)
				.extracting((line) -> line.getThrowableProxy().getMessage())
				.contains("boom", "of echo");
		}
	}

	@Test
	void anErrorIsAnError() {
		EchoService failing = new EchoService() {
			@Override
			public String echo(String text) {
				throw new StackOverflowError("of echo");
			}

			@Override
			public CompletableFuture<String> echoAsync(String text) {
				return CompletableFuture.failedFuture(new LinkageError("of a future"));
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, failing);
				RpcClient client = fixture.newClient(server)) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			RpcFixture.failureOf(() -> echo.echo("x"));
			assertThat(echo.echoAsync("x").handle((text, failure) -> failure).join()).isNotNull();
			assertThat(at(Level.ERROR)).extracting(ILoggingEvent::getFormattedMessage)
				.satisfiesExactly((first) -> assertThat(first).startsWith("dev.rdmarpc.rpc.Echo/echo failed for "),
						(second) -> assertThat(second).startsWith("dev.rdmarpc.rpc.Echo/echoAsync failed for "));
		}
	}

	@Test
	void aStatusThatTheHandlerChoseIsForDebugging() {
		try (RpcFixture fixture = new RpcFixture()) {
			assertThat(RpcFixture.failureOf(() -> fixture.echo.fail("rpc")).status()).isEqualTo(RpcStatus.NOT_FOUND);
			assertThat(at(Level.DEBUG)).hasSize(1);
			assertThat(this.lines).hasSize(1);
		}
	}

	@Test
	void aFailedCallThatTheHandlerLetPassIsAWarning() {
		EchoService middle = new EchoService() {
			private Echo next = this;

			@Override
			public String echoOnExecutor(String text) {
				return this.next.fail("rpc");
			}

			@Override
			Echo next(Echo echo) {
				this.next = echo;
				return this;
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer front = fixture.startServer(Echo.class, middle);
				RpcClient outer = fixture.newClient(front)) {
			middle.next(fixture.echo);
			Echo echo = TEN_SECONDS.on(outer.proxy(Echo.class));
			assertThat(RpcFixture.failureOf(() -> echo.echoOnExecutor("x")).status()).isEqualTo(RpcStatus.NOT_FOUND);
			assertThat(at(Level.WARN)).singleElement()
				.satisfies((line) -> assertThat(line.getFormattedMessage()).contains("Echo/echoOnExecutor failed for"));
		}
	}

	@Test
	void aHandlerWhoseCallerHasGoneSurprisesNobody() {
		EchoService interrupted = new EchoService() {
			@Override
			public String slow(long millis) {
				try {
					this.release.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException("interrupted", ex);
				}
				return "";
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, interrupted);
				RpcClient client = fixture.newClient(server)) {
			Echo echo = CallOptions.deadline(Duration.ofMillis(50)).on(client.proxy(Echo.class));
			assertThat(RpcFixture.failureOf(() -> echo.slow(0)).status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			RpcFixture.awaitTrue(() -> server.activeCalls() == 0);
			assertThat(this.lines).allSatisfy((line) -> assertThat(line.getLevel()).isEqualTo(Level.DEBUG));
		}
	}

	@Test
	void aResultThatCannotBeEncodedIsAWarning() {
		EchoService unpaired = new EchoService() {
			@Override
			public String echo(String text) {
				return "half a character: \uD83D";
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, unpaired);
				RpcClient client = fixture.newClient(server)) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			assertThat(RpcFixture.failureOf(() -> echo.echo("x")).status()).isEqualTo(RpcStatus.INTERNAL);
			assertThat(at(Level.WARN)).hasSize(1);
		}
	}

	@Test
	void noFutureIsAFailure() {
		EchoService nothing = new EchoService() {
			@Override
			@SuppressWarnings("NullAway") // what a mistake looks like
			public CompletableFuture<String> echoAsync(String text) {
				return null;
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Echo.class, nothing);
				RpcClient client = fixture.newClient(server)) {
			Echo echo = TEN_SECONDS.on(client.proxy(Echo.class));
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> echo.echoAsync("lost").join())
				.withMessageContaining("the handler returned null (expected: a future)");
			assertThat(echo.add(1, 2)).isEqualTo(3);
		}
	}

	@Test
	void theTraceOfTheCallIsInTheLine() {
		CallObserver tracer = (method, peer, metadata) -> new CallObservation() {
			@Override
			public Scope openScope() {
				MDC.put("traceId", "4bf92f3577b34da6");
				return () -> MDC.remove("traceId");
			}

			@Override
			public void callEnded(RpcStatus status, @Nullable Throwable error) {
				// nothing to end
			}
		};
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = RpcServer.builder()
					.transport(fixture.serverTransport)
					.options(RpcFixture.serverOptions(0))
					.service(Echo.class, fixture.service)
					.observer(tracer)
					.build()
					.start();
				RpcClient client = fixture.newClient(server)) {
			RpcFixture.failureOf(() -> TEN_SECONDS.on(client.proxy(Echo.class)).fail("other"));
			ILoggingEvent line = at(Level.WARN).get(0);
			assertThat(line.getFormattedMessage()).endsWith(", trace 4bf92f3577b34da6");
			assertThat(line.getMDCPropertyMap()).containsEntry("traceId", "4bf92f3577b34da6");
		}
	}

}
