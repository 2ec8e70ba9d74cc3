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
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.RejectedExecutionException;

import io.grpc.Codec;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.StreamListener;
import io.grpc.internal.TransportTracer;
import io.grpc.internal.WritableBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** What both ends of a call have. */
class CallStreamTests {

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);

	@AfterEach
	void nothingIsOutstanding() {
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
	}

	private ReceivedBuffer received(int flags, byte[] message) {
		RegisteredBuffer buffer = this.memory.allocate(5 + message.length);
		ByteBuffer bytes = buffer.buffer().clear().limit(5 + message.length);
		bytes.put(0, (byte) flags);
		for (int i = 0; i < 4; i++) {
			bytes.put(1 + i, (byte) (message.length >>> (24 - 8 * i)));
		}
		bytes.put(5, message);
		return new ReceivedBuffer(buffer, bytes);
	}

	@Test
	void aMessageThatNobodyTakesIsGivenBack() {
		Unheard stream = new Unheard(this.memory);
		stream.reader().request(1);
		stream.arrived(received(0, new byte[10]));
		assertThat(stream.failure).isInstanceOf(RejectedExecutionException.class);
		stream.reader().close();
	}

	@Test
	void aCompressedMessageThatNobodyTakesIsGivenBack() throws IOException {
		ByteArrayOutputStream small = new ByteArrayOutputStream();
		try (OutputStream target = new Codec.Gzip().compress(small)) {
			target.write(new byte[1000]);
		}
		Unheard stream = new Unheard(this.memory);
		stream.reader().setDecompressor(new Codec.Gzip());
		stream.reader().request(1);
		stream.arrived(received(1, small.toByteArray()));
		assertThat(stream.failure).isInstanceOf(RejectedExecutionException.class);
		stream.reader().close();
	}

	/** One whose user's executor takes nothing. */
	private static final class Unheard extends CallStream {

		private Throwable failure;

		Unheard(RegisteredMemory memory) {
			super(new SerialTasks(null, null), new OutgoingPieces(memory), 10_000, StatsTraceContext.NOOP,
					new TransportTracer());
		}

		@Override
		StreamListener listener() {
			return new StreamListener() {

				@Override
				public void messagesAvailable(MessageProducer producer) {
					throw new RejectedExecutionException();
				}

				@Override
				public void onReady() {
					// nobody hears it
				}

			};
		}

		@Override
		public void deliverFrame(WritableBuffer frame, boolean last, boolean flush, int messages) {
			throw new IllegalStateException("nothing is sent");
		}

		@Override
		public void lacksMemory(Throwable cause) {
			throw new IllegalStateException("nothing is written");
		}

		@Override
		public void bytesRead(int bytes) {
			// they count for nothing
		}

		@Override
		public void deframeFailed(Throwable cause) {
			this.failure = cause;
		}

		@Override
		public void deframerClosed(boolean partialMessage) {
			// the end
		}

	}

}
