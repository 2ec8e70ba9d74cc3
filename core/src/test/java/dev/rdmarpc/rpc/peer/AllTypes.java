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

package dev.rdmarpc.rpc.peer;

import java.lang.reflect.Array;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/** A record of everything that calls can carry. */
public record AllTypes(boolean flag, byte tiny, char letter, short small, int whole, long wide, float single,
		double real, @Nullable Integer boxed, @Nullable String text, TimeUnit choice, UUID id, BigDecimal decimal,
		BigInteger integer, Instant instant, Duration duration, LocalDate date, LocalDateTime time, ZonedDateTime zoned,
		URI uri, Locale locale, OptionalInt optionalInt, Optional<String> optional, List<String> list, Set<Integer> set,
		Map<String, Long> map, byte[] bytes, int[] ints, double[] reals, String[] texts, @Nullable AllTypes nested,
		List<Pair> pairs) {

	private static final List<TimeUnit> CHOICES = List.of(TimeUnit.values());

	/** Random values, with more of them nested so deep. */
	static AllTypes random(Random random, int depth) {
		return new AllTypes(random.nextBoolean(), (byte) random.nextInt(), (char) random.nextInt(0xd800),
				(short) random.nextInt(), random.nextInt(), random.nextLong(), random.nextFloat(), random.nextDouble(),
				random.nextBoolean() ? random.nextInt() : null, random.nextBoolean() ? text(random) : null,
				CHOICES.get(random.nextInt(CHOICES.size())), new UUID(random.nextLong(), random.nextLong()),
				new BigDecimal(new BigInteger(100, random), random.nextInt(20)), new BigInteger(300, random).negate(),
				Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000)),
				Duration.ofSeconds(random.nextInt(), random.nextInt(1_000_000_000)),
				LocalDate.ofEpochDay(random.nextInt(100_000)),
				LocalDateTime.of(2000 + random.nextInt(100), 1 + random.nextInt(12), 1, 2, 3, 4, random.nextInt(1000)),
				ZonedDateTime.of(2026, 1 + random.nextInt(12), 25, 2, 30, 0, 0, ZoneId.of("Europe/Berlin")),
				URI.create("rdma://host:" + random.nextInt(65536) + "/path"), Locale.CANADA,
				random.nextBoolean() ? OptionalInt.of(random.nextInt()) : OptionalInt.empty(),
				random.nextBoolean() ? Optional.of(text(random)) : Optional.empty(), texts(random),
				new LinkedHashSet<>(List.of(random.nextInt(), -1)), map(random), bytes(random),
				random.ints(random.nextInt(200)).toArray(), random.doubles(random.nextInt(200)).toArray(),
				texts(random).toArray(new String[0]), (depth > 0) ? random(random, depth - 1) : null,
				List.of(new Pair(random.nextInt(), text(random)), new Pair(0, "")));
	}

	private static String text(Random random) {
		StringBuilder text = new StringBuilder();
		for (int i = random.nextInt(60); i > 0; i--) {
			text.appendCodePoint((random.nextInt(3) > 0) ? 'a' + random.nextInt(26) : 0x1f600 + random.nextInt(50));
		}
		return text.toString();
	}

	private static List<String> texts(Random random) {
		List<String> texts = new ArrayList<>();
		for (int i = random.nextInt(20); i > 0; i--) {
			texts.add(text(random));
		}
		return texts;
	}

	private static Map<String, Long> map(Random random) {
		Map<String, Long> map = new LinkedHashMap<>();
		for (int i = random.nextInt(20); i > 0; i--) {
			map.put(i + text(random), random.nextLong());
		}
		return map;
	}

	private static byte[] bytes(Random random) {
		byte[] bytes = new byte[random.nextInt(4) * random.nextInt(20_000)];
		random.nextBytes(bytes);
		return bytes;
	}

	/** The values in a form that has an equality, unlike arrays. */
	List<Object> comparable() {
		List<Object> values = new ArrayList<>();
		for (RecordComponent component : AllTypes.class.getRecordComponents()) {
			try {
				values.add(comparable(component.getAccessor().invoke(this)));
			}
			catch (ReflectiveOperationException ex) {
				throw new IllegalStateException(ex);
			}
		}
		return values;
	}

	private static @Nullable Object comparable(@Nullable Object value) {
		if (value instanceof AllTypes nested) {
			return nested.comparable();
		}
		if (value == null || !value.getClass().isArray()) {
			return value;
		}
		return IntStream.range(0, Array.getLength(value)).mapToObj((index) -> Array.get(value, index)).toList();
	}

	/** A record in a list. */
	public record Pair(int number, String text) {

	}

}
