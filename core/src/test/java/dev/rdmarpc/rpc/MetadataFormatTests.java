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

import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Messages in metadata, between sides whose classes differ. */
class MetadataFormatTests {

	private static final String KEY = "rdma-test";

	private static final MessageCodec CODEC = new FlatBuffersCodec();

	private static MetadataFormat arguments(MessageCodec codec, Type... types) {
		List<String> names = Collections.nCopies(types.length, "held");
		return MetadataFormat.ofArguments(KEY, codec, new MethodSignature("s", "m", names, List.of(types), void.class));
	}

	private static MetadataFormat arguments(Type... types) {
		return arguments(CODEC, types);
	}

	private static MetadataFormat result(Type type) {
		return MetadataFormat.ofResult(KEY, CODEC, new MethodSignature("s", "m", List.of(), List.of(), type));
	}

	private static MetadataFormat.Received written(MetadataFormat format, Object message) {
		CallMetadata metadata = new CallMetadata();
		assertThat(format.write("some.Class", message, metadata)).isTrue();
		MetadataFormat.Received received = MetadataFormat.Received.of(KEY, CallMetadata.decode(buffer(metadata)));
		assertThat(Objects.requireNonNull(received).type()).isEqualTo("some.Class");
		return received;
	}

	private static ByteBuffer buffer(CallMetadata metadata) {
		return ByteBuffer.wrap(metadata.encode()).order(ByteOrder.LITTLE_ENDIAN);
	}

	private static @Nullable Object[] held(MetadataFormat reader, MetadataFormat.Received received) {
		assertThat(reader.contradictionOf(received)).isNull();
		return (@Nullable Object[]) reader.read(received);
	}

	@Test
	void equalClassesReadWhatWasWritten() {
		MetadataFormat format = arguments(String.class, int.class);
		assertThat(held(format, written(format, new Object[] { "pear", 3 }))).containsExactly("pear", 3);
		MetadataFormat details = result(New.class);
		MetadataFormat.Received received = written(details, new New("pear", 3));
		assertThat(details.contradictionOf(received)).isNull();
		assertThat(details.read(received)).isEqualTo(new New("pear", 3));
	}

	@Test
	void whatOneSideHasMoreAtTheEndIsAbsentOrIgnored() {
		MetadataFormat one = arguments(String.class);
		MetadataFormat two = arguments(String.class, int.class);
		MetadataFormat three = arguments(String.class, int.class, String.class);
		MetadataFormat.Received ofOne = written(one, new Object[] { "pear" });
		MetadataFormat.Received ofTwo = written(two, new Object[] { "pear", 3 });
		MetadataFormat.Received ofThree = written(three, new Object[] { "pear", 3, "red" });
		assertThat(held(one, ofTwo)).containsExactly("pear");
		assertThat(held(one, ofThree)).containsExactly("pear");
		assertThat(held(two, ofOne)).containsExactly("pear", 0);
		assertThat(held(two, ofThree)).containsExactly("pear", 3);
		assertThat(held(three, ofOne)).containsExactly("pear", 0, null);
		assertThat(held(three, ofTwo)).containsExactly("pear", 3, null);
		MetadataFormat.Received old = written(result(Old.class), new Old("pear"));
		assertThat(result(New.class).contradictionOf(old)).isNull();
		assertThat(result(New.class).read(old)).isEqualTo(new New("pear", 0));
	}

	@Test
	void otherTypesContradict() {
		MetadataFormat.Received received = written(arguments(String.class, long.class), new Object[] { "pear", 3L });
		assertThat(arguments(String.class, int.class).contradictionOf(received))
			.isEqualTo("it holds (string, int) -> void here and (string, long) -> void at the server: "
					+ "parameter 2 is int and long");
		assertThat(arguments(int.class).contradictionOf(received)).contains("parameter 1 is int and string");
		assertThat(result(New.class).contradictionOf(written(result(Other.class), new Other("pear", 3.5))))
			.contains("the result, field 2 is int and double");
	}

	@Test
	void aCodecThatTellsNoTypesComparesNothing() {
		MetadataFormat untold = arguments(new UntoldSchemas(), String.class);
		MetadataFormat.Received received = written(untold, new Object[] { "pear" });
		assertThat(received.types()).isNull();
		assertThat(held(untold, received)).containsExactly("pear");
		assertThat(held(arguments(String.class), received)).containsExactly("pear");
		assertThat(held(untold, written(arguments(String.class), new Object[] { "pear" }))).containsExactly("pear");
	}

	@Test
	void withoutRoomThereIsNoMessageButAShorterOneCanBeTried() {
		MetadataFormat format = arguments(String.class);
		CallMetadata metadata = new CallMetadata();
		assertThat(format.write("some.Class", new Object[] { "pear".repeat(2000) }, metadata)).isFalse();
		assertThat(MetadataFormat.Received.of(KEY, metadata)).isNull();
		assertThat(format.write("some.Class", new Object[] { "pear" }, metadata)).isTrue();
		assertThat(MetadataFormat.Received.of(KEY, metadata)).isNotNull();
	}

	/**
	 * Neither an error nor a read outside of the message, and texts that can be shown.
	 */
	@Test
	void whateverAPeerSendsAsTypes() {
		MetadataFormat format = arguments(String.class, int.class);
		String value = written(format, new Object[] { "pear", 3 }).value();
		String good = Objects.requireNonNull(written(format, new Object[] { "pear", 3 }).types());
		assertThat(good).isEqualTo("2 (string, int) -> void");
		for (String types : List.of("", " ", "x", "2", "2 ", "-1 (string, int) -> void", "256 (string, int) -> void",
				"99999999999 ()", "2 (string, int) -> void; t0 {t0", "\u0662 (string, int) -> void",
				"2 (string\n) -> void", "2 " + "[".repeat(5000))) {
			assertThat(format.contradictionOf(new MetadataFormat.Received("c", value, types))).as(types)
				.isNotNull()
				.matches("[ -~…]{1,1000}");
		}
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		for (int i = 0; i < 2000; i++) {
			StringBuilder types = new StringBuilder(good);
			for (int j = random.nextInt(3); j >= 0; j--) {
				types.setCharAt(random.nextInt(types.length()), (char) (32 + random.nextInt(95)));
			}
			MetadataFormat.Received received = new MetadataFormat.Received("c", value, types.toString());
			if (format.contradictionOf(received) == null) {
				assertThat(catchThrowable(() -> format.read(received))).as("seed %d, %s", seed, types)
					.satisfiesAnyOf((ex) -> assertThat(ex).isNull(),
							(ex) -> assertThat(ex).isInstanceOf(RuntimeException.class));
			}
		}
	}

	/** Before. */
	public record Old(String article) {

	}

	/** Now. */
	public record New(String article, int left) {

	}

	/** Something else. */
	public record Other(String article, double left) {

	}

}
