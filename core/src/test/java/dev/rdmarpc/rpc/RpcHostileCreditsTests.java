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

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.Frames;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Peers that lie about credits lent and given back. Each of them ends its own connection
 * at most, and when it has gone nothing is promised to it any more.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcHostileCreditsTests {

	private static final int MOST = 64;

	private static final ChannelOptions CHANNEL = ChannelOptions.DEFAULTS.withFrames(8192, MOST);

	private static final byte[] PING = Frames.control(8, 0, 0);

	private static final byte[] RETURN = Frames.control(12, 0, 0);

	@Test
	void returnsWhatItWasNeverLent() {
		attack((fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				peer.sendFairly(RETURN);
				peer.awaitEnd();
			}
		});
	}

	@Test
	void returnsMoreThanItWasLent() {
		attack((fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				borrow(peer);
				for (int i = 0; i < MOST - 8; i++) {
					peer.sendFairly(RETURN);
				}
				answered(peer);
				peer.sendFairly(RETURN);
				peer.awaitEnd();
			}
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 56 })
	void sendsMoreThanItHasLeft(int returned) {
		attack((fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				borrow(peer);
				for (int i = 0; i < returned; i++) {
					peer.sendFairly(RETURN);
				}
				answered(peer);
				peer.burst(Frames.control(6, 0, 0), 5000);
				peer.awaitEnd();
			}
		});
	}

	@Test
	void asksForMoreForEver() {
		attack((fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				for (int i = 0; i < 5000; i++) {
					peer.sendFairly(Frames.heldBack(PING));
					assertThat(peer.credits).as("frame %d", i).isLessThanOrEqualTo(MOST);
				}
				RpcFixture.awaitTrue(() -> promised(fixture) >= MOST + 8);
				assertThat(promised(fixture)).isLessThanOrEqualTo(2 * MOST);
			}
		});
	}

	@Test
	void borrowsAndReturnsOverAndOver() {
		attack((fixture) -> {
			try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
				for (int i = 0; i < 30; i++) {
					borrow(peer);
					for (int j = 0; j < MOST - 8; j++) {
						peer.sendFairly(RETURN);
					}
					answered(peer);
					assertThat(peer.credits).as("round %d", i).isLessThanOrEqualTo(8);
				}
				RpcFixture.awaitTrue(() -> promised(fixture) == 2 * 8);
			}
		});
	}

	@Test
	void borrowsAndLeaves() {
		attack((fixture) -> {
			for (int i = 0; i < 5; i++) {
				try (RawPeer peer = RawPeer.open(fixture.server.port(), 32)) {
					borrow(peer);
				}
			}
			RpcFixture.awaitTrue(() -> promised(fixture) == 8);
		});
	}

	@Test
	void serverThatReturnsWhatItWasNeverLent() {
		fool(Frames.hello(2, 8, MOST), "more credits returned than lent", (server) -> server.sendFairly(RETURN));
	}

	@Test
	void serverThatGrantsMoreThanItSaidItWould() {
		fool(Frames.hello(2, 8, 20), "more credits than the window", (server) -> {
			server.receive(3);
			server.send(Frames.control(8, 13, 0));
			server.receive(9);
			server.send(Frames.control(7, 2, 0));
		});
	}

	@Test
	void serverWithoutRoomForItsOwnWords() {
		fool(Frames.hello(2, 20, 19), "with 20 and at most 19 credits", (server) -> {
		});
	}

	/** Asks for more until it has all there is. */
	private static void borrow(RawPeer peer) {
		for (int i = 0; i < 2000 && peer.credits < MOST - 1; i++) {
			peer.sendFairly(Frames.heldBack(PING));
			peer.receive(9);
		}
		answered(peer);
		assertThat(peer.credits).isEqualTo(MOST);
	}

	/** Waits until everything sent before has been looked at. */
	private static void answered(RawPeer peer) {
		peer.sendFairly(PING);
		peer.receive(9);
	}

	private static long promised(RpcFixture fixture) {
		return fixture.serverTransport.loops().stream().mapToLong((loop) -> loop.metrics().receivesPromised()).sum();
	}

	private static void attack(Consumer<RpcFixture> attack) {
		Hostilities.attack(CHANNEL, (fixture) -> {
			attack.accept(fixture);
			RpcFixture.awaitTrue(() -> promised(fixture) == 8);
		});
	}

	private static void fool(byte[] hello, String expected, Consumer<RawPeer> attack) {
		try (RpcFixture fixture = new RpcFixture(); RawPeer server = RawPeer.listen()) {
			InetSocketAddress address = server.address();
			try (RpcClient client = RpcClient.builder()
				.transport(fixture.clientTransport)
				.target(address.getHostString(), address.getPort())
				.options(RpcClientOptions.DEFAULTS.withBackoff(Duration.ofSeconds(20), Duration.ofSeconds(20)))
				.build()) {
				Echo victim = CallOptions.deadline(Duration.ofSeconds(30)).on(client.proxy(Echo.class));
				CompletableFuture<String> call = victim.echoAsync("hello");
				server.accept();
				server.send(hello);
				attack.accept(server);
				server.awaitEnd();
				assertThat(call).failsWithin(20, TimeUnit.SECONDS)
					.withThrowableThat()
					.withMessageContaining("UNAVAILABLE")
					.withMessageContaining(expected);
				assertThat(fixture.echo.echo("others")).isEqualTo("others");
			}
			catch (InterruptedException ex) {
				throw new AssertionError(ex);
			}
		}
	}

}
