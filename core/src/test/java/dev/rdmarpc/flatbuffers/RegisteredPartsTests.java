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

package dev.rdmarpc.flatbuffers;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Record components that are registered buffers and messages. */
class RegisteredPartsTests {

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20260304L);

	private static final int MUTATIONS = Integer.getInteger("rdmarpc.test.mutations", 2000);

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withLeakDetection(LeakDetection.PARANOID));

	private final MessageSegments segments = new MessageSegments();

	@AfterEach
	void nothingIsOutstanding() {
		this.segments.clear();
		assertThat(this.memory.metrics().outstanding()).as("buffers outstanding").isZero();
		this.memory.close();
	}

	@Test
	void componentsAreReferencedAndHeldUntilTheSegmentsAreCleared() {
		RegisteredBuffer data = data(10);
		Messages.result(Parts.class).encode(parts(data, null), this.segments);
		assertThat(data.references()).isEqualTo(4);
		assertThat(this.segments.segmentBuffer(1)).isSameAs(data);
		this.segments.clear();
		assertThat(data.release()).isTrue();
	}

	@Test
	void aValueThatCannotBeEncodedHoldsNothing() {
		RegisteredBuffer data = data(10);
		Parts broken = new Parts("broken \uD800", data, ByteBuffer.allocate(0), null, List.of(data));
		Parts outer = new Parts("outer", data, null, broken, null);
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> Messages.result(Parts.class).encode(outer, this.segments));
		assertThat(data.release()).isTrue();
		assertThat(this.segments.totalBytes()).isZero();
	}

	@Test
	void lentPartsAreViewsUntilTheyAreGivenBackUnlessRetained() {
		RegisteredBuffer data = data(1000);
		RegisteredBuffer message = received(parts(data, parts(data, null)));
		data.release();
		ReceivedMemory received = ReceivedMemory.lent();
		Parts parts = decode(message, received);
		assertThat(parts.data().buffer()).isEqualTo(parts.inner().data().buffer());
		message.buffer().put(parts.data().offset() - message.offset(), (byte) 99);
		assertThat(parts.data().buffer().get(0)).isEqualTo((byte) 99);
		assertThat(parts.plain().isDirect()).isTrue();
		assertThat(parts.plain().order()).isEqualTo(ByteOrder.BIG_ENDIAN);
		RegisteredBuffer kept = parts.inner().data().retain();
		received.release();
		assertThat(message.release()).isFalse();
		assertThat(parts.data().references()).isZero();
		assertThat(kept.buffer().get(999)).isEqualTo((byte) 999);
		assertThat(kept.release()).isTrue();
	}

	@Test
	void givenPartsBelongToWhoGetsTheValue() {
		RegisteredBuffer data = data(700);
		RegisteredBuffer message = received(parts(data, null));
		data.release();
		ReceivedMemory received = ReceivedMemory.given();
		Parts parts = decode(message, received);
		assertThat(received.hasParts()).isTrue();
		received.handOver();
		message.release();
		assertThat(parts.plain().isDirect()).isFalse();
		assertThat(parts.plain().order()).isEqualTo(ByteOrder.BIG_ENDIAN);
		assertThat(parts.plain()).isEqualTo(ByteBuffer.allocate(600));
		assertThat(parts.data().release()).isTrue();
		parts.list().forEach(RegisteredBuffer::release);
	}

	@Test
	void numbersInBuffersAreWhatTheSenderPut() {
		ByteBuffer sent = ByteBuffer.allocate(8).putInt(1).putInt(-2).flip();
		RegisteredBuffer message = received(ByteBuffer.class, sent);
		for (ReceivedMemory received : List.of(ReceivedMemory.lent(), ReceivedMemory.given())) {
			received.begin(message);
			ByteBuffer numbers = (ByteBuffer) Messages.result(ByteBuffer.class).decode(message.buffer(), received);
			assertThat(numbers.getInt()).isOne();
			assertThat(numbers.getInt()).isEqualTo(-2);
			received.release();
		}
		message.release();
		assertThat(Messages.<ByteBuffer>roundTrip(ByteBuffer.class, sent).getInt()).isOne();
	}

	@Test
	void messagesWithinMessagesAreParts() {
		RegisteredBuffer message;
		try (GatherBuilder builder = new GatherBuilder(this.memory)) {
			TableType type = TableType.named("Number");
			TableField.OfInt number = type.addInt("number");
			GatherMessage inner = builder.begin(type).put(number, 5).finish();
			message = received(Wrapper.class, new Wrapper("w", inner));
			assertThat(inner.release()).isTrue();
			ReceivedMemory received = ReceivedMemory.lent();
			received.begin(message);
			Wrapper wrapper = (Wrapper) Messages.result(Wrapper.class).decode(message.buffer(), received);
			assertThat(StockReader.read(type, wrapper.message().buffer())).containsEntry(number, 5);
			GatherMessage kept = wrapper.message().retain();
			received.release();
			message.release();
			assertThat(kept.release()).isTrue();
		}
	}

	@Test
	void withoutRegisteredMemoryTheyAreRefused() {
		RegisteredBuffer data = data(3);
		ByteBuffer message = Messages.encode(Messages.result(RegisteredBuffer.class), data);
		assertThatExceptionOfType(MalformedMessageException.class)
			.isThrownBy(() -> Messages.decode(Messages.result(RegisteredBuffer.class), message))
			.withMessageContaining("not received in registered memory");
		data.release();
		data.release();
	}

	@Test
	void hostileMessagesHoldNothing() {
		RegisteredBuffer data = data(600);
		RegisteredBuffer valid = received(parts(data, parts(data, null)));
		data.release();
		byte[] bytes = new byte[valid.length()];
		valid.buffer().get(bytes);
		ReceivedMemory received = ReceivedMemory.lent();
		for (long seed = SEED; seed < SEED + MUTATIONS; seed++) {
			Random random = new Random(seed);
			valid.buffer().put(bytes);
			for (int i = random.nextInt(4); i >= 0; i--) {
				valid.buffer().put(random.nextInt(Math.min(bytes.length, 300)), (byte) random.nextInt());
			}
			try {
				Parts parts = decode(valid, received);
				if (parts.data() != null) {
					assertThat(parts.data().length()).as("seed %s", seed).isLessThan(bytes.length);
				}
			}
			catch (MalformedMessageException ex) {
				assertThat(ex.getMessage()).as("seed %s", seed).isNotEmpty();
			}
			received.release();
			assertThat(valid.references()).as("seed %s", seed).isOne();
		}
		valid.release();
	}

	private static Parts decode(RegisteredBuffer message, ReceivedMemory received) {
		received.begin(message);
		return (Parts) Messages.result(Parts.class).decode(message.buffer(), received);
	}

	private static Parts parts(RegisteredBuffer data, Parts inner) {
		return new Parts("name", data, ByteBuffer.allocate(600), inner, List.of(data, data));
	}

	private RegisteredBuffer data(int length) {
		RegisteredBuffer data = this.memory.allocate(length);
		for (int i = 0; i < length; i++) {
			data.buffer().put(i, (byte) i);
		}
		return data;
	}

	private RegisteredBuffer received(Parts value) {
		return received(Parts.class, value);
	}

	private RegisteredBuffer received(Class<?> type, Object value) {
		MessageFormat format = Messages.result(type);
		format.encode(value, this.segments);
		RegisteredBuffer message = this.memory.allocate(this.segments.totalBytes());
		this.segments.copyTo(message.buffer());
		this.segments.clear();
		return message;
	}

	record Parts(String name, RegisteredBuffer data, ByteBuffer plain, Parts inner, List<RegisteredBuffer> list) {

	}

	record Wrapper(String name, GatherMessage message) {

	}

}
