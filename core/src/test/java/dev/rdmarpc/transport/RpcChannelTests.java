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

package dev.rdmarpc.transport;

import java.nio.ByteBuffer;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/** What a channel makes of the frames of its peer. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcChannelTests {

	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS.withFrames(8192, 16).withCredits(16, 16);

	private final RecordingHandler handler = new RecordingHandler();

	@Test
	void handshakeIsAnsweredAndOpens() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 16);
				assertThat(this.handler.events).containsExactly("open");
				assertThat(LoopFixture.pair(channel).sentTypes()).containsExactly("HELLO_REPLY");
				assertThat(LoopFixture.pair(channel).sent.get(0).getShort(36)).isEqualTo((short) 16);
			});
		}
	}

	@Test
	void codecThatIsNotSpokenIsRefusedWithAText() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RecordingHandler handler = new RecordingHandler() {
					@Override
					public String codec() {
						return "here";
					}
				};
				RpcChannel channel = fixture.accepted(OPTIONS, handler);
				FakeQueuePair pair = LoopFixture.pair(channel);
				fixture.deliver(channel, Frames.hello(1, 16, "there\n"));
				ByteBuffer reply = pair.sent.get(0);
				assertThat(HelloFlyweight.refusal(reply)).isEqualTo(HelloFlyweight.REFUSED_CODEC);
				assertThat(HelloFlyweight.text(reply, reply.capacity()))
					.isEqualTo("codec 'there?' offered, 'here' spoken here");
				assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
			});
		}
	}

	/** The device may tell of the end before anybody has taken what came before. */
	@Test
	void refusalCountsThatArrivedBeforeTheEnd() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.connected(OPTIONS, this.handler);
				QueuePairFault fault = new QueuePairFault(WorkStatus.FLUSHED, QueuePairFault.Origin.DISCONNECT,
						"disconnected by the peer");
				fixture.arrive(channel, Frames.hello(2, 8192, 1 << 20, 16, 16, HelloFlyweight.REFUSED_DRAINING));
				channel.onDisconnected(LoopFixture.pair(channel), fault);
				fixture.turn();
				assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
				assertThat(this.handler.events).last().asString().startsWith("closed: refused by the peer");
			});
		}
	}

	@Test
	void endCountsWhereNothingArrivedBefore() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.connected(OPTIONS, this.handler);
				channel.onDisconnected(LoopFixture.pair(channel), new QueuePairFault(WorkStatus.FLUSHED,
						QueuePairFault.Origin.DISCONNECT, "disconnected by the peer"));
				fixture.turn();
				assertThat(this.handler.events).last().isEqualTo("closed: disconnected by the peer");
			});
		}
	}

	@Test
	void peerThatAnswersWithAnotherCodecIsLeft() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RecordingHandler handler = new RecordingHandler() {
					@Override
					public String codec() {
						return "here";
					}
				};
				RpcChannel channel = new RpcChannel(fixture.loop, OPTIONS, handler, true);
				assertThat(fixture.loop.add(channel)).isTrue();
				channel.attach(new FakeQueuePair(channel, fixture.completions));
				channel.established(LoopFixture.PEER, LoopFixture.PEER);
				fixture.turn();
				ByteBuffer hello = LoopFixture.pair(channel).sent.get(0);
				assertThat(HelloFlyweight.text(hello, hello.capacity())).isEqualTo("here");
				fixture.deliver(channel, Frames.hello(2, 16, "there"));
				assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
				assertThat(handler.events).containsExactly("closed: the peer speaks codec 'there' (expected: 'here')");
			});
		}
	}

	@ParameterizedTest
	@MethodSource
	void handshakeThatCannotBeIsNotAnswered(String expected, byte[] frame) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.accepted(OPTIONS, this.handler);
				FakeQueuePair pair = LoopFixture.pair(channel);
				fixture.deliver(channel, frame);
				assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
				assertThat(this.handler.events).singleElement().asString().startsWith("closed: ").contains(expected);
				assertThat(pair.sent).isEmpty();
			});
		}
	}

	static Stream<Arguments> handshakeThatCannotBeIsNotAnswered() {
		byte[] good = Frames.hello(1, 16);
		return Stream.of(Arguments.of("frame of 15 bytes", Frames.truncated(good, 15)),
				Arguments.of("handshake of 16 bytes", Frames.truncated(good, 16)),
				Arguments.of("handshake of 45 bytes", Frames.truncated(good, 45)),
				Arguments.of("without magic", Frames.withInt(good, 16, 0)),
				Arguments.of("frame size of 0", Frames.hello(1, 0, 1, 1, 16, 0)),
				Arguments.of("limits of 0 bytes", Frames.hello(1, 8192, 0, 1, 16, 0)),
				Arguments.of("and -1 calls", Frames.hello(1, 8192, 1, -1, 16, 0)),
				Arguments.of("with 0 credits", Frames.hello(1, 0)),
				Arguments.of("a refusal", Frames.hello(1, 8192, 1, 1, 16, 2)),
				Arguments.of("a refusal", Frames.hello(1, 17, -1, 0, 0, 2)),
				Arguments.of("HELLO_REPLY instead of a handshake", Frames.hello(2, 16)),
				Arguments.of("PING instead of a handshake", Frames.control(8, 0, 0)),
				Arguments.of("unknown type 0 instead", Frames.control(0, 0, 0)));
	}

	@Test
	void versionsThatAreNotSpokenAreRefusedWithAText() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.accepted(OPTIONS, this.handler);
				FakeQueuePair pair = LoopFixture.pair(channel);
				fixture.deliver(channel, Frames.withInt(Frames.hello(1, 16), 20, 0x0009_0007));
				ByteBuffer reply = pair.sent.get(0);
				assertThat(HelloFlyweight.refusal(reply)).isEqualTo(1);
				assertThat(HelloFlyweight.text(reply, reply.capacity())).contains("7 to 9 offered");
				assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
			});
		}
	}

	@ParameterizedTest
	@MethodSource
	void frameThatBreaksTheRulesClosesTheChannel(String expected, byte[] frame) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 16);
				fixture.deliver(channel, frame);
				assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
				assertThat(this.handler.events).last().asString().contains("protocol violation").contains(expected);
				assertThat(this.handler.messages).isEmpty();
			});
		}
	}

	static Stream<Arguments> frameThatBreaksTheRulesClosesTheChannel() {
		byte[] request = Frames.request(0, 1, 2, 1, 4, new byte[4]);
		return Stream.of(Arguments.of("frame of 0 bytes", new byte[0]),
				Arguments.of("frame of 15 bytes", Frames.truncated(request, 15)),
				Arguments.of("request of 31 bytes", Frames.truncated(request, 31)),
				Arguments.of("HELLO", Frames.hello(1, 16)), Arguments.of("unknown type 0", Frames.control(0, 0, 0)),
				Arguments.of("unknown type 18", Frames.control(18, 0, 0)),
				Arguments.of("more credits returned than lent", Frames.control(12, 0, 0)),
				Arguments.of("unknown type 255", Frames.control(255, 0, 0)),
				Arguments.of("reply", Frames.reply(0, 0, 0, 0, new byte[0])),
				Arguments.of("message of 3 bytes", Frames.withInt(request, 8, 3)),
				Arguments.of("message of -1 bytes", Frames.withInt(request, 8, -1)),
				Arguments.of("message of 4 bytes", Frames.withInt(request, 12, 1)),
				Arguments.of("message of 4 bytes", Frames.withInt(request, 28, 8 << 16 | 0x0101)),
				Arguments.of("continuation", Frames.continuation(0, 1, 100, 50, new byte[8])),
				Arguments.of("more credits than the window", Frames.control(7, 0xFFFF, 0)),
				Arguments.of("more credits than the window", Frames.control(8, 2, 0)));
	}

	@Test
	void metadataIsLimited() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 16);
				byte[] most = Frames.request(0, 1, 2, 1, 4, new byte[1024 + 4]);
				fixture.deliver(channel, Frames.withInt(most, 28, 1024 << 16 | 0x0101));
				assertThat(this.handler.events).last().isEqualTo("request 1 of 4");
				byte[] more = Frames.request(0, 2, 2, 1, 4, new byte[1032 + 4]);
				fixture.deliver(channel, Frames.withInt(more, 28, 1025 << 16 | 0x0101));
				assertThat(this.handler.events).last().asString().contains("1025 bytes of metadata");
			});
		}
	}

	@Test
	void frameWithoutACreditClosesTheChannel() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 16);
				FakeQueuePair pair = LoopFixture.pair(channel);
				pair.depth = 0;
				for (int i = 0; i < 16; i++) {
					fixture.deliver(channel, Frames.control(7, 0, 0));
					assertThat(channel.state()).as("frame %d", i).isEqualTo(ChannelState.OPEN);
				}
				fixture.deliver(channel, Frames.control(7, 0, 0));
				assertThat(this.handler.events).last().asString().contains("without a credit");
			});
		}
	}

	@Test
	void pingsThatLeaveNoCreditForAnswersPileNothingUp() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 8);
				FakeQueuePair pair = LoopFixture.pair(channel);
				exhaust(fixture, channel);
				long before = fixture.memory.metrics().allocatedBytes();
				floodKeptAlive(fixture, channel, 5000, 8);
				assertThat(fixture.memory.metrics().allocatedBytes()).isLessThan(before + 64 * 1024);
				fixture.deliver(channel, Frames.control(7, 7, 0));
				assertThat(pair.sentTypes()).contains("PONG");
			});
		}
	}

	@Test
	void peerThatTakesNoRepliesIsGivenNoCreditsForMoreRequests() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RecordingHandler replying = new RecordingHandler() {
					@Override
					public void onRequest(RpcChannel channel, IncomingMessage request) {
						channel.prepareReply(request.requestId(), 0, RequestTemplate.NO_METADATA, new MessageSegments())
							.submit();
					}
				};
				RpcChannel channel = fixture.server(OPTIONS, replying, 8);
				exhaust(fixture, channel);
				long before = fixture.memory.metrics().allocatedBytes();
				floodKeptAlive(fixture, channel, 5000, 3);
				assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
				assertThat(replying.events).last().asString().contains("without a credit");
				assertThat(fixture.memory.metrics().allocatedBytes()).isLessThan(before + 64 * 1024);
			});
		}
	}

	/** Uses up the credits this side has until one is left. */
	private static void exhaust(LoopFixture fixture, RpcChannel channel) {
		for (int i = 0; i < 7; i++) {
			fixture.deliver(channel, Frames.control(8, 0, 0));
		}
	}

	/** Sends frames for ever while granting just enough that credits keep coming back. */
	private static void floodKeptAlive(LoopFixture fixture, RpcChannel channel, int frames, int type) {
		FakeQueuePair pair = LoopFixture.pair(channel);
		int seen = pair.sent.size();
		for (int i = 0; i < frames && channel.state() == ChannelState.OPEN; i++) {
			int grant = pair.sent.size() - seen;
			seen = pair.sent.size();
			byte[] frame = (type == 3) ? Frames.request(grant, i, 2, 0, 0, new byte[0])
					: Frames.control(type, grant, 0);
			fixture.deliver(channel, frame);
			pair.completeAll();
		}
	}

	@Test
	void repliesToNobodyAreIgnored() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS, this.handler, 16);
				fixture.deliver(channel, Frames.reply(0, 5, 0, 4, new byte[4]));
				fixture.deliver(channel, Frames.reply(0, -1, 0, 4, new byte[4]));
				fixture.deliver(channel, Frames.reply(0, 6, 0, 5, new byte[4]));
				fixture.deliver(channel, Frames.continuation(0, 6, 5, 4, new byte[1]));
				assertThat(channel.state()).isEqualTo(ChannelState.OPEN);
			});
		}
	}

	@Test
	void secondReplyToACallIsIgnored() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS, this.handler, 16);
				StubCall call = new StubCall();
				request(channel, call).submit();
				fixture.turn();
				fixture.deliver(channel, Frames.reply(0, call.requestId(), 0, 3, new byte[] { 1, 2, 3 }));
				fixture.deliver(channel, Frames.reply(0, call.requestId(), 13, 0, new byte[0]));
				assertThat(call.ends).isEqualTo(1);
				assertThat(call.reply).containsExactly(1, 2, 3);
				assertThat(call.status).isZero();
			});
		}
	}

	@Test
	void callThatIsNotPendingCannotBeGivenUp() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS, this.handler, 16);
				StubCall call = new StubCall();
				OutgoingMessage request = request(channel, call);
				channel.abandon(call, CallFailure.DEADLINE_EXCEEDED, "meant for an earlier use of the object");
				assertThat(call.ends).isZero();
				request.submit();
				fixture.turn();
				fixture.deliver(channel, Frames.reply(0, call.requestId(), 0, 3, new byte[] { 1, 2, 3 }));
				channel.abandon(call, CallFailure.DEADLINE_EXCEEDED, "too late");
				assertThat(call.ends).isEqualTo(1);
				assertThat(call.reply).containsExactly(1, 2, 3);
			});
		}
	}

	@Test
	void clientClosesAfterGoodbyeWhenItsLastCallHasEnded() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS, this.handler, 16);
				StubCall call = new StubCall();
				request(channel, call).submit();
				fixture.turn();
				LoopFixture.pair(channel).completeAll();
				fixture.deliver(channel, Frames.control(10, 0, 0));
				fixture.deliver(channel, Frames.control(10, 0, 0));
				assertThat(channel.state()).isEqualTo(ChannelState.DRAINING);
				StubCall late = new StubCall();
				request(channel, late).submit();
				assertThat(late.failure).isEqualTo(CallFailure.NOT_SENT);
				fixture.deliver(channel, Frames.reply(0, call.requestId(), 0, 0, new byte[0]));
				assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
				assertThat(this.handler.events).containsExactly("open", "goodbye", "closed: closed after goodbye");
			});
		}
	}

	private static OutgoingMessage request(RpcChannel channel, StubCall call) {
		return channel.prepareRequest(call, new RequestTemplate(1, 1, 0), Long.MAX_VALUE, 0,
				RequestTemplate.NO_METADATA, new MessageSegments());
	}

}
