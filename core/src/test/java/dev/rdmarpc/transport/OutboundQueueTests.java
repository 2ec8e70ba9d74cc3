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

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/** What a channel sends, in which order, and what it keeps back. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OutboundQueueTests {

	private static final int FRAME = 8192;

	private static final int LOW = 0;

	private static final int NORMAL = 1;

	private static final int HIGH = 2;

	/** How often is tried what a pause of the machine spoils. */
	private static final int ATTEMPTS = 20;

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, FRAME - 32, FRAME - 31, 2 * FRAME, 100_000 })
	void framesMakeUpTheMessage(int size) throws Exception {
		on(128, (fixture, channel) -> {
			byte[] message = bytes(size);
			StubCall call = new StubCall();
			submit(channel, call, message);
			fixture.turn();
			List<ByteBuffer> sent = LoopFixture.pair(channel).sent;
			ByteArrayOutputStream joined = new ByteArrayOutputStream();
			for (int i = 1; i < sent.size(); i++) {
				ByteBuffer frame = sent.get(i);
				int header = (i == 1) ? 32 : 16;
				assertThat(FrameFlyweight.type(frame)).isEqualTo((i == 1) ? 3 : 5);
				assertThat(FrameFlyweight.requestId(frame)).isEqualTo(call.requestId());
				assertThat(FrameFlyweight.messageBytes(frame)).isEqualTo(size);
				assertThat(FrameFlyweight.offsetBytes(frame)).isEqualTo(joined.size());
				assertThat(frame.capacity()).isLessThanOrEqualTo(FRAME);
				assertThat(i < sent.size() - 1 && frame.capacity() < FRAME).as("short frame in between").isFalse();
				byte[] part = new byte[frame.capacity() - header];
				frame.get(header, part);
				joined.writeBytes(part);
			}
			assertThat(joined.toByteArray()).isEqualTo(message);
		});
	}

	/** Whoever waits for it to be sent is told only if it was. */
	@ParameterizedTest
	@EnumSource(names = { "SUCCESS", "CONNECTION_LOST" })
	void flushedSendWasNotSent(WorkStatus status) throws Exception {
		on(128, (fixture, channel) -> {
			AtomicInteger sent = new AtomicInteger();
			AtomicInteger notSent = new AtomicInteger();
			OutgoingMessage message = fixture.loop.outgoingMessages()
				.mark(channel.sender(), new OutgoingMessage.Owner() {
					@Override
					public boolean accept(OutgoingMessage submitted) {
						return false;
					}

					@Override
					public void gone(OutgoingMessage gone) {
						(gone.isSent() ? sent : notSent).incrementAndGet();
					}
				}, FrameType.END, 0, new byte[0]);
			channel.sender().outbound().addData(message);
			channel.markDirty();
			fixture.turn();
			channel.onSendCompleted(status == WorkStatus.SUCCESS, LoopFixture.pair(channel).sent.size() - 1);
			assertThat(sent).hasValue((status == WorkStatus.SUCCESS) ? 1 : 0);
		});
	}

	@Test
	void claimIsAsLargeAsTheFramesAre() {
		Random random = new Random(3);
		for (int i = 0; i < 10_000; i++) {
			int frameBytes = 2048 + 8 * random.nextInt(1000);
			int message = random.nextInt(1 << (1 + random.nextInt(20)));
			int metadata = random.nextInt(1025);
			long expected = 32L + FrameFlyweight.padded(metadata) + message;
			for (long room = frameBytes; room < expected; room += frameBytes) {
				expected += 16;
			}
			assertThat(FrameFlyweight.claimBytes(32, metadata, message, frameBytes))
				.as("%d + %d in frames of %d", metadata, message, frameBytes)
				.isEqualTo(expected);
		}
		assertThat(FrameFlyweight.claimBytes(32, 0, Integer.MAX_VALUE, 2048)).isGreaterThan(Integer.MAX_VALUE);
	}

	@Test
	void smallMessageDoesNotWaitForALargeOne() throws Exception {
		on(128, (fixture, channel) -> {
			StubCall large = new StubCall();
			StubCall small = new StubCall();
			submit(channel, large, bytes(10 * FRAME));
			submit(channel, small, bytes(1));
			fixture.turn();
			List<ByteBuffer> sent = LoopFixture.pair(channel).sent;
			assertThat(FrameFlyweight.requestId(sent.get(1))).isEqualTo(large.requestId());
			assertThat(FrameFlyweight.requestId(sent.get(2))).isEqualTo(small.requestId());
			assertThat(FrameFlyweight.requestId(sent.get(3))).isEqualTo(large.requestId());
		});
	}

	@Test
	void urgentMessageGoesBetweenTheFramesOfALessUrgentOne() throws Exception {
		on(8, (fixture, channel) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			StubCall low = new StubCall();
			StubCall normal = new StubCall();
			StubCall high = new StubCall();
			submit(channel, LOW, low, bytes(20 * FRAME));
			fixture.turn();
			int before = pair.sent.size();
			assertThat(FrameFlyweight.requestId(pair.sent.get(before - 1))).isEqualTo(low.requestId());
			submit(channel, LOW, new StubCall(), bytes(1));
			submit(channel, NORMAL, normal, bytes(1));
			submit(channel, HIGH, high, bytes(1));
			fixture.turn();
			assertThat(pair.sent).as("all wait for credits").hasSize(before);
			fixture.deliver(channel, Frames.control(7, 4, 0));
			assertThat(FrameFlyweight.requestId(pair.sent.get(before))).isEqualTo(high.requestId());
			assertThat(FrameFlyweight.requestId(pair.sent.get(before + 1))).isEqualTo(normal.requestId());
			assertThat(FrameFlyweight.requestId(pair.sent.get(before + 2))).isEqualTo(low.requestId());
			assertThat(channel.loop().metrics().classes().overtakings(LOW)).isEqualTo(2);
			assertThat(channel.loop().metrics().classes().queuedMessages(HIGH)).isEqualTo(1);
			assertThat(channel.loop().metrics().classes().waits(HIGH)).isEqualTo(1);
		});
	}

	@Test
	void urgentMessageFindsABoundedNumberOfBytesAhead() throws Exception {
		withoutPause((fixture, channel, pair) -> {
			submit(channel, HIGH, new StubCall(), bytes(1));
			fixture.turn();
			StubCall low = new StubCall();
			submit(channel, LOW, low, bytes(100 * FRAME));
			fixture.turn();
			assertThat(pair.lastIsSignaled).isTrue();
			pair.completeAll();
			fixture.turn();
			int ahead = pair.sent.size();
			assertThat(ahead * FRAME).as("less than all of it").isLessThan(40 * FRAME);
			assertThat(pair.sentTypes()).as("the peer is asked").contains("PING");
			StubCall high = new StubCall();
			submit(channel, HIGH, high, bytes(1));
			fixture.turn();
			assertThat(FrameFlyweight.requestId(pair.sent.get(ahead))).isEqualTo(high.requestId());
			assertThat(pair.sent).hasSize(ahead + 1);
			assertThat(pair.lastIsSignaled).as("it completes without what waits").isTrue();
			for (int number = 1; number < 100; number++) {
				fixture.deliver(channel, Frames.control(FrameType.PONG, 1, number));
			}
			assertThat(pair.sent.stream().filter((frame) -> FrameFlyweight.requestId(frame) == low.requestId()).count())
				.as("the rest goes when the peer has answered")
				.isGreaterThan(80);
		});
	}

	@Test
	void answerRepeatsTheNumberOfTheLastQuestion() throws Exception {
		afterHandshake((fixture, channel, pair) -> {
			fixture.deliver(channel, Frames.control(FrameType.PING, 0, 7));
			assertThat(FrameFlyweight.requestId(pair.sent.get(1))).isEqualTo(7);
			pair.depth = 0;
			fixture.arrive(channel, Frames.control(FrameType.PING, 0, 8));
			fixture.arrive(channel, Frames.control(FrameType.PING, 0, 9));
			fixture.deliver(channel, Frames.control(FrameType.PING, 0, 0));
			pair.depth = 100;
			channel.markDirty();
			fixture.turn();
			assertThat(pair.sentTypes()).containsExactly("HELLO", "PONG", "PONG");
			assertThat(FrameFlyweight.requestId(pair.sent.get(2))).isEqualTo(9);
		});
	}

	@Test
	void lessUrgentMessagesThatAreDueAreNotHeldBack() throws Exception {
		withoutPause((fixture, channel, pair) -> {
			submit(channel, HIGH, new StubCall(), bytes(1));
			fixture.turn();
			submit(channel, LOW, new StubCall(), bytes(100 * FRAME));
			fixture.turn();
			int before = pair.sent.size();
			pair.depth = 0;
			for (int i = 0; i < 40; i++) {
				submit(channel, HIGH, new StubCall(), bytes(FRAME / 2));
			}
			fixture.turn();
			assertThat(pair.sent).hasSize(before);
			pair.depth = 1000;
			channel.markDirty();
			fixture.turn();
			assertThat(pair.sentTypes().subList(before, before + 34)).as("one in 32").contains("CONTINUATION");
		});
	}

	@Test
	void messagesOfOneClassGoInTheOrderOfTheirDeadlines() throws Exception {
		afterHandshake((fixture, channel, pair) -> {
			long hour = 3_600_000_000_000L;
			long now = System.nanoTime();
			List<StubCall> calls = new ArrayList<>();
			pair.depth = 0;
			for (long deadline : new long[] { Long.MAX_VALUE, now + 3 * hour, now + hour, now + 2 * hour, now + hour,
					Long.MAX_VALUE }) {
				StubCall call = new StubCall();
				calls.add(call);
				submit(channel, NORMAL, deadline, call, bytes(1));
			}
			StubCall high = new StubCall();
			submit(channel, HIGH, Long.MAX_VALUE, high, bytes(1));
			fixture.turn();
			assertThat(pair.sent).hasSize(1);
			pair.depth = 100;
			channel.markDirty();
			fixture.turn();
			assertThat(pair.sent.stream().skip(1).map(FrameFlyweight::requestId)).containsExactly(high.requestId(),
					calls.get(2).requestId(), calls.get(4).requestId(), calls.get(3).requestId(),
					calls.get(1).requestId(), calls.get(0).requestId(), calls.get(5).requestId());
		});
	}

	@Test
	void smallMessageDoesNotWaitForALargeOneWithAnEarlierDeadline() throws Exception {
		afterHandshake((fixture, channel, pair) -> {
			long hour = 3_600_000_000_000L;
			long now = System.nanoTime();
			StubCall large = new StubCall();
			StubCall small = new StubCall();
			pair.depth = 0;
			submit(channel, NORMAL, now + 2 * hour, small, bytes(1));
			submit(channel, NORMAL, now + hour, large, bytes(3 * FRAME));
			fixture.turn();
			pair.depth = 100;
			channel.markDirty();
			fixture.turn();
			assertThat(pair.sent.stream().skip(1).map(FrameFlyweight::requestId)).containsExactly(large.requestId(),
					small.requestId(), large.requestId(), large.requestId(), large.requestId());
		});
	}

	@Test
	void noClassStarvesWhileMoreUrgentMessagesKeepComing() throws Exception {
		on(8, (fixture, channel) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			for (int i = 0; i < 6; i++) {
				submit(channel, HIGH, new StubCall(), bytes(1));
			}
			fixture.turn();
			StubCall low = new StubCall();
			StubCall normal = new StubCall();
			submit(channel, LOW, low, bytes(1));
			submit(channel, NORMAL, normal, bytes(1));
			int first = pair.sent.size();
			for (int i = 0; i < 64; i++) {
				submit(channel, HIGH, new StubCall(), bytes(1));
				pair.completeAll();
				fixture.turn();
				fixture.deliver(channel, Frames.control(7, 1, 0));
			}
			List<Integer> order = pair.sent.subList(first, pair.sent.size())
				.stream()
				.filter((frame) -> FrameFlyweight.type(frame) == FrameType.REQUEST)
				.map(FrameFlyweight::requestId)
				.toList();
			assertThat(order.indexOf(normal.requestId())).as("passed by so many").isEqualTo(8);
			assertThat(order.indexOf(low.requestId())).as("passed by so many").isBetween(32, 33);
		});
	}

	@Test
	void dataWaitsForCreditsAndControlGoesBefore() throws Exception {
		on(8, (fixture, channel) -> {
			for (int i = 0; i < 8; i++) {
				submit(channel, new StubCall(), bytes(1));
			}
			fixture.turn();
			FakeQueuePair pair = LoopFixture.pair(channel);
			assertThat(pair.sentTypes()).as("two credits kept").hasSize(1 + 6);
			channel.sender().sendControl(FrameType.PING, 0);
			channel.sender().sendControl(FrameType.PING, 0);
			fixture.turn();
			assertThat(pair.sentTypes()).as("one credit kept").hasSize(1 + 6 + 1).endsWith("PING");
			fixture.deliver(channel, Frames.control(7, 7, 0));
			assertThat(pair.sentTypes().subList(8, 11)).containsExactly("PING", "REQUEST", "REQUEST");
		});
	}

	@Test
	void fullSendQueueIsFilledAgainAsItCompletes() throws Exception {
		afterHandshake((fixture, channel, pair) -> {
			int depth = ChannelOptions.MIN_CREDITS;
			pair.depth = depth;
			for (int i = 0; i < depth + 3; i++) {
				submit(channel, new StubCall(), bytes(1));
			}
			fixture.turn();
			assertThat(pair.sent).hasSize(1 + depth);
			for (int i = 0; i < depth; i++) {
				pair.completeOne();
			}
			fixture.turn();
			assertThat(pair.sent).as("one of them has said that there is room").hasSize(1 + depth + 3);
			pair.completeAll();
			fixture.turn();
			assertThat(channel.sender().outbound().isEmpty()).isTrue();
		});
	}

	@Test
	void theLastOfSeveralSendsCompletesForAll() throws Exception {
		afterHandshake((fixture, channel, pair) -> {
			long before = fixture.memory.metrics().allocatedBytes();
			long completions = channel.loop().metrics().completions();
			for (int i = 0; i < 20; i++) {
				submit(channel, new StubCall(), bytes(1));
			}
			fixture.turn();
			assertThat(pair.sent).hasSize(1 + 20);
			assertThat(fixture.memory.metrics().allocatedBytes()).isGreaterThan(before);
			pair.completeAll();
			fixture.turn();
			assertThat(channel.loop().metrics().completions() - completions).isEqualTo(3);
			assertThat(fixture.memory.metrics().allocatedBytes()).isEqualTo(before);
			assertThat(channel.sender().outbound().isEmpty()).isTrue();
		});
	}

	@Test
	void bufferIsKeptUntilTheLastSendCompletes() throws Exception {
		afterHandshake((fixture, channel, pair) -> {
			long before = fixture.memory.metrics().allocatedBytes();
			submit(channel, new StubCall(), bytes(3 * FRAME));
			fixture.turn();
			for (int i = 0; i < 3; i++) {
				pair.completeOne();
				fixture.turn();
				assertThat(fixture.memory.metrics().allocatedBytes()).isGreaterThan(before);
			}
			pair.completeAll();
			fixture.turn();
			assertThat(fixture.memory.metrics().allocatedBytes()).isEqualTo(before);
		});
	}

	@Test
	void withdrawnRequestThatWasNotSentIsNeverSent() throws Exception {
		on(8, (fixture, channel) -> {
			for (int i = 0; i < 6; i++) {
				submit(channel, new StubCall(), bytes(1));
			}
			StubCall waiting = new StubCall();
			submit(channel, waiting, bytes(100));
			fixture.turn();
			long before = fixture.memory.metrics().allocatedBytes();
			channel.abandon(waiting, CallFailure.CANCELLED, "test");
			fixture.turn();
			assertThat(waiting.failure).isEqualTo(CallFailure.CANCELLED);
			assertThat(fixture.memory.metrics().allocatedBytes()).isLessThan(before);
			assertThat(LoopFixture.pair(channel).sentTypes()).doesNotContain("CANCEL");
		});
	}

	@Test
	void withdrawnRequestSentInPartIsCancelledAndItsRestDropped() throws Exception {
		on(8, (fixture, channel) -> {
			StubCall call = new StubCall();
			submit(channel, call, bytes(20 * FRAME));
			fixture.turn();
			channel.abandon(call, CallFailure.CANCELLED, "test");
			fixture.turn();
			FakeQueuePair pair = LoopFixture.pair(channel);
			assertThat(pair.sentTypes()).hasSize(1 + 6 + 1).endsWith("CONTINUATION", "CANCEL");
			fixture.deliver(channel, Frames.control(7, 7, 0));
			assertThat(pair.sentTypes()).endsWith("CONTINUATION", "CANCEL");
		});
	}

	@Test
	void closingGivesBackWhatWaitsAndWhatWasPosted() throws Exception {
		on(8, (fixture, channel) -> {
			StubCall inPart = new StubCall();
			StubCall waiting = new StubCall();
			submit(channel, inPart, bytes(20 * FRAME));
			submit(channel, waiting, bytes(20 * FRAME));
			fixture.turn();
			channel.shut("test");
			fixture.turn();
			assertThat(inPart.failure).isEqualTo(CallFailure.CONNECTION_LOST);
			assertThat(waiting.ends).isEqualTo(1);
			StubCall late = new StubCall();
			submit(channel, late, bytes(1));
			assertThat(late.failure).isEqualTo(CallFailure.NOT_SENT);
			assertThat(late.detail).isEqualTo("test");
		});
	}

	/** Runs the body of a test as driver of a channel's loop. */
	private static void on(int credits, Body body) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(
					() -> body.run(fixture, fixture.client(ChannelOptions.DEFAULTS, new RecordingHandler(), credits)));
		}
	}

	/** The same once the device has sent what the channel says first. */
	private static void afterHandshake(QueuePairBody body) throws Exception {
		on(128, (fixture, channel) -> {
			FakeQueuePair pair = LoopFixture.pair(channel);
			pair.completeAll();
			fixture.turn();
			body.run(fixture, channel, pair);
		});
	}

	/** Again, if it has failed and taken so long that urgent messages were forgotten. */
	private static void withoutPause(QueuePairBody body) throws Exception {
		for (int attempt = 0;; attempt++) {
			long begun = System.nanoTime();
			try {
				afterHandshake(body);
				return;
			}
			catch (Exception | AssertionError ex) {
				if (attempt == ATTEMPTS || System.nanoTime() - begun < ReadWindow.LATELY_NANOS) {
					throw ex;
				}
			}
		}
	}

	private static void submit(RpcChannel channel, StubCall call, byte[] message) {
		submit(channel, RequestTemplate.NORMAL_PRIORITY, call, message);
	}

	private static void submit(RpcChannel channel, int priority, StubCall call, byte[] message) {
		submit(channel, priority, Long.MAX_VALUE, call, message);
	}

	private static void submit(RpcChannel channel, int priority, long deadline, StubCall call, byte[] message) {
		MessageSegments segments = new MessageSegments();
		segments.addBytes(ByteBuffer.allocateDirect(message.length).put(message).flip());
		channel
			.prepareRequest(call, new RequestTemplate(0x1234, priority, 1), deadline, 0, RequestTemplate.NO_METADATA,
					segments)
			.submit();
	}

	private static byte[] bytes(int count) {
		byte[] bytes = new byte[count];
		new Random(count).nextBytes(bytes);
		return bytes;
	}

	/** Of a test. */
	private interface Body {

		void run(LoopFixture fixture, RpcChannel channel) throws Throwable;

	}

	/** Of a test that looks at the queue pair. */
	private interface QueuePairBody {

		void run(LoopFixture fixture, RpcChannel channel, FakeQueuePair pair) throws Throwable;

	}

}
