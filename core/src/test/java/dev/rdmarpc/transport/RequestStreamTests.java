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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages that follow a request, on both sides, frame by frame. */
class RequestStreamTests extends AbstractRequestStreamTests {

	@Test
	void requestSaysThatMessagesFollowAndTheyWaitForTheirGrant() throws Exception {
		asCaller((fixture, channel, sender) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			submit(sender, 8);
			request(channel, 4);
			fixture.turn();
			ByteBuffer request = pair.sent.get(1);
			assertThat(FrameFlyweight.flags(request)).isEqualTo(8);
			assertThat(FrameFlyweight.offsetBytes(request)).isZero();
			pair.completeAll();
			fixture.turn();
			assertThat(pair.sent).hasSize(2);
			fixture.deliver(channel, demand(1, 0));
			assertThat(pair.sentTypes()).endsWith("REQUEST", "MESSAGE");
			assertThat(FrameFlyweight.type(pair.sent.get(2))).isEqualTo(14);
			assertThat(hex(pair.sent.get(2)).substring(8)).startsWith(idHex() + "08000000" + "00000000");
			submit(sender, 9);
			fixture.turn();
			assertThat(pair.sent).hasSize(3);
			fixture.deliver(channel, demand(5, 0));
			assertThat(pair.sent).hasSize(4);
			pair.completeAll();
			fixture.turn();
			assertThat(this.user.events).contains("sent 8", "sent 9");
			reply(fixture, channel);
		});
	}

	@Test
	void messagesHaveThePriorityOfTheirCall() throws Exception {
		for (int priority : new int[] { 0, 2 }) {
			asCaller((fixture, channel, sender) -> {
				FakeQueuePair pair = LoopFixture.pair(channel);
				channel
					.prepareRequest(this.call, new RequestTemplate(0x1234, priority, 1), Long.MAX_VALUE, 0,
							RequestTemplate.NO_METADATA, segments(4))
					.submit();
				fixture.turn();
				pair.completeAll();
				fixture.turn();
				fixture.deliver(channel, demand(9, 0));
				pair.depth = 0;
				StubCall other = new StubCall();
				Runnable others = () -> channel
					.prepareRequest(other, TEMPLATE, Long.MAX_VALUE, 0, RequestTemplate.NO_METADATA, segments(4))
					.submit();
				if (priority == 2) {
					others.run();
				}
				submit(sender, 8);
				submit(sender, 3000);
				if (priority == 0) {
					others.run();
				}
				fixture.turn();
				assertThat(pair.sent).hasSize(2);
				pair.depth = 100;
				channel.markDirty();
				fixture.turn();
				assertThat(pair.sentTypes().subList(2, 5))
					.containsExactly((priority == 0) ? new String[] { "REQUEST", "MESSAGE", "MESSAGE" }
							: new String[] { "MESSAGE", "MESSAGE", "REQUEST" });
				assertThat(pair.sent.stream()
					.filter((frame) -> FrameFlyweight.type(frame) == FrameType.MESSAGE)
					.map(FrameFlyweight::messageBytes)).containsExactly(8, 3000);
				channel.abandon(other, CallFailure.CANCELLED, "end of the test");
				reply(fixture, channel);
			});
			this.call.ends = 0;
		}
	}

	@Test
	void nothingOvertakesALargeRequest() throws Exception {
		asCaller((fixture, channel, sender) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			request(channel, 10_000);
			submit(sender, 8);
			sender.prepareEnd().submit();
			fixture.turn();
			fixture.deliver(channel, demand(9, 0));
			assertThat(pair.sentTypes()).containsExactly("HELLO", "REQUEST", "CONTINUATION");
			pair.completeAll();
			fixture.turn();
			assertThat(pair.sentTypes()).endsWith("CONTINUATION", "MESSAGE");
			assertThat(FrameFlyweight.flags(pair.sent.get(3))).as("last message").isEqualTo(8);
			reply(fixture, channel);
		});
	}

	@Test
	void endIsAFrameOfItsOwnWhereTheLastMessageHasLeft() throws Exception {
		asCaller((fixture, channel, sender) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			begin(fixture, channel);
			fixture.deliver(channel, demand(9, 0));
			submit(sender, 8);
			fixture.turn();
			sender.prepareEnd().submit();
			sender.prepareEnd().submit();
			submit(sender, 9);
			fixture.turn();
			assertThat(pair.sentTypes()).containsExactly("HELLO", "REQUEST", "MESSAGE", "END");
			assertThat(hex(pair.sent.get(3)).substring(8)).isEqualTo(idHex() + "00000000" + "00000000");
			reply(fixture, channel);
		});
	}

	@Test
	void endOfNoMessagesNeedsNoGrant() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			sender.prepareEnd().submit();
			fixture.turn();
			assertThat(LoopFixture.pair(channel).sentTypes()).endsWith("REQUEST", "END");
			reply(fixture, channel);
		});
	}

	@Test
	void replyEndsTheCallAndDropsWhatWasNotSent() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			submit(sender, 8);
			sender.prepareEnd().submit();
			reply(fixture, channel);
			submit(sender, 9);
			fixture.deliver(channel, demand(5, 0));
			assertThat(LoopFixture.pair(channel).sentTypes()).containsExactly("HELLO", "REQUEST");
			assertThat(channel.isOpen()).isTrue();
			assertThat(this.call.ends).isOne();
		});
	}

	@Test
	void replyInTheMiddleOfAMessageEndsItByACancel() throws Exception {
		asCaller((fixture, channel, sender) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			begin(fixture, channel);
			fixture.deliver(channel, demand(9, 0));
			pair.depth = 1;
			submit(sender, 15_000);
			submit(sender, 8);
			fixture.turn();
			assertThat(pair.sentTypes()).endsWith("MESSAGE");
			fixture.deliver(channel, Frames.reply(0, this.call.requestId(), 0, 0, new byte[0]));
			pair.depth = 100;
			pair.completeAll();
			fixture.deliver(channel, Frames.control(8, 0, 0));
			assertThat(pair.sentTypes()).endsWith("MESSAGE", "CANCEL", "PONG");
			assertThat(this.call.status).isZero();
		});
	}

	@Test
	void messageIsNotTakenForItsRequestWhereTheCallIsGivenUp() throws Exception {
		asCaller((fixture, channel, sender) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			begin(fixture, channel);
			pair.depth = 0;
			fixture.deliver(channel, demand(9, 0));
			submit(sender, 8);
			submit(sender, 15_000);
			fixture.turn();
			channel.abandon(this.call, CallFailure.CANCELLED, "test");
			fixture.turn();
			pair.depth = 100;
			pair.completeAll();
			fixture.deliver(channel, Frames.control(8, 0, 0));
			assertThat(pair.sentTypes().subList(2, pair.sent.size())).containsExactlyInAnyOrder("CANCEL", "PONG");
			assertThat(this.call.failure).isEqualTo(CallFailure.CANCELLED);
		});
	}

	@Test
	void requestThatWasNotSentIsTakenBackWithoutACancel() throws Exception {
		asCaller((fixture, channel, sender) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			pair.depth = 0;
			request(channel, 4);
			submit(sender, 8);
			fixture.turn();
			channel.abandon(this.call, CallFailure.CANCELLED, "test");
			pair.depth = 100;
			fixture.deliver(channel, Frames.control(8, 0, 0));
			assertThat(pair.sentTypes()).containsExactly("HELLO", "PONG");
		});
	}

	@Test
	void onlyRequestsAreReportedAsNotSentWhenTheChannelCloses() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			LoopFixture.pair(channel).depth = 0;
			fixture.deliver(channel, demand(9, 0));
			submit(sender, 8);
			fixture.turn();
			channel.close("test");
			fixture.turn();
			assertThat(this.call.failure).isEqualTo(CallFailure.CONNECTION_LOST);
			assertThat(this.call.ends).isOne();
		});
	}

	@Test
	void callerIsToldToStopThoughTheCallGoesOn() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			submit(sender, 8);
			fixture.deliver(channel, Frames.control(6, 0, this.call.requestId()));
			assertThat(this.user.events).containsExactly("stopped");
			fixture.deliver(channel, demand(5, 0));
			submit(sender, 9);
			fixture.turn();
			assertThat(LoopFixture.pair(channel).sentTypes()).endsWith("REQUEST");
			assertThat(this.call.isDone()).isFalse();
			reply(fixture, channel);
		});
	}

	@Test
	void wishesFollowTheGrants() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			assertThat(this.user.events).isEmpty();
			fixture.deliver(channel, demand(2, 0));
			assertThat(this.user.events).containsExactly("wanted 2");
			reply(fixture, channel);
		});
	}

	@Test
	void moreMessagesAreWantedAtOnceWhenTheirSizeIsKnown() throws Exception {
		asCaller(1 << 20, (fixture, channel, sender) -> {
			begin(fixture, channel);
			fixture.deliver(channel, demand(Integer.MAX_VALUE, 0));
			assertThat(this.user.events).containsExactly("wanted 64");
			for (int wanted : new int[] { 65, 129, 257, 513, 512 }) {
				wanted(fixture, sender, wanted);
			}
			reply(fixture, channel);
		});
	}

	/** Publishes until more messages are wanted. */
	private void wanted(LoopFixture fixture, StreamSender sender, int expected) {
		int before = this.user.events.size();
		for (int i = 0; i < 1024 && this.user.events.size() == before; i++) {
			submit(sender, 8);
		}
		assertThat(this.user.events).last().isEqualTo("wanted " + expected);
		fixture.turn();
	}

	@ParameterizedTest
	@MethodSource
	void brokenRuleOfTheSideThatServes(String expected, byte[] frame) throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			fixture.deliver(channel, Frames.withInt(frame, 4, this.call.requestId()));
			assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
			assertThat(this.call.detail).contains(expected);
		});
	}

	static Stream<Arguments> brokenRuleOfTheSideThatServes() {
		return Stream.of(Arguments.of("demand for 1 messages and 1 bytes", Frames.demand(0, 1, 1)),
				Arguments.of("demand for -1 messages", Frames.demand(0, -1, 0)),
				Arguments.of("and -2147483648 bytes", Frames.demand(0, 0, Integer.MIN_VALUE)),
				Arguments.of("message of a call without stream", Frames.message(0, 8, new byte[8])),
				Arguments.of("metadata of a call without stream", Frames.metadata(0, new byte[8])),
				Arguments.of("end from the side that serves", Frames.control(16, 0, 0)),
				Arguments.of("last message from the side that serves", Frames.last(Frames.message(0, 8, new byte[8]))));
	}

	@Test
	void framesOfCallsThatHaveEndedAreIgnoredByTheCaller() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			int id = this.call.requestId();
			reply(fixture, channel);
			for (int wrong : new int[] { id, id + 1, id + 0x10000, -1 }) {
				fixture.deliver(channel, Frames.demand(wrong, -1, -1));
				fixture.deliver(channel, Frames.metadata(wrong, new byte[8]));
				fixture.deliver(channel, Frames.control(6, 0, wrong));
				fixture.deliver(channel, Frames.message(wrong, 8, new byte[8]));
			}
			assertThat(channel.isOpen()).isTrue();
		});
	}

	@Test
	void metadataComesBeforeTheFirstMessage() throws Exception {
		asCaller((fixture, channel, sender) -> {
			this.call.streamReceiver = new StreamReceiver(WINDOW, this.user);
			channel.streams().begin(this.call.streamReceiver, 5);
			begin(fixture, channel);
			int id = this.call.requestId();
			assertThat(FrameFlyweight.flags(LoopFixture.pair(channel).sent.get(1))).isEqualTo(12);
			fixture.deliver(channel, Frames.metadata(id, new byte[1024]));
			fixture.deliver(channel, Frames.message(id, 8, new byte[8]));
			assertThat(this.user.events).containsExactly("metadata of 1024", "message of 8");
			fixture.deliver(channel, Frames.metadata(id, new byte[8]));
			assertThat(this.call.detail).contains("metadata of a stream that has begun");
		});
	}

	@Test
	void callIsGivenUpWhereItsUserThrows() throws Exception {
		asCaller((fixture, channel, sender) -> {
			this.call.streamReceiver = new StreamReceiver(WINDOW, this.user);
			channel.streams().begin(this.call.streamReceiver, 5);
			begin(fixture, channel);
			this.user.failure = new IllegalStateException("test");
			fixture.deliver(channel, Frames.metadata(this.call.requestId(), new byte[8]));
			assertThat(this.call.failure).isEqualTo(CallFailure.RESOURCE_EXHAUSTED);
			assertThat(LoopFixture.pair(channel).sentTypes()).endsWith("CANCEL");
			assertThat(channel.isOpen()).isTrue();
		});
	}

	@Test
	void messagesArriveAsGrantedAndTheEndAfterThem() throws Exception {
		asServer((fixture, channel, receiver) -> {
			receiver.grant(3, 0);
			fixture.turn();
			FakeQueuePair pair = LoopFixture.pair(channel);
			assertThat(hex(pair.sent.get(1)).substring(8)).isEqualTo("03000000" + "03000000" + "00000000");
			assertThat(pair.sentTypes()).endsWith("DEMAND");
			fixture.deliver(channel, Frames.message(ID, 8, new byte[8]));
			fixture.deliver(channel, Frames.message(ID, 10_000, new byte[8000]));
			fixture.deliver(channel, Frames.continuation(0, ID, 10_000, 8000, new byte[2000]));
			receiver.grant(0, receiver.cost(8) + receiver.cost(10_000));
			fixture.turn();
			fixture.deliver(channel, Frames.last(Frames.message(ID, 0, new byte[0])));
			assertThat(this.user.events).containsExactly("message of 8", "message of 10000", "message of 0", "end");
		});
	}

	@Test
	void grantsOfOneTurnAreOneFrameThatLeavesTogetherWithWhatIsSent() throws Exception {
		asServer((fixture, channel, receiver) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			int doorbells = pair.doorbells;
			receiver.grant(2, 0);
			channel.prepareReply(ID + 1, 0, RequestTemplate.NO_METADATA, segments(8)).submit();
			receiver.grant(1, 0);
			fixture.turn();
			assertThat(pair.sentTypes()).endsWith("REPLY", "DEMAND").hasSize(3);
			assertThat(hex(pair.sent.get(2)).substring(8)).isEqualTo("03000000" + "03000000" + "00000000");
			assertThat(pair.doorbells).isEqualTo(doorbells + 1);
		});
	}

	@Test
	void endWithoutMessagesIsHeard() throws Exception {
		asServer((fixture, channel, receiver) -> {
			fixture.deliver(channel, Frames.control(16, 0, ID));
			assertThat(this.user.events).containsExactly("end");
		});
	}

	@ParameterizedTest
	@MethodSource
	void brokenRuleOfTheCaller(String expected, byte[][] frames) throws Exception {
		breaksTheRule(expected, frames);
	}

	static Stream<Arguments> brokenRuleOfTheCaller() {
		byte[] item = Frames.message(ID, 8, new byte[8]);
		byte[] half = Frames.message(ID, 10_000, new byte[8000]);
		byte[] end = Frames.control(16, 0, ID);
		byte[] plain = Frames.request(0, 4, 2, 1, 4, new byte[4]);
		return Stream.of(broken("granted 0 messages", item, item, item, item),
				broken("granted 1 messages and 0 bytes", half, Frames.continuation(0, ID, 10_000, 8000, new byte[2000]),
						Frames.message(ID, 2048, new byte[2048]), item),
				broken("before the last one is complete", half, item), broken("after its end", end, item),
				broken("after its end", Frames.last(item), item),
				broken("end of a stream that has ended", Frames.last(item), end),
				broken("end of a stream that has ended", end, end),
				broken("end of a stream in the middle of a message", half, end),
				broken("message of 7 bytes", Frames.withInt(item, 8, 7)),
				broken("message of -1 bytes", Frames.withInt(item, 8, -1)),
				broken("message of 8 bytes", Frames.withInt(item, 12, 1)),
				broken("metadata of 8 bytes", Frames.metadata(ID, new byte[8])),
				broken("message of a call without stream", plain, Frames.message(4, 8, new byte[8])),
				broken("end of a call without stream", plain, Frames.control(16, 0, 4)),
				broken("demand of a call without stream", plain, Frames.demand(4, 1, 0)),
				broken("message of 4 bytes", Frames.withInt(Frames.followed(plain), 12, 1)),
				broken("begun twice", Frames.message(5, 100, new byte[8]), Frames.message(5, 100, new byte[8])));
	}

	@Test
	void messagesMayOnlyFollowTheRequestOfAPeerThatKnowsStreams() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 64);
				fixture.deliver(channel, REQUEST);
				assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
			});
		}
	}

	@Test
	void framesOfCallsThatAreNotThereAreIgnoredByTheSideThatServes() throws Exception {
		asServer((fixture, channel, receiver) -> {
			for (int wrong : new int[] { 7, ID + 0x10000, -1 }) {
				fixture.deliver(channel, Frames.message(wrong, 8, new byte[8]));
				fixture.deliver(channel, Frames.message(wrong, 12, new byte[8]));
				fixture.deliver(channel, Frames.continuation(0, wrong, 12, 8, new byte[4]));
				fixture.deliver(channel, Frames.control(16, 0, wrong));
				fixture.deliver(channel, Frames.control(16, 0, wrong));
			}
			assertThat(channel.isOpen()).isTrue();
			assertThat(this.user.events).isEmpty();
		});
	}

	@Test
	void whatArrivesAfterTheEndOfTheCallIsDropped() throws Exception {
		asServer((fixture, channel, receiver) -> {
			receiver.grant(9, 0);
			fixture.turn();
			long before = fixture.memory.metrics().allocatedBytes();
			fixture.deliver(channel, Frames.message(ID, 10_000, new byte[8000]));
			assertThat(fixture.memory.metrics().allocatedBytes()).isGreaterThan(before);
			receiver.close();
			this.handler.serving = false;
			this.handler.receiver = null;
			assertThat(fixture.memory.metrics().allocatedBytes()).isEqualTo(before);
			dropsTheRest(fixture, channel);
		});
	}

	@Test
	void consumerThatWantsNoMoreTellsTheCaller() throws Exception {
		asServer((fixture, channel, receiver) -> {
			receiver.grant(9, 0);
			fixture.turn();
			fixture.deliver(channel, Frames.message(ID, 10_000, new byte[8000]));
			receiver.cancel();
			receiver.cancel();
			receiver.grant(9, 0);
			fixture.turn();
			FakeQueuePair pair = LoopFixture.pair(channel);
			assertThat(pair.sentTypes()).containsExactly("HELLO_REPLY", "DEMAND", "CANCEL");
			assertThat(pair.sent.get(2).getInt(4)).isEqualTo(ID);
			dropsTheRest(fixture, channel);
		});
	}

	private void dropsTheRest(LoopFixture fixture, RpcChannel channel) {
		fixture.deliver(channel, Frames.continuation(0, ID, 10_000, 8000, new byte[2000]));
		fixture.deliver(channel, Frames.message(ID, 8, new byte[8]));
		fixture.deliver(channel, Frames.control(16, 0, ID));
		assertThat(this.user.events).isEmpty();
		assertThat(channel.isOpen()).isTrue();
	}

	@Test
	void messageAboveTheLimitIsReportedAsLost() throws Exception {
		asServer((fixture, channel, receiver) -> {
			receiver.grant(9, 0);
			fixture.turn();
			fixture.deliver(channel, Frames.message(ID, 20_001, new byte[8000]));
			fixture.deliver(channel, Frames.continuation(0, ID, 20_001, 8000, new byte[8000]));
			fixture.deliver(channel, Frames.continuation(0, ID, 20_001, 16_000, new byte[4001]));
			assertThat(this.user.events).containsExactly("lost: MESSAGE_TOO_LARGE");
		});
	}

	@Test
	void streamIsLostWhereItsUserThrows() throws Exception {
		asServer((fixture, channel, receiver) -> {
			receiver.grant(9, 0);
			fixture.turn();
			this.user.failure = new IllegalStateException("test");
			fixture.deliver(channel, Frames.message(ID, 8, new byte[8]));
			assertThat(this.user.events).containsExactly("message of 8", "lost: RESOURCE_EXHAUSTED");
			this.user.failure = new IllegalStateException("test");
			fixture.deliver(channel, Frames.control(16, 0, ID));
			assertThat(this.user.events).endsWith("end", "lost: RESOURCE_EXHAUSTED");
			assertThat(channel.isOpen()).isTrue();
		});
	}

	@Test
	void metadataIsSentBeforeTheMessages() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = server(fixture);
				fixture.deliver(channel, Frames.streamed(Frames.request(0, ID, 2, 1, 4, new byte[4]), 0));
				StreamSender sender = channel.streams().replySender(ID, 0, this.user);
				sender.prepareMetadata(new byte[] { 1, 2, 3 }).submit();
				submit(sender, 8);
				fixture.turn();
				sender.demand(1, 0);
				fixture.turn();
				FakeQueuePair pair = LoopFixture.pair(channel);
				assertThat(pair.sentTypes()).containsExactly("HELLO_REPLY", "METADATA", "MESSAGE");
				assertThat(hex(pair.sent.get(1)).substring(8))
					.isEqualTo("03000000" + "03000000" + "00000000" + "010203");
			});
		}
	}

}
