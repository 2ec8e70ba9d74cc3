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
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
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

	/** What it passes on would have the caller make a call again that was executed. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aHandlerDoesNotPassOnThatItsOwnCallWasRefused(boolean copied) {
		List<RpcException> inside = new ArrayList<>();
		Answers elsewhere = this.fixture.client.proxy(Answers.class);
		Forwarding forwarding = () -> {
			CallMetadata mine = Objects.requireNonNull(RpcContext.current()).replyMetadata();
			CallMetadata target = copied ? new CallMetadata() : mine;
			try {
				CallOptions.NONE.withReplyMetadata(target).on(elsewhere).plain();
			}
			catch (RpcException ex) {
				inside.add(ex);
			}
			target.asMap().forEach(mine::put);
			throw new RpcException(RpcStatus.RESOURCE_EXHAUSTED, "something has changed");
		};
		try (RpcServer between = this.fixture.startServer(Forwarding.class, forwarding);
				RpcClient caller = this.fixture.newClient(between)) {
			Forwarding changing = CallOptions.NONE.withReplyMetadata(this.reply).on(caller.proxy(Forwarding.class));
			RpcException failure = RpcFixture.failureOf(changing::change);
			assertThat(failure.detail()).isEqualTo("something has changed");
			assertThat(failure.isBeforeExecution()).isFalse();
			assertThat(inside).hasSize(1).allMatch(RpcException::isBeforeExecution);
			assertThat(this.reply.asMap()).isEmpty();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "rdma-refused", "rdma-exception", "rdma-exception-bin", "rdma-exception-types",
			"rdma-details", "rdma-details-bin", "rdma-details-types" })
	void namesThatTheFrameworkUsesItselfAreReserved(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.reply.put(name, "AAAA"))
			.withMessage("metadata '" + name + "' (expected: a name that rdma-rpc does not use itself)");
		assertThatIllegalArgumentException().isThrownBy(() -> this.reply.set(name, "AAAA"));
		assertThatIllegalArgumentException().isThrownBy(() -> CallOptions.NONE.withMetadata(name, "AAAA"));
		this.reply.putReserved(name, "AAAA");
		this.reply.put("other", "value");
		ByteBuffer sent = ByteBuffer.wrap(this.reply.encode()).order(ByteOrder.LITTLE_ENDIAN);
		assertThat(CallMetadata.decode(sent.duplicate().order(sent.order())).asMap()).containsOnlyKeys("other");
		this.reply.fill(sent);
		assertThat(this.reply.asMap()).containsOnlyKeys("other");
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
			assertThat(failure.detail()).contains(
					"101 bytes of metadata (expected by the server: at most 100), which its max-metadata-size sets");
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
	void bytesTravelBothWays() {
		byte[] sent = new byte[] { 0, -1, (byte) 0xC3, '/', 0 };
		CallOptions binary = CallOptions.NONE.withMetadata("echo-bin", sent)
			.withMetadata("none-bin", new byte[0])
			.withReplyMetadata(this.reply);
		assertThat(binary.metadata()).containsExactly(Map.entry("echo-bin", "AP/DLwA"), Map.entry("none-bin", ""));
		assertThat(binary.on(this.answers).binary()).isEqualTo(sent);
		assertThat(this.reply.getBytes("back-bin")).isEqualTo(sent);
		assertThat(this.reply.get("back-bin")).isEqualTo("AP/DLwA");
		assertThat(this.reply.getBytes("none-bin")).isEmpty();
		assertThat(this.reply.getBytes("absent-bin")).isNull();
	}

	@Test
	void bytesHaveNamesThatSayIt() {
		CallMetadata own = new CallMetadata();
		assertThatIllegalArgumentException().isThrownBy(() -> own.put("k", new byte[1]))
			.withMessage("bytes as metadata 'k' (expected: a name that ends in -bin)");
		assertThatIllegalArgumentException().isThrownBy(() -> CallOptions.NONE.withMetadata("k", new byte[1]));
		assertThatIllegalArgumentException().isThrownBy(() -> own.set("k-bin", "no *"))
			.withMessage("metadata 'k-bin' (expected: bytes, or their text in Base64)");
		assertThatIllegalArgumentException().isThrownBy(() -> CallOptions.NONE.withMetadata("k-bin", "no *"));
		assertThat(own.put("k-bin", "AP/DLwA=")).isTrue();
		assertThat(own.getBytes("k-bin")).hasSize(5);
	}

	@Test
	void textOfAPeerInPlaceOfBytesIsNone() {
		byte[] encoded = "\5k-bin\2\0**".getBytes(StandardCharsets.UTF_8);
		CallMetadata received = CallMetadata.decode(ByteBuffer.wrap(encoded).order(ByteOrder.LITTLE_ENDIAN));
		assertThat(received.get("k-bin")).isEqualTo("**");
		assertThat(received.getBytes("k-bin")).isNull();
	}

	@Test
	void whatAPeerHasSentTwiceOrNotAsTextIsEncodedAsItWasRead() {
		byte[] sent = { 1, 'a', 2, 0, -1, 'x', 1, 'b', 3, 0, 1, 2, 3, 1, 'b', 1, 0, 'y' };
		CallMetadata read = CallMetadata.decode(ByteBuffer.wrap(sent).order(ByteOrder.LITTLE_ENDIAN));
		assertThat(read.encode()).asString(StandardCharsets.UTF_8).isEqualTo("\1a\4\0\uFFFDx\1b\1\0y");
		CallMetadata copy = new CallMetadata(20);
		copy.fill(read);
		assertThat(copy.asMap()).containsExactly(Map.entry("a", "\uFFFDx"), Map.entry("b", "y"));
		assertThat(copy.put("c", "1234")).as("8 more than 13 bytes").isFalse();
		assertThat(copy.put("d", "123")).isTrue();
	}

	@Test
	void entriesAreReplacedAsLongAsThereIsRoom() {
		CallMetadata own = new CallMetadata(20);
		own.set("a", "12345");
		own.set("b", "1234");
		assertThat(own.put("a", "x")).isFalse();
		own.set("a", "1234567");
		own.set("b", "12345");
		assertThatExceptionOfType(RpcException.class).isThrownBy(() -> own.set("b", "123456"))
			.withMessageContaining("no room for metadata 'b' (expected: at most 20 bytes in all");
		assertThat(own.asMap()).containsExactly(Map.entry("a", "1234567"), Map.entry("b", "12345"));
	}

	@Test
	void aHandlerFailsThatSetsTooMuch() {
		RpcException failure = RpcFixture.failureOf(() -> this.options.on(this.answers).set(LIMIT));
		assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
		assertThat(failure.detail()).startsWith("no room for metadata 'k' (expected: at most 1024 bytes in all, ")
			.contains("max-metadata-size");
		assertThat(this.reply.asMap()).containsExactly(Map.entry("first", "yes"));
	}

	@Test
	void aRefusalBringsMetadata() {
		RpcServer refusing = RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(RpcFixture.serverOptions(0))
			.service(Answers.class, new AnswerService())
			.interceptor((call) -> {
				call.context().replyMetadata().set("retry-after", "7");
				throw new RpcException(RpcStatus.UNAVAILABLE, "later");
			})
			.build()
			.start();
		RpcClient refused = this.fixture.newClient(refusing);
		try {
			assertThat(RpcFixture.failureOf(() -> this.options.on(refused.proxy(Answers.class)).plain()).status())
				.isEqualTo(RpcStatus.UNAVAILABLE);
			assertThat(this.reply.asMap()).containsExactly(Map.entry("retry-after", "7"));
		}
		finally {
			refused.close();
			refusing.close();
		}
	}

	@Test
	void interceptorsReadWhatTheCallerReads() {
		List<@Nullable String> seen = new ArrayList<>();
		try (RpcClient intercepted = RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.target(TestEnvironment.host(), this.server.port())
			.interceptor((call) -> {
				CallOptions keeping = call.options().withReplyMetadata();
				Object result = call.withOptions(keeping).proceed();
				seen.add(Objects.requireNonNull(keeping.replyMetadata()).get("number"));
				return result;
			})
			.build()) {
			Answers other = intercepted.proxy(Answers.class);
			this.options.on(other).answer(new byte[0], 0);
			assertThat(this.reply.get("number")).isEqualTo("1!");
			CallOptions.NONE.withMetadata("number", "2").on(other).answer(new byte[0], 0);
		}
		assertThat(seen).containsExactly("1!", "2!");
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

		void set(int valueLength);

		byte @Nullable [] binary();

	}

	/** Has a handler call another server. */
	public interface Forwarding {

		void change();

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

		@Override
		public void set(int valueLength) {
			reply().set("first", "yes");
			reply().set("k", "x".repeat(valueLength));
		}

		@Override
		public byte @Nullable [] binary() {
			byte[] sent = context().requestMetadata().getBytes("echo-bin");
			reply().put("back-bin", Objects.requireNonNull(sent));
			reply().set("none-bin", Objects.requireNonNull(context().requestMetadata().getBytes("none-bin")));
			return sent;
		}

	}

}
