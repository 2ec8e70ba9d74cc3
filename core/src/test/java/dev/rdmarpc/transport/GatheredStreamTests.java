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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages that are written into one frame while they are published. */
class GatheredStreamTests extends AbstractRequestStreamTests {

	@Test
	void messagesAreWrittenIntoOneFrameUntilTheDriverTakesIt() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			fixture.deliver(channel, demand(9, 0));
			publish(() -> gather(sender, 3, 0, 8));
			publish(() -> sender.prepareEnd().submit());
			fixture.turn();
			FakeQueuePair pair = LoopFixture.pair(channel);
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
	void nothingIsAddedToAFrameThatTheDriverHasTaken() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			fixture.deliver(channel, demand(9, 0));
			publish(() -> gather(sender, 8));
			fixture.turn();
			publish(() -> gather(sender, 16, 24));
			fixture.turn();
			assertThat(lengths(channel)).containsExactly(8, 16, 24);
			assertThat(LoopFixture.pair(channel).sent.stream().skip(2).map(ByteBuffer::capacity))
				.containsExactly(16 + 16, 16 + 24 + 32);
			reply(fixture, channel);
		});
	}

	@Test
	void messagesOfAllSizesKeepTheirOrder() throws Exception {
		asCaller(1 << 20, (fixture, channel, sender) -> {
			begin(fixture, channel);
			fixture.deliver(channel, demand(100, 0));
			publish(() -> {
				gather(sender, 1, 2);
				submit(sender, 3);
				gather(sender, 4);
				assertThat(sender.tryGather(segments(2049))).isFalse();
				submit(sender, 2049);
				gather(sender, 5);
				submit(sender, 6);
			});
			fixture.turn();
			assertThat(lengths(channel)).containsExactly(1, 2, 3, 4, 2049, 5, 6);
			reply(fixture, channel);
		});
	}

	@Test
	void frameThatIsFullIsFollowedByAnother() throws Exception {
		asCaller(1 << 20, (fixture, channel, sender) -> {
			begin(fixture, channel);
			fixture.deliver(channel, demand(1000, 0));
			publish(() -> {
				for (int i = 0; i < 300; i++) {
					gather(sender, 64);
				}
			});
			fixture.turn();
			assertThat(lengths(channel)).hasSize(300);
			assertThat(LoopFixture.pair(channel).sent.stream().skip(2).map(ByteBuffer::capacity))
				.containsExactly(16 + 113 * 72, 16 + 113 * 72, 16 + 74 * 72);
			reply(fixture, channel);
		});
	}

	@Test
	void frameCountsForNoMoreThanHalfTheWindow() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			fixture.deliver(channel, demand(60, 0));
			publish(() -> {
				for (int i = 0; i < 60; i++) {
					gather(sender, 8);
				}
			});
			fixture.turn();
			assertThat(lengths(channel)).as("half of 4096 at a time, 72 each").hasSize(56);
			fixture.deliver(channel, demand(0, 28 * 72));
			assertThat(lengths(channel)).hasSize(60);
			reply(fixture, channel);
		});
	}

	@Test
	void frameWaitsForItsGrant() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			publish(() -> gather(sender, 8, 9));
			fixture.turn();
			assertThat(lengths(channel)).isEmpty();
			publish(() -> sender.prepareEnd().submit());
			fixture.deliver(channel, demand(2, 0));
			assertThat(lengths(channel)).containsExactly(8, 9);
			assertThat(FrameFlyweight.flags(LoopFixture.pair(channel).sent.get(2))).isEqualTo(16 + 8);
			reply(fixture, channel);
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void whatIsGatheredWhenTheCallEndsIsGivenBack(boolean taken) throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			long before = fixture.memory.metrics().allocatedBytes();
			publish(() -> gather(sender, 8, 9));
			if (taken) {
				fixture.turn();
			}
			sender.close();
			reply(fixture, channel);
			publish(() -> gather(sender, 10));
			fixture.turn();
			assertThat(fixture.memory.metrics().allocatedBytes()).isLessThanOrEqualTo(before);
			assertThat(lengths(channel)).isEmpty();
		});
	}

	@Test
	void channelThatClosesGivesBackWhatIsGathered() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			publish(() -> gather(sender, 8, 9));
			channel.close("test");
			publish(() -> gather(sender, 10));
			fixture.turn();
			assertThat(lengths(channel)).isEmpty();
		});
	}

	@Test
	void withoutMemoryForAFrameMessagesGoAlone() throws Exception {
		asCaller((fixture, channel, sender) -> {
			begin(fixture, channel);
			fixture.deliver(channel, demand(9, 0));
			List<RegisteredBuffer> all = new ArrayList<>();
			for (RegisteredBuffer next = fixture.memory.tryAllocate(8192); next != null; next = fixture.memory
				.tryAllocate(8192)) {
				all.add(next);
			}
			all.remove(0).release();
			publish(() -> {
				gather(sender, 8);
				submit(sender, 9);
			});
			publish(() -> assertThat(sender.tryGather(segments(10))).isFalse());
			all.forEach(RegisteredBuffer::release);
			publish(() -> gather(sender, 11));
			fixture.turn();
			assertThat(lengths(channel)).containsExactly(8, 9, 11);
			reply(fixture, channel);
		});
	}

	@Test
	void whatIsLeftForTheDriverIsRunThoughItsThreadGoesOnAndEverybodySleeps() throws Exception {
		try (LoopFixture fixture = new LoopFixture()) {
			for (int i = 0; i < 500; i++) {
				CountDownLatch ran = new CountDownLatch(2);
				fixture.loop.gather(() -> {
					assertThat(fixture.loop.isGathering()).isTrue();
					fixture.loop.execute(ran::countDown);
					fixture.loop.execute(ran::countDown);
					assertThat(await(ran)).isTrue();
				});
				assertThat(fixture.loop.isGathering()).isFalse();
			}
		}
	}

	private static boolean await(CountDownLatch latch) {
		try {
			return latch.await(20, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** In another thread than the driver, which is the test's. */
	private static void publish(Runnable code) {
		CompletableFuture.runAsync(code).orTimeout(20, TimeUnit.SECONDS).join();
	}

	private static void gather(StreamSender sender, int... sizes) {
		for (int bytes : sizes) {
			MessageSegments message = segments(bytes);
			assertThat(sender.tryGather(message)).isTrue();
			message.clear();
		}
	}

	/** The lengths of the messages that were sent. */
	private static List<Integer> lengths(RpcChannel channel) {
		List<Integer> lengths = new ArrayList<>();
		for (ByteBuffer frame : LoopFixture.pair(channel).sent) {
			if (FrameFlyweight.type(frame) != FrameType.MESSAGE) {
				continue;
			}
			if ((FrameFlyweight.flags(frame) & FrameFlyweight.FLAG_PACK) == 0) {
				lengths.add(FrameFlyweight.messageBytes(frame));
				continue;
			}
			assertThat(FrameFlyweight.messageBytes(frame)).isEqualTo(frame.capacity() - FrameFlyweight.HEADER_LENGTH);
			int at = FrameFlyweight.HEADER_LENGTH;
			while (at < frame.capacity()) {
				assertThat(PackedMessages.problem(frame, at)).isNull();
				lengths.add(PackedMessages.messageBytes(frame, at));
				at += PackedMessages.entryBytes(PackedMessages.messageBytes(frame, at));
			}
		}
		return lengths;
	}

}
