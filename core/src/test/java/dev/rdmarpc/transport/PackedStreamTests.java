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
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages of a stream that share a frame, on both sides. */
class PackedStreamTests extends AbstractRequestStreamTests {

	private static final byte[] HUGE_FRAMES = Frames
		.withStreams(Frames.withInt(Frames.hello(2, 1 << 20, 20_000, 16, 64, 0), 40, 64 << 16), 1 << 20);

	@Test
	void smallMessagesThatAreReadyTogetherShareAFrame() throws Exception {
		asCaller((fixture, channel, sender) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			begin(fixture, channel);
			fixture.deliver(channel, demand(9, 0));
			submit(sender, 3);
			submit(sender, 0);
			submit(sender, 8);
			sender.prepareEnd().submit();
			fixture.turn();
			assertThat(pair.sentTypes()).containsExactly("HELLO", "REQUEST", "MESSAGE");
			assertThat(hex(pair.sent.get(2)).substring(0, 4)).isEqualTo("0e18");
			assertThat(hex(pair.sent.get(2)).substring(8))
				.isEqualTo(idHex() + "28000000" + "00000000" + "0300000000000000" + "000000" + "0000000000"
						+ "0000000000000000" + "0800000000000000" + "0000000000000000");
			pair.completeAll();
			fixture.turn();
			assertThat(this.user.events).endsWith("sent 11");
			reply(fixture, channel);
		});
	}

	@Test
	void messagesShareAFrameAsFarAsTheyAreGrantedAndItGoes() throws Exception {
		asCaller((fixture, channel, sender) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			begin(fixture, channel);
			fixture.deliver(channel, demand(2, 0));
			submit(sender, 8);
			submit(sender, 8);
			submit(sender, 8);
			fixture.turn();
			assertThat(pair.sent.get(2).capacity()).as("the two that were granted").isEqualTo(16 + 2 * 16);
			fixture.deliver(channel, demand(1, 0));
			assertThat(pair.sent.get(3).capacity()).as("one alone").isEqualTo(16 + 8);
			reply(fixture, channel);
		});
	}

	@Test
	void lastMessageThatWaitedForItsGrantIsTheLastOneOfItsFrame() throws Exception {
		asCaller((fixture, channel, sender) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			begin(fixture, channel);
			submit(sender, 8);
			submit(sender, 9);
			sender.prepareEnd().submit();
			fixture.deliver(channel, demand(9, 0));
			fixture.turn();
			assertThat(pair.sentTypes()).containsExactly("HELLO", "REQUEST", "MESSAGE");
			assertThat(FrameFlyweight.flags(pair.sent.get(2))).as("several, and the last one").isEqualTo(16 + 8);
			reply(fixture, channel);
		});
	}

	@Test
	void messagesShareAFrameAsFarAsItGoesAndOnlySmallOnes() throws Exception {
		asCaller(1 << 20, (fixture, channel, sender) -> {
			begin(fixture, channel);
			fixture.deliver(channel, demand(100, 0));
			for (int bytes : new int[] { 2000, 2048, 2000, 2000, 2000, 2049, 8 }) {
				submit(sender, bytes);
			}
			fixture.turn();
			assertThat(LoopFixture.pair(channel).sent.stream().skip(2).map(ByteBuffer::capacity))
				.containsExactly(16 + 3 * 2008 + 2056, 16 + 2000, 16 + 2049, 16 + 8);
			reply(fixture, channel);
		});
	}

	@Test
	void messagesThatShareAFrameAreGivenBackTogether() throws Exception {
		asCaller((fixture, channel, sender) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			begin(fixture, channel);
			long before = fixture.memory.metrics().allocatedBytes();
			fixture.deliver(channel, demand(9, 0));
			pair.depth = 0;
			submit(sender, 8);
			submit(sender, 8);
			submit(sender, 8);
			channel.abandon(this.call, CallFailure.CANCELLED, "test");
			assertThat(fixture.memory.metrics().allocatedBytes() - before).isLessThan(8192);
			pair.depth = 100;
			fixture.deliver(channel, Frames.control(8, 0, 0));
			assertThat(pair.sentTypes()).doesNotContain("MESSAGE");
		});
	}

	@Test
	void frameThatIsSharedIsNoLargerThanThisSidesHoweverMuchThePeerTakes() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS.withStreamWindow(1 << 20), this.handler, HUGE_FRAMES);
				StreamSender sender = begin(fixture, channel, null);
				long before = fixture.memory.metrics().allocatedBytes();
				for (int bytes : new int[] { 2049, 2000, 2000, 2048, 2000, 2000 }) {
					submit(sender, bytes);
				}
				assertThat(fixture.memory.metrics().allocatedBytes() - before).isLessThan(4 * 8192);
				LoopFixture.pair(channel).depth = 100;
				fixture.turn();
				assertThat(LoopFixture.pair(channel).sent.stream().skip(2).map(ByteBuffer::capacity))
					.containsExactly(16 + 2049, 16 + 3 * 2008 + 2056, 16 + 2000);
				reply(fixture, channel);
			});
		}
	}

	@Test
	void messagesThatShareAFrameCountForItsMemoryWithThePeer() throws Exception {
		int frameBytes = 2 * SmallReplies.STEP_BYTES;
		PeerReplies peer = new PeerReplies("peer", frameBytes - 1, () -> {
		});
		try (LoopFixture fixture = new LoopFixture(frameBytes, 16, 16L << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS.withFrames(frameBytes, 8).withStreamWindow(1 << 20),
						this.handler, HUGE_FRAMES);
				StreamSender sender = begin(fixture, channel, peer);
				submit(sender, 8);
				assertThat(peer.isEmpty()).as("one alone").isTrue();
				submit(sender, 8);
				assertThat(peer.isOver()).as("two in a frame").isTrue();
				LoopFixture.pair(channel).depth = 100;
				fixture.turn();
				LoopFixture.pair(channel).completeAll();
				fixture.turn();
				assertThat(peer.isEmpty()).as("afterwards").isTrue();
				reply(fixture, channel);
			});
		}
	}

	@Test
	void messagesToAPeerThatHasLeftTooMuchGoAlone() throws Exception {
		PeerReplies peer = new PeerReplies("peer", 1000, () -> {
		});
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS.withStreamWindow(1 << 20), this.handler, HUGE_FRAMES);
				StreamSender sender = begin(fixture, channel, peer);
				OutgoingMessage second = sender.prepare(segments(9));
				submit(sender, 8);
				peer.add(1001);
				second.submit();
				LoopFixture.pair(channel).depth = 100;
				fixture.turn();
				assertThat(LoopFixture.pair(channel).sent.stream().skip(2).map(ByteBuffer::capacity))
					.containsExactly(16 + 8, 16 + 9);
				reply(fixture, channel);
			});
		}
	}

	/** A stream whose messages are granted and wait for room in the queue. */
	private StreamSender begin(LoopFixture fixture, RpcChannel channel, @Nullable PeerReplies counting) {
		StreamSender sender = channel.streams().requestSender(this.user);
		this.call.streamSender = sender;
		begin(fixture, channel);
		if (counting != null) {
			channel.sender().countReplies(counting);
		}
		fixture.deliver(channel, demand(100, 0));
		LoopFixture.pair(channel).depth = 0;
		return sender;
	}

	@Test
	void messagesThatShareAFrameArriveOneByOne() throws Exception {
		asServer((fixture, channel, receiver) -> {
			receiver.grant(4, 0);
			fixture.turn();
			fixture.deliver(channel, Frames.pack(ID, new byte[3], new byte[0]));
			fixture.deliver(channel, Frames.last(Frames.pack(ID, new byte[9], new byte[16])));
			assertThat(this.user.events).containsExactly("message of 3", "message of 0", "message of 9",
					"message of 16", "end");
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { -8, -16, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1000 })
	void lengthsInAFrameOfNoStreamAreNotBelieved(int length) throws Exception {
		asServer((fixture, channel, receiver) -> {
			receiver.grant(4, 0);
			fixture.turn();
			byte[] late = Frames.pack(ID + 5, new byte[8], new byte[8]);
			ByteBuffer.wrap(late).order(ByteOrder.LITTLE_ENDIAN).putInt(FrameFlyweight.HEADER_LENGTH + 16, length);
			fixture.deliver(channel, late);
			fixture.deliver(channel, Frames.last(Frames.pack(ID, new byte[9], new byte[16])));
			assertThat(this.user.events).containsExactly("message of 9", "message of 16", "end");
		});
	}

	@Test
	void messagesInAFrameAreCountedUpToOneWithWhichSomethingIsWrong() {
		ByteBuffer pack = ByteBuffer.allocate(48).order(ByteOrder.LITTLE_ENDIAN);
		pack.putInt(0, 3).putInt(16, 8).putInt(32, 5);
		assertThat(PackedMessages.count(pack)).isEqualTo(3);
		assertThat(PackedMessages.count(pack.duplicate().order(ByteOrder.LITTLE_ENDIAN).limit(40))).isEqualTo(2);
		assertThat(PackedMessages.count(pack.duplicate().order(ByteOrder.LITTLE_ENDIAN).limit(0))).isZero();
		pack.putInt(16, -8);
		assertThat(PackedMessages.count(pack)).isOne();
	}

	@Test
	void userWhoThrowsInTheMiddleOfAFrameGetsNoMoreOfIt() throws Exception {
		asServer((fixture, channel, receiver) -> {
			receiver.grant(4, 0);
			fixture.turn();
			long before = fixture.memory.metrics().allocatedBytes();
			this.user.failure = new IllegalStateException("test");
			fixture.deliver(channel, Frames.pack(ID, new byte[3], new byte[0]));
			assertThat(this.user.events).containsExactly("message of 3", "lost: RESOURCE_EXHAUSTED");
			assertThat(fixture.memory.metrics().allocatedBytes()).isEqualTo(before);
		});
	}

	@Test
	void messagesThatShareAFrameHoldItsMemoryTogether() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				List<RegisteredBuffer> memories = new ArrayList<>();
				List<ByteBuffer> messages = new ArrayList<>();
				RpcChannel channel = server(fixture);
				StreamReceiver receiver = channel.streams().requestReceiver(ID, (memory, message) -> {
					memories.add(memory);
					messages.add(message);
				});
				this.handler.receiver = receiver;
				fixture.deliver(channel, REQUEST);
				receiver.grant(3, 0);
				fixture.turn();
				long before = fixture.memory.metrics().allocatedBytes();
				fixture.deliver(channel, Frames.pack(ID, new byte[] { 1, 2, 3 }, new byte[0], new byte[] { 4 }));
				assertThat(memories).hasSize(3).allMatch((memory) -> memory == memories.get(0));
				assertThat(messages).extracting(ByteBuffer::remaining).containsExactly(3, 0, 1);
				assertThat(messages.get(0).get(messages.get(0).position() + 2)).isEqualTo((byte) 3);
				assertThat(messages.get(2).get()).isEqualTo((byte) 4);
				memories.forEach(RegisteredBuffer::release);
				assertThat(fixture.memory.metrics().allocatedBytes()).isEqualTo(before);
			});
		}
	}

	@ParameterizedTest
	@MethodSource
	void brokenRuleOfTheCaller(String expected, byte[][] frames) throws Exception {
		breaksTheRule(expected, frames);
	}

	static Stream<Arguments> brokenRuleOfTheCaller() {
		byte[] item = Frames.message(ID, 8, new byte[8]);
		byte[] pack = Frames.pack(ID, new byte[3]);
		byte[] half = Frames.message(ID, 10_000, new byte[8000]);
		byte[] end = Frames.control(16, 0, ID);
		return Stream.of(
				broken("granted 0 messages", Frames.pack(ID, new byte[1], new byte[1], new byte[1], new byte[1])),
				broken("granted 1 messages and 0 bytes", half, Frames.continuation(0, ID, 10_000, 8000, new byte[2000]),
						Frames.pack(ID, new byte[2048], new byte[8])),
				broken("with 0 bytes behind the last one", Frames.pack(ID)),
				broken("message of 9 bytes among several", Frames.withInt(pack, 16, 9)),
				broken("message of -1 bytes among several", Frames.withInt(pack, 16, -1)),
				broken("message of 2147483647 bytes among several", Frames.withInt(pack, 16, Integer.MAX_VALUE)),
				broken("message of 3 bytes among several", Frames.withInt(pack, 20, 1)),
				broken("with 4 bytes behind the last one", Frames.withInt(Arrays.copyOf(pack, 36), 8, 20)),
				broken("that are not in one frame", Frames.withInt(pack, 8, 24)),
				broken("message of 8 bytes", Frames.withInt(pack, 8, 8)),
				broken("after its end", Frames.last(pack), item), broken("after its end", end, pack),
				broken("before the last one is complete", half, pack));
	}

}
