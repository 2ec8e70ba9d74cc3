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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.Frames;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Peers that begin messages and never end them: they hold what they have sent, and not
 * what they say they will send.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcUnfinishedMemoryTests {

	private static final int LARGEST = 16 << 20;

	/** What a connection may take for its receives, and some for replies on their way. */
	private static final long PER_CONNECTION = 2 * 8192 * 10;

	@Test
	void fourBegunMessagesEach() {
		attack(6, (peer) -> {
			for (int id = 0; id < 4; id++) {
				peer.sendFairly(Frames.request(0, id, 5, 1, LARGEST, new byte[1000]));
			}
		}, 6 * 4 * 8 * 1100);
	}

	@Test
	void piecesOfThreeThousandBytes() {
		attack(10, (peer) -> {
			for (int id = 0; id < 5; id++) {
				peer.sendFairly(Frames.request(0, id, 5, 1, LARGEST, new byte[3000]));
				peer.sendFairly(Frames.continuation(0, id, LARGEST, 3000, new byte[3000]));
				peer.sendFairly(Frames.continuation(0, id, LARGEST, 6000, new byte[3000]));
			}
		}, 10 * 5 * 8 * 9100);
	}

	@Test
	void fourAnnouncedMessagesEach() {
		attack(12, (peer) -> {
			for (int id = 0; id < 4; id++) {
				peer.sendUnheeding(Frames.describedRequest(id, 5, LARGEST));
			}
		}, 12 * 64 * 1024);
	}

	@ParameterizedTest
	@ValueSource(longs = { 31, 32 })
	void mutatedMessagesCostTheGoodClientNothing(long seed) {
		Random random = new Random(seed);
		ServiceDescriptor service = ServiceDescriptor.of(Echo.class.getName(), Echo.class, new FlatBuffersCodec());
		long[] methods = Stream.of("echo", "bytes", "add", "move").mapToLong((name) -> id(service, name)).toArray();
		Hostilities.attack(ChannelOptions.DEFAULTS, (fixture) -> {
			byte[] eager = new byte[30_000];
			for (int sent = 0; sent < TestEnvironment.rounds(40_000, 4000);) {
				try (RawPeer peer = RawPeer.open(fixture.server.port(), 64)) {
					for (int id = 0; id < 2000 && !peer.isEnded(); id++) {
						peer.sendFairly(mutated(random, id, methods[random.nextInt(methods.length)]));
						sent++;
					}
				}
				assertThat(fixture.echo.bytes(eager)).as("seed %d, after %d messages", seed, sent).isEqualTo(eager);
			}
		});
	}

	/** A request of which some bits are wrong, mostly in what it says of its length. */
	private static byte[] mutated(Random random, int id, long method) {
		int length = 8 + random.nextInt(3000);
		byte[] message = new byte[length];
		random.nextBytes(message);
		int said = (random.nextInt(3) == 0) ? 1 + random.nextInt(LARGEST) : length;
		byte[] frame = Frames.request(0, id & 0xFFF, method, 1 + random.nextInt(2), Math.max(said, length), message);
		if (random.nextInt(20) == 0) {
			frame[4 + random.nextInt(frame.length - 4)] ^= (byte) (1 << random.nextInt(8));
		}
		return frame;
	}

	private static long id(ServiceDescriptor service, String method) {
		return service.methods()
			.stream()
			.filter((described) -> described.name().equals(method))
			.findFirst()
			.orElseThrow()
			.id();
	}

	private static void attack(int connections, Consumer<RawPeer> attack, long allowedBytes) {
		Hostilities.attack(ChannelOptions.DEFAULTS, (fixture) -> {
			Echo good = fixture.echo;
			byte[] eager = new byte[30_000];
			byte[] large = new byte[2 << 20];
			Arrays.fill(large, (byte) 7);
			assertThat(good.bytes(large)).isEqualTo(large);
			long before = fixture.serverMemory.metrics().allocatedBytes();
			List<RawPeer> peers = new ArrayList<>();
			try {
				for (int i = 0; i < connections; i++) {
					RawPeer peer = RawPeer.open(fixture.server.port(), 32);
					peers.add(peer);
					attack.accept(peer);
				}
				for (int i = 0; i < 50; i++) {
					assertThat(good.bytes(eager)).isEqualTo(eager);
					assertThat(good.bytes(large)).isEqualTo(large);
				}
				RpcFixture.awaitTrue(() -> fixture.serverMemory.metrics().allocatedBytes() - before <= allowedBytes
						+ (connections + 1) * PER_CONNECTION);
			}
			finally {
				peers.forEach(RawPeer::close);
			}
		});
	}

}
