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

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** What travels beside arguments and results, in both directions. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcMetadataTests {

	private static final int LIMIT = 1024;

	private final RpcFixture fixture = new RpcFixture();

	private final RpcServer server = this.fixture.startServer(Answers.class, new AnswerService());

	private final RpcClient client = this.fixture.newClient(this.server);

	private final Answers answers = this.client.proxy(Answers.class);

	private final CallMetadata reply = new CallMetadata();

	private final CallOptions options = CallOptions.NONE.withMetadata("question", "wie spät?")
		.withMetadata("number", "1")
		.withReplyMetadata(this.reply);

	@AfterEach
	void nothingIsOutstanding() {
		this.client.close();
		this.server.close();
		this.fixture.close();
	}

	/** In one frame, in several, and Read by the client. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 10, 7000, 8100, 8150, 30_000, 1 << 20 })
	void metadataTravelsBothWays(int bytes) {
		for (int i = 0; i < 20; i++) {
			assertThat(this.options.on(this.answers).answer(new byte[bytes], bytes)).hasSize(bytes)
				.containsOnly((bytes > 0) ? new byte[] { 7 } : new byte[0]);
			assertThat(this.reply.asMap()).containsExactly(Map.entry("question", "wie spät? Zu spät."),
					Map.entry("number", "1!"));
		}
	}

	@Test
	void futuresBringMetadata() {
		for (int i = 0; i < 20; i++) {
			assertThat(this.options.on(this.answers).answerLater("x").join()).isEqualTo("x");
			assertThat(this.reply.get("later")).isEqualTo("wie spät?");
		}
	}

	@Test
	void failedCallsBringMetadata() {
		RpcException failure = RpcFixture.failureOf(() -> this.options.on(this.answers).fail());
		assertThat(failure.status()).isEqualTo(RpcStatus.NOT_FOUND);
		assertThat(this.reply.asMap()).containsExactly(Map.entry("why", "none"));
		CompletionException later = catchThrowableOfType(CompletionException.class,
				() -> this.options.on(this.answers).failLater().join());
		assertThat(later).hasCauseInstanceOf(RpcException.class);
		assertThat(this.reply.asMap()).containsExactly(Map.entry("why", "later none"));
	}

	@Test
	void theMetadataOfARequestIsNoTarget() {
		for (CallMetadata received : new CallMetadata[] { CallMetadata.NONE,
				CallMetadata.decode(ByteBuffer.wrap(new byte[0])) }) {
			assertThatIllegalArgumentException().isThrownBy(() -> CallOptions.NONE.withReplyMetadata(received))
				.withMessageContaining("new CallMetadata()");
		}
	}

	@Test
	void aReplyWithoutMetadataLeavesNone() {
		this.reply.put("old", "value");
		assertThat(CallOptions.NONE.withReplyMetadata(this.reply).on(this.answers).plain()).isEqualTo("plain");
		assertThat(this.reply.asMap()).isEmpty();
		assertThat(this.answers.plain()).isEqualTo("plain");
	}

	@Test
	void aHandlerIsToldWhenThereIsNoRoom() {
		CallOptions keeping = CallOptions.NONE.withReplyMetadata(this.reply);
		assertThat(keeping.on(this.answers).fill(LIMIT - 4)).isTrue();
		assertThat(this.reply.get("k")).hasSize(LIMIT - 4);
		assertThat(keeping.on(this.answers).fill(LIMIT - 3)).isFalse();
		assertThat(this.reply.asMap()).isEmpty();
	}

	@Test
	void aCallWithTooMuchMetadataFailsAndIsNotSent() {
		String most = "x".repeat(LIMIT - 4);
		assertThat(CallOptions.NONE.withMetadata("k", most).on(this.answers).plain()).isEqualTo("plain");
		Answers exceeding = CallOptions.NONE.withMetadata("k", most + "x").on(this.answers);
		RpcException failure = RpcFixture.failureOf(exceeding::plain);
		assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
		assertThat(failure.detail()).contains("'k'").contains("at most 1024 bytes");
		assertThat(RpcFixture.failureOf(() -> exceeding.answerLater("x").join()).status())
			.isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
		assertThat(
				RpcFixture.failureOf(() -> CallOptions.NONE.withMetadata("k".repeat(256), "v").on(this.answers).plain())
					.status())
			.isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
	}

	/** Each side has its own limit, and the other keeps to it. */
	@Test
	void theLowerLimitHolds() {
		RpcServer modest = this.fixture.startServer(
				RpcFixture.serverOptions(0).withChannel(RpcServerOptions.DEFAULTS.channel().withMaxMetadata(100)),
				Answers.class, new AnswerService());
		RpcClient generous = this.fixture.newClient(modest,
				(defaults) -> defaults.withChannel(defaults.channel().withMaxMetadata(4000)));
		RpcClient reticent = this.fixture.newClient(this.server,
				(defaults) -> defaults.withChannel(defaults.channel().withMaxMetadata(0)));
		try {
			Answers few = generous.proxy(Answers.class);
			assertThat(CallOptions.NONE.withMetadata("k", "x".repeat(96)).on(few).plain()).isEqualTo("plain");
			RpcException failure = RpcFixture
				.failureOf(() -> CallOptions.NONE.withMetadata("k", "x".repeat(97)).on(few).plain());
			assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(failure.detail()).contains("101 bytes of metadata (expected by the server: at most 100)");
			assertThat(few.fill(96)).isTrue();
			assertThat(few.fill(97)).isFalse();
			Answers none = reticent.proxy(Answers.class);
			assertThat(none.fill(0)).isFalse();
			assertThat(none.plain()).isEqualTo("plain");
		}
		finally {
			generous.close();
			reticent.close();
			modest.close();
		}
	}

	@Test
	void observersShareTheMetadataWithCallers() {
		CallObserver adding = (method, peer, metadata) -> {
			metadata.put("observed", "yes");
			return new CallObservation() {

				@Override
				public Scope openScope() {
					return () -> {
					};
				}

				@Override
				public void callEnded(RpcStatus status, @Nullable Throwable error) {
				}

			};
		};
		try (RpcClient observed = RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.target(TestEnvironment.host(), this.server.port())
			.observer(adding)
			.build()) {
			this.options.on(observed.proxy(Answers.class)).answer(new byte[0], 0);
			assertThat(this.reply.asMap()).containsEntry("observed", "yes!");
		}
	}

	/** The service. */
	interface Answers {

		byte[] answer(byte[] padding, int bytes);

		CompletableFuture<String> answerLater(String text);

		void fail();

		CompletableFuture<String> failLater();

		String plain();

		boolean fill(int valueLength);

	}

	private static final class AnswerService implements Answers {

		private static RpcContext context() {
			return Objects.requireNonNull(RpcContext.current());
		}

		private static CallMetadata reply() {
			return context().replyMetadata();
		}

		@Override
		public byte[] answer(byte[] padding, int bytes) {
			UnaryOperator<String> answer = (value) -> value.endsWith("?") ? value + " Zu spät." : value + "!";
			context().requestMetadata().asMap().forEach((key, value) -> reply().put(key, answer.apply(value)));
			byte[] result = new byte[bytes];
			Arrays.fill(result, (byte) 7);
			return result;
		}

		@Override
		public CompletableFuture<String> answerLater(String text) {
			RpcContext context = context();
			return CompletableFuture.supplyAsync(() -> {
				context.replyMetadata().put("later", String.valueOf(context.requestMetadata().get("question")));
				return text;
			});
		}

		@Override
		public void fail() {
			reply().put("why", "none");
			throw new RpcException(RpcStatus.NOT_FOUND, "on purpose");
		}

		@Override
		public CompletableFuture<String> failLater() {
			RpcContext context = context();
			return CompletableFuture.supplyAsync(() -> {
				context.replyMetadata().put("why", "later none");
				throw new RpcException(RpcStatus.NOT_FOUND, "on purpose");
			});
		}

		@Override
		public String plain() {
			assertThat(context().replyMetadata().asMap()).isEmpty();
			return "plain";
		}

		@Override
		public boolean fill(int valueLength) {
			return reply().put("k", "x".repeat(valueLength));
		}

	}

}
