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

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.ReceivedMemory;

/**
 * FlatBuffers messages from plain Java types.
 *
 * <p>
 * A single parameter, or result, that is a record is the root table of its message. Any
 * other parameters become the fields of a table made for the method, any other result the
 * field {@code value} of a table. A method without parameters and a {@code void} result
 * have empty messages; a null root is an empty message, too. A class that {@code flatc}
 * generated counts as a record: its own buffer is the message. So does a
 * {@link GatherMessage}.
 *
 * <p>
 * Thread-safe. A codec defines classes for the types and methods it meets, once, and
 * keeps them: clients and servers that share one share what the just-in-time compiler
 * makes of them, too.
 */
public final class FlatBuffersCodec implements MessageCodec {

	private static final Object[] NO_ARGUMENTS = {};

	private final FlatBuffersOptions options;

	private final MessageReaders readers;

	private final Map<RootKey, MessageRoot> roots = new HashMap<>();

	private Map<ResolvedType, Shape> shapes = Map.of();

	/** Creates a codec with default options. */
	public FlatBuffersCodec() {
		this(FlatBuffersOptions.DEFAULTS);
	}

	/** Creates a codec. */
	public FlatBuffersCodec(FlatBuffersOptions options) {
		this.options = options;
		this.readers = new MessageReaders(options);
	}

	@Override
	public String name() {
		return "flatbuffers";
	}

	@Override
	public synchronized MessageFormat arguments(MethodSignature method) {
		return arguments(method, root(method, RootKind.ARGUMENTS));
	}

	@Override
	public synchronized MessageFormat arguments(MethodSignature method, int count) {
		int own = method.parameterTypes().size();
		if (own == 0 || count == 0 || (own == 1) == (count == 1)) {
			return arguments(method);
		}
		MessageFormat several = arguments(method, root(method, RootKind.FIELDS));
		MessageRoot first = root(method.first(1), RootKind.ARGUMENTS);
		return (own == 1 || first.synthesized()) ? several
				: new FirstArgumentFormat(format(first, null), absentArguments(several));
	}

	private MessageFormat arguments(MethodSignature method, MessageRoot root) {
		MessageFormat format = format(root, NO_ARGUMENTS);
		return (method.parameterTypes().size() == 1) ? new FirstArgumentFormat(format, (@Nullable Object) null)
				: format;
	}

	private static @Nullable Object[] absentArguments(MessageFormat arguments) {
		return (@Nullable Object[]) Objects
			.requireNonNull(arguments.decode(ByteBuffer.allocateDirect(0), ReceivedMemory.lent()));
	}

	@Override
	public synchronized MessageFormat result(MethodSignature method) {
		return format(root(method, RootKind.RESULT), null);
	}

	@Override
	public synchronized String digest(MethodSignature method) {
		return SchemaDigest.of(method, new ShapeCompiler(method, this.shapes));
	}

	@Override
	public String schema(String service, List<MethodSignature> methods) {
		return FlatBuffersSchema.ofService(service, methods);
	}

	@Override
	public @Nullable String difference(String own, String peers) {
		return SchemaDifference.between(own, peers);
	}

	private MessageRoot root(MethodSignature method, RootKind kind) {
		RootKey key = new RootKey(method, kind);
		MessageRoot root = this.roots.get(key);
		if (root == null) {
			ShapeCompiler compiler = new ShapeCompiler(method, this.shapes);
			root = kind.compile(method, compiler);
			this.shapes = compiler.shapes();
			this.roots.put(key, root);
		}
		return root;
	}

	/** The format of messages with that root. */
	MessageFormat format(MessageRoot root, @Nullable Object nothing) {
		if (root.shape() instanceof TableShape table) {
			return new TableFormat(table, root.synthesized(), this.options, this.readers);
		}
		return (root.shape() instanceof NestedShape nested) ? new NestedFormat(nested) : new EmptyFormat(nothing);
	}

	/** Which messages of a method a root is of. */
	private enum RootKind {

		ARGUMENTS, FIELDS, RESULT;

		MessageRoot compile(MethodSignature method, ShapeCompiler compiler) {
			return switch (this) {
				case ARGUMENTS -> MessageRoot.ofArguments(method, compiler);
				case FIELDS -> MessageRoot.ofFields(method, compiler);
				case RESULT -> MessageRoot.ofResult(method, compiler);
			};
		}

	}

	private record RootKey(MethodSignature method, RootKind kind) {

	}

}
