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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/** How the credits of a channel follow its load, seen from both of its ends. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ElasticCreditsTests {

	private static final int FRAME = 8192;

	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS.withFrames(FRAME, 64);

	private static final byte[] CANCEL = Frames.control(FrameType.CANCEL, 0, 0);

	private static final byte[] PING = Frames.control(FrameType.PING, 0, 0);

	private static final byte[] RETURN = Frames.control(FrameType.RETURN, 0, 0);

	private final RecordingHandler handler = new RecordingHandler();

	@Test
	void connectionBeginsWithTheMinimumAndSaysHowManyItMayBecome() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 64);
				ByteBuffer reply = LoopFixture.pair(channel).sent.get(0);
				assertThat(reply.getShort(36)).isEqualTo((short) 8);
				assertThat(reply.getShort(42)).isEqualTo((short) 64);
				assertThat(fixture.receives.promised()).as("nothing for the handshake any more").isEqualTo(8);
				assertThat(LoopFixture.pair(channel).allowed).as("8, and that of HELLO").isEqualTo(8 + 1);
			});
		}
	}

	@Test
	void peerThatIsHeldBackIsPromisedTwiceAsMuchWithTheNextFrame() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 64);
				FakeQueuePair pair = LoopFixture.pair(channel);
				fixture.deliver(channel, Frames.heldBack(PING));
				assertThat(pair.sentTypes()).containsExactly("HELLO_REPLY", "PONG");
				assertThat(FrameFlyweight.credits(pair.sent.get(1))).isEqualTo(1 + 8);
				assertThat(fixture.receives.promised()).isEqualTo(16);
				assertThat(fixture.receives.posted()).isGreaterThanOrEqualTo(16);
				assertThat(pair.allowed).isEqualTo(16 + 2);
			});
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void windowGrowsStepByStepAsThePeerUsesIt(boolean saysSo) throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 1024);
				Peer peer = new Peer(fixture, channel);
				List<Integer> windows = new ArrayList<>();
				int frames = 0;
				for (int i = 0; i < 400; i++) {
					int before = fixture.receives.promised();
					peer.deliver(saysSo ? Frames.heldBack(CANCEL) : CANCEL);
					frames++;
					if (fixture.receives.promised() > before) {
						assertThat(windows.isEmpty() || frames >= before / 2).as("%d frames at %d", frames, before)
							.isTrue();
						windows.add(fixture.receives.promised());
						frames = 0;
					}
				}
				assertThat(windows).containsExactly(16, 32, 64);
				assertThat(peer.credits).isLessThanOrEqualTo(64);
			});
		}
	}

	@Test
	void peerThatNeedsNoMoreGetsNoMore() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				Peer peer = new Peer(fixture, fixture.server(OPTIONS, this.handler, 1024));
				for (int i = 0; i < 500; i++) {
					peer.deliver(PING);
				}
				assertThat(fixture.receives.promised()).isEqualTo(8);
			});
		}
	}

	@Test
	void shortMemoryMeansNoGrowthAndNothingElse() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 1024);
				Peer peer = new Peer(fixture, channel);
				RegisteredBuffer hog = fixture.memory.tryAllocate(640 << 10);
				assertThat(hog).isNotNull();
				for (int i = 0; i < 100; i++) {
					peer.deliver(Frames.heldBack(PING));
				}
				assertThat(channel.isOpen()).isTrue();
				assertThat(fixture.receives.promised()).isEqualTo(8);
				hog.release();
				for (int i = 0; i < 20; i++) {
					peer.deliver(Frames.heldBack(PING));
				}
				assertThat(fixture.receives.promised()).isGreaterThan(8);
			});
		}
	}

	@Test
	void queueThatIsFullMeansNoGrowthAndNothingElse() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 20, 16 << 20)) {
			fixture.drive(() -> {
				RpcChannel first = fixture.server(OPTIONS, this.handler, 1024);
				Peer peer = new Peer(fixture, first);
				for (int i = 0; i < 100; i++) {
					peer.deliver(Frames.heldBack(PING));
				}
				assertThat(first.isOpen()).isTrue();
				assertThat(fixture.receives.promised()).isEqualTo(16);
				RpcChannel second = fixture.accepted(OPTIONS, this.handler);
				fixture.deliver(second, Frames.hello(1, 8));
				assertThat(second.state()).isEqualTo(ChannelState.CLOSED);
				ByteBuffer reply = LoopFixture.pair(second).sent.get(0);
				assertThat(reply.getShort(38)).as("busy").isEqualTo((short) 2);
				assertThat(first.isOpen()).as("it has spoken").isTrue();
				assertThat(fixture.receives.promised()).isEqualTo(16);
			});
		}
	}

	@Test
	void returnedCreditIsMemoryGivenBack() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 1024);
				FakeQueuePair pair = LoopFixture.pair(channel);
				Peer peer = new Peer(fixture, channel);
				while (fixture.receives.promised() < 64) {
					peer.deliver(Frames.heldBack(PING));
				}
				peer.deliver(PING);
				assertThat(peer.credits).isEqualTo(64);
				long before = fixture.receives.memoryBytes();
				int frames = pair.sent.size();
				for (int i = 0; i < 56; i++) {
					peer.deliver(RETURN);
				}
				assertThat(pair.sent).as("no credit comes back").hasSize(frames);
				assertThat(peer.credits).isEqualTo(8);
				assertThat(fixture.receives.promised()).isEqualTo(8);
				assertThat(before - fixture.receives.memoryBytes()).isGreaterThanOrEqualTo(56L * FRAME);
				for (int i = 0; i < 12; i++) {
					peer.deliver(PING);
				}
				assertThat(fixture.receives.memoryBytes()).as("and the larger batch").isEqualTo((8L + 4) * FRAME);
				assertThat(peer.credits).as("as at first").isEqualTo(8);
				peer.deliver(RETURN);
				assertThat(this.handler.events).last().asString().contains("more credits returned than lent");
				assertThat(fixture.receives.promised()).isZero();
			});
		}
	}

	@Test
	void returnsWhileMemoryIsShortAddUp() throws Exception {
		try (LoopFixture fixture = new LoopFixture(FRAME, 1024, 1 << 20)) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 1024);
				Peer peer = new Peer(fixture, channel);
				while (fixture.receives.promised() < 16) {
					peer.deliver(Frames.heldBack(PING));
				}
				List<RegisteredBuffer> hog = new ArrayList<>();
				for (RegisteredBuffer next = claim(fixture); next != null; next = claim(fixture)) {
					hog.add(next);
				}
				for (int i = 0; i < 8; i++) {
					peer.deliver(RETURN);
				}
				assertThat(fixture.receives.promised()).isEqualTo(8);
				hog.forEach(RegisteredBuffer::release);
				fixture.receives.replenish();
				peer.deliver(PING);
				assertThat(peer.credits).isEqualTo(8);
			});
		}
	}

	private static RegisteredBuffer claim(LoopFixture fixture) {
		return fixture.memory.tryAllocate(FRAME);
	}

	@Test
	void holderGivesBackWhatItHasNotUsedForAWhile() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS, this.handler, 8, 128);
				FakeQueuePair pair = LoopFixture.pair(channel);
				fixture.deliver(channel, Frames.control(FrameType.CREDIT, 40, 0));
				long now = System.nanoTime();
				now = tick(fixture, channel, now, 1100);
				assertThat(pair.sentTypes()).as("it has not had them for long").containsExactly("HELLO");
				now = tick(fixture, channel, now, 500);
				assertThat(pair.sentTypes()).containsExactly("HELLO");
				now = tick(fixture, channel, now, 600);
				assertThat(pair.sentTypes()).as("so many at a time").hasSize(1 + 32).endsWith("RETURN");
				pair.completeAll();
				now = tick(fixture, channel, now, 50);
				assertThat(pair.sentTypes()).hasSize(1 + 40);
				for (int i = 0; i < 5; i++) {
					pair.completeAll();
					now = tick(fixture, channel, now, 600);
				}
				assertThat(pair.sentTypes().subList(1, pair.sent.size())).hasSize(40).containsOnly("RETURN");
			});
		}
	}

	@Test
	void holderKeepsWhatItUsesFromTimeToTime() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS, this.handler, 8, 128);
				FakeQueuePair pair = LoopFixture.pair(channel);
				fixture.deliver(channel, Frames.control(FrameType.CREDIT, 40, 0));
				long now = tick(fixture, channel, System.nanoTime(), 1100);
				for (int i = 0; i < 5; i++) {
					for (int j = 0; j < 30; j++) {
						submit(channel);
					}
					fixture.turn();
					pair.completeAll();
					fixture.deliver(channel, Frames.control(FrameType.CREDIT, 30, 0));
					now = tick(fixture, channel, now, 1100);
				}
				assertThat(pair.sentTypes().stream().filter("RETURN"::equals)).as("48 less 30 less those of the start")
					.hasSize(10);
				channel.shut("test");
			});
		}
	}

	@Test
	void creditsGivenBackAreCountedByBothSidesAlike() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel client = fixture.client(OPTIONS, this.handler, 8, 128);
				FakeQueuePair pair = LoopFixture.pair(client);
				fixture.deliver(client, Frames.control(FrameType.CREDIT, 20, 0));
				long now = tick(fixture, client, System.nanoTime(), 1100);
				tick(fixture, client, now, 1100);
				assertThat(pair.sentTypes()).hasSize(1 + 20);
				for (int i = 0; i < 8; i++) {
					submit(client);
				}
				fixture.turn();
				assertThat(pair.sentTypes()).as("8 are left, of which 2 are kept").hasSize(1 + 20 + 6);
				client.shut("test");
			});
		}
	}

	@Test
	void messageThatHadToWaitForCreditsIsToldOnce() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.client(OPTIONS, this.handler, 8, 128);
				FakeQueuePair pair = LoopFixture.pair(channel);
				for (int i = 0; i < 8; i++) {
					submit(channel);
				}
				fixture.turn();
				assertThat(flags(pair)).containsExactly(0, 0, 0, 0, 0, 0, 2);
				fixture.deliver(channel, Frames.control(FrameType.CREDIT, 7, 0));
				assertThat(flags(pair)).containsExactly(0, 0, 0, 0, 0, 0, 2, 2, 0);
				for (int i = 0; i < 6; i++) {
					submit(channel);
					fixture.turn();
				}
				assertThat(flags(pair)).as("one waits, noticed after the last frame").hasSize(9 + 5).endsWith(0, 0, 0);
				fixture.deliver(channel, Frames.control(FrameType.CREDIT, 7, 0));
				assertThat(flags(pair)).hasSize(9 + 6).endsWith(0, 0, 0, 2);
				submit(channel);
				fixture.turn();
				assertThat(flags(pair)).hasSize(9 + 7).endsWith(2, 0);
				channel.shut("test");
			});
		}
	}

	@Test
	void creditsRideOnReplies() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, new Replying(), 1024);
				Peer peer = new Peer(fixture, channel);
				for (int i = 0; i < 1000; i++) {
					peer.deliver(Frames.request(0, i, 1, 0, 0, new byte[0]));
				}
				assertThat(LoopFixture.pair(channel).sentTypes()).hasSize(1001).doesNotContain("CREDIT");
				assertThat(fixture.loop.metrics().creditFrames()).isZero();
				assertThat(fixture.receives.promised()).isEqualTo(8);
				assertThat(peer.credits).isEqualTo(8);
			});
		}
	}

	@Test
	void creditsWaitForRepliesThatComeALittleLater() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS, this.handler, 1024);
				Peer peer = new Peer(fixture, channel);
				for (int i = 0; i < 200; i++) {
					for (int j = 0; j < 5; j++) {
						peer.deliver(Frames.request(0, 5 * i + j, 1, 0, 0, new byte[0]));
					}
					for (int j = 0; j < 5; j++) {
						channel.prepareReply(5 * i + j, 0, RequestTemplate.NO_METADATA, new MessageSegments()).submit();
					}
					fixture.turn();
					peer.count();
				}
				assertThat(LoopFixture.pair(channel).sentTypes()).hasSize(1001).doesNotContain("CREDIT");
			});
		}
	}

	@Test
	void creditsGoAloneWhenNothingElseGoesThatWay() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				RpcChannel channel = fixture.server(OPTIONS.withCredits(32, 32), this.handler, 1024);
				Peer peer = new Peer(fixture, channel);
				int most = 0;
				for (int i = 0; i < 2400; i++) {
					peer.deliver(CANCEL);
					most = Math.max(most, peer.credits);
					assertThat(peer.credits).as("never held back").isGreaterThan(2);
				}
				assertThat(most).isEqualTo(32);
				assertThat(fixture.loop.metrics().creditFrames()).as("one for every 24 frames").isEqualTo(100);
				assertThat(LoopFixture.pair(channel).sentTypes()).hasSize(101);
			});
		}
	}

	@Test
	void metricsTellWhatIsPostedAndPromised() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				Peer peer = new Peer(fixture, fixture.server(OPTIONS, this.handler, 1024));
				for (int i = 0; i < 100; i++) {
					peer.deliver(PING);
				}
				LoopMetrics metrics = fixture.loop.metrics();
				metrics.receives(fixture.receives);
				assertThat(metrics.receivesPromised()).isEqualTo(8);
				assertThat(metrics.receivesPosted()).isBetween(8L, 12L).isEqualTo(fixture.receiveQueue.posted());
				assertThat(metrics.receiveMemoryBytes()).isEqualTo(12L * FRAME);
				assertThat(metrics.receivePosts()).isBetween(10L, 30L).isEqualTo(fixture.receiveQueue.calls);
				assertThat(metrics.framesReceived()).isEqualTo(101);
				assertThat(metrics.framesSent()).isEqualTo(101);
			});
		}
	}

	private static long tick(LoopFixture fixture, RpcChannel channel, long now, long millis) {
		long later = now + TimeUnit.MILLISECONDS.toNanos(millis);
		channel.tick(later, true);
		fixture.turn();
		return later;
	}

	private static void submit(RpcChannel channel) {
		channel
			.prepareRequest(new StubCall(), new RequestTemplate(1, 1, 0), Long.MAX_VALUE, 0,
					RequestTemplate.NO_METADATA, new MessageSegments())
			.submit();
	}

	private static List<Integer> flags(FakeQueuePair pair) {
		return pair.sent.stream().map(FrameFlyweight::flags).toList();
	}

	/** A peer that keeps to its credits and counts what it is granted. */
	private static final class Peer {

		private final LoopFixture fixture;

		private final RpcChannel channel;

		private final FakeQueuePair pair;

		private int seen = 1;

		private int credits;

		Peer(LoopFixture fixture, RpcChannel channel) {
			this.fixture = fixture;
			this.channel = channel;
			this.pair = LoopFixture.pair(channel);
			this.credits = this.pair.sent.get(0).getShort(36);
		}

		void deliver(byte[] frame) {
			assertThat(this.credits).as("a credit for the frame").isPositive();
			this.credits--;
			this.fixture.deliver(this.channel, frame);
			count();
		}

		void count() {
			for (; this.seen < this.pair.sent.size(); this.seen++) {
				this.credits += FrameFlyweight.credits(this.pair.sent.get(this.seen));
			}
			this.pair.completeAll();
			this.fixture.turn();
		}

	}

	/** Answers each request at once. */
	private static final class Replying extends RecordingHandler {

		@Override
		public void onRequest(RpcChannel channel, IncomingMessage request) {
			channel.prepareReply(request.requestId(), 0, RequestTemplate.NO_METADATA, new MessageSegments()).submit();
		}

	}

}
