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

import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.codec.ArrivingBytes;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.ReceivedMemory;

import static org.assertj.core.api.Assertions.assertThat;

/** Large arrays that are found in the beginning of a message. */
class ForesightTests {

	private static final int LENGTH = 1_000_000;

	private final Random random = new Random(11);

	@ParameterizedTest
	@MethodSource("arguments")
	void arrayIsFilledWhileTheMessageArrives(String name, List<Type> types, Object[] values) {
		MessageFormat format = Messages.arguments(types.toArray(Type[]::new));
		ByteBuffer message = Messages.encode(format, values);
		ReceivedMemory memory = ReceivedMemory.lent();
		for (int i = 0; i < 3; i++) {
			ArrivingBytes arriving = format.foresee(message.duplicate().limit(4096), message.limit());
			assertThat(arriving).isNotNull();
			arriving.fill(message, message.limit() / 2);
			memory.expect(arriving);
			long before = AllocatedBytes.byThisThread();
			Object[] decoded = (Object[]) format.decode(message, memory);
			long allocated = AllocatedBytes.byThisThread() - before;
			memory.release();
			assertThat(decoded).usingRecursiveComparison()
				.withEqualsForType(Arrays::equals, byte[].class)
				.isEqualTo(values);
			assertThat(allocated).as("no second array").isLessThan(LENGTH);
		}
	}

	static Stream<Arguments> arguments() {
		byte[] bytes = new byte[LENGTH];
		new Random(5).nextBytes(bytes);
		return Stream.of(Arguments.of("one", List.of(byte[].class), new Object[] { bytes }),
				Arguments.of("several", List.of(String.class, byte[].class, int.class),
						new Object[] { "name", bytes, 7 }),
				Arguments.of("record", List.of(Upload.class), new Object[] { new Upload("name", new byte[3], bytes) }),
				Arguments.of("record among others", List.of(long.class, Nested.class),
						new Object[] { 3L, new Nested(new Upload("name", new byte[0], bytes), "text") }));
	}

	@Test
	void nothingIsForeseenWhereThereIsNothing() {
		MessageFormat text = Messages.arguments(String.class);
		ByteBuffer message = Messages.encode(text, new Object[] { "x".repeat(LENGTH) });
		assertThat(text.foresee(message.duplicate().limit(4096), message.limit())).isNull();
		MessageFormat buffer = Messages.arguments(ByteBuffer.class);
		assertThat(buffer.foresee(message.duplicate().limit(4096), message.limit())).isNull();
		MessageFormat bytes = Messages.arguments(byte[].class);
		ByteBuffer small = Messages.encode(bytes, new Object[] { new byte[100_000] });
		assertThat(bytes.foresee(small.duplicate().limit(4096), small.limit())).as("not worth it").isNull();
		assertThat(bytes.foresee(small.duplicate().limit(0), small.limit())).isNull();
		MessageFormat none = Messages.arguments();
		assertThat(none.foresee(message.duplicate().limit(4096), message.limit())).isNull();
	}

	@Test
	void referencesToOneVectorAreReadAsArraysOfTheirOwn() {
		MessageFormat format = Messages.result(Upload.class);
		byte[] bytes = new byte[LENGTH];
		this.random.nextBytes(bytes);
		ByteBuffer message = Messages.encode(format, new Upload("", bytes, new byte[8]));
		int table = message.getInt(0);
		int vtable = table - message.getInt(table);
		int first = table + message.getShort(vtable + 6);
		int second = table + message.getShort(vtable + 8);
		message.putInt(second, first + message.getInt(first) - second);
		ArrivingBytes arriving = format.foresee(message.duplicate().limit(4096), message.limit());
		ReceivedMemory memory = ReceivedMemory.lent();
		memory.expect(arriving);
		Upload decoded = (Upload) format.decode(message, memory);
		memory.release();
		assertThat(decoded.first()).isEqualTo(bytes).isNotSameAs(decoded.second());
		assertThat(decoded.second()).isEqualTo(bytes);
	}

	/** Whatever the bytes are: nothing is thrown, and the array lies in the message. */
	@Test
	void anyBytesMayArrive() {
		MessageFormat format = Messages.arguments(Nested.class, byte[].class);
		ByteBuffer valid = Messages.encode(format,
				new Object[] { new Nested(new Upload("n", new byte[9], new byte[200_000]), "t"), new byte[150_000] });
		ByteBuffer message = ByteBuffer.allocateDirect(24 + valid.limit()).order(valid.order());
		int found = 0;
		for (int i = 0; i < 5_000; i++) {
			int start = 8 * this.random.nextInt(3);
			message.clear().put(start, valid, 0, 512);
			for (int j = this.random.nextInt(8); j > 0; j--) {
				int at = start + 4 * this.random.nextInt(40);
				if (this.random.nextBoolean()) {
					message.put(at + this.random.nextInt(4), (byte) this.random.nextInt());
				}
				else {
					message.putInt(at, this.random.nextInt());
				}
			}
			message.position(start).limit(start + this.random.nextInt(512));
			ArrivingBytes arriving = format.foresee(message, valid.limit());
			if (arriving != null) {
				found++;
				arriving.fill(message.clear(), start + valid.limit());
				arriving.release();
			}
		}
		assertThat(found).isPositive();
	}

	@Test
	void deepValuesAreNotFollowedToTheirEnd() {
		MessageFormat format = Messages.result(Tree.class);
		Tree deep = new Tree(null, new byte[LENGTH]);
		for (int i = 0; i < 60; i++) {
			deep = new Tree(deep, new byte[0]);
		}
		ByteBuffer message = Messages.encode(format, deep);
		for (int end = 4096; end >= 0; end -= 4) {
			ArrivingBytes arriving = format.foresee(message.duplicate().limit(end), message.limit());
			if (arriving != null) {
				arriving.release();
			}
		}
		assertThat(((Tree) Messages.decode(format, message)).next()).isNotNull();
	}

	record Upload(String name, byte[] first, byte[] second) {
	}

	record Nested(Upload upload, String text) {
	}

	record Tree(Tree next, byte[] bytes) {
	}

}
