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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongToIntFunction;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a peer gets that reads memory it was not, not yet, or no longer given: an access
 * error and no bytes.
 */
@Tag("slow")
class MaliciousReaderTests {

	private static final int EAGER_BYTES = 16 * 1024;

	/** So many that they are Read even where the channel is quiet. */
	private static final int MESSAGE_BYTES = 100_000;

	private static final byte CONTENT = 0x77;

	/** Below the three seconds that the message may take at the least speed. */
	private static final Duration LIMIT = Duration.ofSeconds(1);

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(32L << 20)
		.withInitialBytes(4L << 20)
		.withLeakDetection(LeakDetection.PARANOID));

	private final RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, this.memory);

	private final VerbsDevice device = new IwarpProvider().openDevice(null);

	private ChannelListener listener;

	private ChannelLoop loop;

	private RawReader reader;

	@BeforeEach
	void connect() {
		this.loop = this.transport.startLoop("server", 8192);
		connect(ChannelOptions.DEFAULTS);
	}

	private void connect(ChannelOptions given) {
		ChannelOptions options = given.withEagerLimit(EAGER_BYTES);
		this.listener = this.transport.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
				List.of(this.loop), 10, options, LargeReplies::new);
		this.reader = new RawReader(this.device, this.listener.localAddress());
	}

	@AfterEach
	void nothingIsOutstanding() {
		this.reader.close();
		this.device.close();
		this.listener.close();
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
		while (!this.loop.channels().isEmpty()) {
			assertThat(System.nanoTime() - deadline).as("channel closed in time").isNegative();
		}
		this.transport.close();
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
	}

	/** Asks for the reply and returns the one window that holds it. */
	private Window window(int requestId) {
		this.reader.call(requestId);
		ByteBuffer reply = this.reader.next();
		assertThat(FrameFlyweight.type(reply)).isEqualTo(FrameType.REPLY);
		assertThat(FrameFlyweight.flags(reply)).isEqualTo(FrameFlyweight.FLAG_READ);
		int at = FrameFlyweight.REPLY_HEADER_LENGTH;
		assertThat(WindowListFlyweight.problem(reply, at, reply.capacity(), MESSAGE_BYTES)).isNull();
		assertThat(WindowListFlyweight.count(reply, at)).isOne();
		byte[] copy = new byte[reply.capacity()];
		reply.get(0, copy);
		return new Window(WindowListFlyweight.address(copy, at, 0), WindowListFlyweight.key(copy, at, 0));
	}

	private void refused(long address, int key, int length) {
		assertThat(this.reader.read(address, key, length)).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
		assertThat(this.reader.broughtNothing(length)).as("no byte arrived").isTrue();
		assertThat(this.reader.isEnded()).isTrue();
	}

	@Test
	void honestReaderGetsTheMessageAndNothingElse() {
		Window window = window(0);
		assertThat(this.reader.read(window.address(), window.key(), MESSAGE_BYTES)).isEqualTo(WorkStatus.SUCCESS);
		for (int i = 0; i < MESSAGE_BYTES; i++) {
			assertThat(this.reader.read().get(i)).isEqualTo(CONTENT);
		}
		this.reader.control(FrameType.READ_DONE, 0);
	}

	@Test
	void readingAfterTheEndIsRefused() {
		Window window = window(0);
		this.reader.control(FrameType.READ_DONE, 0);
		this.reader.control(FrameType.PING, 0);
		assertThat(FrameFlyweight.type(this.reader.next())).isEqualTo(FrameType.PONG);
		refused(window.address(), window.key(), 1);
	}

	@ParameterizedTest
	@ValueSource(longs = { -1, 1, MESSAGE_BYTES, -4096, 1L << 32, Long.MIN_VALUE })
	void readingBesideTheWindowIsRefused(long distance) {
		Window window = window(0);
		refused(window.address() + distance, window.key(), MESSAGE_BYTES);
	}

	@Test
	void readingOneByteTooMuchIsRefused() {
		Window window = window(0);
		refused(window.address(), window.key(), MESSAGE_BYTES + 1);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, -1, 0x100, -0x100, 0x10000, 0 })
	void readingWithAGuessedKeyIsRefused(int distance) {
		Window window = window(0);
		int guess = (distance != 0) ? window.key() + distance : new Random(1).nextInt();
		refused(window.address(), guess, 1);
	}

	@Test
	void readingBeforeAnythingIsOpenIsRefused() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		assertThat(this.reader.read(random.nextLong(), random.nextInt(), 64)).as("seed %d", seed)
			.isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
		assertThat(this.reader.broughtNothing(64)).isTrue();
	}

	@Test
	void keyOfOneMessageDoesNotOpenTheNext() {
		Window first = window(0);
		this.reader.control(FrameType.READ_DONE, 0);
		Window second = window(1);
		assertThat(second.key()).isNotEqualTo(first.key());
		refused(second.address(), first.key(), 1);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, -1, MESSAGE_BYTES + 1, Integer.MIN_VALUE })
	void windowsThatDoNotMakeUpTheMessageEndTheConnection(int length) {
		this.reader.describe(0, MESSAGE_BYTES, 0, 0, length);
		assertThat(this.reader.nextOrNull()).isNull();
	}

	@Test
	void readingAfterTheCallWasCancelledIsRefusedSoon() {
		Window window = window(0);
		this.reader.control(FrameType.CANCEL, 0);
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
		WorkStatus status;
		do {
			assertThat(System.nanoTime() - deadline).as("revoked in time").isNegative();
			status = this.reader.read(window.address(), window.key(), 1);
		}
		while (status == WorkStatus.SUCCESS);
		assertThat(status).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
		assertThat(this.reader.broughtNothing(1)).isTrue();
	}

	@Test
	void readingOnAnotherConnectionAfterTheFirstHasEndedIsRefused() {
		Window window = window(0);
		this.reader.close();
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
		while (!this.loop.channels().isEmpty()) {
			assertThat(System.nanoTime() - deadline).as("channel closed in time").isNegative();
		}
		this.reader = new RawReader(this.device, this.listener.localAddress());
		refused(window.address(), window.key(), 1);
	}

	@Test
	void latencyIsFavoredWhileSmallMessagesPassALargeOne() {
		refuseOne();
		assertThat(favorsLatency()).as("nothing is being read").isFalse();
		window(0);
		assertThat(favorsLatency()).as("nothing small is sent").isFalse();
		Await.until(this::favorsLatencyAfterASmallMessage);
		this.reader.control(FrameType.READ_DONE, 0);
		Await.until(() -> !favorsLatency());
	}

	@Test
	void latencyIsFavoredWhileSmallMessagesAreOnOtherChannels() {
		window(0);
		assertThat(favorsLatency()).as("nothing small is sent").isFalse();
		try (RawReader reading = this.reader) {
			this.reader = new RawReader(this.device, this.listener.localAddress());
			Await.until(this::favorsLatencyAfterASmallMessage);
			reading.control(FrameType.READ_DONE, 0);
			Await.until(() -> !favorsLatency());
		}
	}

	/** Latency is favored for a while only: whoever waits for that has more sent. */
	private boolean favorsLatencyAfterASmallMessage() {
		refuseOne();
		this.reader.control(FrameType.CREDIT, 0);
		return favorsLatency();
	}

	/** Has the server send a small reply. */
	private void refuseOne() {
		int bytes = ChannelOptions.DEFAULTS.maxMessageBytes() + 1;
		this.reader.describe(3, bytes, 4711, 4711, bytes);
		assertThat(FrameFlyweight.type(this.reader.next())).isEqualTo(FrameType.READ_DONE);
		assertThat(FrameFlyweight.type(this.reader.next())).isEqualTo(FrameType.REPLY);
	}

	private boolean favorsLatency() {
		CompletableFuture<Boolean> favors = new CompletableFuture<>();
		this.loop.execute(() -> favors.complete(this.loop.channels().get(0).sender().favorsLatency()));
		return favors.join();
	}

	@Test
	void windowsThatDoNotExistEndTheConnection() {
		this.reader.describe(0, MESSAGE_BYTES, 4711, 4711, MESSAGE_BYTES);
		assertThat(this.reader.nextOrNull()).isNull();
	}

	@Test
	void messageOverTheLimitIsRefusedUnread() {
		int bytes = ChannelOptions.DEFAULTS.maxMessageBytes() + 1;
		this.reader.describe(3, bytes, 4711, 4711, bytes);
		ByteBuffer done = this.reader.next();
		assertThat(FrameFlyweight.type(done)).isEqualTo(FrameType.READ_DONE);
		assertThat(FrameFlyweight.requestId(done)).isEqualTo(3);
		assertThat(FrameFlyweight.type(this.reader.next())).isEqualTo(FrameType.REPLY);
	}

	@Test
	void messageThatIsNeverReadEndsTheConnection() {
		this.reader.close();
		this.listener.close();
		connect(ChannelOptions.DEFAULTS.withTimeouts(Duration.ofSeconds(5), Duration.ofMillis(100), LIMIT));
		window(0);
		int alive = 0;
		do {
			alive++;
			this.reader.control(FrameType.PING, 0);
		}
		while (this.reader.nextOrNull() != null);
		assertThat(alive).as("the peer was not silent").isGreaterThan(1);
	}

	/** Pings as long as the connection lives, telling of progress each time. */
	private long aliveNanos(LongToIntFunction readBytes) {
		this.reader.close();
		this.listener.close();
		connect(ChannelOptions.DEFAULTS.withTimeouts(Duration.ofSeconds(5), Duration.ofMillis(100), LIMIT));
		window(0);
		long start = System.nanoTime();
		do {
			this.reader.control(FrameType.READ_PROGRESS, 0, readBytes.applyAsInt(System.nanoTime() - start));
			this.reader.control(FrameType.PING, 0);
		}
		while (this.reader.nextOrNull() != null && System.nanoTime() - start < 60 * LIMIT.toNanos());
		return System.nanoTime() - start;
	}

	/** Within the time that the message takes at the least speed. */
	@Test
	void messageThatIsReadSlowlyHasItsTime() {
		long lived = aliveNanos((nanos) -> (int) (nanos / 1_000_000 * 40));
		assertThat(lived).isGreaterThan(2 * LIMIT.toNanos());
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, Integer.MAX_VALUE, Integer.MIN_VALUE })
	void whoClaimsToReadGainsNoMoreThanTheTimeOfTheMessage(int bytesPerStep) {
		AtomicLong steps = new AtomicLong();
		long lived = aliveNanos((nanos) -> (int) Math.min(Integer.MAX_VALUE, steps.getAndIncrement() * bytesPerStep));
		assertThat(lived).isLessThan(60 * LIMIT.toNanos());
	}

	@Test
	void progressOfNothingIsHarmless() {
		this.reader.control(FrameType.READ_PROGRESS, 12345, 100);
		this.reader.control(FrameType.READ_PROGRESS, -1, -1);
		honestReaderGetsTheMessageAndNothingElse();
	}

	@Test
	void readDoneForNothingIsHarmless() {
		this.reader.control(FrameType.READ_DONE, 12345);
		honestReaderGetsTheMessageAndNothingElse();
	}

	private record Window(long address, int key) {

	}

	/** Answers every request with a large message. */
	private static final class LargeReplies implements ChannelHandler {

		@Override
		public void onOpen(RpcChannel channel) {
			// nothing to do
		}

		@Override
		public void onRequest(RpcChannel channel, IncomingMessage request) {
			reply(channel, request.requestId(), MESSAGE_BYTES);
		}

		private static void reply(RpcChannel channel, int requestId, int bytes) {
			MessageSegments segments = new MessageSegments();
			ByteBuffer memory = segments.claimMemory(bytes);
			for (int i = 0; i < bytes; i++) {
				memory.put(i, CONTENT);
			}
			segments.add(memory, 0, bytes);
			channel.prepareReply(requestId, 0, RequestTemplate.NO_METADATA, segments).submit();
		}

		@Override
		public void onUnreadableRequest(RpcChannel channel, int requestId, String detail) {
			reply(channel, requestId, 10);
		}

		@Override
		public void onCancel(RpcChannel channel, int requestId) {
			// replied already
		}

		@Override
		public void onGoodbye(RpcChannel channel) {
			// the reader just goes
		}

		@Override
		public void onClosed(RpcChannel channel, String reason) {
			// checked by the loop's channels
		}

	}

}
