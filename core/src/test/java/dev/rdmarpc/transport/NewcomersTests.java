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
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** Peers that connect and then do nothing: they keep nobody out. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NewcomersTests {

	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS;

	/** Of servers that keep whoever is silent until others need the room. */
	private static final ChannelOptions PATIENT = OPTIONS.withTimeouts(Duration.ofSeconds(60), Duration.ofSeconds(60),
			Duration.ofSeconds(90));

	@Test
	void connectionsThatSayHelloAndNothingMoreKeepNobodyOut() throws IOException {
		int limit = 1024;
		try (Server server = new Server(limit, 128L << 20, PATIENT); Silent silent = new Silent()) {
			for (int i = 0; i < limit; i++) {
				silent.hello(server);
			}
			server.awaitChannels(limit);
			try (Client client = new Client(server)) {
				client.awaitOpen(8);
				assertThat(client.call(client.channels.get(0))).isTrue();
				for (int i = 0; i < 40; i++) {
					silent.hello(server);
				}
				assertThat(client.channels).as("peers that may say something yet").hasSize(8);
				assertThat(client.call(client.channels.get(0))).as("one that has spoken stays").isTrue();
			}
		}
	}

	@Test
	void connectionsThatSayNothingAtAllDoNotTakeTheReceives() throws IOException {
		try (Server server = new Server(1024, 64L << 20, PATIENT); Silent silent = new Silent()) {
			for (int i = 0; i < 819; i++) {
				silent.connect(server);
			}
			server.awaitChannels(819);
			assertThat(server.memory.metrics().allocatedBytes()).as("one receive each")
				.isLessThan(819L * (OPTIONS.frameBytes() + 1024) + (1 << 20));
		}
	}

	@Test
	void receivesOfSilentPeersAreForThoseWhoSpeak() throws IOException {
		try (Server server = new Server(1024, 4L << 20, PATIENT); Silent silent = new Silent()) {
			for (int i = 0; i < 200; i++) {
				silent.hello(server);
			}
			try (Client client = new Client(server)) {
				client.awaitOpen(4);
				for (RpcChannel channel : client.channels) {
					assertThat(client.call(channel)).isTrue();
				}
				assertThat(server.memory.metrics().allocatedBytes()).isLessThan(4L << 20);
			}
		}
	}

	@Test
	void whoeverDoesNotAnswerGoes() throws IOException {
		ChannelOptions impatient = OPTIONS.withTimeouts(TestEnvironment.scaled(Duration.ofSeconds(2)),
				Duration.ofSeconds(60), Duration.ofSeconds(90));
		try (Server server = new Server(64, 64L << 20, impatient); Silent silent = new Silent()) {
			silent.hello(server);
			silent.hello(server);
			try (Client client = new Client(server)) {
				client.awaitOpen(1);
				server.awaitChannels(1);
				assertThat(client.call(client.channels.get(0))).as("it has answered, and stays").isTrue();
			}
		}
	}

	@Test
	void newcomersOfTheAddressWithMostOfThemGoFirst() throws Exception {
		AcceptedChannels accepted = new AcceptedChannels(6, PeerLimits.NONE);
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				List<RpcChannel> all = new ArrayList<>();
				int[] sources = { 1, 2, 2, 3, 2, 3 };
				for (int source : sources) {
					RpcChannel channel = fixture.accepted(OPTIONS, new RecordingHandler());
					all.add(channel);
					assertThat(accepted.tryEnter(channel, address(source))).isNull();
				}
				fixture.deliver(all.get(1), Frames.hello(1, 8));
				fixture.deliver(all.get(1), Frames.control(FrameType.PONG, 0, 0));
				fixture.deliver(all.get(2), Frames.hello(1, 8));
				expectVictims(fixture, accepted, all, 2, 3);
				fixture.deliver(all.get(0), Frames.hello(1, 8));
				fixture.deliver(all.get(0), Frames.control(FrameType.PING, 0, 0));
				List<RpcChannel> newcomers = all.stream().filter(RpcChannel::isNewcomer).toList();
				for (RpcChannel channel : newcomers) {
					fixture.deliver(channel, Frames.hello(1, 8));
					fixture.deliver(channel, Frames.control(FrameType.PONG, 0, 0));
				}
				RpcChannel late = fixture.accepted(OPTIONS, new RecordingHandler());
				assertThat(accepted.tryEnter(late, address(9))).as("nobody is new")
					.isEqualTo(ChannelListener.Limit.CONNECTIONS);
				late.shut("test");
				accepted.leave(all.get(0));
				RpcChannel next = fixture.accepted(OPTIONS, new RecordingHandler());
				assertThat(accepted.tryEnter(next, address(9))).isNull();
			});
		}
	}

	@Test
	void peersOfOneAddressLeaveConnectionsForOthers() throws IOException {
		InetAddress greedy = InetAddress.getByName("127.0.0.2");
		try (Server server = new Server(16, new PeerLimits(4, 10_000), 64L << 20, PATIENT);
				Silent silent = new Silent();
				Client client = new Client(server)) {
			for (int i = 0; i < 4; i++) {
				assertThat(silent.rejection(server, greedy)).isNull();
			}
			for (int i = 0; i < 40; i++) {
				assertThat(silent.rejection(server, greedy))
					.isEqualTo("too many connections from one address (limit 4)");
			}
			server.awaitChannels(4);
			client.awaitOpen(4);
			assertThat(client.call(client.channels.get(0))).isTrue();
			assertThat(server.listener.rejected(ChannelListener.Limit.CONNECTIONS_OF_ADDRESS)).isEqualTo(40);
			assertThat(server.listener.rejected(ChannelListener.Limit.CONNECTIONS)).isZero();
			silent.peers.get(0).close();
			server.awaitChannels(7);
			assertThat(silent.rejection(server, greedy)).as("the place of one that has gone").isNull();
		}
	}

	@Test
	void peersOfOneAddressThatConnectTooOftenDoNotHoldUpOthers() throws IOException {
		InetAddress greedy = InetAddress.getByName("127.0.0.2");
		try (Server server = new Server(64, new PeerLimits(64, 2), 64L << 20, OPTIONS);
				Silent silent = new Silent();
				Client client = new Client(server)) {
			String rejection = null;
			for (int i = 0; i < 50 && rejection == null; i++) {
				rejection = silent.rejection(server, greedy);
			}
			assertThat(rejection).isEqualTo("one address connects too often (limit 2/s)");
			client.awaitOpen(2);
			assertThat(client.call(client.channels.get(0))).isTrue();
			assertThat(server.listener.rejected(ChannelListener.Limit.RATE_OF_ADDRESS)).isPositive();
		}
	}

	@Test
	void anAddressHasItsConnectionsAtOnceAndThenEvenly() throws IOException {
		ConnectionRates rates = new ConnectionRates(10);
		long second = 1_000_000_000;
		long now = Long.MAX_VALUE - second / 2;
		for (int i = 0; i < 10; i++) {
			assertThat(rates.tryBegin(address(1), now)).isTrue();
		}
		assertThat(rates.tryBegin(address(1), now)).isFalse();
		assertThat(rates.tryBegin(address(2), now)).as("another address").isTrue();
		now += second / 10;
		assertThat(rates.tryBegin(address(1), now)).isTrue();
		assertThat(rates.tryBegin(address(1), now)).isFalse();
		now += second;
		for (int i = 0; i < 10; i++) {
			assertThat(rates.tryBegin(address(1), now)).isTrue();
		}
		assertThat(rates.tryBegin(address(1), now)).isFalse();
		for (int i = 0; i < ConnectionRates.MAX_SOURCES + 10; i++) {
			rates.tryBegin(InetAddress.getByAddress(new byte[] { 10, 1, (byte) (i >> 8), (byte) i }), now);
		}
		assertThat(rates.sources()).isEqualTo(ConnectionRates.MAX_SOURCES);
	}

	private static void expectVictims(LoopFixture fixture, AcceptedChannels accepted, List<RpcChannel> all,
			int... victims) throws UnknownHostException {
		for (int victim : victims) {
			RpcChannel next = fixture.accepted(OPTIONS, new RecordingHandler());
			assertThat(accepted.tryEnter(next, address(7 + victim))).isNull();
			fixture.turn();
			assertThat(all.get(victim).state()).as("the oldest of most").isEqualTo(ChannelState.CLOSED);
			all.add(next);
			assertThat(all.stream().filter((channel) -> channel.state() == ChannelState.CLOSED).count())
				.isEqualTo(all.size() - 6);
		}
	}

	private static InetAddress address(int last) throws UnknownHostException {
		return InetAddress.getByAddress(new byte[] { 10, 0, 0, (byte) last });
	}

	/** A server that answers each request; nothing is outstanding at its end. */
	private static final class Server implements AutoCloseable {

		final RegisteredMemory memory;

		private final RdmaTransport transport;

		private final ChannelLoop loop;

		private final ChannelListener listener;

		Server(int limit, long memoryBytes, ChannelOptions options) {
			this(limit, PeerLimits.NONE, memoryBytes, options);
		}

		Server(int limit, PeerLimits peers, long memoryBytes, ChannelOptions options) {
			this.memory = memory(memoryBytes);
			this.transport = RdmaTransport.open(TransportOptions.DEFAULTS, this.memory);
			this.loop = this.transport.startLoop("server", options.frameBytes());
			this.listener = this.transport.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
					List.of(this.loop), limit, peers, options, Replying::new);
		}

		static RegisteredMemory memory(long maxBytes) {
			return RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(maxBytes)
				.withInitialBytes(0)
				.withLeakDetection(LeakDetection.PARANOID));
		}

		void awaitChannels(int count) {
			Await.until(() -> this.loop.channels().size() == count);
		}

		@Override
		public void close() {
			this.listener.close();
			this.transport.close();
			assertThat(this.memory.metrics().outstanding()).isZero();
			this.memory.close();
		}

	}

	/** Connections that do no more than they were told to. */
	private static final class Silent implements AutoCloseable {

		private final List<RawSender> peers = new ArrayList<>();

		void connect(Server server) throws IOException {
			assertThat(rejection(server, server.listener.localAddress().getAddress())).isNull();
		}

		/** Why a connection from an address is rejected, or {@code null}. */
		@Nullable String rejection(Server server, InetAddress from) throws IOException {
			RawSender peer = new RawSender(server.listener.localAddress(), from);
			this.peers.add(peer);
			return peer.rejection();
		}

		void hello(Server server) throws IOException {
			connect(server);
			this.peers.get(this.peers.size() - 1).send(1, Frames.hello(1, 8));
		}

		@Override
		public void close() throws IOException {
			for (RawSender peer : this.peers) {
				peer.close();
			}
		}

	}

	/** A good client. */
	private static final class Client implements AutoCloseable {

		final List<RpcChannel> channels = new ArrayList<>();

		private final RegisteredMemory memory = Server.memory(64L << 20);

		private final RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, this.memory);

		private final ChannelLoop loop = this.transport.startLoop("client", OPTIONS.frameBytes());

		private final Server server;

		Client(Server server) {
			this.server = server;
		}

		void awaitOpen(int count) {
			for (int i = 0; i < count; i++) {
				RpcChannel channel = this.transport.newChannel(this.loop, OPTIONS, new RecordingHandler());
				this.channels.add(channel);
				this.transport.connect(channel, this.server.listener.localAddress());
				Await.until(() -> channel.state() != ChannelState.CONNECTING
						&& channel.state() != ChannelState.HANDSHAKING);
				assertThat(channel.isOpen()).as("connection %d", i).isTrue();
			}
		}

		boolean call(RpcChannel channel) {
			StubCall call = new StubCall();
			channel
				.prepareRequest(call, new RequestTemplate(1, 1, 0), Long.MAX_VALUE, 0, RequestTemplate.NO_METADATA,
						new MessageSegments())
				.submit();
			Await.until(call::isDone);
			return call.failure == null;
		}

		@Override
		public void close() {
			this.transport.close();
			assertThat(this.memory.metrics().outstanding()).isZero();
			this.memory.close();
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
