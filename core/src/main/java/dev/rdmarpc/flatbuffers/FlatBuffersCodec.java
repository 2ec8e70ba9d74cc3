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

import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MethodSignature;

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
 */
public final class FlatBuffersCodec implements MessageCodec {

	private final FlatBuffersOptions options;

	private final MessageReaders readers;

	private Map<ResolvedType, Shape> shapes = Map.of();

	/** Creates a codec with default options. */
	public FlatBuffersCodec() {
		this(FlatBuffersOptions.defaults());
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
	public synchronized MessageFormat<@Nullable Object[]> arguments(MethodSignature method) {
		ShapeCompiler compiler = new ShapeCompiler(method, this.shapes);
		MessageRoot root = MessageRoot.ofArguments(method, compiler);
		this.shapes = compiler.shapes();
		return arguments(root);
	}

	@Override
	public synchronized MessageFormat<@Nullable Object[]> arguments(MethodSignature method, int count) {
		int own = method.parameterTypes().size();
		if (own == 0 || count == 0 || (own == 1) == (count == 1)) {
			return arguments(method);
		}
		ShapeCompiler compiler = new ShapeCompiler(method, this.shapes);
		MessageRoot only = MessageRoot.ofArguments(method.first(1), compiler);
		MessageRoot several = MessageRoot.ofFields(method, compiler);
		this.shapes = compiler.shapes();
		return (own == 1 || only.synthesised()) ? arguments(several)
				: new FirstArgumentFormat(arguments(only), arguments(several));
	}

	private MessageFormat<@Nullable Object[]> arguments(MessageRoot root) {
		if (root.shape() instanceof TableShape table) {
			return root.synthesised() ? new TableFormat.Arguments(table, this.options, this.readers)
					: new TableFormat.RootArgument(table, this.options, this.readers);
		}
		if (root.shape() instanceof MessageShape) {
			return new GatherMessageFormat.Argument();
		}
		return (root.shape() instanceof GeneratedTableShape table) ? new GeneratedTableFormat.Argument(table)
				: new EmptyFormat.Arguments();
	}

	@Override
	public synchronized MessageFormat<@Nullable Object> result(MethodSignature method) {
		ShapeCompiler compiler = new ShapeCompiler(method, this.shapes);
		MessageRoot root = MessageRoot.ofResult(method, compiler);
		this.shapes = compiler.shapes();
		if (root.shape() instanceof TableShape table) {
			return root.synthesised() ? new TableFormat.WrappedResult(table, this.options, this.readers)
					: new TableFormat.RootResult(table, this.options, this.readers);
		}
		if (root.shape() instanceof MessageShape) {
			return new GatherMessageFormat.Result();
		}
		return (root.shape() instanceof GeneratedTableShape table) ? new GeneratedTableFormat.Result(table)
				: new EmptyFormat.Result();
	}

}
