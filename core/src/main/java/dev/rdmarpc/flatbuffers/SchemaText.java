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

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * A schema that was read: the part of the FlatBuffers language that {@link SchemaWriter}
 * writes. It may come from a peer, so reading takes neither stack nor more memory than in
 * proportion to the text.
 *
 * @param tables the fields of each table
 * @param structs the fields of each struct, as they are written
 * @param unions the members of each union
 * @param calls the methods of all services
 */
record SchemaText(Map<String, List<SchemaText.Field>> tables, Map<String, String> structs,
		Map<String, List<String>> unions, List<SchemaText.Call> calls) {

	/** The longest text. */
	static final int MAX_LENGTH = 1 << 20;

	/** What a type of vectors begins with. */
	private static final String VECTOR = "[";

	/**
	 * Reads a schema.
	 * @throws IllegalArgumentException naming the line and what was expected there
	 */
	static SchemaText parse(String text) {
		if (text.length() > MAX_LENGTH) {
			throw new IllegalArgumentException(
					"a schema of " + text.length() + " characters (expected: at most " + MAX_LENGTH + ")");
		}
		SchemaText schema = new SchemaText(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>(),
				new ArrayList<>());
		Tokens tokens = new Tokens(text);
		while (tokens.hasNext()) {
			schema.declaration(tokens);
		}
		return schema;
	}

	private void declaration(Tokens tokens) {
		String kind = tokens.name();
		String name = tokens.name();
		switch (kind) {
			case "table" -> {
				tokens.expect('{');
				this.tables.put(name, fields(tokens));
			}
			case "struct" -> {
				tokens.expect('{');
				this.structs.put(name,
						fields(tokens).stream()
							.map((field) -> field.name() + ":" + field.type() + ";")
							.collect(Collectors.joining(" ")));
			}
			case "union" -> this.unions.put(name, members(tokens));
			case "rpc_service" -> calls(tokens);
			case "root_type" -> tokens.expect(';');
			default -> throw tokens.unexpected(kind, "table, struct, union, rpc_service or root_type");
		}
	}

	private static List<Field> fields(Tokens tokens) {
		List<Field> fields = new ArrayList<>();
		while (!tokens.skip('}')) {
			String name = tokens.name();
			tokens.expect(':');
			boolean vector = tokens.skip('[');
			String type = tokens.name();
			if (vector) {
				tokens.expect(']');
			}
			boolean nullable = tokens.skip('=');
			if (nullable) {
				tokens.expect("null");
			}
			tokens.expect(';');
			fields.add(new Field(name, vector ? VECTOR + type + "]" : type, nullable));
		}
		return fields;
	}

	private static List<String> members(Tokens tokens) {
		List<String> members = new ArrayList<>();
		tokens.expect('{');
		do {
			members.add(tokens.name());
		}
		while (tokens.skip(','));
		tokens.expect('}');
		return members;
	}

	private void calls(Tokens tokens) {
		tokens.expect('{');
		while (!tokens.skip('}')) {
			String name = tokens.name();
			tokens.expect('(');
			String request = tokens.name();
			tokens.expect(')');
			tokens.expect(':');
			this.calls.add(new Call(name, request, tokens.name()));
			tokens.expect(';');
		}
	}

	/** The type of the elements, or {@code null} if the type is none of vectors. */
	static @Nullable String elementOf(String type) {
		return type.startsWith(VECTOR) ? type.substring(1, type.length() - 1) : null;
	}

	/**
	 * A field.
	 *
	 * @param name its name
	 * @param type its type; of vectors in brackets
	 * @param nullable whether it is a scalar that may be absent
	 */
	record Field(String name, String type, boolean nullable) {

	}

	/**
	 * A method.
	 *
	 * @param name its name, made an identifier
	 * @param request the table of its arguments
	 * @param reply the table of its result
	 */
	record Call(String name, String request, String reply) {

	}

	/** Names and punctuation, one after the other. */
	private static final class Tokens {

		private static final int MAX_SHOWN = 40;

		private final String text;

		private int at;

		private int line = 1;

		Tokens(String text) {
			this.text = text;
		}

		/** Whether there is anything but space and comments. */
		boolean hasNext() {
			while (this.at < this.text.length()) {
				char next = this.text.charAt(this.at);
				if (this.text.startsWith("//", this.at)) {
					int end = this.text.indexOf('\n', this.at);
					this.at = (end >= 0) ? end : this.text.length();
				}
				else if (next == ' ' || next == '\n' || next == '\r' || next == '\t') {
					this.line += (next == '\n') ? 1 : 0;
					this.at++;
				}
				else {
					return true;
				}
			}
			return false;
		}

		String name() {
			int begin = hasNext() ? this.at : this.text.length();
			int end = begin;
			while (end < this.text.length() && isName(this.text.charAt(end))) {
				end++;
			}
			if (end == begin) {
				throw unexpected(next(), "a name");
			}
			this.at = end;
			return this.text.substring(begin, end);
		}

		private static boolean isName(char c) {
			return c == '_' || (c < 128 && Character.isLetterOrDigit(c));
		}

		boolean skip(char wanted) {
			if (hasNext() && this.text.charAt(this.at) == wanted) {
				this.at++;
				return true;
			}
			return false;
		}

		void expect(char wanted) {
			if (!skip(wanted)) {
				throw unexpected(next(), "'" + wanted + "'");
			}
		}

		void expect(String wanted) {
			String name = name();
			if (!name.equals(wanted)) {
				throw unexpected(name, wanted);
			}
		}

		private String next() {
			return hasNext() ? this.text.substring(this.at, this.at + 1) : "the end";
		}

		IllegalArgumentException unexpected(String found, String expected) {
			String shown = (found.length() <= MAX_SHOWN) ? found : found.substring(0, MAX_SHOWN) + "…";
			return new IllegalArgumentException("line " + this.line + " of the schema has "
					+ shown.replaceAll("[^ -~…]", "?") + " (expected: " + expected + ")");
		}

	}

}
