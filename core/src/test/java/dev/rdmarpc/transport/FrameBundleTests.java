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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests and replies that share a Send, on both sides; section "Frames" of
 * docs/wire-protocol.md.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FrameBundleTests {

	private static final int MOST = 16;

	private static final int LOW = 0;

	private static final int NORMAL = 1;

	private static final byte[] HELLO = Frames.withBundles(Frames.hello(2, 128, 128));

	private static byte[] request(int id, int bytes) {
		return Frames.request(0, id, 7, 1, bytes, new byte[bytes]);
	}

	@Test
	void smallRequestsThatWaitTogetherShareASend() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			long before = fixture.memory.metrics().allocatedBytes();
			int credits = channel.credits().ledger().available();
			List<StubCall> calls = submit(channel, NORMAL, 1, 0, 9);
			fixture.turn();
			assertThat(pair.sentTypes()).containsExactly("HELLO", "REQUEST");
			String fields = "3412000000000000" + "00000000" + "01010000";
			assertThat(hex(pair.sent.get(1)))
				.isEqualTo("03200000" + id(calls, 0) + "01000000" + "00000000" + fields + "5500000000000000" //
						+ "03200000" + id(calls, 1) + "00000000" + "00000000" + fields //
						+ "03000000" + id(calls, 2) + "09000000" + "00000000" + fields + "55".repeat(9));
			assertThat(credits - channel.credits().ledger().available()).as("credits").isOne();
			assertThat(fixture.loop.metrics().bundledFrames()).isEqualTo(3);
			assertThat(fixture.loop.metrics().framesSent()).isEqualTo(1 + 3);
			pair.completeAll();
			fixture.turn();
			assertThat(fixture.memory.metrics().allocatedBytes()).isEqualTo(before);
			assertThat(channel.sender().outbound().isEmpty()).isTrue();
		});
	}

	@Test
	void repliesOfOneSendEndTheirCalls() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			List<StubCall> calls = submit(channel, NORMAL, 1, 1, 1);
			fixture.turn();
			fixture.deliver(channel,
					Frames.bundle(Frames.reply(1, calls.get(2).requestId(), 0, 2, new byte[] { 1, 2 }),
							Frames.reply(0, calls.get(0).requestId(), 5, 0, new byte[0]),
							Frames.reply(0, calls.get(1).requestId() + 0x10000, 0, 0, new byte[0])));
			assertThat(calls.get(2).reply).containsExactly(1, 2);
			assertThat(calls.get(0).status).isEqualTo(5);
			assertThat(calls.get(1).isDone()).as("the reply to another one").isFalse();
			assertThat(fixture.loop.metrics().framesReceived()).isEqualTo(1 + 3);
			fixture.deliver(channel, Frames.reply(0, calls.get(1).requestId(), 0, 0, new byte[0]));
			assertThat(calls.get(1).status).isZero();
		});
	}

	@Test
	void whatIsLongerGoesAlone() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			int most = FrameBundle.MOST_FRAME_BYTES - 32;
			submit(channel, NORMAL, 10, most, most + 1, 5, 20_000, 6, 7);
			fixture.turn();
			assertThat(pair.sent.stream().skip(1).limit(3).map(ByteBuffer::capacity)).containsExactly(48 + 32 + most,
					32 + most + 1, 32 + 5);
			assertThat(pair.sentTypes()).containsExactly("HELLO", "REQUEST", "REQUEST", "REQUEST", "REQUEST", "REQUEST",
					"CONTINUATION", "CONTINUATION");
			assertThat(pair.sent.get(5).capacity()).as("the last two").isEqualTo(40 + 32 + 7);
		});
	}

	@Test
	void thereAreNoMoreThanThePeerTakes() throws Exception {
		asCaller(Frames.withBundles(Frames.hello(2, 2048, 1 << 20, 4096, 128, 0)), (fixture, channel, pair) -> {
			submit(channel, NORMAL, IntStream.range(0, 2 * MOST + 3).map((i) -> 8).toArray());
			fixture.turn();
			assertThat(pair.sent.stream().skip(1).map(ByteBuffer::capacity)).containsExactly(MOST * 40, MOST * 40,
					3 * 40);
			submit(channel, NORMAL, 600, 600, 600, 120, 1);
			fixture.turn();
			assertThat(pair.sent.stream().skip(4).map(ByteBuffer::capacity)).containsExactly(3 * 632 + 152, 32 + 1);
		});
	}

	@Test
	void peerThatTakesOneFrameOnlyGetsEachAlone() throws Exception {
		asCaller(Frames.hello(2, 128, 128), (fixture, channel, pair) -> {
			submit(channel, NORMAL, 1, 2, 3);
			fixture.turn();
			assertThat(pair.sent.stream().skip(1).map(ByteBuffer::capacity)).containsExactly(33, 34, 35);
			assertThat(fixture.loop.metrics().bundledFrames()).isZero();
		});
	}

	@Test
	void whereSeveralClassesWaitEachHasItsTurn() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			pair.depth = 0;
			List<StubCall> low = submit(channel, LOW, 1, 2, 3);
			List<StubCall> normal = submit(channel, NORMAL, 4, 5);
			fixture.turn();
			pair.depth = Integer.MAX_VALUE;
			fixture.deliver(channel, Frames.control(FrameType.PING, 0, 0));
			List<StubCall> expected = new ArrayList<>(normal);
			expected.addAll(low);
			assertThat(pair.sent.stream().skip(2).limit(3).map(FrameFlyweight::requestId)).as("in the order of classes")
				.containsExactlyElementsOf(expected.subList(0, 3).stream().map(StubCall::requestId).toList());
			assertThat(pair.sent).as("those of the class that is left together").hasSize(2 + 3);
			assertThat(fixture.loop.metrics().classes().overtakings(LOW)).isEqualTo(2);
		});
	}

	@Test
	void whatFindsNoRoomStaysAndIsSentOnce() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			int credits = channel.credits().ledger().available();
			pair.depth = 0;
			List<StubCall> calls = submit(channel, NORMAL, 1, 2, 3, 4);
			fixture.turn();
			assertThat(pair.sent).hasSize(1);
			assertThat(channel.credits().ledger().available()).isEqualTo(credits);
			channel.abandon(calls.get(1), CallFailure.CANCELLED, "test");
			pair.depth = Integer.MAX_VALUE;
			fixture.deliver(channel, Frames.control(FrameType.PING, 0, 0));
			assertThat(pair.sentTypes()).containsExactly("HELLO", "PONG", "REQUEST");
			assertThat(pair.sent.get(2).capacity()).isEqualTo(40 + 40 + 36);
			assertThat(fixture.loop.metrics().classes().waits(NORMAL)).as("waits that have ended").isEqualTo(4);
		});
	}

	@Test
	void whoeverHearsOfAWaitMayGiveOthersOfTheSendUp() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			List<StubCall> calls = submitWithoutRoom(fixture, channel, pair);
			calls.get(0).onHeldBack = () -> channel.abandon(calls.get(2), CallFailure.CANCELLED, "test");
			fixture.deliver(channel, Frames.control(FrameType.PING, 0, 0));
			assertThat(channel.state()).isEqualTo(ChannelState.OPEN);
			assertThat(calls).extracting((call) -> call.failure).containsExactly(null, null, CallFailure.CANCELLED);
			assertThat(pair.sentTypes()).containsExactly("HELLO", "PONG", "REQUEST", "CANCEL");
			assertThat(pair.sent.get(2).capacity()).as("all of them were sent").isEqualTo(40 + 40 + 35);
			assertThat(FrameFlyweight.requestId(pair.sent.get(3))).isEqualTo(calls.get(2).requestId());
		});
	}

	@Test
	void whoeverHearsOfAWaitMayCloseTheChannel() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			List<StubCall> calls = submitWithoutRoom(fixture, channel, pair);
			calls.get(1).onHeldBack = () -> channel.close("test");
			fixture.deliver(channel, Frames.control(FrameType.PING, 0, 0));
			assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
			assertThat(calls).extracting((call) -> call.failure).containsOnly(CallFailure.CONNECTION_LOST);
		});
	}

	@Test
	void repliesShareASendAndCountWithThePeerUntilItHasCompleted() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.accepted(ChannelOptions.DEFAULTS, new RecordingHandler());
				PeerReplies peer = new PeerReplies("peer", 1 << 30, () -> {
				});
				channel.sender().countReplies(peer);
				fixture.deliver(channel, Frames.withBundles(Frames.hello(1, 128, 128)));
				FakeQueuePair pair = LoopFixture.pair(channel);
				MessageSegments message = new MessageSegments();
				message.addBytes(ByteBuffer.allocateDirect(900));
				int replies = 2 * SmallReplies.STEP_BYTES / 1024;
				for (int i = 0; i < replies; i++) {
					channel.prepareReply(i, 0, RequestTemplate.NO_METADATA, message).submit();
				}
				message.clear();
				fixture.turn();
				assertThat(pair.sent).as("8 in a frame").hasSize(1 + replies / 8);
				assertThat(peer.isEmpty()).as("before they were taken").isFalse();
				pair.completeAll();
				fixture.turn();
				assertThat(peer.isEmpty()).as("afterwards").isTrue();
			});
		}
	}

	@Test
	void withoutMemoryEachGoesAlone() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			submitWithoutRoom(fixture, channel, pair);
			List<RegisteredBuffer> all = allMemory(fixture);
			fixture.deliver(channel, Frames.control(FrameType.PING, 0, 0));
			assertThat(pair.sent.stream().skip(2).map(ByteBuffer::capacity)).containsExactly(33, 34, 35);
			all.forEach(RegisteredBuffer::release);
		});
	}

	@Test
	void whatHasPerhapsBeenSentIsNotSaidToBeUnsent() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			pair.onPost = () -> {
				throw new IllegalStateException("a device that fails");
			};
			List<StubCall> calls = submit(channel, NORMAL, 1, 2, 3);
			fixture.turn();
			assertThat(channel.state()).isEqualTo(ChannelState.CLOSED);
			assertThat(calls).extracting((call) -> call.failure).containsOnly(CallFailure.CONNECTION_LOST);
		});
	}

	@Test
	void closingGivesBackWhatWasPosted() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			List<StubCall> calls = submit(channel, NORMAL, 1, 2, 3);
			fixture.turn();
			channel.shut("test");
			fixture.turn();
			assertThat(calls).extracting((call) -> call.failure).containsOnly(CallFailure.CONNECTION_LOST);
			assertThat(calls).extracting((call) -> call.ends).containsOnly(1);
		});
	}

	@Test
	void requestsOfOneSendAreServedOneByOne() throws Exception {
		asServer(new RecordingHandler(), (fixture, channel, handler) -> {
			long before = fixture.memory.metrics().allocatedBytes();
			fixture.deliver(channel, Frames.bundle(request(1, 9), request(2, 0), request(3, 16)));
			assertThat(handler.events).containsExactly("open", "request 1 of 9", "request 2 of 0", "request 3 of 16");
			assertThat(fixture.memory.metrics().allocatedBytes()).isLessThanOrEqualTo(before);
			assertThat(fixture.receives.replaced()).isZero();
			assertThat(fixture.loop.metrics().framesReceived()).isEqualTo(1 + 3);
			assertThat(channel.credits().frames()).as("of the peer").isEqualTo(3);
		});
	}

	@Test
	void memoryOfSeveralMessagesIsAllocatedTogether() throws Exception {
		List<RegisteredBuffer> kept = new ArrayList<>();
		RecordingHandler keeping = new RecordingHandler() {

			@Override
			public void onRequest(RpcChannel channel, IncomingMessage request) {
				kept.add(request.take());
			}

		};
		try (LoopFixture fixture = new LoopFixture(8192, 1024, 1 << 20, Duration.ZERO, LeakDetection.DISABLED)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(ChannelOptions.DEFAULTS, keeping, 16);
				fixture.deliver(channel, Frames.bundle(request(1, 9), request(2, 300), request(3, 16)));
				long before = fixture.memory.metrics().allocations();
				fixture.deliver(channel, Frames.bundle(request(4, 1), request(5, 2), request(6, 3)));
				assertThat(fixture.memory.metrics().allocations()).isEqualTo(before);
				assertThat(kept).hasSize(6).doesNotHaveDuplicates();
				assertThat(kept.stream().map(RegisteredBuffer::references)).containsOnly(1);
				kept.forEach(RegisteredBuffer::release);
			});
		}
	}

	@Test
	void eachMessageIsKeptAlone() throws Exception {
		List<RegisteredBuffer> kept = new ArrayList<>();
		List<ByteBuffer> views = new ArrayList<>();
		asServer(new RecordingHandler() {

			@Override
			public void onRequest(RpcChannel channel, IncomingMessage request) {
				if (request.requestId() != 2) {
					views.add(request.message());
					kept.add(request.take());
				}
			}

		}, (fixture, channel, handler) -> {
			fixture.deliver(channel, Frames.bundle(Frames.request(0, 1, 7, 1, 3, new byte[] { 1, 2, 3 }),
					request(2, 100), Frames.request(0, 3, 7, 1, 2, new byte[] { 4, 5 })));
			assertThat(views).extracting(FrameBundleTests::hex).containsExactly("010203", "0405");
			assertThat(kept).extracting(RegisteredBuffer::length)
				.as("of little memory")
				.allSatisfy((length) -> assertThat(length).isBetween(3, 256));
			assertThat(kept).doesNotHaveDuplicates();
			kept.get(0).release();
			assertThat(hex(views.get(1))).isEqualTo("0405");
			kept.get(1).release();
		});
	}

	@Test
	void metadataIsKeptWithItsMessage() throws Exception {
		List<String> seen = new ArrayList<>();
		asServer(new RecordingHandler() {

			@Override
			public void onRequest(RpcChannel channel, IncomingMessage request) {
				seen.add(hex(request.metadata()) + " " + hex(request.message()));
			}

		}, (fixture, channel, handler) -> {
			byte[] first = Frames.request(0, 1, 7, 1, 1, new byte[] { 1, 2, 3, 0, 0, 0, 0, 0, 9 });
			first[30] = 3;
			fixture.deliver(channel, Frames.bundle(first, Frames.request(0, 2, 7, 1, 1, new byte[] { 8 })));
			assertThat(seen).containsExactly("010203 09", " 08");
		});
	}

	@Test
	void withoutMemoryOnlyTheseCallsFail() throws Exception {
		asServer(new RecordingHandler(), (fixture, channel, handler) -> {
			List<RegisteredBuffer> all = allMemory(fixture);
			long before = fixture.memory.metrics().failures();
			fixture.deliver(channel, Frames.bundle(request(1, 9), request(2, 9)));
			assertThat(handler.events).containsExactly("open", "unreadable 1: no memory for a message of 9 bytes",
					"unreadable 2: no memory for a message of 9 bytes");
			assertThat(channel.state()).isEqualTo(ChannelState.OPEN);
			assertThat(fixture.memory.metrics().failures() - before).as("asked for once until the next tick").isOne();
			all.forEach(RegisteredBuffer::release);
			fixture.receives.replenish();
			fixture.deliver(channel, Frames.bundle(request(3, 9), request(4, 9)));
			assertThat(handler.events).endsWith("request 3 of 9", "request 4 of 9");
		});
	}

	@Test
	void nothingIsDeliveredBehindTheEndOfTheChannel() throws Exception {
		asServer(new RecordingHandler() {

			@Override
			public void onRequest(RpcChannel channel, IncomingMessage request) {
				super.onRequest(channel, request);
				channel.close("by the handler");
			}

		}, (fixture, channel, handler) -> {
			fixture.deliver(channel, Frames.bundle(request(1, 9), request(2, 9)));
			assertThat(handler.events).containsExactly("open", "request 1 of 9", "closed: by the handler");
		});
	}

	@Test
	void mostFramesAreTaken() throws Exception {
		asServer(new RecordingHandler(), (fixture, channel, handler) -> {
			fixture.deliver(channel,
					Frames.bundle(IntStream.range(0, MOST).mapToObj((id) -> request(id, 8)).toArray(byte[][]::new)));
			assertThat(handler.messages).hasSize(MOST);
			assertThat(channel.state()).isEqualTo(ChannelState.OPEN);
		});
	}

	static Stream<Arguments> lies() {
		byte[] good = request(1, 8);
		byte[] read = request(2, 8);
		read[1] |= 1;
		byte[] metadata = request(2, 8);
		metadata[31] = 5;
		byte[] two = Frames.bundle(good, good);
		byte[] padded = Arrays.copyOf(Frames.bundle(good, request(2, 9)), 88);
		byte[] endless = good.clone();
		endless[1] |= 32;
		byte[] part = Frames.message(6, 8, new byte[8]);
		part[1] |= 32;
		return Stream.of(Arguments.of("another type", 1, Frames.bundle(good, Frames.reply(0, 2, 0, 8, new byte[8]))),
				Arguments.of("a control frame", 1, Frames.bundle(good, Frames.control(FrameType.CANCEL, 0, 1))),
				Arguments.of("to be Read", 0, Frames.bundle(read, good)),
				Arguments.of("to be Read behind", 1, Frames.bundle(good, read)),
				Arguments.of("credits behind", 1, Frames.bundle(good, Frames.request(1, 2, 7, 1, 8, new byte[8]))),
				Arguments.of("too long", 1, Frames.withInt(two, 40 + 8, 9)),
				Arguments.of("too long in front", 0, Frames.withInt(two, 8, 49)),
				Arguments.of("reaches to the next", 0, Frames.withInt(two, 8, 48)),
				Arguments.of("negative", 0, Frames.withInt(two, 8, -1)),
				Arguments.of("negative behind", 1, Frames.withInt(two, 40 + 8, Integer.MIN_VALUE)),
				Arguments.of("as long as can be", 0, Frames.withInt(two, 8, Integer.MAX_VALUE)),
				Arguments.of("too short", 1, Frames.withInt(two, 40 + 8, 7)),
				Arguments.of("padded at the end", 1, padded), Arguments.of("nothing behind", 0, endless),
				Arguments.of("a part behind", 1, Frames.truncated(two, 40 + 39)),
				Arguments.of("no header behind", 1, Frames.truncated(two, 40 + 16)),
				Arguments.of("part of a message", 1, Frames.bundle(good, Frames.withInt(good, 12, 8))),
				Arguments.of("metadata behind the end", 1, Frames.bundle(good, metadata)),
				Arguments.of("too much metadata", 0, Frames.bundle(withMetadata(good, 1032), good)),
				Arguments.of("too many", MOST, Frames
					.bundle(IntStream.rangeClosed(0, MOST).mapToObj((id) -> request(id, 8)).toArray(byte[][]::new))),
				Arguments.of("replies", 0,
						Frames.bundle(Frames.reply(0, 1, 0, 0, new byte[0]), Frames.reply(0, 2, 0, 0, new byte[0]))),
				Arguments.of("a message of a stream", 0, Frames.bundle(part, part)));
	}

	private static byte[] withMetadata(byte[] request, int bytes) {
		byte[] copy = Arrays.copyOf(request, request.length + bytes);
		copy[30] = (byte) bytes;
		copy[31] = (byte) (bytes >> 8);
		return copy;
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("lies")
	void whatIsNotAsItShouldBeEndsTheChannel(String name, int before, byte[] bundle) throws Exception {
		asServer(new RecordingHandler(), (fixture, channel, handler) -> {
			fixture.deliver(channel, bundle);
			assertThat(channel.state()).as(name).isEqualTo(ChannelState.CLOSED);
			assertThat(handler.events).last().asString().startsWith("closed: protocol violation by the peer: ");
			assertThat(handler.messages).as("before").hasSize(before);
		});
	}

	@Test
	void whatIsHandledBeforeAnythingIsPostedCountsByFrames() throws Exception {
		asCaller(HELLO, (fixture, channel, pair) -> {
			FakeCompletionQueue queue = new FakeCompletionQueue();
			for (int i = 0; i < 4; i++) {
				queue.add((completion) -> completion.set(0, WorkStatus.SUCCESS, WorkOpcode.RECEIVE, 0, 0, pair));
			}
			CompletionBatch batch = new CompletionBatch();
			assertThat(batch.poll(queue)).isTrue();
			List<Integer> slices = new ArrayList<>();
			while (!batch.isAtEnd()) {
				int count = 0;
				for (batch.slice(); !batch.isSliced(); count++) {
					batch.next();
					IntStream.range(1, MOST).forEach((i) -> batch.countMore(1));
				}
				slices.add(count);
			}
			assertThat(slices).containsExactly(2, 2);
		});
	}

	@Test
	void afterAFullSendOfOnePeerItIsTheNextPeersTurn() throws Exception {
		asCaller(HELLO, (fixture, channel, greedy) -> {
			FakeQueuePair good = new FakeQueuePair(channel, fixture.completions);
			FakeQueuePair other = new FakeQueuePair(channel, fixture.completions);
			FakeCompletionQueue queue = new FakeCompletionQueue();
			List<FakeQueuePair> arrived = List.of(greedy, greedy, greedy, good, other, good, greedy);
			for (int i = 0; i < arrived.size(); i++) {
				int id = i;
				queue.add((completion) -> completion.set(id, WorkStatus.SUCCESS, WorkOpcode.RECEIVE, 0, 0,
						arrived.get(id)));
			}
			CompletionBatch batch = new CompletionBatch();
			assertThat(batch.poll(queue)).isTrue();
			List<Long> handled = new ArrayList<>();
			while (!batch.isAtEnd()) {
				for (batch.slice(); !batch.isSliced();) {
					WorkCompletion next = batch.next();
					handled.add(next.id());
					IntStream.range(1, (next.queuePair() == greedy) ? MOST : 1).forEach((i) -> batch.countMore(1));
				}
			}
			assertThat(handled).containsExactly(0L, 3L, 1L, 4L, 2L, 5L, 6L);
		});
	}

	private static List<RegisteredBuffer> allMemory(LoopFixture fixture) {
		List<RegisteredBuffer> all = new ArrayList<>();
		for (int bytes = 8192; bytes > 0; bytes /= 2) {
			RegisteredBuffer next = fixture.memory.tryAllocate(bytes);
			while (next != null) {
				all.add(next);
				next = fixture.memory.tryAllocate(bytes);
			}
		}
		return all;
	}

	private static String hex(ByteBuffer bytes) {
		byte[] array = new byte[bytes.remaining()];
		bytes.get(bytes.position(), array);
		return HexFormat.of().formatHex(array);
	}

	private static String id(List<StubCall> calls, int index) {
		return HexFormat.of().toHexDigits(Integer.reverseBytes(calls.get(index).requestId()));
	}

	/** Submits requests of so many bytes. */
	private static List<StubCall> submit(RpcChannel channel, int priority, int... sizes) {
		List<StubCall> calls = new ArrayList<>();
		for (int bytes : sizes) {
			byte[] content = new byte[bytes];
			Arrays.fill(content, (byte) 0x55);
			MessageSegments message = new MessageSegments();
			message.addBytes(ByteBuffer.allocateDirect(bytes).put(content).flip());
			StubCall call = new StubCall();
			channel
				.prepareRequest(call, new RequestTemplate(0x1234, priority, 1), Long.MAX_VALUE, 0,
						RequestTemplate.NO_METADATA, message)
				.submit();
			calls.add(call);
		}
		return calls;
	}

	/** Submits three requests for which there is room only after they have waited. */
	private static List<StubCall> submitWithoutRoom(LoopFixture fixture, RpcChannel channel, FakeQueuePair pair) {
		pair.depth = 0;
		List<StubCall> calls = submit(channel, NORMAL, 1, 2, 3);
		fixture.turn();
		pair.depth = Integer.MAX_VALUE;
		return calls;
	}

	private static void asCaller(byte[] reply, CallerBody body) throws Exception {
		try (LoopFixture fixture = new LoopFixture(8192, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(ChannelOptions.DEFAULTS, new RecordingHandler(), reply);
				FakeQueuePair pair = LoopFixture.pair(channel);
				pair.completeAll();
				fixture.turn();
				body.run(fixture, channel, pair);
			});
		}
	}

	private static void asServer(RecordingHandler handler, ServerBody body) throws Exception {
		try (LoopFixture fixture = new LoopFixture(8192, 1024, 1 << 20)) {
			fixture.drive(() -> body.run(fixture, fixture.server(ChannelOptions.DEFAULTS, handler, 16), handler));
		}
	}

	/** Of a test on the side that calls. */
	private interface CallerBody {

		void run(LoopFixture fixture, RpcChannel channel, FakeQueuePair pair) throws Throwable;

	}

	/** Of a test on the side that serves. */
	private interface ServerBody {

		void run(LoopFixture fixture, RpcChannel channel, RecordingHandler handler) throws Throwable;

	}

}
