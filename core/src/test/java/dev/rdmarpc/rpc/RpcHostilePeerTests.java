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
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.Frames;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A client that breaks every rule. Whatever it does, another client of the same server
 * notices nothing, and when it has gone nothing of it is left.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcHostilePeerTests {

	private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(Echo.class.getName(), Echo.class,
			new FlatBuffersCodec());

	private static final int MESSAGE = 1 << 20;

	private static final ChannelOptions CHANNEL = ChannelOptions.DEFAULTS.withFrames(8192, 32)
		.withLimits(MESSAGE, 64)
		.withUnfinished(4 * MESSAGE);

	/**
	 * The good client has to answer in time, too, on a machine that stops it at times.
	 */
	private static final Duration SILENCE = Duration.ofSeconds(4);

	@ParameterizedTest
	@MethodSource
	void badHandshake(String what, byte[] frame) {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.connect(fixture.server.port())) {
				peer.send(frame);
				peer.awaitEnd();
				assertThat(peer.receive()).as(what).isNull();
			}
		});
	}

	static Stream<Arguments> badHandshake() {
		byte[] good = Frames.hello(1, 32);
		return Stream.of(Arguments.of("no frame", new byte[1]),
				Arguments.of("half a header", Frames.truncated(good, 15)),
				Arguments.of("half a body", Frames.truncated(good, 40)),
				Arguments.of("magic", Frames.withInt(good, 16, 0x5252_5043)),
				Arguments.of("no frame size", Frames.hello(1, 0, MESSAGE, 64, 32, 0)),
				Arguments.of("huge frame size", Frames.hello(1, Integer.MAX_VALUE - 7, MESSAGE, 64, 32, 0)),
				Arguments.of("no message size", Frames.hello(1, 8192, 0, 64, 32, 0)),
				Arguments.of("negative message size", Frames.hello(1, 8192, -5, 64, 32, 0)),
				Arguments.of("no calls", Frames.hello(1, 8192, MESSAGE, 0, 32, 0)),
				Arguments.of("huge number of calls", Frames.hello(1, 8192, MESSAGE, -1, 32, 0)),
				Arguments.of("no credits", Frames.hello(1, 0)), Arguments.of("huge credits", Frames.hello(1, 0xFFFF)),
				Arguments.of("refusal", Frames.hello(1, 16, MESSAGE, 64, 32, 1)),
				Arguments.of("reply", Frames.hello(2, 32)),
				Arguments.of("request", Frames.request(0, 0, id("touch"), 0, 0, new byte[0])));
	}

	@Test
	void versionOfTheFutureIsToldWhatIsSpokenHere() {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.connect(fixture.server.port())) {
				peer.send(Frames.withInt(Frames.hello(1, 32), 20, 0xFFFF_0002));
				ByteBuffer reply = RawPeer.view(peer.receive(2));
				assertThat(reply.getShort(38)).isEqualTo((short) 1);
				byte[] text = new byte[reply.getShort(44)];
				reply.get(46, text);
				assertThat(new String(text, StandardCharsets.UTF_8)).contains("2 to 65535 offered, 1 spoken");
				peer.awaitEnd();
			}
		});
	}

	@ParameterizedTest
	@MethodSource
	void brokenRule(String what, byte[] frame) {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				peer.send(frame);
				peer.awaitEnd();
				assertThat(peer.receive()).as(what).isNull();
			}
		});
	}

	static Stream<Arguments> brokenRule() {
		byte[] request = Frames.request(0, 1, id("echo"), 1, 8, new byte[8]);
		return Stream.of(Arguments.of("unknown type", Frames.control(18, 0, 0)),
				Arguments.of("type 255", Frames.control(255, 0, 0)),
				Arguments.of("second handshake", Frames.hello(1, 32)),
				Arguments.of("empty frame", Frames.truncated(request, 1)),
				Arguments.of("half a header", Frames.truncated(request, 8)),
				Arguments.of("half a request header", Frames.truncated(request, 31)),
				Arguments.of("credits", Frames.control(7, 1, 0)),
				Arguments.of("all credits", Frames.control(7, 0xFFFF, 0)),
				Arguments.of("message shorter than the frame", Frames.withInt(request, 8, 7)),
				Arguments.of("negative length", Frames.withInt(request, 8, Integer.MIN_VALUE)),
				Arguments.of("request that begins in the middle", Frames.withInt(request, 12, 4)),
				Arguments.of("metadata beyond the frame", Frames.withInt(request, 28, 16 << 16 | 0x0101)),
				Arguments.of("too much metadata", Frames.withInt(request, 28, 0xFFFF_0101)),
				Arguments.of("id out of range", Frames.withInt(request, 4, 64)),
				Arguments.of("largest id", Frames.withInt(request, 4, -1)),
				Arguments.of("stream without reply", Frames.oneWay(Frames.streamed(request, 1))),
				Arguments.of("messages follow a request without reply", Frames.oneWay(Frames.followed(request))),
				Arguments.of("reply", Frames.reply(0, 0, 0, 0, new byte[0])),
				Arguments.of("continuation of nothing", Frames.continuation(0, 1, 100, 50, new byte[10])));
	}

	@Test
	void idInUse() {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				peer.send(Frames.request(0, 3, id("never"), 0, 0, new byte[0]));
				RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 1);
				peer.send(Frames.request(0, 3, id("never"), 0, 0, new byte[0]));
				peer.awaitEnd();
			}
		});
	}

	@Test
	void messageBegunTwice() {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				peer.send(Frames.request(0, 3, id("bytes"), 1, 5000, new byte[100]));
				peer.send(Frames.request(0, 3, id("bytes"), 1, 5000, new byte[100]));
				peer.awaitEnd();
			}
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 99, 101, 0, -1, Integer.MAX_VALUE })
	void framesOutOfOrder(int offset) {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				peer.send(Frames.request(0, 3, id("bytes"), 1, 5000, new byte[100]));
				peer.send(Frames.continuation(0, 3, 5000, offset, new byte[100]));
				peer.awaitEnd();
			}
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 1200, 5000, 20_000 })
	void sendsBeyondWhatItCanEverHaveBeenGranted(int beyond) {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				peer.burst(Frames.control(7, 0, 0), 32 + beyond);
				peer.awaitEnd();
			}
		});
	}

	@Test
	void messagesBegunAndNeverFinishedHoldLittleMemory() {
		Hostilities.attack(CHANNEL, (fixture) -> {
			long before = fixture.serverMemory.metrics().allocatedBytes();
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				for (int id = 0; id < 64; id++) {
					peer.sendFairly(Frames.request(0, id, id("bytes"), 1, MESSAGE, new byte[1000]));
				}
				peer.sendFairly(Frames.control(8, 0, 0));
				peer.receive(9);
				assertThat(fixture.serverMemory.metrics().allocatedBytes() - before)
					.isLessThanOrEqualTo(64 * 9000 + 34 * 8192 + 65536);
				for (int id = 0; id < 3; id++) {
					goOn(peer, id, MESSAGE, 1000, MESSAGE - 1);
				}
				finish(peer, 63, MESSAGE, 1000);
				byte[] reply = peer.receive(4);
				assertThat(reply[16]).isEqualTo((byte) RpcStatus.RESOURCE_EXHAUSTED.code());
				assertThat(RawPeer.view(reply).getInt(4)).isEqualTo(63);
				peer.sendFairly(Frames.control(6, 0, 0));
				peer.sendFairly(Frames.request(0, 63 | 0x10000, id("bytes"), 1, MESSAGE, new byte[1000]));
				finish(peer, 63 | 0x10000, MESSAGE, 1000);
				assertThat(peer.receive(4)[16]).as("zeros are no message").isEqualTo((byte) 3);
			}
		});
	}

	@Test
	void messageOfMoreThanTheLimitIsReadAndRefused() {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				peer.sendFairly(Frames.request(0, 1, id("bytes"), 1, Integer.MAX_VALUE, new byte[1000]));
				peer.sendFairly(Frames.request(0, 2, id("bytes"), 1, MESSAGE + 1, new byte[1000]));
				finish(peer, 2, MESSAGE + 1, 1000);
				assertThat(peer.receive(4)[16]).isEqualTo((byte) RpcStatus.RESOURCE_EXHAUSTED.code());
				peer.sendFairly(Frames.request(0, 0, id("touch"), 0, 0, new byte[0]));
				assertThat(peer.receive(4)[16]).isZero();
			}
		});
	}

	private static void finish(RawPeer peer, int id, int messageBytes, int from) {
		goOn(peer, id, messageBytes, from, messageBytes);
	}

	private static void goOn(RawPeer peer, int id, int messageBytes, int from, int to) {
		for (int at = from; at < to; at += 8000) {
			peer.sendFairly(Frames.continuation(0, id, messageBytes, at, new byte[Math.min(8000, to - at)]));
		}
	}

	@Test
	void messageThatDoesNotGoOnEndsTheConnection() {
		Hostilities.attack(CHANNEL.withTimeouts(Duration.ofSeconds(5), Duration.ofMillis(200), SILENCE), (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				peer.send(Frames.request(0, 1, id("bytes"), 1, MESSAGE, new byte[1000]));
				talkUntilEnded(peer);
			}
		});
	}

	/** Answers and asks, so that it is no silence that ends the connection. */
	private static void talkUntilEnded(RawPeer peer) {
		while (!peer.isEnded()) {
			peer.sendFairly(Frames.control(8, 0, 0));
			peer.pollUntil(() -> peer.owed > 0 || peer.isEnded());
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void silence(boolean afterHandshake) {
		Hostilities.attack(CHANNEL.withTimeouts(Duration.ofSeconds(5), Duration.ofMillis(200), SILENCE), (fixture) -> {
			try (RawPeer peer = RawPeer.connect(fixture.server.port())) {
				if (afterHandshake) {
					peer.send(Frames.hello(1, 32));
					peer.receive(2);
					peer.receive(8);
				}
				peer.awaitEnd();
			}
		});
	}

	@Test
	void replyThatIsNotTakenEndsTheConnection() {
		Hostilities.attack(CHANNEL.withTimeouts(Duration.ofSeconds(5), Duration.ofMillis(200), SILENCE), (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 8)) {
				for (int id = 0; id < 8; id++) {
					peer.send(Frames.request(0, id, id("touch"), 0, 0, new byte[0]));
				}
				while (!peer.isEnded()) {
					peer.pollUntil(() -> peer.credits > 0 || peer.isEnded());
					peer.send(Frames.control(9, 0, 0));
				}
			}
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 6, 7, 8, 9, 10 })
	void floodOfFramesThatMeanNothing(int type) {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				for (int i = 0; i < 5000; i++) {
					peer.sendFairly(Frames.control(type, 0, i * 31));
				}
				peer.sendFairly(Frames.request(0, 0, id("touch"), 0, 0, new byte[0]));
				assertThat(peer.receive(4)[16]).as("served like anybody").isZero();
			}
		});
	}

	@Test
	void cancelOfCallsThatRunLetsThemGo() {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				for (int id = 0; id < 20; id++) {
					peer.sendFairly(Frames.request(0, id, id("never"), 0, 0, new byte[0]));
				}
				RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 20);
				for (int id = 0; id < 20; id++) {
					peer.sendFairly(Frames.control(6, 0, id));
					peer.sendFairly(Frames.control(6, 0, id | 0x10000));
				}
				RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 0);
			}
		});
	}

	@Test
	void callsOfAPeerThatLeavesEnd() {
		Hostilities.attack(CHANNEL, (fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				for (int id = 0; id < 20; id++) {
					peer.sendFairly(Frames.request(0, id, id("never"), 0, 0, new byte[0]));
				}
				peer.sendFairly(Frames.request(0, 21, id("bytes"), 1, MESSAGE, new byte[1000]));
				RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 20);
			}
		});
	}

	private static long id(String method) {
		return SERVICE.methods()
			.stream()
			.filter((described) -> described.name().equals(method))
			.findFirst()
			.orElseThrow()
			.id();
	}

}
