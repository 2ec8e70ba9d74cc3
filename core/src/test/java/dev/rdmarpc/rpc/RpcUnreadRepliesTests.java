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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.ChannelSnapshot;
import dev.rdmarpc.transport.Frames;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.PeerShare;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Peers that call and do not read leave memory to others, on however many connections.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcUnreadRepliesTests {

	private static final int LARGE = 1 << 20;

	private static final int SMALL = 32 << 10;

	private static final long MEMORY = 32L << 20;

	private static final int CONNECTIONS = 10;

	private static final String OTHER = "127.0.0.2";

	/** As many as a peer has credits for. */
	private static final int CALLS = 6;

	/** Frames that a peer takes, by what it says. */
	private static final int CREDITS = 8;

	private static final ServiceDescriptor LARDER = ServiceDescriptor.of(Larder.class.getName(), Larder.class,
			new FlatBuffersCodec());

	private final ConcurrentLinkedQueue<CompletableFuture<byte[]>> asked = new ConcurrentLinkedQueue<>();

	private final Larder service = new Larder() {

		@Override
		public byte[] large() {
			return new byte[LARGE];
		}

		@Override
		public byte[] small() {
			return new byte[SMALL];
		}

		@Override
		public CompletableFuture<byte[]> later() {
			CompletableFuture<byte[]> answer = new CompletableFuture<>();
			RpcUnreadRepliesTests.this.asked.add(answer);
			return answer;
		}

		@Override
		public Stream<byte[]> largeOnes() {
			return Stream.generate(() -> new byte[LARGE]);
		}

		@Override
		public Stream<byte[]> smallOnes() {
			return Stream.generate(() -> new byte[1000]);
		}

	};

	@BeforeEach
	void strangersAreBorne() {
		TestEnvironment.assumeStrangersAreBorne();
	}

	@Test
	void largeRepliesThatNobodyReadsLeaveMemoryToOthers() throws Exception {
		besiege(PeerLimits.DEFAULTS, request("large"));
	}

	@Test
	void smallRepliesThatNobodyReadsAreCountedAsWell() throws Exception {
		besiege(PeerLimits.DEFAULTS.withMaxReplyBytes(LARGE), request("small"));
	}

	@Test
	void streamsThatNobodyReadsLeaveMemoryToOthers() throws Exception {
		besiege(PeerLimits.DEFAULTS, Frames.streamed(request("largeOnes"), 1000));
	}

	@Test
	void streamsOfSmallMessagesThatNobodyReadsAreCountedAsWell() throws Exception {
		besiege(PeerLimits.DEFAULTS.withMaxReplyBytes(LARGE), Frames.streamed(request("smallOnes"), 100_000));
	}

	/** Has peers of one address ask, and read nothing. */
	private void besiege(PeerLimits limits, byte[] request) throws Exception {
		RpcServerOptions options = RpcFixture.serverOptions(0).withPeers(limits);
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), UnaryOperator.identity(), MEMORY);
				RpcServer server = fixture.startServer(options, Larder.class, this.service);
				RpcClient client = fixture.newClient(server)) {
			Larder good = client.proxy(Larder.class);
			assertThat(good.large()).hasSize(LARGE);
			List<HostileSocket> deaf = new ArrayList<>();
			try {
				for (int i = 0; i < CONNECTIONS; i++) {
					deaf.add(ask(server.port(), request));
				}
				RpcFixture.awaitTrue(() -> frames(server) >= CONNECTIONS * CALLS);
				for (int i = 0; i < CONNECTIONS; i++) {
					assertThat(good.large()).hasSize(LARGE);
					assertThat(good.small()).hasSize(SMALL);
				}
				RpcFixture.awaitTrue(() -> limited(server) > 0);
				assertThat(fixture.serverMemory.metrics().allocatedBytes()).as("what is left to others")
					.isLessThan(MEMORY * 3 / 4);
			}
			finally {
				for (HostileSocket peer : deaf) {
					peer.reset();
				}
			}
			RpcFixture.awaitTrue(() -> server.channels().size() == 1 && server.activeCalls() == 0);
			RpcFixture.awaitTrue(() -> answers(server.port()));
		}
	}

	private static HostileSocket ask(int port, byte[] request) throws IOException {
		HostileSocket peer = new HostileSocket(port, InetAddress.getByName(OTHER));
		peer.connected(false).write(peer.framed(Frames.withStreams(Frames.hello(1, CREDITS), 256 << 10)));
		assertThat(peer.read()).as("its last word is that of the handshake").isNotNull();
		for (int call = 0; call < CALLS; call++) {
			byte[] numbered = request.clone();
			RawPeer.view(numbered).putInt(4, call);
			peer.write(peer.framed(numbered));
		}
		return peer;
	}

	/** Whether the address has nothing left that counts: a call of it is answered. */
	private static boolean answers(int port) {
		try (HostileSocket peer = new HostileSocket(port, InetAddress.getByName(OTHER))) {
			peer.open().read();
			peer.write(peer.framed(request("small")));
			byte[] reply = peer.read();
			return reply != null && RawPeer.view(reply).getInt(8) >= SMALL;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static long frames(RpcServer server) {
		return server.channels()
			.stream()
			.filter((channel) -> channel.remoteAddress() != null
					&& channel.remoteAddress().getAddress().getHostAddress().equals(OTHER))
			.mapToLong((channel) -> ChannelSnapshot.of(channel).receivedFrames())
			.sum();
	}

	private static long limited(RpcServer server) {
		return server.metrics().callsLimited().getOrDefault(PeerShare.Limit.REPLY_BYTES, 0L);
	}

	@Test
	void repliesThatAreReadMayBeManyAtATime() {
		int calls = 64;
		try (RpcFixture fixture = new RpcFixture(UnaryOperator.identity(), UnaryOperator.identity(), 256L << 20);
				RpcServer server = fixture.startServer(Larder.class, this.service);
				RpcClient client = fixture.newClient(server)) {
			Larder good = client.proxy(Larder.class);
			List<CompletableFuture<byte[]>> replies = Stream.generate(good::later).limit(calls).toList();
			RpcFixture.awaitTrue(() -> this.asked.size() == calls);
			this.asked.forEach((answer) -> answer.complete(new byte[LARGE]));
			replies.forEach((reply) -> assertThat(reply.join()).hasSize(LARGE));
			assertThat(limited(server)).isZero();
		}
	}

	private static byte[] request(String method) {
		long id = LARDER.methods()
			.stream()
			.filter((candidate) -> candidate.name().equals(method))
			.findFirst()
			.orElseThrow()
			.id();
		return Frames.request(0, 0, id, 0, 0, new byte[0]);
	}

	/** Has things to give away. */
	interface Larder {

		byte[] large();

		byte[] small();

		CompletableFuture<byte[]> later();

		Stream<byte[]> largeOnes();

		Stream<byte[]> smallOnes();

	}

}
