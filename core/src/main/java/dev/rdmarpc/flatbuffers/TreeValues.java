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
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.YearMonth;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.flatbuffers.ConvertedShape.Conversion;

/**
 * What values of the schema language are in trees: numbers, strings, lists, byte arrays;
 * of types of the Java class library, their text.
 */
final class TreeValues {

	/** Heap of the text of a date or another small value, at most. */
	static final int TEXT_BYTES = HeapBytes.STRING + 2 * 64;

	private static final int MAX_SHOWN = 40;

	private static final List<TextForm<?>> TEXTS = List.of(new TextForm<>(Instant.class, Instant::parse),
			new TextForm<>(Duration.class, Duration::parse), new TextForm<>(LocalDateTime.class, LocalDateTime::parse),
			new TextForm<>(OffsetDateTime.class, OffsetDateTime::parse),
			new TextForm<>(OffsetTime.class, OffsetTime::parse), new TextForm<>(YearMonth.class, TreeValues::yearMonth),
			new TextForm<>(MonthDay.class, MonthDay::parse), new TextForm<>(Period.class, Period::parse),
			new TextForm<>(UUID.class, UUID::fromString));

	/** A {@link ZonedDateTime}. */
	static final Conversion ZONED_DATE_TIME = new TextForm<>(ZonedDateTime.class, ZonedDateTime::parse);

	/** A {@link BigDecimal}, as itself. */
	static final Conversion DECIMAL = conversion(TreeValues::decimal, Function.identity());

	/** A string, also that of an enum. */
	static final Conversion STRING = conversion(TreeValues::string, Function.identity());

	/** Bytes, also as Base64. */
	static final Conversion BYTES = conversion(TreeValues::bytes, Function.identity());

	private TreeValues() {
	}

	/** The conversion of a struct, or {@code null} if it is not known. */
	static @Nullable Conversion struct(Class<?> type) {
		return TEXTS.stream().filter((text) -> text.type() == type).findFirst().orElse(null);
	}

	/** The types of structs. */
	static List<? extends Class<?>> structs() {
		return TEXTS.stream().map(TextForm::type).toList();
	}

	/** A scalar, given as number, and as text where only texts can be. */
	static Conversion scalar(ScalarKind kind, boolean texts) {
		return conversion((tree) -> scalar(kind, (texts && tree instanceof String text) ? parsed(kind, text) : tree),
				(value) -> (value instanceof Character unit) ? (Object) (int) unit : value);
	}

	/** A list of elements that are converted themselves. */
	static Conversion list(String element) {
		return conversion((tree) -> list(element, tree), Function.identity());
	}

	/** A map. */
	static Conversion map(String entry) {
		return conversion((tree) -> {
			if (tree instanceof Map<?, ?>) {
				return tree;
			}
			throw unexpected(tree, "a map, of " + entry);
		}, Function.identity());
	}

	/**
	 * Years of more than four digits are printed without the sign they are parsed with.
	 */
	private static YearMonth yearMonth(String text) {
		boolean unsigned = text.indexOf('-') > 4 && Character.isDigit(text.charAt(0));
		return YearMonth.parse(unsigned ? "+" + text : text);
	}

	private static Conversion conversion(Function<Object, Object> from, Function<Object, Object> to) {
		return new Conversion() {

			@Override
			public Object fromTree(Object tree) {
				return from.apply(tree);
			}

			@Override
			public Object toTree(Object value) {
				return to.apply(value);
			}

		};
	}

	private static Object parsed(ScalarKind kind, String text) {
		try {
			return (kind == ScalarKind.BOOLEAN) ? (Object) Boolean.parseBoolean(text)
					: (kind == ScalarKind.CHAR && text.length() == 1) ? text : new BigDecimal(text);
		}
		catch (NumberFormatException ex) {
			throw new UnencodableValueException(shown(text) + " (expected: " + kind.schemaType() + ")", ex);
		}
	}

	private static Object scalar(ScalarKind kind, Object tree) {
		return switch (kind) {
			case BOOLEAN -> (tree instanceof Boolean) ? tree : fail(tree, "bool: true or false");
			case BYTE -> (byte) integer(tree, kind, Byte.MIN_VALUE, Byte.MAX_VALUE);
			case SHORT -> (short) integer(tree, kind, Short.MIN_VALUE, Short.MAX_VALUE);
			case CHAR -> (tree instanceof CharSequence text && text.length() == 1) ? (Object) text.charAt(0)
					: (tree instanceof Character) ? tree : (char) integer(tree, kind, 0, Character.MAX_VALUE);
			case INT -> (int) integer(tree, kind, Integer.MIN_VALUE, Integer.MAX_VALUE);
			case LONG -> integer(tree, kind, Long.MIN_VALUE, Long.MAX_VALUE);
			case FLOAT -> (float) real(tree, kind, Float.MAX_VALUE);
			case DOUBLE -> real(tree, kind, Double.MAX_VALUE);
		};
	}

	private static long integer(Object tree, ScalarKind kind, long least, long most) {
		String expected = kind.schemaType() + ", " + least + " to " + most;
		if (!(tree instanceof Number number)) {
			throw unexpected(tree, expected);
		}
		if (number instanceof Long || number instanceof Integer || number instanceof Short || number instanceof Byte) {
			long value = number.longValue();
			return (value >= least && value <= most) ? value : (long) fail(tree, expected);
		}
		try {
			BigDecimal exact = new BigDecimal(number.toString());
			boolean huge = (long) exact.precision() - exact.scale() > Long.SIZE;
			long value = huge ? (long) fail(tree, expected) : exact.longValueExact();
			return (value >= least && value <= most) ? value : (long) fail(tree, expected);
		}
		catch (ArithmeticException | NumberFormatException ex) {
			throw new UnencodableValueException(shown(tree) + " (expected: " + expected + ")", ex);
		}
	}

	private static double real(Object tree, ScalarKind kind, double most) {
		if (tree instanceof Number number) {
			double value = number.doubleValue();
			boolean infinite = (number instanceof Double || number instanceof Float) && Double.isInfinite(value);
			if (Math.abs(value) > most && !infinite) {
				throw unexpected(tree, kind.schemaType() + ", at most " + most);
			}
			return value;
		}
		if (tree instanceof String text && (text.equals("NaN") || text.endsWith("Infinity"))) {
			try {
				return Double.parseDouble(text);
			}
			catch (NumberFormatException ex) {
				throw new UnencodableValueException(shown(tree) + " (expected: " + kind.schemaType() + ")", ex);
			}
		}
		throw unexpected(tree, kind.schemaType() + ": a number");
	}

	private static Object decimal(Object tree) {
		if (tree instanceof BigDecimal) {
			return tree;
		}
		if (tree instanceof Number || tree instanceof String) {
			try {
				return new BigDecimal(tree.toString());
			}
			catch (NumberFormatException ex) {
				throw new UnencodableValueException(shown(tree) + " (expected: a decimal number)", ex);
			}
		}
		throw unexpected(tree, "a decimal number");
	}

	private static Object string(Object tree) {
		if (tree instanceof CharSequence || tree instanceof Character) {
			return tree.toString();
		}
		return (tree instanceof Enum<?> constant) ? constant.name() : fail(tree, "string");
	}

	private static Object bytes(Object tree) {
		if (tree instanceof byte[]) {
			return tree;
		}
		if (tree instanceof ByteBuffer buffer) {
			byte[] bytes = new byte[buffer.remaining()];
			buffer.duplicate().get(bytes);
			return bytes;
		}
		if (tree instanceof String text) {
			try {
				return Base64.getDecoder().decode(text);
			}
			catch (IllegalArgumentException ex) {
				throw new UnencodableValueException(shown(tree) + " (expected: [ubyte], bytes in Base64)", ex);
			}
		}
		throw unexpected(tree, "[ubyte]: a byte array, or Base64");
	}

	private static Object list(String element, Object tree) {
		if (tree instanceof Collection<?> || tree instanceof Object[]) {
			return tree;
		}
		if (tree.getClass().isArray()) {
			List<Object> boxed = new ArrayList<>();
			for (int i = 0; i < Array.getLength(tree); i++) {
				boxed.add(Array.get(tree, i));
			}
			return boxed;
		}
		throw unexpected(tree, "[" + element + "]: a list");
	}

	private static Object fail(Object tree, String expected) {
		throw unexpected(tree, expected);
	}

	/** Says what something in a tree is, and what was expected. */
	static UnencodableValueException unexpected(Object tree, String expected) {
		return new UnencodableValueException(shown(tree) + " (expected: " + expected + ")");
	}

	private static String shown(Object tree) {
		if (tree instanceof Map<?, ?>) {
			return "a map";
		}
		if (tree instanceof Collection<?> || tree.getClass().isArray()) {
			return (tree instanceof byte[]) ? "a byte array" : "a list";
		}
		if (tree instanceof CharSequence text) {
			return "the string \"" + shortened(text.toString()) + "\"";
		}
		return (tree instanceof Number || tree instanceof Boolean) ? shortened(tree.toString())
				: "a " + tree.getClass().getName();
	}

	private static String shortened(String text) {
		return (text.length() <= MAX_SHOWN) ? text : text.substring(0, MAX_SHOWN) + "…";
	}

	/** The names of fields, as far as they can be shown. */
	static String names(List<String> names) {
		int most = 20;
		return (names.size() <= most) ? String.join(", ", names)
				: String.join(", ", names.subList(0, most)) + " and " + (names.size() - most) + " more";
	}

	/**
	 * A value of the class library as its canonical text.
	 *
	 * @param type its class
	 * @param parser makes one of its text
	 * @param <T> the class
	 */
	private record TextForm<T>(Class<T> type, Function<String, T> parser) implements Conversion {

		@Override
		public Object fromTree(Object tree) {
			if (this.type.isInstance(tree)) {
				return tree;
			}
			String expected = "the text of a " + this.type.getSimpleName();
			if (!(tree instanceof CharSequence)) {
				throw unexpected(tree, expected);
			}
			try {
				return this.parser.apply(tree.toString());
			}
			catch (DateTimeException | IllegalArgumentException ex) {
				throw new UnencodableValueException(shown(tree) + " (expected: " + expected + ")", ex);
			}
		}

		@Override
		public Object toTree(Object value) {
			return value.toString();
		}

	}

}
