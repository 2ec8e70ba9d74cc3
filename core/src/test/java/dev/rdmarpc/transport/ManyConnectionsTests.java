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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** Receive memory follows the load and not the number of connections. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class ManyConnectionsTests {

	private static final int CONNECTIONS = 1000;

	private static final int BUSY = 10;

	private static final int FRAME = 2048;

	private static final int LEAST = 8;

	private static final int MOST = 128;

	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS.withFrames(FRAME, MOST)
		.withTimeouts(Duration.ofSeconds(30), Duration.ofSeconds(60), Duration.ofSeconds(90));

	private final AtomicInteger open = new AtomicInteger();

	private final AtomicInteger closed = new AtomicInteger();

	@Test
	void thousandConnectionsOfWhichTenAreBusyTakeLessThanAQuarterOfFixedDepths() {
		run(OPTIONS, CONNECTIONS, (server, client, channels) -> {
			long fixed = (long) CONNECTIONS * MOST * FRAME;
			Await.until(() -> server.receivesPromised() == CONNECTIONS * LEAST);
			assertThat(server.receiveMemoryBytes()).as("idle").isBetween(fixed / 16, fixed / 15);
			List<Burst> bursts = channels.subList(0, BUSY).stream().map((channel) -> new Burst(channel, 3000)).toList();
			bursts.forEach(Burst::start);
			long[] peak = new long[2];
			Await.until(() -> {
				peak[0] = Math.max(peak[0], server.receiveMemoryBytes());
				peak[1] = Math.max(peak[1], server.receivesPromised());
				return bursts.stream().allMatch((burst) -> burst.left.get() == 0);
			});
			Await.until(() -> {
				peak[1] = Math.max(peak[1], server.receivesPromised());
				return peak[1] == (CONNECTIONS - BUSY) * LEAST + BUSY * MOST;
			});
			assertThat(Math.max(peak[0], server.receiveMemoryBytes())).as("ten are busy").isLessThan(fixed / 4);
			Await.until(() -> server.receivesPromised() == CONNECTIONS * LEAST);
			Await.until(() -> client.receivesPromised() == CONNECTIONS * LEAST);
			Await.until(() -> server.receiveMemoryBytes() < fixed / 15);
			assertThat(server.receivesPosted()).as("promised is posted").isGreaterThanOrEqualTo(CONNECTIONS * LEAST);
			assertThat(server.receivePosts() * 4).as("receives are posted in batches")
				.isLessThan(server.framesReceived());
		});
	}

	@Test
	void fixedDepthsAreTheProductOfDepthAndConnections() {
		run(OPTIONS.withCredits(MOST, MOST), 20, (server, client, channels) -> {
			Await.until(() -> server.receivesPromised() == 20 * MOST);
			assertThat(server.receiveMemoryBytes()).isBetween(20L * MOST * FRAME, (20L * MOST + 128) * FRAME);
		});
	}

	@Test
	void connectionsThatHaveLeftKeepNoReceives() {
		run(OPTIONS.withCredits(MOST, MOST), 250, (server, client, channels) -> {
			Await.until(() -> server.receivesPromised() == 250 * MOST);
			assertThat(server.receiveMemoryBytes()).isGreaterThanOrEqualTo(250L * MOST * FRAME);
			channels.subList(1, 250).forEach((channel) -> channel.close("closed on this side"));
			Await.until(() -> server.receivesPromised() == MOST);
			Await.until(() -> server.receiveMemoryBytes() <= (MOST + 64L) * FRAME);
			Burst burst = new Burst(channels.get(0), 3000);
			burst.start();
			Await.until(() -> burst.left.get() == 0);
			channels.get(0).close("closed on this side");
			Await.until(() -> server.receiveMemoryBytes() == 0 && client.receiveMemoryBytes() == 0);
		});
	}

	private void run(ChannelOptions options, int connections, Body body) {
		try (RegisteredMemory serverMemory = memory(); RegisteredMemory clientMemory = memory()) {
			try (RdmaTransport server = RdmaTransport.open(TransportOptions.DEFAULTS, serverMemory);
					RdmaTransport client = RdmaTransport.open(TransportOptions.DEFAULTS, clientMemory)) {
				ChannelLoop serverLoop = server.startLoop("many-server", FRAME);
				ChannelLoop clientLoop = client.startLoop("many-client", FRAME);
				ChannelListener listener = server.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
						List.of(serverLoop), connections, options, Replying::new);
				List<RpcChannel> channels = new ArrayList<>();
				while (channels.size() < connections) {
					for (int i = 0; i < 100 && channels.size() < connections; i++) {
						RpcChannel channel = client.newChannel(clientLoop, options, new Counting());
						channels.add(channel);
						client.connect(channel, listener.localAddress());
					}
					Await.until(() -> this.open.get() == channels.size());
				}
				body.run(serverLoop.metrics(), clientLoop.metrics(), channels);
				assertThat(this.closed).as("connections lost").hasValue(0);
				assertThat(clientLoop.outstandingCalls()).as("calls outstanding").isZero();
				listener.close();
			}
			assertThat(serverMemory.metrics().allocatedBytes()).as("server memory outstanding").isZero();
			assertThat(clientMemory.metrics().allocatedBytes()).as("client memory outstanding").isZero();
		}
	}

	private static RegisteredMemory memory() {
		return RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(128L << 20).withInitialBytes(0));
	}

	/** What a test looks at. */
	private interface Body {

		void run(LoopMetrics server, LoopMetrics client, List<RpcChannel> channels);

	}

	/** Keeps as many calls outstanding as a window holds, until so many were made. */
	private static final class Burst {

		private final RpcChannel channel;

		private final AtomicInteger toStart;

		private final AtomicInteger left;

		Burst(RpcChannel channel, int calls) {
			this.channel = channel;
			this.toStart = new AtomicInteger(calls);
			this.left = new AtomicInteger(calls);
		}

		void start() {
			for (int i = 0; i < MOST; i++) {
				next();
			}
		}

		/** Each request is too long to share a Send. */
		private void next() {
			if (this.toStart.getAndDecrement() > 0) {
				MessageSegments message = new MessageSegments();
				message.addBytes(ByteBuffer.allocateDirect(FrameBundle.MOST_FRAME_BYTES));
				this.channel
					.prepareRequest(new Step(this), new RequestTemplate(1, 1, 0), Long.MAX_VALUE, 0,
							RequestTemplate.NO_METADATA, message)
					.submit();
			}
		}

	}

	/** One call of a burst. */
	private static final class Step implements PendingCall {

		private final Burst burst;

		private int requestId;

		private volatile boolean done;

		Step(Burst burst) {
			this.burst = burst;
		}

		@Override
		public void onStarted(int id) {
			this.requestId = id;
		}

		@Override
		public int requestId() {
			return this.requestId;
		}

		@Override
		public void onReply(IncomingMessage reply) {
			this.done = true;
			this.burst.left.decrementAndGet();
			this.burst.next();
		}

		@Override
		public void onFailure(CallFailure why, String detail) {
			this.done = true;
		}

		@Override
		public boolean isDone() {
			return this.done;
		}

	}

	/** Answers each request at once. */
	private static final class Replying extends RecordingHandler {

		@Override
		public void onRequest(RpcChannel channel, IncomingMessage request) {
			channel.prepareReply(request.requestId(), 0, RequestTemplate.NO_METADATA, new MessageSegments()).submit();
		}

	}

	/** Counts what opens and closes unasked. */
	private final class Counting extends RecordingHandler {

		@Override
		public void onOpen(RpcChannel channel) {
			ManyConnectionsTests.this.open.incrementAndGet();
		}

		@Override
		public void onClosed(RpcChannel channel, String reason) {
			if (!reason.equals("closed on this side")) {
				ManyConnectionsTests.this.closed.incrementAndGet();
			}
		}

	}

}
