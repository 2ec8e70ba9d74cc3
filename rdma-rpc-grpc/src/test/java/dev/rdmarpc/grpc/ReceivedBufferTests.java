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
import java.io.InputStream;
import java.nio.ByteBuffer;

import io.grpc.Detachable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.internal.ReadableBuffer;
import io.grpc.internal.ReadableBuffers;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/** Received bytes and their parts. */
class ReceivedBufferTests {

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);

	private ReceivedBuffer received(int length) {
		RegisteredBuffer buffer = this.memory.allocate(length + 7);
		ByteBuffer bytes = buffer.buffer();
		bytes.clear();
		for (int i = 0; i < length; i++) {
			bytes.put(i + 3, (byte) i);
		}
		return new ReceivedBuffer(buffer, bytes.position(3).limit(length + 3));
	}

	@AfterEach
	void nothingIsOutstanding() {
		Assertions.assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
	}

	@Test
	void bytesAreReadInTurn() throws Exception {
		try (ReceivedBuffer buffer = received(20_000)) {
			Assertions.assertThat(buffer.readUnsignedByte()).isZero();
			Assertions.assertThat(buffer.readInt()).isEqualTo(0x01020304);
			buffer.skipBytes(250);
			Assertions.assertThat(buffer.readUnsignedByte()).isEqualTo(255);
			byte[] some = new byte[4];
			buffer.readBytes(some, 1, 2);
			Assertions.assertThat(some).containsExactly(0, 0, 1, 0);
			ByteArrayOutputStream rest = new ByteArrayOutputStream();
			buffer.readBytes(rest, buffer.readableBytes());
			Assertions.assertThat(rest.toByteArray()).hasSize(20_000 - 258).startsWith(2, 3).endsWith((byte) 19_999);
			Assertions.assertThatThrownBy(buffer::readUnsignedByte).isInstanceOf(IndexOutOfBoundsException.class);
		}
	}

	@Test
	void aPartOutlivesTheWhole() {
		ReceivedBuffer buffer = received(10);
		ReadableBuffer part = buffer.readBytes(4);
		buffer.close();
		buffer.close();
		Assertions.assertThat(part.readInt()).isEqualTo(0x00010203);
		Assertions.assertThat(this.memory.metrics().outstanding()).isOne();
		part.close();
	}

	@Test
	void nothingIsReadOfWhatWasClosed() throws Exception {
		ReceivedBuffer buffer = received(10);
		buffer.skipBytes(3);
		ReceivedMessage message = new ReceivedMessage(buffer);
		message.close();
		Assertions.assertThat(message.read()).isEqualTo(-1);
		message.reset();
		Assertions.assertThat(message.available()).isZero();
		Assertions.assertThat(message.getByteBuffer()).isNull();
		Assertions.assertThatThrownBy(buffer::readUnsignedByte).isInstanceOf(IndexOutOfBoundsException.class);
	}

	@Test
	void aMarkIsReturnedTo() {
		try (ReceivedBuffer buffer = received(10)) {
			buffer.skipBytes(2);
			buffer.mark();
			buffer.skipBytes(5);
			buffer.reset();
			Assertions.assertThat(buffer.readUnsignedByte()).isEqualTo(2);
		}
	}

	@Test
	void aMarshallerSeesTheMemoryAndKeepsIt() throws Exception {
		InputStream stream = ReadableBuffers.openStream(received(10), true);
		Assertions.assertThat(stream).isInstanceOf(KnownLength.class);
		Assertions.assertThat(((HasByteBuffer) stream).byteBufferSupported()).isTrue();
		ByteBuffer bytes = ((HasByteBuffer) stream).getByteBuffer();
		Assertions.assertThat(bytes.isDirect()).isTrue();
		Assertions.assertThat(bytes.remaining()).isEqualTo(10);
		Assertions.assertThat(bytes.get(9)).isEqualTo((byte) 9);
		InputStream kept = ((Detachable) stream).detach();
		stream.close();
		Assertions.assertThat(this.memory.metrics().outstanding()).isOne();
		Assertions.assertThat(kept.readAllBytes()).hasSize(10);
		kept.close();
	}

}
