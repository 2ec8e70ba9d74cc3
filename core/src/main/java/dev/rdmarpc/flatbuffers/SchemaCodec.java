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
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.flatbuffers.ConvertedShape.Conversion;

/**
 * The messages of one method from its schema, without Java types: their values are trees.
 *
 * <table>
 * <caption>what is what in a tree</caption>
 * <tr>
 * <td>table</td>
 * <td>map from the names of fields in the schema; what is missing is absent</td>
 * </tr>
 * <tr>
 * <td>scalar</td>
 * <td>number that fits exactly, boolean</td>
 * </tr>
 * <tr>
 * <td>string, also that of an enum</td>
 * <td>string</td>
 * </tr>
 * <tr>
 * <td>{@code [ubyte]}</td>
 * <td>{@code byte[]}; when written, also a string of Base64</td>
 * </tr>
 * <tr>
 * <td>vector</td>
 * <td>list; of the entries of a map, a map</td>
 * </tr>
 * <tr>
 * <td>union {@code x}</td>
 * <td>{@code x_type}, the name of the member, and {@code x}</td>
 * </tr>
 * <tr>
 * <td>struct, {@code BigDecimal}, {@code ZonedDateTime}</td>
 * <td>the text of the Java type; of {@code BigDecimal}, itself</td>
 * </tr>
 * </table>
 *
 * <p>
 * Received messages are verified as those of {@link FlatBuffersCodec} are, with its
 * limits. Thread-safe.
 */
public final class SchemaCodec implements MessageCodec {

	private static final String ARROW = ") -> ";

	private static final int MAX_PARAMETERS = 255;

	private final FlatBuffersCodec codec;

	private final String digest;

	private final MessageFormat arguments;

	private final MessageFormat result;

	private SchemaCodec(FlatBuffersCodec codec, String digest, MessageFormat arguments, MessageFormat result) {
		this.codec = codec;
		this.digest = digest;
		this.arguments = arguments;
		this.result = result;
	}

	/**
	 * Compiles a schema.
	 * @param codec whose options apply
	 * @param method what to call the method in messages to people
	 * @param parameters how many it has
	 * @param schema the schema of the method, as {@link FlatBuffersSchema} prints it; may
	 * be any text
	 * @param types what the server compares: a digit that says which directions are
	 * streams, and the types without names; may be any text
	 * @throws IllegalArgumentException if the schema cannot be read, has more than 20,000
	 * tables and fields, or does not agree with the types
	 * @throws UnsupportedOperationException if the types of a message are not known
	 */
	public static SchemaCodec of(FlatBuffersCodec codec, String method, int parameters, String schema, String types) {
		if (schema.isEmpty() || types.isEmpty()) {
			throw new UnsupportedOperationException(
					"the server tells no schema (expected: one of FlatBuffers, of at most 32 KiB without names)");
		}
		String root = types.split("; ", 2)[0];
		int arrow = root.indexOf(ARROW);
		if (parameters < 0 || parameters > MAX_PARAMETERS || arrow < 2 || root.charAt(1) != '(') {
			throw new IllegalArgumentException(parameters + " parameters and types without arguments and result");
		}
		SchemaText text = SchemaText.parse(schema);
		if (text.calls().isEmpty()) {
			throw new IllegalArgumentException("a schema without methods (expected: " + method + ")");
		}
		SchemaText.Call call = text.calls().get(0);
		MessageFormat arguments = new NoArguments(method);
		if (parameters > 0) {
			String only = (parameters == 1) ? root.substring(2, arrow) : "";
			MessageFormat all = format(codec, text, call.request(), !isTable(only), false);
			arguments = new FirstArgumentFormat(all, (@Nullable Object) null);
		}
		String result = root.substring(arrow + ARROW.length());
		MessageFormat reply = new EmptyFormat(null);
		if (!result.equals(SchemaDigest.NOTHING)) {
			boolean synthesized = !isTable(result) || isOptional(text, call, result, types);
			reply = format(codec, text, call.reply(), synthesized, true);
		}
		return new SchemaCodec(codec, types.substring(1), arguments, reply);
	}

	/**
	 * Whether a result is a table made for the method though its type is a table: that of
	 * an optional. Then the table has the only field {@code value}, which what the type
	 * says has not.
	 */
	private static boolean isOptional(SchemaText text, SchemaText.Call call, String type, String types) {
		List<SchemaText.Field> fields = text.tables().getOrDefault(call.reply(), List.of());
		if (fields.size() != 1 || !fields.get(0).name().equals("value")
				|| !text.tables().containsKey(fields.get(0).type())) {
			return false;
		}
		return Arrays.stream(types.split("; ")).noneMatch((declared) -> declared.matches(type + " \\{t\\d+}"));
	}

	private static boolean isTable(String type) {
		if (type.equals(SchemaDigest.ANY)) {
			throw new UnsupportedOperationException(
					"messages of which the types are not known (expected: records, or plain values)");
		}
		return type.length() > 1 && type.charAt(0) == 't' && type.substring(1).chars().allMatch(Character::isDigit);
	}

	private static MessageFormat format(FlatBuffersCodec codec, SchemaText text, String table, boolean synthesized,
			boolean result) {
		TreeCompiler compiler = new TreeCompiler(text);
		Conversion value = synthesized ? null : compiler.valueOf(table);
		if (value != null) {
			return new ConvertedFormat(codec.format(new MessageRoot(compiler.valueTable(value), false), null), value);
		}
		MessageFormat format = codec.format(new MessageRoot(compiler.compile(table), synthesized), null);
		return (synthesized && result) ? new ConvertedFormat(format, OnlyValue.INSTANCE) : format;
	}

	@Override
	public String name() {
		return this.codec.name();
	}

	@Override
	public MessageFormat arguments(MethodSignature method) {
		return this.arguments;
	}

	/** The result, a tree; those of other types are none of the schema. */
	@Override
	public MessageFormat result(MethodSignature method) {
		Type type = method.resultType();
		return (type == Object.class || type == void.class) ? this.result : this.codec.result(method);
	}

	@Override
	public String digest(MethodSignature method) {
		return this.digest;
	}

	@Override
	public @Nullable String difference(String own, String peers) {
		return this.codec.difference(own, peers);
	}

	/** The arguments of a method that has none. */
	private record NoArguments(String method) implements MessageFormat {

		@Override
		public void encode(@Nullable Object value, MessageSegments out) {
			out.clear();
			Object tree = ((@Nullable Object[]) Objects.requireNonNull(value))[0];
			if (tree != null && !(tree instanceof Map<?, ?> map && map.isEmpty())) {
				throw new UnencodableValueException(this.method + " has no parameters (expected: no arguments)");
			}
		}

		@Override
		public @Nullable Object decode(ByteBuffer message, ReceivedMemory memory) {
			return null;
		}

	}

	/** A value that is made from, and into, what it is in trees. */
	private record ConvertedFormat(MessageFormat format, Conversion conversion) implements MessageFormat {

		@Override
		public void encode(@Nullable Object value, MessageSegments out) {
			out.clear();
			this.format.encode((value != null) ? this.conversion.fromTree(value) : null, out);
		}

		@Override
		public @Nullable Object decode(ByteBuffer message, ReceivedMemory memory) {
			Object value = this.format.decode(message, memory);
			return (value != null) ? this.conversion.toTree(value) : null;
		}

	}

	/** The field of a table with only one: of a union, with the name of its member. */
	private enum OnlyValue implements Conversion {

		/** The only instance. */
		INSTANCE;

		@Override
		public Object fromTree(Object tree) {
			return Map.of("value", tree);
		}

		@Override
		public @Nullable Object toTree(Object value) {
			Map<?, ?> map = (Map<?, ?>) value;
			return (map.size() == 1) ? map.values().iterator().next() : map;
		}

	}

}
