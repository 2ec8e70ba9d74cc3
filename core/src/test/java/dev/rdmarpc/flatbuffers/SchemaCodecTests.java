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
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.ValuesTooLargeException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.fail;

/** Messages of all types are read into trees, and written from them, by their schema. */
class SchemaCodecTests {

	private static final int MUTATIONS = 40;

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20260101L);

	private static final List<Class<? extends RuntimeException>> OUR_FAULTS = List.of(IndexOutOfBoundsException.class,
			ClassCastException.class, NullPointerException.class, IllegalStateException.class);

	private static SchemaCodec codec(MethodSignature method) {
		return SchemaCodec.of(Messages.CODEC, "TestService/call", method.parameterTypes().size(),
				Messages.CODEC.schema("TestService", List.of(method)), "0" + Messages.CODEC.digest(method));
	}

	static Stream<Arguments> types() {
		return Stream
			.of(TypeRoundTripTests.scalars(), TypeRoundTripTests.texts(), TypeRoundTripTests.times(),
					TypeRoundTripTests.numbers(), TypeRoundTripTests.optionals(), TypeRoundTripTests.sequences(),
					TypeRoundTripTests.maps(), TypeRoundTripTests.arrays(), TypeRoundTripTests.unions())
			.flatMap((each) -> each);
	}

	/** The tree is written to bytes that say what those said that it was read from. */
	@ParameterizedTest
	@MethodSource("types")
	void treesAreWrittenAsTheyWereRead(Type type, Object value) {
		MethodSignature method = Messages.method(type, int.class, type, String.class);
		SchemaCodec codec = codec(method);
		MessageFormat typed = Messages.CODEC.arguments(method);
		ByteBuffer sent = Messages.encode(typed, new Object[] { 1, value, "end" });
		Object tree = Messages.decodeArguments(codec.arguments(method), sent.duplicate())[0];
		assertThat(((Map<?, ?>) tree).get("p0")).isEqualTo(1);
		assertThat(((Map<?, ?>) tree).get("p2")).isEqualTo("end");
		ByteBuffer again = Messages.encode(codec.arguments(method), new Object[] { tree });
		assertThat(Messages.encode(typed, Messages.decodeArguments(typed, again))).isEqualTo(sent);
	}

	@ParameterizedTest
	@MethodSource("types")
	void decodesOrIsMalformed(Type type, Object value) {
		MethodSignature method = Messages.method(type);
		MessageFormat trees = codec(method).result(Messages.method(Object.class));
		ByteBuffer valid = Messages.encode(Messages.CODEC.result(method), value);
		for (int i = 0; i < MUTATIONS && valid.hasRemaining() && valid.remaining() < 8192; i++) {
			ByteBuffer mutant = MutationTests.mutate(valid, new Random(SEED + i));
			try {
				Messages.decode(trees, mutant);
			}
			catch (MalformedMessageException | ValuesTooLargeException ex) {
				assertThat(OUR_FAULTS).as("%s", ex)
					.noneMatch((fault) -> ex.getCause() != null && fault.isInstance(ex.getCause()));
			}
			catch (Throwable ex) {
				fail("mutation of " + type + " with -Drdmarpc.test.seed=" + (SEED + i), ex);
			}
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "table A { | line 1 of the schema has the end (expected: a name)",
					"table A { b c; } | has c (expected: ':')", "table A { b:[int; } | has ; (expected: ']')",
					"table A { b:int = 7; } | has 7 (expected: null)", "include x; | has include (expected: table",
					"union U { } | has } (expected: a name)", "rpc_service S { call(A)B; } | has B (expected: ':')",
					"table A { \u0000:int; } | has ? (expected: a name)",
					"table A {} | a schema without methods (expected: TestService/call)",
					"rpc_service S { call(A):B; } | no table A (expected: its declaration)",
					"table A { b:Other; } rpc_service S { call(A):A; } | no table Other" })
	void aSchemaThatCannotBeReadIsRefusedWithTheReason(String schema, String message) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> SchemaCodec.of(Messages.CODEC, "TestService/call", 2, schema.replace("\\u0000", "\0"),
					"0(int, int) -> int"))
			.withMessageContaining(message);
	}

	@Test
	void longDecimalsAreRefusedAsKeysOfMaps() {
		Type type = new TypeOf<Map<BigDecimal, BigDecimal>>() {
		}.type();
		MethodSignature method = Messages.method(type);
		MessageFormat trees = codec(method).result(Messages.method(Object.class));
		BigDecimal decimal = new BigDecimal(BigInteger.ONE.shiftLeft(8 * 128));
		Map<BigDecimal, BigDecimal> fits = Map.of(BigDecimal.ONE, decimal);
		assertThat(Messages.decode(trees, Messages.encode(Messages.CODEC.result(method), fits))).isEqualTo(fits);
		ByteBuffer message = Messages.encode(Messages.CODEC.result(method), Map.of(decimal, decimal));
		assertThatExceptionOfType(ValuesTooLargeException.class).isThrownBy(() -> Messages.decode(trees, message))
			.withMessageContaining("a BigDecimal of 129 bytes in the key of a map");
	}

	@Test
	void whatIsNotKnownIsNotSupported() {
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> SchemaCodec.of(Messages.CODEC, "call", 1,
					"struct Odd { a:int; } table A { b:Odd; } rpc_service S { call(A):A; }", "0(t0) -> void"))
			.withMessage("the struct Odd is not known here");
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(
					() -> SchemaCodec.of(Messages.CODEC, "call", 1, "rpc_service S { call(A):A; }", "0(any) -> void"))
			.withMessageContaining("types are not known");
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> SchemaCodec.of(Messages.CODEC, "call", 1, "", ""))
			.withMessageContaining("tells no schema");
	}

	@Test
	void schemasOfManyFieldsAreRefused() {
		for (String field : List.of("f:int;", "f:U;", "f:[Entry_];")) {
			String tables = IntStream.range(0, 6)
				.mapToObj((i) -> "table T" + i + " { next:T" + (i + 1) + "; " + field.repeat(3_900) + " }\n")
				.collect(Collectors.joining());
			assertThatIllegalArgumentException().isThrownBy(() -> compile(tables + "table T6 {}"))
				.withMessage("a schema of more than 20000 tables and fields (expected: at most that)");
		}
		String members = IntStream.range(0, 20_000)
			.mapToObj((i) -> "table M" + i + " {}")
			.collect(Collectors.joining());
		String unions = IntStream.range(0, 100)
			.mapToObj((i) -> "union U" + i + " { " + names(200, (k) -> "M" + (200 * i + k)) + " }")
			.collect(Collectors.joining());
		String fields = IntStream.range(0, 100).mapToObj((i) -> "f:U" + i + ";").collect(Collectors.joining());
		assertThatIllegalArgumentException().isThrownBy(() -> compile(members + unions + "table T0 { " + fields + " }"))
			.withMessageContaining("more than 20000 tables and fields");
	}

	/** All fields of a union share what is known of its members. */
	@Test
	void fieldsOfAUnionTakeNoMoreThanOthers() {
		String table = "table T0 { " + "f:%s;".repeat(4_000) + " }";
		compile(table.replace("%s", "U"));
		long before = AllocatedBytes.byThisThread();
		compile(table.replace("%s", "A"));
		long others = AllocatedBytes.byThisThread() - before;
		compile(table.replace("%s", "U"));
		assertThat(AllocatedBytes.byThisThread() - before - others).isLessThan(2 * others);
	}

	/** Some more declarations are before it. */
	private static SchemaCodec compile(String schema) {
		return SchemaCodec.of(Messages.CODEC, "call", 1, "table A {} table Entry_ { key:int; value:int; } union U { "
				+ names(255, (i) -> "A") + " } " + schema + " rpc_service S { call(T0):T0; }", "0(t0) -> t0");
	}

	private static String names(int many, IntFunction<String> name) {
		return IntStream.range(0, many).mapToObj(name).collect(Collectors.joining(", "));
	}

	@Test
	void tablesThatReferToEachOtherTakeNoStack() {
		int many = 6_000;
		String tables = IntStream.range(0, many)
			.mapToObj((i) -> "table T" + i + " { next:T" + ((i + 1) % many) + "; many:[T" + (i / 2) + "]; }\n")
			.collect(Collectors.joining());
		SchemaCodec codec = SchemaCodec.of(Messages.CODEC, "call", 1, tables + "rpc_service S { call(T0):T0; }",
				"0(t0) -> t0");
		MessageFormat format = codec.result(Messages.method(Object.class));
		ByteBuffer message = Messages.encode(format, Map.of("next", Map.of("next", Map.of())));
		assertThat(Messages.decode(format, message).toString())
			.isEqualTo("{next={next={next=null, many=null}, many=null}, many=null}");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> SchemaCodec.of(Messages.CODEC, "call", 1, " ".repeat(SchemaText.MAX_LENGTH + 1), "0()"))
			.withMessageContaining("without arguments");
		assertThatIllegalArgumentException().isThrownBy(() -> SchemaText.parse(" ".repeat(SchemaText.MAX_LENGTH + 1)))
			.withMessageContaining("expected: at most");
	}

}
