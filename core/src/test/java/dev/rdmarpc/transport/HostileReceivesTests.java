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

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

import static org.assertj.core.api.Assertions.assertThat;

/** The receives that hostile peers had taken come back when their channels end. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileReceivesTests {

	private static final int ROUNDS = 12;

	private static final int WINDOW = 128;

	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS.withCredits(WINDOW, WINDOW)
		.withTimeouts(Duration.ofSeconds(2), Duration.ofSeconds(30), Duration.ofSeconds(60));

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(64L << 20)
		.withInitialBytes(4L << 20)
		.withLeakDetection(LeakDetection.PARANOID));

	private final RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, this.memory);

	private final ChannelLoop loop = this.transport.startLoop("server", OPTIONS.frameBytes());

	private final ChannelListener listener = this.transport.listen(
			new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), List.of(this.loop), ROUNDS, OPTIONS,
			Replying::new);

	@AfterEach
	void nothingIsOutstanding() {
		this.listener.close();
		this.transport.close();
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
	}

	@Test
	void peersThatStopInTheMiddleOfASend() throws IOException {
		List<RawSender> peers = new ArrayList<>();
		for (int i = 0; i < ROUNDS; i++) {
			RawSender peer = new RawSender(this.listener.localAddress());
			peers.add(peer);
			peer.begin(new byte[64]);
		}
		for (RawSender peer : peers) {
			peer.awaitEnd();
			peer.close();
		}
		allReceivesAreThere();
	}

	@Test
	void peersThatSendOnAfterAViolation() throws IOException {
		for (int i = 0; i < ROUNDS; i++) {
			try (RawSender peer = new RawSender(this.listener.localAddress())) {
				peer.send(WINDOW, new byte[4]);
				peer.awaitEnd();
			}
		}
		allReceivesAreThere();
	}

	private void allReceivesAreThere() {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
		Receives receives = receives();
		while (!receives.areSettled()) {
			assertThat(System.nanoTime() - deadline).as("time left with %s", receives).isNegative();
			LockSupport.parkNanos(1_000_000);
			receives = receives();
		}
		try (VerbsDevice device = new IwarpProvider().openDevice(null);
				RawReader innocent = new RawReader(device, this.listener.localAddress())) {
			for (int i = 0; i < ChannelOptions.MIN_CREDITS - 2; i++) {
				innocent.call(i);
				ByteBuffer frame = innocent.next();
				while (FrameFlyweight.type(frame) == FrameType.PING) {
					frame = innocent.next();
				}
				assertThat(FrameFlyweight.type(frame)).isEqualTo(FrameType.REPLY);
			}
		}
	}

	private Receives receives() {
		CompletableFuture<Receives> snapshot = new CompletableFuture<>();
		this.loop.execute(() -> snapshot.complete(new Receives(this.loop.resources().sharedReceiveQueue().posted(),
				this.loop.receives().posted(), this.loop.receives().promised())));
		return snapshot.join();
	}

	/** How many there are, according to the device and to the loop. */
	private record Receives(int inQueue, int posted, int promised) {

		/** Whether no peer is left, and no receive missing. */
		boolean areSettled() {
			return this.promised == 0 && this.inQueue == this.posted;
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
