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

package dev.rdmarpc.grpc;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntConsumer;

import io.grpc.Codec;
import io.grpc.Detachable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.internal.MessageDeframer;
import io.grpc.internal.ReadableBuffers;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.StreamListener;
import io.grpc.internal.TransportTracer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages are taken out of bytes as gRPC's own deframer takes them. */
class MessageReaderTests {

	private static final int MOST_BYTES = 5000;

	private static final int INPUTS = 1000 * Integer.getInteger("rdmarpc.test.factor", 1);

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);

	@AfterEach
	void nothingIsOutstanding() {
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
	}

	private ReceivedBuffer received(byte[] bytes) {
		RegisteredBuffer buffer = this.memory.allocate(Math.max(1, bytes.length));
		ByteBuffer target = buffer.buffer();
		target.clear();
		target.put(0, bytes);
		return new ReceivedBuffer(buffer, target.limit(bytes.length));
	}

	private static byte[] framed(int flags, byte[] message) {
		return ByteBuffer.allocate(5 + message.length).put((byte) flags).putInt(message.length).put(message).array();
	}

	private static List<Byte> listOf(byte[] bytes) {
		List<Byte> all = new ArrayList<>();
		for (byte value : bytes) {
			all.add(value);
		}
		return all;
	}

	private static MessageReader reader(Seen seen) {
		return new MessageReader(seen, MOST_BYTES, StatsTraceContext.NOOP, new TransportTracer());
	}

	private static MessageDeframer deframer(Seen seen) {
		return new MessageDeframer(seen, Codec.Identity.NONE, MOST_BYTES, StatsTraceContext.NOOP,
				new TransportTracer());
	}

	/**
	 * Random messages in random parts, asked for at random times, some of them malformed.
	 */
	@Test
	void bothTakeTheSame() {
		long first = Long.getLong("rdmarpc.test.seed", System.nanoTime());
		for (long seed = first; seed < first + INPUTS; seed++) {
			takeBoth(new SplittableRandom(seed), seed);
		}
	}

	private void takeBoth(SplittableRandom random, long seed) {
		byte[] bytes = randomBytes(random);
		Seen seen = new Seen();
		Seen expected = new Seen();
		MessageReader reader = reader(seen);
		MessageDeframer deframer = deframer(expected);
		boolean again = random.nextInt(4) == 0;
		seen.onMessage(again ? reader::request : null);
		expected.onMessage(again ? deframer::request : null);
		int from = 0;
		while (from < bytes.length && seen.failure == null) {
			if (random.nextBoolean()) {
				int messages = 1 + random.nextInt(3);
				seen.run(() -> reader.request(messages));
				expected.run(() -> deframer.request(messages));
			}
			else {
				int length = Math.min(bytes.length - from, 1 + random.nextInt(random.nextBoolean() ? 12 : 3000));
				byte[] part = Arrays.copyOfRange(bytes, from, from + length);
				from += length;
				seen.run(() -> reader.arrived(received(part)));
				expected.run(() -> deframer.deframe(ReadableBuffers.wrap(part)));
			}
			assertThat(seen.failure).as("seed %s", seed).isEqualTo(expected.failure);
			assertThat(seen.events).as("seed %s", seed).isEqualTo(expected.events);
		}
		boolean stop = random.nextInt(3) == 0 || seen.failure != null;
		seen.run(stop ? reader::close : reader::closeWhenComplete);
		expected.run(stop ? deframer::close : deframer::closeWhenComplete);
		seen.run(() -> reader.request(100));
		expected.run(() -> deframer.request(100));
		assertThat(seen.events).as("seed %s", seed).isEqualTo(expected.events);
		assertThat(seen.bytes).as("seed %s", seed).isEqualTo(expected.bytes);
		reader.close();
		deframer.close();
	}

	private static byte[] randomBytes(SplittableRandom random) {
		ByteBuffer bytes = ByteBuffer.allocate(20_000);
		int messages = random.nextInt(6);
		for (int i = 0; i < messages; i++) {
			byte[] message = new byte[random.nextInt(random.nextBoolean() ? 20 : 3000)];
			random.nextBytes(message);
			bytes.put(framed(0, message));
		}
		switch (random.nextInt(8)) {
			case 0 -> bytes.put(framed(1 + random.nextInt(255), new byte[3]));
			case 1 -> bytes.put((byte) 0).putInt(MOST_BYTES + 1 + random.nextInt(100)).putInt(0);
			case 2 -> bytes.put((byte) 0).putInt(-1 - random.nextInt(100)).putInt(0);
			case 3 -> bytes.put((byte) 0).putInt(100).putInt(0);
			case 4 -> bytes.put((byte) 0).put((byte) 0);
			default -> {
			}
		}
		return Arrays.copyOf(bytes.array(), bytes.position());
	}

	@Test
	void aMessageInOnePieceIsHandedOutWhereItLies() throws IOException {
		Seen seen = new Seen();
		List<InputStream> kept = new ArrayList<>();
		seen.keeper = kept;
		MessageReader reader = reader(seen);
		reader.request(2);
		byte[] message = new byte[100];
		Arrays.fill(message, (byte) 7);
		reader.arrived(received(framed(0, message)));
		InputStream stream = kept.get(0);
		assertThat(stream).isInstanceOf(KnownLength.class);
		assertThat(stream.available()).isEqualTo(100);
		ByteBuffer bytes = ((HasByteBuffer) stream).getByteBuffer();
		assertThat(bytes.isDirect()).isTrue();
		assertThat(bytes.remaining()).isEqualTo(100);
		assertThat(stream.read()).isEqualTo(7);
		stream.mark(10);
		assertThat(stream.skip(98)).isEqualTo(98);
		assertThat(stream.skip(98)).isOne();
		assertThat(stream.read()).isEqualTo(-1);
		assertThat(stream.read(new byte[3])).isEqualTo(-1);
		assertThat(stream.read(new byte[0])).isZero();
		stream.reset();
		InputStream detached = ((Detachable) stream).detach();
		assertThat(stream.read()).isEqualTo(-1);
		stream.close();
		assertThat(detached.readAllBytes()).hasSize(99);
		assertThat(((HasByteBuffer) detached).getByteBuffer()).isNull();
		assertThat(this.memory.metrics().outstanding()).isOne();
		detached.close();
		reader.close();
		assertThat(seen.events).endsWith("closed, partial: false");
	}

	@Test
	void aMessageThatIsCutWithinItsBodyIsPartial() {
		Seen seen = new Seen();
		MessageReader reader = reader(seen);
		reader.request(1);
		reader.arrived(received(Arrays.copyOf(framed(0, new byte[10]), 5)));
		reader.closeWhenComplete();
		assertThat(seen.events).endsWith("closed, partial: true");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aMessageInManyPartsHoldsNoneOfTheirMemory(boolean compressing) {
		Seen seen = new Seen();
		MessageReader reader = reader(seen);
		reader.request(1);
		if (compressing) {
			reader.setDecompressor(new Codec.Gzip());
		}
		byte[] message = new byte[MOST_BYTES];
		new SplittableRandom(1).nextBytes(message);
		for (byte part : framed(0, message)) {
			reader.arrived(received(new byte[] { part }));
			assertThat(this.memory.metrics().outstanding()).isLessThanOrEqualTo((seen.events.size() < 5) ? 5 : 0);
		}
		assertThat(seen.bytes).isEqualTo(listOf(message));
		reader.closeWhenComplete();
		assertThat(seen.events).endsWith("message", "closed, partial: false");
	}

	@Test
	void largePartsOfAMessageStayWhereTheyLie() {
		Seen seen = new Seen();
		List<InputStream> kept = new ArrayList<>();
		seen.keeper = kept;
		MessageReader reader = reader(seen);
		reader.request(1);
		byte[] framed = framed(0, new byte[MOST_BYTES]);
		reader.arrived(received(Arrays.copyOf(framed, 2500)));
		reader.arrived(received(new byte[10]));
		assertThat(this.memory.metrics().outstanding()).as("the large one").isOne();
		reader.arrived(received(new byte[framed.length - 2510]));
		assertThat(this.memory.metrics().outstanding()).as("two large ones").isEqualTo(2);
		assertThat(kept).hasSize(1).allSatisfy((message) -> {
			try (InputStream taken = message) {
				assertThat(taken.readAllBytes()).isEqualTo(new byte[MOST_BYTES]);
			}
		});
		reader.close();
	}

	@Test
	void aMessageThatIsGivenUpInTheMiddleIsGivenBack() {
		Seen seen = new Seen();
		MessageReader reader = reader(seen);
		reader.request(1);
		reader.arrived(received(Arrays.copyOf(framed(0, new byte[MOST_BYTES]), 2500)));
		reader.arrived(received(new byte[10]));
		reader.close();
		assertThat(seen.events).endsWith("closed, partial: true");
	}

	@Test
	void compressedMessagesAreInflated() throws IOException {
		Seen seen = new Seen();
		MessageReader reader = reader(seen);
		reader.request(1);
		reader.setDecompressor(new Codec.Gzip());
		ByteArrayOutputStream small = new ByteArrayOutputStream();
		try (OutputStream target = new Codec.Gzip().compress(small)) {
			target.write(new byte[1000]);
		}
		reader.arrived(received(framed(1, small.toByteArray())));
		assertThat(seen.bytes).hasSize(1000);
		reader.closeWhenComplete();
		assertThat(seen.events).endsWith("closed, partial: false");
	}

	/** What was heard, and in which order. */
	private static final class Seen implements MessageDeframer.Listener {

		private final List<String> events = new ArrayList<>();

		private final List<Byte> bytes = new ArrayList<>();

		private String failure;

		private IntConsumer request;

		private List<InputStream> keeper;

		void onMessage(IntConsumer value) {
			this.request = value;
		}

		void run(Runnable step) {
			if (this.failure != null) {
				return;
			}
			try {
				step.run();
			}
			catch (RuntimeException ex) {
				this.failure = ex.toString();
			}
		}

		/**
		 * Of a header that is cut gRPC's reader counts what there is, as this one does.
		 */
		@Override
		public void bytesRead(int count) {
			this.events.add("read " + count);
		}

		@Override
		public void messagesAvailable(StreamListener.MessageProducer producer) {
			for (InputStream message = producer.next(); message != null; message = producer.next()) {
				this.events.add("message");
				if (this.keeper != null) {
					this.keeper.add(message);
					continue;
				}
				try (InputStream taken = message) {
					for (byte value : taken.readAllBytes()) {
						this.bytes.add(value);
					}
				}
				catch (IOException ex) {
					throw new UncheckedIOException(ex);
				}
			}
			if (this.request != null) {
				this.request.accept(1);
			}
		}

		@Override
		public void deframerClosed(boolean partial) {
			this.events.add("closed, partial: " + partial);
		}

		@Override
		public void deframeFailed(Throwable cause) {
			this.failure = String.valueOf(cause);
		}

	}

}
