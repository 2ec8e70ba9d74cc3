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

import java.net.URI;
import java.time.ZoneId;
import java.util.Currency;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.UnencodableValueException;

/** A string, or a value that has a canonical text, as a FlatBuffers string. */
final class TextShape extends ReferenceShape {

	private static final List<TextType<?>> TYPES = List.of(
			new TextType<>(String.class, Function.identity(), Function.identity(), 0, 0),
			new TextType<>(ZoneId.class, ZoneId::getId, ZoneId::of, 320, 4),
			new TextType<>(URI.class, URI::toString, URI::create, 320, 4),
			new TextType<>(Locale.class, TextShape::tag, Locale::forLanguageTag, 160, 8),
			new TextType<>(Currency.class, Currency::getCurrencyCode, Currency::getInstance, 0, 0));

	private final TextType<?> type;

	private TextShape(TextType<?> type) {
		this.type = type;
	}

	/** The shape of a class, or null if it has none. */
	static @Nullable TextShape of(Class<?> type) {
		for (TextType<?> candidate : TYPES) {
			if (candidate.type == type) {
				return new TextShape(candidate);
			}
		}
		return null;
	}

	private static String tag(Locale locale) {
		String tag = locale.toLanguageTag();
		if (!Locale.forLanguageTag(tag).equals(locale)) {
			throw new UnencodableValueException("locale '" + locale
					+ "' has no language tag of its own (expected: one of BCP 47, not '" + tag + "')");
		}
		return tag;
	}

	/** The shape of strings. */
	static TextShape ofStrings() {
		return new TextShape(TYPES.get(0));
	}

	@Override
	boolean isElement() {
		return true;
	}

	@Override
	int writeTarget(Object value, SegmentWriter out) {
		return out.writeString(this.type.text(value));
	}

	@Override
	Object readTarget(MessageReader in, int position) {
		return this.type.parser.apply(in.string(position));
	}

	@Override
	void verifyTarget(MessageVerifier in, int position) {
		int bytes = in.string(position);
		in.allocate(this.type.heapBytes + this.type.heapPerByte * (long) bytes, position);
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return "string";
	}

	/**
	 * A type with a canonical text.
	 *
	 * @param type the class as it is declared
	 * @param printer returns the text
	 * @param parser returns the value of a text
	 * @param heapBytes heap that a value takes besides its text, at most
	 * @param heapPerByte the same for each byte of the text
	 * @param <T> the type
	 */
	private record TextType<T>(Class<T> type, Function<T, String> printer, Function<String, T> parser, int heapBytes,
			int heapPerByte) {

		String text(Object value) {
			return this.printer.apply(this.type.cast(value));
		}

	}

}
