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

import java.lang.reflect.Array;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Month;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Currency;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.MessageFormat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Each supported type, with ordinary, empty and extreme values, wherever types may stand.
 */
class TypeRoundTripTests {

	@ParameterizedTest
	@MethodSource({ "scalars", "texts", "times", "numbers", "optionals", "sequences", "maps", "arrays", "unions" })
	void roundTripsAsResultAndArgument(Type type, Object value) {
		check(Messages.roundTrip(type, value), value);
		MessageFormat format = Messages.arguments(int.class, type, String.class);
		Object[] decoded = Messages.decodeArguments(format, Messages.encode(format, new Object[] { 1, value, "end" }));
		assertThat(decoded[0]).isEqualTo(1);
		check(decoded[1], value);
		assertThat(decoded[2]).isEqualTo("end");
	}

	private static void check(Object decoded, Object value) {
		assertThat(decoded).hasSameClassAs(decodedForm(value));
		assertThat(comparable(decoded)).isEqualTo(comparable(value));
	}

	/** Arrays and deques have no equals; sets and maps are compared with their order. */
	private static Object comparable(Object value) {
		if (value instanceof Map<?, ?> map) {
			return comparable(new ArrayList<>(map.entrySet()));
		}
		if (value instanceof Map.Entry<?, ?> entry) {
			return Arrays.asList(comparable(entry.getKey()), comparable(entry.getValue()));
		}
		if (value instanceof Collection<?> collection) {
			return collection.stream().map(TypeRoundTripTests::comparable).toList();
		}
		if (value != null && value.getClass().isArray()) {
			List<Object> elements = new ArrayList<>();
			for (int i = 0; i < Array.getLength(value); i++) {
				elements.add(comparable(Array.get(value, i)));
			}
			return elements;
		}
		return value;
	}

	/** Immutable and other collections come back as the mutable standard ones. */
	private static Object decodedForm(Object value) {
		if (value instanceof SortedMap<?, ?> map) {
			return new TreeMap<>(map);
		}
		if (value instanceof Map<?, ?> map) {
			return new LinkedHashMap<>(map);
		}
		if (value instanceof NavigableSet<?> set) {
			return new TreeSet<>(set);
		}
		if (value instanceof Set<?> set) {
			return new LinkedHashSet<>(set);
		}
		return (value instanceof List<?> list) ? new ArrayList<>(list) : value;
	}

	static Stream<Arguments> scalars() {
		return Stream.of(Arguments.of(boolean.class, true), Arguments.of(byte.class, Byte.MIN_VALUE),
				Arguments.of(char.class, '\uFFFF'), Arguments.of(short.class, Short.MIN_VALUE),
				Arguments.of(int.class, Integer.MIN_VALUE), Arguments.of(long.class, Long.MIN_VALUE),
				Arguments.of(float.class, Float.MIN_VALUE), Arguments.of(double.class, Double.MAX_VALUE),
				Arguments.of(Boolean.class, false), Arguments.of(Byte.class, (byte) 0),
				Arguments.of(Character.class, '\0'), Arguments.of(Short.class, (short) 0),
				Arguments.of(Integer.class, 0), Arguments.of(Long.class, 0L), Arguments.of(Float.class, -0.0f),
				Arguments.of(Double.class, Double.NaN));
	}

	static Stream<Arguments> texts() {
		return Stream.of(Arguments.of(String.class, ""), Arguments.of(String.class, "\0"),
				Arguments.of(String.class, "7 chars"), Arguments.of(String.class, "8 chars!"),
				Arguments.of(String.class, "ASCII first, then \u00E4\u20AC\uD83D\uDE00\uFFFF and more of it"),
				Arguments.of(String.class, "x".repeat(100_000)),
				Arguments.of(String.class, "\uD83D\uDE00".repeat(50_000)), Arguments.of(Month.class, Month.MAY),
				Arguments.of(DayOfWeek.class, DayOfWeek.SUNDAY), Arguments.of(TimeUnit.class, TimeUnit.NANOSECONDS),
				Arguments.of(WithBodies.class, WithBodies.SECOND),
				Arguments.of(URI.class, URI.create("rdma://host:1/path?q=1#f")),
				Arguments.of(Locale.class, Locale.CANADA), Arguments.of(Currency.class, Currency.getInstance("EUR")));
	}

	static Stream<Arguments> times() {
		return Stream.of(Arguments.of(Instant.class, Instant.MIN), Arguments.of(Instant.class, Instant.MAX),
				Arguments.of(Instant.class, Instant.EPOCH), Arguments.of(Duration.class, Duration.ZERO),
				Arguments.of(Duration.class, Duration.ofSeconds(Long.MIN_VALUE, 0)),
				Arguments.of(Duration.class, Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)),
				Arguments.of(LocalDate.class, LocalDate.MIN), Arguments.of(LocalDate.class, LocalDate.MAX),
				Arguments.of(LocalTime.class, LocalTime.MAX), Arguments.of(LocalTime.class, LocalTime.MIDNIGHT),
				Arguments.of(LocalDateTime.class, LocalDateTime.MIN),
				Arguments.of(LocalDateTime.class, LocalDateTime.MAX),
				Arguments.of(OffsetDateTime.class, OffsetDateTime.MIN),
				Arguments.of(OffsetDateTime.class, OffsetDateTime.MAX), Arguments.of(OffsetTime.class, OffsetTime.MIN),
				Arguments.of(OffsetTime.class, OffsetTime.MAX),
				Arguments.of(ZonedDateTime.class,
						ZonedDateTime.of(2026, 10, 25, 2, 30, 0, 0, ZoneId.of("Europe/Berlin"))
							.withLaterOffsetAtOverlap()),
				Arguments.of(ZonedDateTime.class,
						ZonedDateTime.of(2026, 10, 25, 2, 30, 0, 0, ZoneId.of("Europe/Berlin"))
							.withEarlierOffsetAtOverlap()),
				Arguments.of(ZonedDateTime.class, ZonedDateTime.of(LocalDateTime.MAX, ZoneOffset.UTC)),
				Arguments.of(Year.class, Year.of(Year.MIN_VALUE)), Arguments.of(Year.class, Year.of(Year.MAX_VALUE)),
				Arguments.of(YearMonth.class, YearMonth.of(Year.MIN_VALUE, 1)),
				Arguments.of(YearMonth.class, YearMonth.of(Year.MAX_VALUE, 12)),
				Arguments.of(MonthDay.class, MonthDay.of(2, 29)),
				Arguments.of(Period.class, Period.of(Integer.MIN_VALUE, 0, Integer.MAX_VALUE)),
				Arguments.of(ZoneId.class, ZoneId.of("Asia/Kolkata")), Arguments.of(ZoneId.class, ZoneOffset.MAX),
				Arguments.of(ZoneOffset.class, ZoneOffset.MIN));
	}

	static Stream<Arguments> numbers() {
		return Stream.of(Arguments.of(UUID.class, new UUID(Long.MIN_VALUE, Long.MAX_VALUE)),
				Arguments.of(BigInteger.class, BigInteger.ZERO),
				Arguments.of(BigInteger.class, BigInteger.ONE.shiftLeft(5000).negate()),
				Arguments.of(BigDecimal.class, new BigDecimal("-0.000")),
				Arguments.of(BigDecimal.class, new BigDecimal(BigInteger.TEN, Integer.MIN_VALUE)),
				Arguments.of(BigDecimal.class, new BigDecimal("123456789012345678901234567890.123456789")));
	}

	static Stream<Arguments> optionals() {
		return Stream.of(Arguments.of(OptionalInt.class, OptionalInt.empty()),
				Arguments.of(OptionalInt.class, OptionalInt.of(0)),
				Arguments.of(OptionalLong.class, OptionalLong.empty()),
				Arguments.of(OptionalLong.class, OptionalLong.of(Long.MIN_VALUE)),
				Arguments.of(OptionalDouble.class, OptionalDouble.empty()),
				Arguments.of(OptionalDouble.class, OptionalDouble.of(-0.0)),
				Arguments.of(new TypeOf<Optional<String>>() {
				}.type(), Optional.empty()), Arguments.of(new TypeOf<Optional<Integer>>() {
				}.type(), Optional.of(0)), Arguments.of(new TypeOf<Optional<List<UUID>>>() {
				}.type(), Optional.of(List.of(new UUID(1, 2)))), Arguments.of(new TypeOf<Optional<Shape2D>>() {
				}.type(), Optional.of(new Circle(2))), Arguments.of(new TypeOf<Optional<Point>>() {
				}.type(), Optional.of(new Point(1, 2))));
	}

	static Stream<Arguments> sequences() {
		return Stream.of(Arguments.of(new TypeOf<List<String>>() {
		}.type(), List.of()), Arguments.of(new TypeOf<List<String>>() {
		}.type(), List.of("a", "", "c")), Arguments.of(new TypeOf<Collection<Integer>>() {
		}.type(), new ArrayList<>(List.of(1, 2, 3))), Arguments.of(new TypeOf<List<Long>>() {
		}.type(), Collections.unmodifiableList(new ArrayList<>(List.of(1L, 2L)))),
				Arguments.of(new TypeOf<Set<Month>>() {
				}.type(), new LinkedHashSet<>(List.of(Month.MAY, Month.APRIL))),
				Arguments.of(new TypeOf<NavigableSet<String>>() {
				}.type(), new TreeSet<>(List.of("b", "a"))), Arguments.of(new TypeOf<Deque<Byte>>() {
				}.type(), new ArrayDeque<>(List.of((byte) 1))), Arguments.of(new TypeOf<List<Point>>() {
				}.type(), List.of(new Point(1, 2), new Point(-3, Double.NaN))),
				Arguments.of(new TypeOf<List<Instant>>() {
				}.type(), List.of(Instant.MIN, Instant.MAX)), Arguments.of(new TypeOf<List<List<List<Integer>>>>() {
				}.type(), List.of(List.of(), List.of(List.of(), List.of(1, 2)))),
				Arguments.of(new TypeOf<List<Optional<String>>>() {
				}.type(), List.of(Optional.empty(), Optional.of("x"))), Arguments.of(new TypeOf<List<OptionalInt>>() {
				}.type(), List.of(OptionalInt.empty(), OptionalInt.of(7))),
				Arguments.of(new TypeOf<List<BigDecimal>>() {
				}.type(), List.of(BigDecimal.ONE, new BigDecimal("1.50"))),
				Arguments.of(new TypeOf<List<BigInteger>>() {
				}.type(), List.of(BigInteger.ONE)), Arguments.of(new TypeOf<List<Shape2D>>() {
				}.type(), List.of(new Circle(1), new Square(2), new Group(List.of(new Circle(3))))),
				Arguments.of(new TypeOf<List<? extends Point>>() {
				}.type(), List.of(new Point(0, 0))), Arguments.of(new TypeOf<List<Tree>>() {
				}.type(), List.of(new Tree("root", List.of(new Tree("leaf", List.of()), new Tree("x", null))))));
	}

	static Stream<Arguments> maps() {
		Map<String, Integer> withNull = new LinkedHashMap<>();
		withNull.put("z", null);
		withNull.put("a", 1);
		return Stream.of(Arguments.of(new TypeOf<Map<String, Integer>>() {
		}.type(), Map.of()), Arguments.of(new TypeOf<Map<String, Integer>>() {
		}.type(), withNull), Arguments.of(new TypeOf<SortedMap<Integer, List<Point>>>() {
		}.type(), new TreeMap<>(Map.of(2, List.of(), 1, List.of(new Point(1, 1))))),
				Arguments.of(new TypeOf<Map<UUID, Map<Month, Optional<Point>>>>() {
				}.type(), Map.of(new UUID(0, 1), Map.of(Month.MAY, Optional.empty()))),
				Arguments.of(new TypeOf<Map<Point, Shape2D>>() {
				}.type(), Map.of(new Point(1, 2), new Square(3))));
	}

	static Stream<Arguments> arrays() {
		return Stream.of(Arguments.of(boolean[].class, new boolean[] { true, false }),
				Arguments.of(byte[].class, new byte[] { 1, -1 }),
				Arguments.of(char[].class, new char[] { 'a', '\uFFFF' }),
				Arguments.of(short[].class, new short[] { Short.MIN_VALUE }), Arguments.of(int[].class, new int[0]),
				Arguments.of(int[].class, new int[10_000]),
				Arguments.of(long[].class, new long[] { Long.MIN_VALUE, 1 }),
				Arguments.of(float[].class, new float[] { Float.NaN }),
				Arguments.of(double[].class, new double[] { 1, -0.0 }),
				Arguments.of(String[].class, new String[] { "a", "b" }),
				Arguments.of(int[][].class, new int[][] { {}, { 1 }, { 2, 3 } }),
				Arguments.of(String[][][].class, new String[][][] { { { "a" }, {} }, {} }),
				Arguments.of(Point[].class, new Point[] { new Point(1, 2) }),
				Arguments.of(Integer[].class, new Integer[] { 1, 2 }), Arguments.of(new TypeOf<List<byte[]>>() {
				}.type(), List.of(new byte[] { 1 }, new byte[0], new byte[1000])),
				Arguments.of(new TypeOf<Optional<String>[]>() {
				}.type(), new Optional<?>[] { Optional.empty(), Optional.of("x") }));
	}

	static Stream<Arguments> unions() {
		return Stream.of(Arguments.of(Shape2D.class, new Circle(1.5)), Arguments.of(Shape2D.class, new Square(2)),
				Arguments.of(Shape2D.class, new Group(List.of(new Group(List.of()), new Square(1)))),
				Arguments.of(new TypeOf<Outcome<String>>() {
				}.type(), new Success<>("yes")), Arguments.of(new TypeOf<Outcome<List<Point>>>() {
				}.type(), new Failure<List<Point>>(404, Optional.of("no"))),
				Arguments.of(Drawing.class, new Drawing(null, new Circle(1), Optional.empty(), 7)),
				Arguments.of(Drawing.class, new Drawing(new Square(1), null, Optional.of(new Circle(3)), 8)));
	}

	@ParameterizedTest
	@MethodSource("nullable")
	void nullRoundTripsAsResultAndArgument(Type type) {
		Object absent = (type instanceof Class<?> raw && raw == OptionalInt.class) ? OptionalInt.empty() : null;
		assertThat(Messages.<Object>roundTrip(type, null)).isEqualTo(absent);
		MessageFormat format = Messages.arguments(int.class, type, String.class);
		assertThat(Messages.decodeArguments(format, Messages.encode(format, new Object[] { 1, null, "end" })))
			.containsExactly(1, absent, "end");
	}

	static Stream<Arguments> nullable() {
		return Stream.of(Boolean.class, Long.class, String.class, Month.class, Instant.class, LocalDate.class,
				UUID.class, BigDecimal.class, BigInteger.class, ZonedDateTime.class, ZoneId.class, OptionalInt.class,
				byte[].class, ByteBuffer.class, int[].class, int[][].class, Point.class, Shape2D.class,
				new TypeOf<List<String>>() {
				}.type(), new TypeOf<Map<String, String>>() {
				}.type())
			.map(Arguments::of);
	}

	@Test
	void recordsAreAsWideAsJavaAllows() throws Exception {
		Object[] values = LongStream.range(0, 127).boxed().toArray();
		Object wide = Wide.class.getDeclaredConstructors()[0].newInstance(values);
		assertThat(Messages.<Object>roundTrip(Wide.class, wide)).isEqualTo(wide);
		assertThat(((Wide) Messages.decode(Messages.result(Wide.class),
				Messages.encode(Messages.result(Narrow.class), new Narrow(7))))
			.l126()).isZero();
		Type[] types = Collections.nCopies(127, long.class).toArray(Type[]::new);
		MessageFormat arguments = Messages.arguments(types);
		assertThat(Messages.decodeArguments(arguments, Messages.encode(arguments, values))).isEqualTo(values);
		assertThat(Messages.decodeArguments(arguments, ByteBuffer.allocateDirect(0))).containsOnly(0L).hasSize(127);
		assertThatExceptionOfType(MalformedMessageException.class).isThrownBy(
				() -> Messages.decode(Messages.result(Picky.class), Messages.encode(Messages.result(Wide.class), wide)))
			.withMessageContaining("Picky rejects its content: no");
	}

	record Narrow(long number) {

	}

	record Wide(long l0, long l1, long l2, long l3, long l4, long l5, long l6, long l7, long l8, long l9, long l10,
			long l11, long l12, long l13, long l14, long l15, long l16, long l17, long l18, long l19, long l20,
			long l21, long l22, long l23, long l24, long l25, long l26, long l27, long l28, long l29, long l30,
			long l31, long l32, long l33, long l34, long l35, long l36, long l37, long l38, long l39, long l40,
			long l41, long l42, long l43, long l44, long l45, long l46, long l47, long l48, long l49, long l50,
			long l51, long l52, long l53, long l54, long l55, long l56, long l57, long l58, long l59, long l60,
			long l61, long l62, long l63, long l64, long l65, long l66, long l67, long l68, long l69, long l70,
			long l71, long l72, long l73, long l74, long l75, long l76, long l77, long l78, long l79, long l80,
			long l81, long l82, long l83, long l84, long l85, long l86, long l87, long l88, long l89, long l90,
			long l91, long l92, long l93, long l94, long l95, long l96, long l97, long l98, long l99, long l100,
			long l101, long l102, long l103, long l104, long l105, long l106, long l107, long l108, long l109,
			long l110, long l111, long l112, long l113, long l114, long l115, long l116, long l117, long l118,
			long l119, long l120, long l121, long l122, long l123, long l124, long l125, long l126) {

	}

	record Picky(long l0, long l1, long l2, long l3, long l4, long l5, long l6, long l7, long l8, long l9, long l10,
			long l11, long l12, long l13, long l14, long l15, long l16, long l17, long l18, long l19, long l20,
			long l21, long l22, long l23, long l24, long l25, long l26, long l27, long l28, long l29, long l30,
			long l31, long l32, long l33, long l34, long l35, long l36, long l37, long l38, long l39, long l40,
			long l41, long l42, long l43, long l44, long l45, long l46, long l47, long l48, long l49, long l50,
			long l51, long l52, long l53, long l54, long l55, long l56, long l57, long l58, long l59, long l60,
			long l61, long l62, long l63, long l64, long l65, long l66, long l67, long l68, long l69, long l70,
			long l71, long l72, long l73, long l74, long l75, long l76, long l77, long l78, long l79, long l80,
			long l81, long l82, long l83, long l84, long l85, long l86, long l87, long l88, long l89, long l90,
			long l91, long l92, long l93, long l94, long l95, long l96, long l97, long l98, long l99, long l100,
			long l101, long l102, long l103, long l104, long l105, long l106, long l107, long l108, long l109,
			long l110, long l111, long l112, long l113, long l114, long l115, long l116, long l117, long l118,
			long l119, long l120, long l121, long l122, long l123, long l124, long l125, long l126) {

		Picky {
			if (l1 == 1) {
				throw new IllegalArgumentException("no");
			}
		}

	}

	enum WithBodies {

		FIRST,

		SECOND {

			@Override
			public String toString() {
				return "second";
			}

		}

	}

	record Point(double x, double y) {

	}

	record Tree(String name, List<Tree> children) {

	}

	sealed interface Shape2D permits Circle, Square, Group {

	}

	record Circle(double radius) implements Shape2D {

	}

	record Square(double side) implements Shape2D {

	}

	record Group(List<Shape2D> shapes) implements Shape2D {

	}

	sealed interface Outcome<T> {

	}

	record Success<T>(T value) implements Outcome<T> {

	}

	record Failure<T>(int code, Optional<String> detail) implements Outcome<T> {

	}

	record Drawing(Shape2D first, Shape2D second, Optional<Shape2D> third, int last) {

	}

}
