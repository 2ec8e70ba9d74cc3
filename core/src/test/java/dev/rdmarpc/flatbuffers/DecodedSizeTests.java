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

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Currency;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.codec.HeapBudget;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.ValuesTooLargeException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/** How much heap and work the values of a message may take. */
@Tag("slow")
class DecodedSizeTests {

	private static final int ELEMENTS = 20_000;

	/** Values whose reading allocates much that is thrown away at once. */
	private static final String MUCH_GARBAGE = ".* text|locales|rows";

	@ParameterizedTest
	@MethodSource("values")
	void chargesCoverWhatIsAllocated(String name, Type type, Object value) {
		ByteBuffer message = Messages.encode(Messages.result(type), value);
		long charged = charged(type, message);
		MessageFormat format = Messages.result(type);
		for (int i = 0; i < 5; i++) {
			Messages.decode(format, message);
		}
		long before = AllocatedBytes.byThisThread();
		Object decoded = Messages.decode(format, message);
		long allocated = AllocatedBytes.byThisThread() - before;
		assertThat(decoded).isNotNull();
		assertThat(allocated).as("bytes allocated for %s of %s bytes", name, message.remaining())
			.isLessThan((name.matches(MUCH_GARBAGE) ? 8 : 1) * charged * 5 / 4 + 16 * 1024);
	}

	static Stream<Arguments> values() {
		return Stream.of(of("booleans", new TypeOf<List<Boolean>>() {
		}, list((i) -> i % 2 == 0)), of("shorts", new TypeOf<Set<Short>>() {
		}, set((i) -> (short) i)), of("numbers", new TypeOf<Set<Integer>>() {
		}, set((i) -> 1000 + i)), of("sorted numbers", new TypeOf<TreeSet<Integer>>() {
		}, new TreeSet<>(set((i) -> i))), of("longs", new TypeOf<List<Long>>() {
		}, list((i) -> 1000L + i)), of("long array", new TypeOf<long[]>() {
		}, new long[ELEMENTS]), of("bytes", new TypeOf<byte[]>() {
		}, new byte[ELEMENTS]), of("queue", new TypeOf<Deque<Integer>>() {
		}, new ArrayDeque<>(list((i) -> 1000 + i))), of("texts", new TypeOf<List<String>>() {
		}, list((i) -> "text " + i)), of("no texts", new TypeOf<List<String>>() {
		}, list((i) -> "")), of("lines of foreign text", new TypeOf<String[]>() {
		}, list((i) -> "\u4e2d\u56fd" + i).toArray(String[]::new)), of("a long text", new TypeOf<String>() {
		}, "x".repeat(1_000_000)), of("a mixed text", new TypeOf<String>() {
		}, "x".repeat(1_000_000) + "\u4e2d"), of("map", new TypeOf<Map<Integer, Integer>>() {
		}, map((i) -> 1000 + i)), of("map of records", new TypeOf<Map<Point, Point>>() {
		}, map((i) -> new Point(i, 1))), of("sorted map", new TypeOf<TreeMap<Integer, Integer>>() {
		}, new TreeMap<>(map((i) -> 1000 + i))), of("records", new TypeOf<List<Wide>>() {
		}, list((i) -> new Wide(1000 + i, null, null, null, 1000L, 1.5, Optional.of(1000), OptionalLong.of(i + 1000)))),
				of("empty records", new TypeOf<List<Wide>>() {
				}, list((i) -> new Wide(0, null, null, null, null, null, Optional.empty(), OptionalLong.empty()))),
				of("set of records", new TypeOf<Set<Point>>() {
				}, set((i) -> new Point(i, i / 10))), of("optionals", new TypeOf<List<Optional<Integer>>>() {
				}, list((i) -> Optional.of(1000 + i))), of("empty lists", new TypeOf<List<List<Integer>>>() {
				}, list((i) -> List.of())), of("empty sets", new TypeOf<List<Set<Integer>>>() {
				}, list((i) -> Set.of())), of("small sets", new TypeOf<List<Set<Short>>>() {
				}, list((i) -> Set.of((short) (i + 1000)))), of("small maps", new TypeOf<List<Map<Short, Short>>>() {
				}, list((i) -> Map.of((short) (i + 1000), (short) (i + 1000)))),
				of("small queues", new TypeOf<List<ArrayDeque<Short>>>() {
				}, list((i) -> new ArrayDeque<>())), of("big integers", new TypeOf<List<BigInteger>>() {
				}, list(BigInteger::valueOf)), of("decimals", new TypeOf<List<BigDecimal>>() {
				}, list((i) -> BigDecimal.valueOf(i, 2))), of("offsets", new TypeOf<List<ZoneOffset>>() {
				}, list((i) -> ZoneOffset.ofTotalSeconds(i % 1000))), of("dates", new TypeOf<List<LocalDate>>() {
				}, list(LocalDate::ofEpochDay)), of("times", new TypeOf<List<LocalTime>>() {
				}, list(LocalTime::ofNanoOfDay)), of("date times", new TypeOf<List<LocalDateTime>>() {
				}, list((i) -> LocalDateTime.ofEpochSecond(i, 1, ZoneOffset.UTC))),
				of("offset date times", new TypeOf<List<OffsetDateTime>>() {
				}, list((i) -> OffsetDateTime.of(2020, 1, 1, 1, 1, 1, 1, ZoneOffset.ofTotalSeconds(i % 1000)))),
				of("offset times", new TypeOf<List<OffsetTime>>() {
				}, list((i) -> OffsetTime.of(1, 1, 1, 1, ZoneOffset.ofTotalSeconds(i % 1000)))),
				of("zoned date times", new TypeOf<List<ZonedDateTime>>() {
				}, list((i) -> ZonedDateTime.of(2020, 1, 1, 1, 1, 1, 1, ZoneId.of("Europe/Paris")))),
				of("instants", new TypeOf<List<Instant>>() {
				}, list(Instant::ofEpochSecond)), of("periods", new TypeOf<List<Period>>() {
				}, list((i) -> Period.of(i, 1, 1))), of("ids", new TypeOf<List<UUID>>() {
				}, list((i) -> new UUID(i, i))), of("zones", new TypeOf<List<ZoneId>>() {
				}, list((i) -> ZoneId.of("UTC+00:00:" + (10 + i % 50)))), of("locales", new TypeOf<List<Locale>>() {
				}, list((i) -> Locale.forLanguageTag("de-x-a" + i))), of("uris", new TypeOf<List<URI>>() {
				}, list((i) -> URI.create("http://a:1/b" + i + "?c#d"))),
				of("currencies", new TypeOf<List<Currency>>() {
				}, list((i) -> Currency.getInstance("EUR"))), of("buffers", new TypeOf<List<ByteBuffer>>() {
				}, list((i) -> ByteBuffer.allocate(1))), of("members", new TypeOf<List<Member>>() {
				}, list((i) -> (Member) new One(i))), of("rows", new TypeOf<int[][]>() {
				}, IntStream.range(0, ELEMENTS).mapToObj((i) -> new int[1]).toArray(int[][]::new)));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("colliding")
	void keysOfOneHashCodeAreRefused(Type type, Object keys) {
		ByteBuffer message = Messages.encode(Messages.result(type), keys);
		assertThatExceptionOfType(ValuesTooLargeException.class)
			.isThrownBy(() -> Messages.decode(Messages.result(readAs(type)), message))
			.withMessage("too many keys of a set or map have the same hash code (expected: hash codes that differ)");
	}

	static Stream<Arguments> colliding() {
		int keys = 30_000;
		return Stream.of(Arguments.of(new TypeOf<List<Point>>() {
		}.type(), IntStream.range(0, keys).mapToObj((i) -> new Point(i, -31 * i)).toList()),
				Arguments.of(new TypeOf<List<List<Integer>>>() {
				}.type(), IntStream.range(0, keys).mapToObj((i) -> List.of(i, -31 * i)).toList()),
				Arguments.of(new TypeOf<List<Keyed<String>>>() {
				}.type(), keyed("x".repeat(2_000))), Arguments.of(new TypeOf<List<Period>>() {
				}.type(), IntStream.range(0, keys).mapToObj((i) -> Period.of(-(i << 8), i, 0)).toList()),
				Arguments.of(new TypeOf<List<Entry>>() {
				}.type(), IntStream.range(0, keys).mapToObj((i) -> new Entry(new Point(i, -31 * i), i)).toList()),
				Arguments.of(new TypeOf<List<ByteBuffer>>() {
				}.type(), IntStream.range(0, 4_000).mapToObj(DecodedSizeTests::bytes).toList()),
				Arguments.of(new TypeOf<List<BytesEntry>>() {
				}.type(), IntStream.range(0, 4_000).mapToObj((i) -> new BytesEntry(bytes(i), i)).toList()),
				Arguments.of(new TypeOf<List<Keyed<BigInteger>>>() {
				}.type(), keyed(BigInteger.ONE.shiftLeft(16_000))), Arguments.of(new TypeOf<List<Keyed<ByteBuffer>>>() {
				}.type(), keyed(ByteBuffer.allocate(2_000))), Arguments.of(new TypeOf<List<Keyed<Tree>>>() {
				}.type(), keyed(tree(6))));
	}

	private static <T> List<Keyed<T>> keyed(T part) {
		return IntStream.range(0, 1_000).mapToObj((i) -> new Keyed<>(part, i, -31 * i)).toList();
	}

	private static Tree tree(int depth) {
		return (depth == 0) ? new Tree(null, null) : new Tree(tree(depth - 1), tree(depth - 1));
	}

	private static ByteBuffer bytes(int i) {
		return StandardCharsets.US_ASCII.encode(text(i, "aA"));
	}

	/** Texts whose hash codes are equal if those of the texts for 0 and 1 are. */
	private static String text(int i, String zero) {
		return Integer.toBinaryString(i + (1 << 14)).replace("0", zero).replace("1", "BB");
	}

	/** A list becomes a set, and one of entries a map. */
	private static Type readAs(Type list) {
		Type element = ((ParameterizedType) list).getActualTypeArguments()[0];
		return (element == Entry.class) ? new TypeOf<Map<Point, Integer>>() {
		}.type() : (element == BytesEntry.class) ? new TypeOf<Map<ByteBuffer, Integer>>() {
		}.type() : new SetOf(element);
	}

	@Test
	void keysThatDifferAndKeysThatRepeatAreTaken() {
		Set<Point> grid = new HashSet<>();
		for (int i = 0; i < 40_000; i++) {
			grid.add(new Point(i / 200, i % 200));
		}
		assertThat(Messages.<Object>roundTrip(new TypeOf<Set<Point>>() {
		}.type(), grid)).isEqualTo(grid);
		List<Point> same = IntStream.range(0, 100_000).mapToObj((i) -> new Point(i % 3, 1)).toList();
		assertThat((Set<?>) Messages.decode(Messages.result(new TypeOf<Set<Point>>() {
		}.type()), Messages.encode(Messages.result(new TypeOf<List<Point>>() {
		}.type()), same))).hasSize(3);
		Set<String> texts = new HashSet<>();
		for (int i = 0; i < 1 << 14; i++) {
			texts.add(text(i, "Aa"));
		}
		assertThat(texts.stream().mapToInt(String::hashCode).distinct()).hasSize(1);
		assertThat(Messages.<Object>roundTrip(new TypeOf<Set<String>>() {
		}.type(), texts)).isEqualTo(texts);
	}

	@ParameterizedTest
	@MethodSource("decimalKeys")
	void longDecimalsAreRefusedWhereTheyAreCompared(Type sent, Type type, Function<BigDecimal, ?> values) {
		ByteBuffer fits = Messages.encode(Messages.result(sent), values.apply(decimal(128)));
		assertThat(Messages.decode(Messages.result(type), fits)).asString().contains(decimal(128).toString());
		ByteBuffer tooLong = Messages.encode(Messages.result(sent), values.apply(decimal(129)));
		assertThat(Messages.decode(Messages.result(sent), tooLong)).asString().contains(decimal(129).toString());
		assertThatExceptionOfType(ValuesTooLargeException.class)
			.isThrownBy(() -> Messages.decode(Messages.result(type), tooLong))
			.withMessageContaining("a BigDecimal of 129 bytes in the key of a map or the element of a set")
			.withMessageContaining("(expected: at most 128, about 300 digits)");
	}

	static Stream<Arguments> decimalKeys() {
		Type decimals = new TypeOf<List<BigDecimal>>() {
		}.type();
		Type entries = new TypeOf<List<DecimalEntry>>() {
		}.type();
		Function<BigDecimal, ?> entry = (decimal) -> List.of(new DecimalEntry(decimal, 1));
		return Stream.of(Arguments.of(decimals, new TypeOf<Set<BigDecimal>>() {
		}.type(), list()), Arguments.of(decimals, new TypeOf<TreeSet<BigDecimal>>() {
		}.type(), list()), Arguments.of(entries, new TypeOf<Map<BigDecimal, Integer>>() {
		}.type(), entry), Arguments.of(entries, new TypeOf<TreeMap<BigDecimal, Integer>>() {
		}.type(), entry), Arguments.of(new TypeOf<List<Price>>() {
		}.type(), new TypeOf<TreeSet<Price>>() {
		}.type(), (Function<BigDecimal, ?>) (decimal) -> List.of(new Price(1, List.of(decimal)))));
	}

	private static Function<BigDecimal, ?> list() {
		return List::of;
	}

	private static BigDecimal decimal(int bytes) {
		return new BigDecimal(BigInteger.ONE.shiftLeft(8 * bytes - 2), 3);
	}

	@Test
	void longDecimalsAreTakenBesideWhatIsCompared() {
		BigDecimal decimal = decimal(10_000);
		Map<Price, List<BigDecimal>> map = Map.of(new Price(1, List.of(BigDecimal.ONE)), List.of(decimal));
		assertThat(Messages.<Object>roundTrip(new TypeOf<Map<Price, List<BigDecimal>>>() {
		}.type(), map)).isEqualTo(map);
		Mixed mixed = new Mixed(Set.of(BigDecimal.ONE), decimal);
		assertThat(Messages.<Object>roundTrip(Mixed.class, mixed)).isEqualTo(mixed);
	}

	@Test
	void valuesAreCountedAgainstAllOthers() {
		FlatBuffersCodec codec = new FlatBuffersCodec(FlatBuffersOptions.DEFAULTS.withMaxDecodedBytes(1024 * 1024));
		MessageFormat format = codec.result(Messages.method(byte[].class));
		assertThat((byte[]) Messages.decode(format, Messages.encode(format, new byte[1_000_000]))).hasSize(1_000_000);
		assertThatExceptionOfType(ValuesTooLargeException.class)
			.isThrownBy(() -> Messages.decode(format, Messages.encode(format, new byte[1_048_600])))
			.withMessage("the values of the message take up to 1048648 bytes of heap, and 0 are taken by others "
					+ "(expected: at most 1048576 altogether)");
		HeapBudget budget = new HeapBudget(200_000);
		long taken = budget.take(150_000);
		assertThatExceptionOfType(ValuesTooLargeException.class).isThrownBy(() -> budget.take(70_000));
		assertThat(budget.take(60_000)).isZero();
		budget.giveBack(taken);
		assertThat(budget.take(70_000)).isEqualTo(70_000);
		budget.giveBack(70_000);
		assertThat(budget.takenBytes()).isZero();
	}

	private static Arguments of(String name, TypeOf<?> type, Object value) {
		return Arguments.of(name, type.type(), value);
	}

	private static <T> List<T> list(IntFunction<T> element) {
		return new ArrayList<>(IntStream.range(0, ELEMENTS).mapToObj(element).toList());
	}

	private static <T> Set<T> set(IntFunction<T> element) {
		return new LinkedHashSet<>(list(element));
	}

	private static <T> Map<T, T> map(IntFunction<T> element) {
		Map<T, T> map = new LinkedHashMap<>();
		list(element).forEach((each) -> map.put(each, each));
		return map;
	}

	@ParameterizedTest
	@MethodSource("manyForFew")
	void whatManyReferencesShareIsChargedEachTime(Type type) {
		ByteBuffer message = references(100_000);
		MessageFormat format = Messages.result(type);
		assertThatExceptionOfType(ValuesTooLargeException.class).isThrownBy(() -> Messages.decode(format, message))
			.withMessageContaining("a message of 400036 bytes makes its reader visit and allocate more than 40 bytes")
			.withMessageContaining("(expected: at most that, or a larger maxAmplification)");
		long before = AllocatedBytes.byThisThread();
		Throwable refused = catchThrowable(() -> Messages.decode(format, message));
		assertThat(AllocatedBytes.byThisThread() - before).isLessThan(message.remaining() / 2);
		assertThat(refused).isInstanceOf(ValuesTooLargeException.class);
	}

	static Stream<Type> manyForFew() {
		return Stream.<TypeOf<?>>of(new TypeOf<List<Large>>() {
		}, new TypeOf<Large[]>() {
		}, new TypeOf<Deque<Large>>() {
		}, new TypeOf<Set<Large>>() {
		}).map(TypeOf::type);
	}

	/** A list whose elements are all the same table, in which every field is absent. */
	private static ByteBuffer references(int count) {
		ByteBuffer message = ByteBuffer.allocateDirect(36 + 4 * count).order(ByteOrder.LITTLE_ENDIAN);
		message.putInt(12).putShort((short) 6).putShort((short) 8).putShort((short) 4).putShort((short) 0);
		message.putInt(8).putInt(4).putInt(count);
		int target = message.position() + 4 * count + 4;
		for (int i = 0; i < count; i++) {
			message.putInt(target - message.position());
		}
		message.putShort((short) 4).putShort((short) 4).putInt(4);
		return message.rewind();
	}

	private static long charged(Type type, ByteBuffer message) {
		ShapeCompiler compiler = new ShapeCompiler(Messages.method(type), Map.of());
		TableShape root = (TableShape) Objects
			.requireNonNull(MessageRoot.ofResult(Messages.method(type), compiler).shape());
		MessageVerifier verifier = new MessageVerifier(64, 1 << 20);
		verifier.begin(message, 0, message.limit(), false);
		root.verifyTarget(verifier, verifier.root());
		return verifier.heapBytes();
	}

	record Wide(int number, String text, List<String> texts, byte[] bytes, Long box, Double other,
			Optional<Integer> optional, OptionalLong last) {

	}

	record Large(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m,
			long n, long o, long p, long q, long r, long s, long t, long u, long v, long w, long x) {

	}

	record Keyed<T>(T part, int x, int y) {

	}

	record Tree(Tree left, Tree right) {

	}

	record SetOf(Type element) implements ParameterizedType {

		@Override
		public Type[] getActualTypeArguments() {
			return new Type[] { this.element };
		}

		@Override
		public Type getRawType() {
			return Set.class;
		}

		@Override
		public @Nullable Type getOwnerType() {
			return null;
		}

	}

	record Entry(Point key, int value) {

	}

	record DecimalEntry(BigDecimal key, int value) {

	}

	record Mixed(Set<BigDecimal> compared, BigDecimal beside) {

	}

	record Price(int shop, List<BigDecimal> parts) implements Comparable<Price> {

		@Override
		public int compareTo(Price other) {
			return this.parts.get(0).compareTo(other.parts.get(0));
		}

	}

	record BytesEntry(ByteBuffer key, int value) {

	}

	record Point(int x, int y) {

	}

	sealed interface Member {

	}

	record One(int number) implements Member {

	}

}
