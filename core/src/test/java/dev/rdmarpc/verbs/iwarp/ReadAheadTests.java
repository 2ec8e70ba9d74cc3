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

package dev.rdmarpc.verbs.iwarp;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.ReadRequestFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Read Responses of which several frames are read at once: as expected, with something
 * else in between, and with bits that flip.
 */
class ReadAheadTests {

	private static final int ROUNDS = 40;

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20261121L);

	/** What a write takes without anybody reading. */
	private static final int MOST_PIECE_BYTES = 48 * 1024;

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void everyByteArrivesInItsPlaceWhateverComesBetween(boolean crc) throws Exception {
		for (int round = 0; round < ROUNDS; round++) {
			SplittableRandom random = new SplittableRandom(SEED + round);
			try (Exchange exchange = new Exchange(random, crc, true)) {
				exchange.write(exchange.stream());
				Endpoint.pollUntil(exchange::isComplete, exchange.session.endpoint);
				exchange.assertContent();
				exchange.assertGuards();
			}
			catch (Throwable ex) {
				throw new AssertionError("seed " + (SEED + round), ex);
			}
		}
	}

	@Test
	void expectedFramesAreNotCopied() throws Exception {
		SplittableRandom random = new SplittableRandom(SEED);
		try (Exchange exchange = new Exchange(random, false, false)) {
			byte[] stream = exchange.stream();
			exchange.write(stream);
			Endpoint.pollUntil(exchange::isComplete, exchange.session.endpoint);
			exchange.assertContent();
			assertThat(exchange.session.device.copiedBytes()).as("seed %d", SEED).isLessThan(stream.length / 10);
		}
	}

	@Test
	void flippedBitEndsTheConnectionAndTouchesNothingElse() throws Exception {
		for (int round = 0; round < ROUNDS; round++) {
			SplittableRandom random = new SplittableRandom(SEED - round);
			try (Exchange exchange = new Exchange(random, true, true)) {
				byte[] stream = exchange.stream();
				stream[random.nextInt(stream.length)] ^= (byte) (1 << random.nextInt(8));
				exchange.write(stream);
				exchange.session.peer.socket().shutdownOutput();
				Endpoint endpoint = exchange.session.endpoint;
				Endpoint.pollUntil(() -> endpoint.queuePair.state() == QueuePairState.ERROR
						&& exchange.completed() == exchange.all, endpoint);
				assertThat(endpoint.completions).anyMatch((completion) -> completion.status() != WorkStatus.SUCCESS);
				exchange.assertGuards();
			}
			catch (Throwable ex) {
				throw new AssertionError("seed " + (SEED - round), ex);
			}
		}
	}

	/** Some Reads, and a peer that answers them. */
	private static final class Exchange implements AutoCloseable {

		private static final int GUARD_BYTES = 512;

		private static final int RECEIVE_BYTES = 600;

		private static final int SENDS = 6;

		private static final byte GUARD = 0x5A;

		final RawSession session;

		private final SplittableRandom random;

		private final boolean crc;

		private final boolean mixed;

		private final byte[] content;

		private final int[] lengths;

		private final int[] sends = new int[SENDS];

		private final ByteBuffer memory;

		private final MemoryRegion received;

		private final int[] stags;

		private final long[] offsets;

		final int all;

		private int sent;

		Exchange(SplittableRandom random, boolean crc, boolean mixed) throws IOException {
			this.random = random;
			this.crc = crc;
			this.mixed = mixed;
			this.session = new RawSession(IwarpOptions.DEFAULTS.withCopyThresholds(256, 1024), crc,
					ConnectOptions.DEFAULTS);
			this.lengths = new int[mixed ? random.nextInt(1, 5) : 1];
			Arrays.setAll(this.lengths, (i) -> mixed ? random.nextInt(1, 90_000) : 200_000);
			this.content = new byte[Arrays.stream(this.lengths).sum()];
			for (int i = 0; i < this.content.length; i++) {
				this.content[i] = (byte) random.nextInt();
			}
			this.memory = ByteBuffer.allocateDirect(this.content.length + 2 * GUARD_BYTES);
			for (int i = 0; i < this.memory.capacity(); i++) {
				this.memory.put(i, GUARD);
			}
			Endpoint endpoint = this.session.endpoint;
			MemoryRegion sink = endpoint.domain.registerMemory(
					this.memory.duplicate().position(GUARD_BYTES).limit(GUARD_BYTES + this.content.length),
					Endpoint.ALL_ACCESS);
			this.received = endpoint.register(SENDS * RECEIVE_BYTES);
			for (int i = 0; i < SENDS; i++) {
				endpoint.queuePair.postReceive(
						endpoint.request.receive(100 + i).addSegment(this.received, i * RECEIVE_BYTES, RECEIVE_BYTES));
			}
			this.session.peer.segment(Fpdu.write(1, 0, new byte[0]));
			Endpoint.pollUntil(() -> endpoint.queuePair.state() == QueuePairState.READY_TO_SEND, endpoint);
			this.stags = new int[this.lengths.length];
			this.offsets = new long[this.lengths.length];
			this.all = SENDS + this.lengths.length;
			request(sink);
		}

		private void request(MemoryRegion sink) throws IOException {
			Endpoint endpoint = this.session.endpoint;
			int at = 0;
			for (int i = 0; i < this.lengths.length; i++) {
				endpoint.send(endpoint.request.read(i, 0x1000, 0x77).addSegment(sink, at, this.lengths[i]));
				at += this.lengths[i];
			}
			for (int i = 0; i < this.lengths.length; i++) {
				ByteBuffer request = this.session.peer.awaitSegment(endpoint);
				this.stags[i] = ReadRequestFlyweight.sinkStag(request, DdpUntaggedFlyweight.HEADER_BYTES);
				this.offsets[i] = ReadRequestFlyweight.sinkTaggedOffset(request, DdpUntaggedFlyweight.HEADER_BYTES);
			}
		}

		/** What the peer answers, and what it says in between. */
		byte[] stream() {
			ByteArrayOutputStream stream = new ByteArrayOutputStream();
			int at = 0;
			for (int i = 0; i < this.lengths.length; i++) {
				int usual = this.random.nextInt(1100, 9000);
				for (int done = 0; done < this.lengths[i];) {
					boolean odd = this.mixed && this.random.nextInt(6) == 0;
					int length = Math.min(odd ? this.random.nextInt(1, 12_000) : usual, this.lengths[i] - done);
					byte[] payload = Arrays.copyOfRange(this.content, at + done, at + done + length);
					done += length;
					frame(stream, Fpdu.tagged(done == this.lengths[i], DdpControl.OPCODE_READ_RESPONSE, this.stags[i],
							this.offsets[i] + done - length, payload));
					if (this.mixed && this.sent < SENDS && this.random.nextInt(8) == 0) {
						send(stream);
					}
				}
				at += this.lengths[i];
			}
			while (this.sent < SENDS) {
				send(stream);
			}
			return stream.toByteArray();
		}

		private void send(ByteArrayOutputStream stream) {
			byte[] payload = new byte[this.random.nextInt(RECEIVE_BYTES)];
			Arrays.fill(payload, (byte) (this.sent + 1));
			this.sends[this.sent++] = payload.length;
			frame(stream, Fpdu.send(this.sent, payload));
		}

		private void frame(ByteArrayOutputStream stream, byte[] segment) {
			stream.writeBytes(Fpdu.frame(segment, this.crc));
		}

		/** In pieces, of which each is read before the next is written. */
		void write(byte[] stream) throws IOException {
			for (int at = 0; at < stream.length;) {
				int most = (this.random.nextInt(3) == 0) ? 3000 : MOST_PIECE_BYTES;
				int piece = Math.min(this.mixed ? this.random.nextInt(1, most) : MOST_PIECE_BYTES, stream.length - at);
				try {
					this.session.peer.write(Arrays.copyOfRange(stream, at, at + piece));
				}
				catch (IOException ex) {
					assertThat(this.session.endpoint.queuePair.state()).isEqualTo(QueuePairState.ERROR);
					return;
				}
				at += piece;
				do {
					this.session.endpoint.poll();
				}
				while (this.session.endpoint.completionQueue.isMoving());
			}
		}

		int completed() {
			return this.session.endpoint.completions.size();
		}

		boolean isComplete() {
			return completed() == this.all;
		}

		void assertContent() {
			assertThat(this.session.endpoint.completions).extracting(Endpoint.Completion::status)
				.containsOnly(WorkStatus.SUCCESS);
			assertThat(this.memory.slice(GUARD_BYTES, this.content.length)).isEqualTo(ByteBuffer.wrap(this.content));
			for (int i = 0; i < SENDS; i++) {
				assertThat(this.session.endpoint.completion(100 + i).bytes()).isEqualTo(this.sends[i]);
				for (int at = 0; at < this.sends[i]; at++) {
					assertThat(this.received.memory().get(i * RECEIVE_BYTES + at)).isEqualTo((byte) (i + 1));
				}
			}
		}

		void assertGuards() {
			for (int i = 0; i < GUARD_BYTES; i++) {
				assertThat(this.memory.get(i)).isEqualTo(GUARD);
				assertThat(this.memory.get(this.memory.capacity() - 1 - i)).isEqualTo(GUARD);
			}
			for (int i = 0; i < SENDS; i++) {
				int from = i * RECEIVE_BYTES + ((i < this.sent) ? this.sends[i] : 0);
				for (int at = from; at < (i + 1) * RECEIVE_BYTES; at++) {
					assertThat(this.received.memory().get(at)).isZero();
				}
			}
		}

		@Override
		public void close() throws IOException {
			this.session.close();
		}

	}

}
