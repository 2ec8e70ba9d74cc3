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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
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

/** Peers that break the rules of streams, from either side. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcHostileStreamTests {

	private static final int WINDOW = 64 * 1024;

	private static final ChannelOptions CHANNEL = ChannelOptions.DEFAULTS.withFrames(8192, 32)
		.withLimits(1 << 20, 64)
		.withStreamWindow(WINDOW);

	private static final long COUNT = MethodDescriptor.idOf(Feed.class.getName(), "count");

	private static final long ITEMS = MethodDescriptor.idOf(Feed.class.getName(), "items");

	private static final long UNARY = MethodDescriptor.idOf(Feed.class.getName(), "unary");

	private static final long RELABEL = MethodDescriptor.idOf(Feed.class.getName(), "relabel");

	/** The argument of {@code count}, in the layout of the codec: a very large number. */
	private static final byte[] ENDLESS = { 4, 0, 0, 0, -12, -1, -1, -1, 0, 0, 0, 0, -1, -1, -1, 127, 6, 0, 12, 0, 4, 0,
			0, 0 };

	@ParameterizedTest
	@MethodSource
	void brokenRuleOfAClient(String what, byte[] frame) {
		attackServer((port, service) -> {
			try (RawPeer peer = open(port, WINDOW)) {
				peer.send(stream(3, ITEMS, 2));
				peer.sendFairly(Frames.control(8, 0, 0));
				peer.receive(9);
				peer.send(frame);
				peer.awaitEnd();
			}
		});
	}

	static Stream<Arguments> brokenRuleOfAClient() {
		return Stream.of(Arguments.of("message", Frames.message(3, 8, new byte[8])),
				Arguments.of("bytes that were not used", Frames.demand(3, 1, 1)),
				Arguments.of("negative bytes", Frames.demand(3, 1, -1)),
				Arguments.of("most negative bytes", Frames.demand(3, 1, Integer.MIN_VALUE)),
				Arguments.of("negative messages", Frames.demand(3, -1, 0)),
				Arguments.of("id in use", stream(3, ITEMS, 2)),
				Arguments.of("negative demand of a request", stream(4, ITEMS, -1)),
				Arguments.of("short request", Frames.truncated(stream(4, ITEMS, 1), 31)));
	}

	@Test
	void streamForAClientThatAnnouncedNone() {
		attackServer((port, service) -> {
			try (RawPeer peer = RawPeer.open(port, 32)) {
				peer.send(stream(0, ITEMS, 2));
				peer.awaitEnd();
			}
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, -1, 1023, Integer.MIN_VALUE, (1 << 30) + 1 })
	void windowOutOfRange(int window) {
		attackServer((port, service) -> {
			try (RawPeer peer = RawPeer.connect(port)) {
				peer.send(Frames.withStreams(Frames.hello(1, 32), window));
				peer.awaitEnd();
			}
		});
	}

	@Test
	void methodOfAnotherKind() {
		attackServer((port, service) -> {
			try (RawPeer peer = open(port, WINDOW)) {
				peer.sendFairly(stream(0, UNARY, 2));
				assertThat(peer.receive(4)[16]).isEqualTo((byte) RpcStatus.UNIMPLEMENTED.code());
				peer.sendFairly(Frames.request(0, 1, COUNT, 1, ENDLESS.length, ENDLESS));
				assertThat(peer.receive(4)[16]).isEqualTo((byte) RpcStatus.UNIMPLEMENTED.code());
			}
		});
	}

	@ParameterizedTest
	@MethodSource
	void brokenRuleOfACallerWithMessages(String what, byte[][] frames) {
		attackServer((port, service) -> {
			try (RawPeer peer = open(port, WINDOW)) {
				peer.send(Frames.followed(stream(3, RELABEL, 2)));
				peer.receive(15);
				for (byte[] frame : frames) {
					peer.sendFairly(frame);
				}
				peer.awaitEnd();
			}
		});
	}

	static Stream<Arguments> brokenRuleOfACallerWithMessages() {
		byte[] large = Frames.message(3, 40_000, new byte[8000]);
		return Stream.of(
				Arguments.of("message in the middle", new byte[][] { large, Frames.message(3, 0, new byte[0]) }),
				Arguments.of("message begun twice", new byte[][] { large, large }),
				Arguments.of("end in the middle", new byte[][] { large, Frames.control(16, 0, 3) }),
				Arguments.of("metadata", new byte[][] { Frames.metadata(3, new byte[8]) }));
	}

	@Test
	void callsWithMessagesThatTheMethodDoesNotTake() {
		attackServer((port, service) -> {
			try (RawPeer peer = open(port, WINDOW)) {
				peer.sendFairly(Frames.followed(Frames.request(0, 0, UNARY, 0, 0, new byte[0])));
				assertThat(peer.receive(4)[16]).isEqualTo((byte) RpcStatus.UNIMPLEMENTED.code());
				peer.sendFairly(Frames.control(16, 0, 0));
				peer.sendFairly(stream(0, RELABEL, 1));
				assertThat(peer.receive(4)[16]).isEqualTo((byte) RpcStatus.UNIMPLEMENTED.code());
			}
		});
	}

	@Test
	void messagesThatCannotBeDecodedFailTheCall() {
		attackServer((port, service) -> {
			try (RawPeer peer = open(port, WINDOW)) {
				peer.sendFairly(Frames.followed(stream(0, RELABEL, 2)));
				peer.receive(15);
				byte[] garbage = new byte[8];
				Arrays.fill(garbage, (byte) 0x77);
				peer.sendFairly(Frames.message(0, 8, garbage));
				assertThat(peer.receive(4)[16]).isEqualTo((byte) RpcStatus.INVALID_ARGUMENT.code());
			}
		});
	}

	@Test
	void floodOfCancellationsOfCallsWithMessages() {
		attackServer((port, service) -> {
			try (RawPeer peer = open(port, WINDOW)) {
				for (int i = 0; i < 3000; i++) {
					int id = i % 64 | (i / 64) << 16;
					peer.sendFairly(Frames.followed(stream(id, RELABEL, 1)));
					if (i % 3 == 0) {
						peer.sendFairly(Frames.control(16, 0, id));
					}
					peer.sendFairly(Frames.control(6, 0, id));
					peer.sendFairly(Frames.message(id, 8, new byte[8]));
				}
				peer.sendFairly(Frames.control(8, 0, 0));
				peer.receive(9);
			}
		});
	}

	@Test
	void demandOfCallsThatAreNotThereIsIgnored() {
		attackServer((port, service) -> {
			try (RawPeer peer = open(port, WINDOW)) {
				for (int id : new int[] { 0, 63, 64, 0x1_0003, -1 }) {
					peer.sendFairly(Frames.demand(id, 1, 1));
					peer.sendFairly(Frames.demand(id, -1, -1));
				}
				peer.sendFairly(Frames.control(8, 0, 0));
				peer.receive(9);
			}
		});
	}

	@Test
	void demandForEverythingIsMetAsFarAsTheWindowGoes() {
		attackServer((port, service) -> {
			try (RawPeer peer = open(port, 1024)) {
				peer.sendFairly(stream(0, COUNT, Integer.MAX_VALUE, ENDLESS));
				for (int i = 0; i < 10; i++) {
					peer.sendFairly(Frames.demand(0, Integer.MAX_VALUE, 0));
				}
				int left = 1024;
				while (left >= 1024 / 2) { // what is sent together takes half of it at
											// most
					left -= costOf(peer.receive(14));
				}
				peer.sendFairly(Frames.control(8, 0, 0));
				for (byte[] frame = peer.receive(); frame[0] != 9; frame = peer.receive()) {
					left -= (frame[0] == 14) ? costOf(frame) : 0;
				}
				assertThat(left).as("room in the window").isNotNegative();
				peer.sendFairly(Frames.demand(0, 0, 1024 - left));
				assertThat(RawPeer.view(peer.receive(14)).getInt(4)).isZero();
			}
		});
	}

	private static int costOf(byte[] frame) {
		return messagesIn(frame).stream().mapToInt((bytes) -> bytes + 64).sum();
	}

	/** The lengths of the messages in a frame, which may be several. */
	private static List<Integer> messagesIn(byte[] frame) {
		List<Integer> lengths = new ArrayList<>();
		boolean several = (frame[1] & 16) != 0;
		for (int at = 16; at < frame.length;) {
			int bytes = several ? RawPeer.view(frame).getInt(at) : frame.length - at;
			lengths.add(bytes);
			at += several ? 8 + (bytes + 7) / 8 * 8 : bytes;
		}
		return lengths;
	}

	@Test
	void hugeWindowsDoNotMakeTheServerMakeMoreThanItsOwn() {
		attackServer((port, service) -> {
			AtomicInteger published = new AtomicInteger();
			service.publisher = new FeedService.Numbers<>(Integer.MAX_VALUE, (number) -> {
				published.incrementAndGet();
				return new Feed.Item(number, "x".repeat(2000));
			}, () -> {
			});
			try (RawPeer peer = open(port, 1 << 30)) {
				for (int id = 0; id < 64; id++) {
					peer.sendFairly(stream(id, ITEMS, Integer.MAX_VALUE));
				}
				RpcFixture.awaitTrue(() -> {
					peer.poll();
					return published.get() > 64 * 5;
				});
				for (int i = 0; i < 200; i++) {
					peer.poll();
				}
				assertThat(published.get()).isLessThan(64 * (2 * WINDOW / 2000 + 65));
			}
		});
	}

	@Test
	void floodOfCancellations() {
		attackServer((port, service) -> {
			try (RawPeer peer = open(port, WINDOW)) {
				for (int i = 0; i < 3000; i++) {
					int id = i % 64 | (i / 64) << 16;
					peer.sendFairly(stream(id, ITEMS, 1));
					peer.sendFairly(Frames.control(6, 0, id));
					peer.sendFairly(Frames.control(6, 0, id));
				}
				for (int i = 0; i < 10_000; i++) {
					peer.sendFairly(Frames.control(6, 0, i * 31));
				}
				peer.sendFairly(Frames.control(8, 0, 0));
				peer.receive(9);
			}
		});
	}

	@ParameterizedTest
	@MethodSource
	void brokenRuleOfAServer(String expected, int demand, Object frames) {
		attackClient((feed, server) -> {
			Collector<Feed.Item> collector = Collector.of(feed.items("some"), demand);
			int id = accept(server);
			for (byte[] frame : (byte[][]) frames) {
				server.sendFairly(Frames.withInt(frame, 4, id + RawPeer.view(frame).getInt(4)));
			}
			server.awaitEnd();
			assertThat(failureOf(collector)).hasMessageContaining("UNAVAILABLE").hasMessageContaining(expected);
		});
	}

	static Stream<Arguments> brokenRuleOfAServer() {
		byte[] item = Frames.message(0, 8, new byte[8]);
		byte[] half = Frames.message(0, 10_000, new byte[8000]);
		return Stream.of(Arguments.of("granted 0 messages", 0, new byte[][] { item }),
				Arguments.of("before the last one is complete", 2, new byte[][] { half, item }),
				Arguments.of("before the last one is complete", 2, new byte[][] { half, half }),
				Arguments.of("demand of a call without stream", 2, new byte[][] { Frames.demand(0, 1, 0) }),
				Arguments.of("end from the side that serves", 2, new byte[][] { Frames.control(16, 0, 0) }),
				Arguments.of("last message from the side that serves", 2, new byte[][] { Frames.last(item) }),
				Arguments.of("of a stream that has begun", 2,
						new byte[][] { Frames.metadata(0, new byte[8]), Frames.metadata(0, new byte[8]) }),
				Arguments.of("metadata of 9 bytes", 2,
						new byte[][] { Frames.withInt(Frames.metadata(0, new byte[8]), 8, 9) }),
				Arguments.of("metadata of -1 bytes", 2,
						new byte[][] { Frames.withInt(Frames.metadata(0, new byte[8]), 8, -1) }),
				Arguments.of("metadata of 1025 bytes", 2, new byte[][] { Frames.metadata(0, new byte[1025]) }),
				Arguments.of("message of 7 bytes", 2, new byte[][] { Frames.withInt(item, 8, 7) }),
				Arguments.of("message of -1 bytes", 2, new byte[][] { Frames.withInt(item, 8, -1) }),
				Arguments.of("message of 8 bytes", 2, new byte[][] { Frames.withInt(item, 12, 1) }),
				Arguments.of("frame of 15 bytes", 2, new byte[][] { Frames.truncated(item, 15) }));
	}

	@Test
	void moreBytesThanTheWindow() {
		attackClient((feed, server) -> {
			Collector<Feed.Item> collector = new Collector<>(Long.MAX_VALUE);
			feed.items("many").subscribe(collector);
			int id = accept(server);
			for (int i = 0; i < 3; i++) {
				server.sendFairly(Frames.message(id, 1 << 20, new byte[8000]));
				for (int at = 8000; at < 1 << 20; at += 8000) {
					server
						.sendFairly(Frames.continuation(0, id, 1 << 20, at, new byte[Math.min(8000, (1 << 20) - at)]));
				}
			}
			assertThat(failureOf(collector)).hasMessageContaining("INTERNAL");
		});
	}

	@Test
	void messageForACallWithoutStream() {
		attackClient((feed, server) -> {
			CompletableFuture<RpcException> call = RpcFixture
				.inThread(() -> RpcFixture.failureOf(() -> feed.unary("text")));
			int id = accept(server);
			server.sendFairly(Frames.message(id, 0, new byte[0]));
			server.awaitEnd();
			assertThat(call.join()).hasMessageContaining("message of a call without stream");
		});
	}

	@Test
	void messagesOfCallsThatAreNotThereAndAfterTheEndAreIgnored() {
		attackClient((feed, server) -> {
			Collector<Feed.Item> ended = Collector.of(feed.items("first"), 2);
			int id = accept(server);
			for (int wrong : new int[] { id + 1, id + 0x10000, -1, Integer.MIN_VALUE }) {
				server.sendFairly(Frames.message(wrong, 8, new byte[8]));
				server.sendFairly(Frames.message(wrong, 4, new byte[2]));
				server.sendFairly(Frames.continuation(0, wrong, 4, 2, new byte[2]));
			}
			server.sendFairly(Frames.reply(0, id, 0, 0, new byte[0]));
			for (int i = 0; i < 1000; i++) {
				server.sendFairly(Frames.message(id, 8, new byte[8]));
			}
			assertThat(ended.ended.getCount()).isLessThanOrEqualTo(1);
			RpcFixture.awaitTrue(() -> ended.complete);
			assertThat(ended.received).isEmpty();
			server.sendFairly(Frames.control(8, 0, 0));
			server.receive(9);
		});
	}

	@Test
	void endInTheMiddleOfAMessage() {
		attackClient((feed, server) -> {
			Collector<Feed.Item> collector = Collector.of(feed.items("half"), 2);
			int id = accept(server);
			server.sendFairly(Frames.message(id, 10_000, new byte[8000]));
			server.sendFairly(Frames.reply(0, id, 0, 0, new byte[0]));
			assertThat(failureOf(collector)).hasMessageContaining("INTERNAL")
				.hasMessageContaining("ended in the middle of a message");
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 8 })
	void messageThatCannotBeDecoded(int bytes) {
		attackClient((feed, server) -> {
			Collector<Feed.Item> collector = Collector.of(feed.items("garbage"), 2);
			int id = accept(server);
			byte[] garbage = new byte[bytes];
			Arrays.fill(garbage, (byte) 0x77);
			server.sendFairly(Frames.message(id, bytes, garbage));
			assertThat(failureOf(collector)).hasMessageContaining("INTERNAL");
			server.receive(6);
		});
	}

	@Test
	void messageAboveTheLimitEndsTheStream() {
		attackClient((feed, server) -> {
			Collector<Feed.Item> collector = Collector.of(feed.items("too much"), 2);
			int id = accept(server);
			server.sendFairly(Frames.message(id, (1 << 20) + 1, new byte[8000]));
			for (int at = 8000; at <= 1 << 20; at += 8000) {
				server.sendFairly(
						Frames.continuation(0, id, (1 << 20) + 1, at, new byte[Math.min(8000, (1 << 20) + 1 - at)]));
			}
			assertThat(failureOf(collector)).hasMessageContaining("RESOURCE_EXHAUSTED");
			server.receive(6);
		});
	}

	@Test
	void serverThatKnowsNoStreams() {
		attackClient((feed, server) -> {
			Collector<Feed.Item> collector = Collector.of(feed.items("none"), 2);
			accepted(server);
			server.send(Frames.hello(2, 32));
			assertThat(failureOf(collector)).hasMessageContaining("UNIMPLEMENTED")
				.hasMessageContaining("the server knows no streams");
		});
	}

	private static byte[] stream(int id, long method, int demand) {
		return stream(id, method, demand, new byte[0]);
	}

	private static byte[] stream(int id, long method, int demand, byte[] arguments) {
		return Frames.streamed(Frames.request(0, id, method, 1, arguments.length, arguments), demand);
	}

	private static RawPeer open(int port, int window) {
		RawPeer peer = RawPeer.connect(port);
		peer.send(Frames.withStreams(Frames.hello(1, 32), Math.max(1024, window)));
		byte[] reply = peer.receive();
		assertThat(reply).isNotNull();
		assertThat(reply[0]).isEqualTo((byte) 2);
		ByteBuffer view = RawPeer.view(reply);
		assertThat(view.getShort(40) & 8).as("streams announced").isEqualTo(8);
		assertThat(view.getInt(46 + view.getShort(44) + 2)).isEqualTo(WINDOW);
		peer.credits = view.getShort(36) & 0xFFFF;
		return peer;
	}

	private static int accept(RawPeer server) {
		accepted(server);
		server.send(Frames.withStreams(Frames.hello(2, 32), WINDOW));
		return RawPeer.view(server.receive(3)).getInt(4);
	}

	private static void accepted(RawPeer server) {
		try {
			server.accept();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static RpcException failureOf(Collector<?> collector) {
		try {
			return collector.failure();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Attacks a server of streams, next to which another one is called all the time. */
	private static void attackServer(ServerAttack attack) {
		Consumer<RpcFixture> against = (fixture) -> {
			FeedService service = new FeedService();
			Flow.Publisher<Feed.Item> silent = (subscriber) -> subscriber.onSubscribe(new Flow.Subscription() {

				@Override
				public void request(long n) {
					// nothing to publish
				}

				@Override
				public void cancel() {
					// nothing to end
				}

			});
			service.publisher = silent;
			RpcServerOptions options = RpcFixture.serverOptions(0).withChannel(CHANNEL);
			try (RpcServer server = fixture.startServer(options, Feed.class, service)) {
				attack.against(server.port(), service);
				RpcFixture.awaitTrue(() -> server.channels().isEmpty() && server.activeCalls() == 0);
			}
		};
		Hostilities.attack(CHANNEL, against);
	}

	/** Has a client call a server that is made by hand. */
	private static void attackClient(ClientAttack attack) {
		try (RpcFixture fixture = new RpcFixture()) {
			try (RawPeer server = RawPeer.listen();
					RpcClient client = fixture.newClient(server::address,
							RpcClientOptions.DEFAULTS.withChannel(CHANNEL))) {
				attack.against(client.proxy(Feed.class), server);
				server.leave();
				RpcFixture.awaitTrue(() -> client.metrics().outstandingCalls() == 0);
			}
		}
	}

	private interface ServerAttack {

		void against(int port, FeedService service);

	}

	private interface ClientAttack {

		void against(Feed feed, RawPeer server);

	}

}
