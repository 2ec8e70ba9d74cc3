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
import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.MessageFormat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * Valid messages of every type with a few bits changed: they decode to something, or they
 * are malformed; never anything else, and never at a price out of proportion.
 */
class MutationTests {

	private static final int MUTATIONS = Integer.getInteger("rdmarpc.test.mutations", 400);

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20260101L);

	private static final int MAX_BYTES = 8 * 1024;

	private static final long MAX_ALLOCATED_PER_BYTE = 16 * 64;

	private static final long MAX_ALLOCATED = 16 * 1024 * 1024;

	private static final List<Class<? extends RuntimeException>> OUR_FAULTS = List.of(IndexOutOfBoundsException.class,
			ClassCastException.class, NegativeArraySizeException.class, ArrayStoreException.class,
			BufferUnderflowException.class, BufferOverflowException.class, IllegalStateException.class,
			UnsupportedOperationException.class);

	@ParameterizedTest
	@MethodSource
	void decodesOrIsMalformed(Type type, Object value) {
		MessageFormat format = Messages.result(type);
		ByteBuffer valid = Messages.encode(format, value);
		if (valid.remaining() > MAX_BYTES) {
			return;
		}
		for (int i = 0; i < MUTATIONS; i++) {
			long seed = SEED + i;
			ByteBuffer mutant = mutate(valid, new Random(seed));
			try {
				decode(format, mutant);
			}
			catch (Throwable ex) {
				fail("mutation of " + type + " with -Drdmarpc.test.seed=" + seed, ex);
			}
		}
	}

	static Stream<Arguments> decodesOrIsMalformed() {
		return Stream
			.of(TypeRoundTripTests.scalars(), TypeRoundTripTests.texts(), TypeRoundTripTests.times(),
					TypeRoundTripTests.numbers(), TypeRoundTripTests.optionals(), TypeRoundTripTests.sequences(),
					TypeRoundTripTests.maps(), TypeRoundTripTests.arrays(), TypeRoundTripTests.unions())
			.flatMap((each) -> each);
	}

	private void decode(MessageFormat format, ByteBuffer message) {
		long before = AllocatedBytes.byThisThread();
		try {
			Messages.decode(format, message);
		}
		catch (MalformedMessageException ex) {
			for (Throwable cause = ex.getCause(); cause != null; cause = cause.getCause()) {
				assertThat(OUR_FAULTS).as("%s", ex).noneMatch(cause.getClass()::isAssignableFrom);
			}
		}
		long allocated = AllocatedBytes.byThisThread() - before;
		assertThat(allocated).isLessThan(MAX_ALLOCATED_PER_BYTE * message.remaining() + MAX_ALLOCATED);
	}

	/** Changes some bytes of a message. */
	static ByteBuffer mutate(ByteBuffer valid, Random random) {
		int length = valid.remaining();
		int kept = (random.nextInt(8) == 0) ? random.nextInt(length + 1) : length;
		ByteBuffer mutant = ByteBuffer.allocateDirect(length).order(ByteOrder.LITTLE_ENDIAN);
		mutant.put(valid.duplicate()).flip().limit(kept);
		for (int changes = random.nextInt(4) + 1; changes > 0 && kept > 0; changes--) {
			int at = random.nextInt(kept);
			switch (random.nextInt(4)) {
				case 0 -> mutant.put(at, (byte) (mutant.get(at) ^ (1 << random.nextInt(8))));
				case 1 -> mutant.put(at, (byte) random.nextInt());
				case 2 -> putInt(mutant, at & ~3, random.nextInt(2 * length) - length / 2);
				default -> putInt(mutant, at & ~3, interesting(random));
			}
		}
		return mutant;
	}

	private static void putInt(ByteBuffer mutant, int at, int value) {
		if (at + 4 <= mutant.limit()) {
			mutant.putInt(at, value);
		}
	}

	private static int interesting(Random random) {
		int[] values = { 0, 1, -1, 4, 8, Integer.MAX_VALUE, Integer.MIN_VALUE, 0x3FFF_FFFF, 0x4000_0000, 0x10000,
				65535 };
		return values[random.nextInt(values.length)];
	}

}
