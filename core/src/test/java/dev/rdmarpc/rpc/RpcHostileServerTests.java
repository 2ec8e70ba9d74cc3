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

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.Frames;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * A server that breaks every rule. Each call to it ends once with a status, and the
 * client recovers as soon as there is an honest server.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcHostileServerTests {

	private static final int MESSAGE = 1 << 20;

	private static final ChannelOptions CHANNEL = ChannelOptions.DEFAULTS.withFrames(8192, 32)
		.withLimits(MESSAGE, 64)
		.withUnfinished(2 * MESSAGE);

	/** Not too much so for the honest server, on a machine that stops it at times. */
	private static final ChannelOptions IMPATIENT = CHANNEL.withTimeouts(Duration.ofSeconds(2), Duration.ofMillis(200),
			Duration.ofSeconds(1));

	@ParameterizedTest
	@MethodSource
	void badHandshake(String expected, byte[] reply) {
		attack(CHANNEL, (victim, server, fixture) -> {
			CompletableFuture<String> call = victim.echoAsync("hello");
			server.accept();
			server.send(reply);
			server.awaitEnd();
			assertThat(failureOf(call)).hasMessageContaining("UNAVAILABLE").hasMessageContaining(expected);
		});
	}

	static Stream<Arguments> badHandshake() {
		byte[] good = Frames.hello(2, 32);
		byte[] refusal = Frames.truncated(Frames.hello(2, 0, 0, 0, 0, 2), 46 + 4);
		refusal[44] = 4;
		refusal[46] = 'b';
		refusal[47] = 'u';
		refusal[48] = 's';
		refusal[49] = 'y';
		return Stream.of(Arguments.of("frame of 1 bytes", new byte[1]),
				Arguments.of("handshake of 30 bytes", Frames.truncated(good, 30)),
				Arguments.of("without magic", Frames.withInt(good, 16, 7)),
				Arguments.of("chose version 2", Frames.withInt(good, 20, 0x0002_0002)),
				Arguments.of("frame size of 16", Frames.hello(2, 16, MESSAGE, 64, 32, 0)),
				Arguments.of("limits of -1 bytes", Frames.hello(2, 8192, -1, 64, 32, 0)),
				Arguments.of("and 0 calls", Frames.hello(2, 8192, MESSAGE, 0, 32, 0)),
				Arguments.of("with 65535 credits", Frames.hello(2, 0xFFFF)),
				Arguments.of("refused by the peer: busy", refusal),
				Arguments.of("HELLO instead of a handshake", Frames.hello(1, 32)),
				Arguments.of("REPLY instead of a handshake", Frames.reply(0, 0, 0, 0, new byte[0])));
	}

	@ParameterizedTest
	@MethodSource
	void brokenRule(String expected, byte[] frame) {
		attack(CHANNEL, (victim, server, fixture) -> {
			CompletableFuture<String> call = victim.echoAsync("hello");
			CompletableFuture<String> blocked = inThread(() -> victim.echo("hello"));
			open(server);
			server.receive(3);
			server.receive(3);
			server.send(frame);
			server.awaitEnd();
			assertThat(failureOf(call)).hasMessageContaining("UNAVAILABLE").hasMessageContaining(expected);
			assertThat(failureOf(blocked)).hasMessageContaining("UNAVAILABLE").hasMessageContaining(expected);
		});
	}

	static Stream<Arguments> brokenRule() {
		byte[] reply = Frames.reply(0, 0, 0, 8, new byte[8]);
		return Stream.of(Arguments.of("unknown type 77", Frames.control(77, 0, 0)),
				Arguments.of("HELLO_REPLY", Frames.hello(2, 32)),
				Arguments.of("request of 40 bytes", Frames.request(0, 0, 1, 1, 8, new byte[8])),
				Arguments.of("frame of 3 bytes", Frames.truncated(reply, 3)),
				Arguments.of("reply of 20 bytes", Frames.truncated(reply, 20)),
				Arguments.of("message of 7 bytes", Frames.withInt(reply, 8, 7)),
				Arguments.of("message of -1 bytes", Frames.withInt(reply, 8, -1)),
				Arguments.of("bytes of metadata", Frames.withInt(reply, 16, 0x0500_0000)),
				Arguments.of("more credits than the window", Frames.control(7, 3, 0)),
				Arguments.of("more credits than the window", Frames.control(7, 0xFFFF, 0)),
				Arguments.of("continuation of 24 bytes", Frames.continuation(0, 0, 100, 8, new byte[8])));
	}

	@Test
	void repliesToUnknownCallsAreIgnored() {
		attack(CHANNEL, (victim, server, fixture) -> {
			CompletableFuture<Integer> call = inThread(() -> victim.add(1, 2));
			open(server);
			int id = RawPeer.view(server.receive(3)).getInt(4);
			for (int wrong : new int[] { id + 1, id + 0x10000, -1, Integer.MIN_VALUE }) {
				server.sendFairly(Frames.reply(0, wrong, 0, 0, new byte[0]));
				server.sendFairly(Frames.reply(0, wrong, 13, 0, new byte[0]));
				server.sendFairly(Frames.reply(0, wrong, 0, 4, new byte[2]));
				server.sendFairly(Frames.continuation(0, wrong, 4, 2, new byte[2]));
			}
			assertThat(call).isNotDone();
			server.sendFairly(Frames.reply(0, id, 5, 4, new byte[] { 'g', 'o', 'n', 'e' }));
			server.sendFairly(Frames.reply(0, id, 0, 0, new byte[0]));
			assertThat(failureOf(call)).hasMessageContaining("NOT_FOUND").hasMessageContaining("gone");
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 17, 99, 255 })
	void statusThatDoesNotExistIsAFailureAllTheSame(int status) {
		attack(CHANNEL, (victim, server, fixture) -> {
			CompletableFuture<Integer> call = inThread(() -> victim.add(1, 2));
			open(server);
			int id = RawPeer.view(server.receive(3)).getInt(4);
			server.sendFairly(Frames.reply(0, id, status, 2, new byte[] { (byte) 0xFF, (byte) 0xC0 }));
			assertThat(failureOf(call).status()).isNotEqualTo(RpcStatus.OK);
		});
	}

	@Test
	void resultThatCannotBeDecodedFailsItsCallOnly() {
		attack(CHANNEL, (victim, server, fixture) -> {
			CompletableFuture<String> call = victim.echoAsync("hello");
			CompletableFuture<Void> other = inThread(() -> {
				victim.touch();
				return null;
			});
			open(server);
			for (int i = 0; i < 2; i++) {
				ByteBuffer request = RawPeer.view(server.receive(3));
				boolean empty = request.getInt(8) == 0;
				server.sendFairly(Frames.reply(0, request.getInt(4), 0, empty ? 0 : 8, new byte[empty ? 0 : 8]));
			}
			assertThat(failureOf(call).status()).isEqualTo(RpcStatus.INTERNAL);
			assertThat(other.get(20, TimeUnit.SECONDS)).isNull();
		});
	}

	@Test
	void replyOfMoreThanTheLimitFailsItsCallOnly() {
		attack(CHANNEL, (victim, server, fixture) -> {
			CompletableFuture<String> call = victim.echoAsync("hello");
			open(server);
			int id = RawPeer.view(server.receive(3)).getInt(4);
			server.sendFairly(Frames.reply(0, id, 0, MESSAGE + 1, new byte[1]));
			for (int at = 1; at < MESSAGE + 1; at += 8000) {
				byte[] part = new byte[Math.min(8000, MESSAGE + 1 - at)];
				server.sendFairly(Frames.continuation(0, id, MESSAGE + 1, at, part));
			}
			assertThat(failureOf(call).status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(server.isEnded()).isFalse();
		});
	}

	@Test
	void repliesNeverFinishedHoldLittleMemoryAndEndTheConnection() {
		attack(IMPATIENT, (victim, server, fixture) -> {
			for (int i = 0; i < 10; i++) {
				assertThat(victim.echoAsync("call")).isNotDone();
			}
			CompletableFuture<String> last = victim.echoAsync("last");
			open(server);
			for (int i = 0; i < 11; i++) {
				int id = RawPeer.view(server.receive(3)).getInt(4);
				server.sendFairly(Frames.reply(0, id, 0, MESSAGE, new byte[100]));
			}
			server.sendFairly(Frames.control(8, 0, 0));
			server.receive(9);
			assertThat(fixture.clientMemory.metrics().allocatedBytes()).isLessThan(2 * MESSAGE + 96 * 8192);
			while (!server.isEnded()) {
				server.sendFairly(Frames.control(8, 0, 0));
				server.pollUntil(() -> server.owed > 0 || server.isEnded());
			}
			assertThat(failureOf(last)).hasMessageContaining("does not go on with a message");
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void silence(boolean afterHandshake) {
		attack(IMPATIENT, (victim, server, fixture) -> {
			CompletableFuture<String> call = victim.echoAsync("hello");
			CompletableFuture<String> blocked = inThread(() -> victim.echo("hello"));
			server.accept();
			if (afterHandshake) {
				server.send(Frames.hello(2, 32));
				server.receive(8);
			}
			server.awaitEnd();
			assertThat(failureOf(call).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			assertThat(failureOf(blocked).status()).isEqualTo(RpcStatus.UNAVAILABLE);
		});
	}

	@Test
	void serverThatNeverGrantsIsGivenUp() {
		attack(IMPATIENT, (victim, server, fixture) -> {
			CompletableFuture<?>[] calls = new CompletableFuture<?>[20];
			for (int i = 0; i < calls.length; i++) {
				calls[i] = victim.echoAsync("call " + i);
			}
			server.accept();
			server.send(Frames.hello(2, 8));
			while (!server.isEnded()) {
				server.pollUntil(() -> server.credits > 0 || server.isEnded());
				server.send(Frames.control(9, 0, 0));
			}
			for (CompletableFuture<?> call : calls) {
				assertThat(failureOf(call)).hasMessageContaining("UNAVAILABLE");
			}
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 6, 7, 8, 9, 10 })
	void floodOfFramesThatMeanNothing(int type) {
		attack(CHANNEL, (victim, server, fixture) -> {
			CompletableFuture<Integer> call = inThread(() -> victim.add(1, 2));
			open(server);
			int id = RawPeer.view(server.receive(3)).getInt(4);
			for (int i = 0; i < 5000; i++) {
				server.sendFairly(Frames.control(type, 0, i));
			}
			server.sendFairly(Frames.reply(0, id, 5, 0, new byte[0]));
			assertThat(failureOf(call).status()).isEqualTo(RpcStatus.NOT_FOUND);
		});
	}

	@Test
	void sendsBeyondItsCredits() {
		attack(CHANNEL, (victim, server, fixture) -> {
			CompletableFuture<String> call = victim.echoAsync("hello");
			open(server);
			server.burst(Frames.control(7, 0, 0), 5000);
			server.awaitEnd();
			assertThat(failureOf(call).status()).isEqualTo(RpcStatus.UNAVAILABLE);
		});
	}

	@Test
	void metadataThatIsNoTextEndsACallThatIsHedged() throws Exception {
		byte[] metadata = { 1, 'a', 10, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
		CallMetadata received = new CallMetadata();
		try (RpcFixture fixture = new RpcFixture();
				RawPeer server = RawPeer.listen();
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target("127.0.0.1", server.address().getPort())
					.methodOptions(
							(method) -> MethodOptions.NONE.withHedging(new HedgingOptions(2, Duration.ofMinutes(1))))
					.build()) {
			CompletableFuture<String> call = CallOptions.deadline(Duration.ofSeconds(30))
				.withReplyMetadata(received)
				.on(client.proxy(Search.class))
				.find("hello");
			open(server);
			int id = RawPeer.view(server.receive(3)).getInt(4);
			byte[] reply = Frames.reply(1, id, 5, 0, Arrays.copyOf(metadata, 16));
			RawPeer.view(reply).putShort(18, (short) metadata.length);
			server.send(reply);
			assertThat(failureOf(call).status()).isEqualTo(RpcStatus.NOT_FOUND);
			assertThat(received.get("a")).isEqualTo("\uFFFD".repeat(10));
			server.leave();
		}
	}

	private static void open(RawPeer server) throws InterruptedException {
		server.accept();
		server.send(Frames.hello(2, 32));
	}

	private static RpcException failureOf(CompletableFuture<?> call) {
		ExecutionException failure = catchThrowableOfType(ExecutionException.class,
				() -> call.get(20, TimeUnit.SECONDS));
		assertThat(failure).isNotNull();
		assertThat(failure).hasCauseInstanceOf(RpcException.class);
		return (RpcException) failure.getCause();
	}

	private static <T> CompletableFuture<T> inThread(Supplier<T> call) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return call.get();
			}
			catch (RpcException ex) {
				throw new CompletionException(ex);
			}
		}, (task) -> new Thread(task, "caller").start());
	}

	private static void attack(ChannelOptions channel, Attack attack) {
		try (RpcFixture fixture = new RpcFixture(); RawPeer server = RawPeer.listen()) {
			AtomicReference<InetSocketAddress> target = new AtomicReference<>(server.address());
			try (RpcClient client = RpcClient.builder()
				.transport(fixture.clientTransport)
				.target("whoever is there", target::get)
				.options(RpcClientOptions.DEFAULTS.withChannel(channel)
					.withBackoff(Duration.ofMillis(10), Duration.ofMillis(20)))
				.build()) {
				Echo victim = CallOptions.deadline(Duration.ofSeconds(30)).on(client.proxy(Echo.class));
				attack.on(victim, server, fixture);
				target.set(fixture.server.address());
				server.leave();
				Echo patient = CallOptions.deadline(Duration.ofSeconds(20)).withWaitForReady().on(victim);
				try {
					assertThat(patient.echo("honest")).isEqualTo("honest");
				}
				catch (RpcException ex) {
					assertThat(ex).hasMessageContaining("UNAVAILABLE").hasMessageContaining("by the peer");
					assertThat(patient.echo("honest")).isEqualTo("honest");
				}
				assertThat(fixture.clientTransport.loops()).allMatch((loop) -> loop.outstandingCalls() == 0);
			}
			catch (Exception ex) {
				throw new AssertionError(ex);
			}
		}
	}

	/** May be called twice. */
	interface Search {

		@RdmaMethod(idempotent = true)
		CompletableFuture<String> find(String what);

	}

	/** What a test does to a client. */
	private interface Attack {

		void on(Echo victim, RawPeer server, RpcFixture fixture) throws Exception;

	}

}
