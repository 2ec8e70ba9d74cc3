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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.Frames;

/**
 * Peers each of which takes all it can get of one kind, for {@link RpcGreedyPeerTests}.
 * Told what and how often on the standard input, the process says when that is done, how
 * often it succeeded and how often it was refused. It keeps what it has until it is told
 * to leave, or its end.
 */
public final class GreedyPeers {

	static final String READY = "greedy peers are ready";

	static final String DONE = "done ";

	/** Has them close their connections. */
	static final String LEAVE = "leave";

	static final String LEFT = "left";

	private static final ServiceDescriptor TOWN = ServiceDescriptor.of(BesiegedServer.Town.class.getName(),
			BesiegedServer.Town.class, new FlatBuffersCodec());

	private static final int LARGE = 1 << 20;

	/** As many as one connection may have. */
	private static final int CALLS = 4096;

	/** How many calls are given up before their ids are used again. */
	private static final int SLOTS = 64;

	private final int port;

	private final List<AutoCloseable> held = new ArrayList<>();

	private GreedyPeers(int port) {
		this.port = port;
	}

	public static void main(String[] arguments) throws Exception {
		GreedyPeers peers = new GreedyPeers(Integer.parseInt(arguments[0]));
		System.out.println(READY);
		BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = commands.readLine(); line != null && !line.equals("end"); line = commands.readLine()) {
			if (line.equals(LEAVE)) {
				peers.leave();
				System.out.println(LEFT);
				continue;
			}
			String[] words = line.split(" ", 2);
			System.out.println(DONE + peers.take(Kind.valueOf(words[0]), Integer.parseInt(words[1])));
		}
		peers.leave();
	}

	private void leave() throws Exception {
		for (AutoCloseable each : this.held) {
			each.close();
		}
		this.held.clear();
	}

	private String take(Kind kind, int count) throws IOException {
		int done = 0;
		int refused = 0;
		while (done + refused < count) {
			try {
				done += take(kind, InetAddress.getByName(kind.address()), count - done - refused);
			}
			catch (IOException ex) {
				refused++;
			}
		}
		return done + " " + refused;
	}

	/** Takes with one more connection; returns how many. */
	private int take(Kind kind, InetAddress from, int most) throws IOException {
		switch (kind) {
			case CONNECTIONS -> {
				hold(new HostileSocket(this.port, from)).open();
				return 1;
			}
			case DEAFNESS -> {
				HostileSocket peer = hold(new HostileSocket(this.port, from)).open();
				peer.read();
				for (int call = 0; call < 6; call++) {
					peer.write(peer.framed(request(call, "give")));
				}
				return 1;
			}
			default -> {
				return take(kind, hold(new CreditedPeer(this.port, from)), most);
			}
		}
	}

	private int take(Kind kind, CreditedPeer peer, int most) throws IOException {
		int count = Math.min(most, kind.ofOne);
		for (int i = 0; i < count; i++) {
			int call = i << 16 | i % SLOTS;
			switch (kind) {
				case CANCELS -> peer.send(Frames.control(6, 0, i * 31));
				case RESETS -> {
					peer.send(request(call, "never"));
					peer.send(Frames.control(6, 0, call));
				}
				case OFFERS -> peer.send(Frames.describedRequest(i, id("echo"), LARGE));
				case WITHDRAWALS -> {
					peer.send(Frames.describedRequest(call, id("echo"), LARGE));
					peer.send(Frames.control(6, 0, call));
				}
				case BEGINNINGS -> peer.send(Frames.request(0, i, id("echo"), 1, LARGE, new byte[1000]));
				case TRICKLES -> trickle(peer.socket());
				default -> throw new IllegalArgumentException(kind.name());
			}
		}
		peer.flush();
		return count;
	}

	private static byte[] request(int call, String method) {
		return Frames.request(0, call, id(method), 0, 0, new byte[0]);
	}

	private static long id(String method) {
		return TOWN.methods()
			.stream()
			.filter((candidate) -> candidate.name().equals(method))
			.findFirst()
			.orElseThrow()
			.id();
	}

	private static void trickle(HostileSocket socket) {
		byte[] frame = socket.framed(Frames.request(0, 0, id("greet"), 1, 600, new byte[600]));
		Thread thread = new Thread(() -> {
			try {
				for (byte each : frame) {
					socket.write(new byte[] { each });
					LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
				}
			}
			catch (IOException ex) {
				// the other side has had enough
			}
		}, "trickle");
		thread.setDaemon(true);
		thread.start();
	}

	private <T extends AutoCloseable> T hold(T peer) {
		this.held.add(peer);
		return peer;
	}

	/** What there is to take. */
	enum Kind {

		/** Connects, shakes hands and says no more. */
		CONNECTIONS(5000, 100, 1, true),

		/** Gives calls up that it has never made. */
		CANCELS(1_000_000, 50_000, 250_000, false),

		/** Calls and gives up at once. */
		RESETS(200_000, 10_000, 50_000, false),

		/** Offers messages to be Read, and serves no Read. */
		OFFERS(100_000, 10_000, CALLS, true),

		/** The same, and withdraws each offer. */
		WITHDRAWALS(100_000, 2000, 200, true),

		/** Begins messages that it never ends. */
		BEGINNINGS(100_000, 10_000, CALLS, true),

		/** Sends a byte per second. */
		TRICKLES(100, 20, 1, true),

		/** Asks for much and never reads. */
		DEAFNESS(100, 20, 1, true);

		private final int all;

		private final int few;

		private final int ofOne;

		private final boolean givenUp;

		/**
		 * Of a kind.
		 * @param all how often where there is time
		 * @param few how often in every build
		 * @param ofOne how often a connection does it
		 * @param givenUp whether the server gives such a peer up
		 */
		Kind(int all, int few, int ofOne, boolean givenUp) {
			this.all = all;
			this.few = few;
			this.ofOne = ofOne;
			this.givenUp = givenUp;
		}

		/** Its address, which is nobody else's. */
		String address() {
			return "127.0.0." + (2 + List.of(values()).indexOf(this));
		}

		/**
		 * Whether all have to leave before it is done once more: the machine bears no
		 * more of it.
		 */
		boolean leaves() {
			return this == CONNECTIONS;
		}

		int count(boolean everything) {
			return everything ? this.all : this.few;
		}

		/** The kind of that name, or all. */
		static List<Kind> named(@Nullable String name) {
			return (name != null) ? List.of(valueOf(name)) : List.of(values());
		}

		boolean isGivenUp() {
			return this.givenUp;
		}

	}

}
