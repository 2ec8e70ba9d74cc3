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

import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handshakes and frames that are nearly right, or not at all: a channel takes them, or
 * closes, and holds nothing afterwards.
 */
class FrameFuzzTests {

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20261125L);

	private static final int INPUTS = 4_000 * Integer.getInteger("rdmarpc.test.factor", 1);

	private static final int INPUTS_OF_A_LOOP = 100;

	private static final int MOST_FRAMES = 8;

	private static final List<byte[]> FRAMES = List.of(Frames.hello(FrameType.HELLO, 8),
			Frames.hello(FrameType.HELLO_REPLY, 8), Frames.hello(FrameType.HELLO, 8, "codec"),
			Frames.withStreams(Frames.hello(FrameType.HELLO, 8), 4096), Frames.request(1, 1, 7, 0, 0, new byte[0]),
			Frames.request(1, 2, 7, 2, 40, new byte[40]), Frames.request(1, 3, 7, 1, 20_000, new byte[4000]),
			Frames.continuation(0, 3, 20_000, 4000, new byte[4000]), Frames.describedRequest(4, 7, 100_000),
			Frames.streamed(Frames.request(1, 5, 7, 1, 8, new byte[8]), 4),
			Frames.followed(Frames.request(1, 6, 7, 1, 8, new byte[8])), Frames.message(6, 16, new byte[16]),
			Frames.pack(6, new byte[3], new byte[9]), Frames.demand(5, 3, 1000), Frames.metadata(6, new byte[24]),
			Frames.reply(1, 1, 0, 16, new byte[16]), Frames.control(FrameType.CANCEL, 0, 3),
			Frames.bundle(Frames.request(1, 7, 7, 1, 9, new byte[9]), Frames.request(0, 8, 7, 0, 0, new byte[0]),
					Frames.request(0, 9, 7, 1, 8, new byte[8])),
			Frames.bundle(Frames.reply(1, 1, 0, 3, new byte[3]), Frames.reply(0, 2, 0, 8, new byte[8])),
			Frames.control(FrameType.CREDIT, 5, 0), Frames.control(FrameType.PING, 0, 0),
			Frames.control(FrameType.PONG, 0, 0), Frames.control(FrameType.GOODBYE, 0, 0),
			Frames.control(FrameType.READ_DONE, 0, 4), Frames.control(FrameType.RETURN, 0, 0),
			Frames.control(FrameType.READ_PROGRESS, 0, 4), Frames.control(FrameType.END, 0, 6));

	@Test
	void whateverAPeerSendsIsTakenOrEndsTheChannel() throws Exception {
		int ended = 0;
		for (int first = 0; first < INPUTS; first += INPUTS_OF_A_LOOP) {
			ended += runLoop(first);
		}
		assertThat(ended).as("channels that were ended").isBetween(INPUTS / 20, INPUTS - INPUTS / 100);
	}

	/** Runs some inputs on one loop, which checks at its end that nothing is left. */
	private static int runLoop(int first) throws Exception {
		int[] ended = new int[1];
		try (LoopFixture fixture = new LoopFixture()) {
			fixture.drive(() -> {
				for (int i = first; i < first + INPUTS_OF_A_LOOP; i++) {
					long seed = SEED + i;
					try {
						ended[0] += isEnded(fixture, new Random(seed)) ? 1 : 0;
					}
					catch (Throwable ex) {
						throw new AssertionError("frames of -Drdmarpc.test.seed=" + seed, ex);
					}
				}
			});
		}
		catch (AssertionError ex) {
			throw new AssertionError("left by frames of -Drdmarpc.test.seed=" + (SEED + first) + " and those after it",
					ex);
		}
		return ended[0];
	}

	private static boolean isEnded(LoopFixture fixture, Random random) {
		RpcChannel channel = fixture.accepted(ChannelOptions.DEFAULTS, new RecordingHandler());
		if (random.nextInt(4) > 0) {
			fixture.deliver(channel, Frames.withStreams(Frames.hello(FrameType.HELLO, 8), 4096));
			assertThat(channel.state()).isEqualTo(ChannelState.OPEN);
		}
		for (int i = random.nextInt(MOST_FRAMES) + 1; i > 0 && channel.state() != ChannelState.CLOSED; i--) {
			byte[] frame = FRAMES.get(random.nextInt(FRAMES.size()));
			fixture.deliver(channel, (random.nextInt(3) == 0) ? changed(frame, random) : frame.clone());
		}
		boolean ended = channel.state() == ChannelState.CLOSED;
		channel.shut("the end of the test");
		fixture.turn();
		return ended;
	}

	/** Changes a frame. */
	private static byte[] changed(byte[] valid, Random random) {
		byte[] frame = valid.clone();
		for (int changes = random.nextInt(3); changes >= 0; changes--) {
			int at = random.nextInt(Math.min(frame.length, 64));
			switch (random.nextInt(4)) {
				case 0 -> frame[at] ^= (byte) (1 << random.nextInt(8));
				case 1 -> frame[at] = (byte) random.nextInt();
				case 2 -> frame[at] = (byte) (random.nextBoolean() ? 0xFF : 0x7F);
				default -> frame = Arrays.copyOf(frame, 1 + random.nextInt(2 * frame.length));
			}
			if (frame.length > ChannelOptions.DEFAULTS.frameBytes()) {
				frame = Arrays.copyOf(frame, ChannelOptions.DEFAULTS.frameBytes());
			}
		}
		return frame;
	}

}
