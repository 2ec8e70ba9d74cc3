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

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * Compiles table bodies: joins accessors, field writers, field readers and constructor
 * into one method handle for each direction.
 */
final class TableBodies {

	private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

	private static final MethodType WRITE = MethodType.methodType(void.class, Object.class, SegmentWriter.class,
			ByteBuffer.class, int.class, int.class);

	private static final MethodType READ = MethodType.methodType(Object.class, MessageReader.class, int.class,
			int.class, int.class);

	private static final MethodHandle WRITE_FIELD = find(Shape.class, "writeField", MethodType.methodType(void.class,
			FieldLayout.class, Object.class, SegmentWriter.class, ByteBuffer.class, int.class, int.class));

	private static final MethodHandle READ_FIELD = find(Shape.class, "readField", MethodType.methodType(Object.class,
			FieldLayout.class, MessageReader.class, int.class, int.class, int.class));

	private static final byte @Nullable [] TEMPLATE = template();

	private TableBodies() {
	}

	/**
	 * Compiles a body.
	 * @param fields the fields
	 * @param accessors takes the value and returns the field's value, for each
	 * @param constructor takes the fields' values, in order, and returns the value
	 */
	static TableBody compile(List<FieldLayout> fields, List<MethodHandle> accessors, MethodHandle constructor) {
		return define(writer(fields, accessors), reader(fields, constructor));
	}

	/** Writes all fields, one after the other. */
	static MethodHandle writer(List<FieldLayout> fields, List<MethodHandle> accessors) {
		MethodHandle write = MethodHandles.empty(WRITE);
		for (int i = fields.size() - 1; i >= 0; i--) {
			write = MethodHandles.foldArguments(write, writer(fields.get(i), accessors.get(i)));
		}
		return write;
	}

	private static MethodHandle writer(FieldLayout field, MethodHandle accessor) {
		Class<?> type = accessor.type().returnType();
		if (type.isPrimitive()) {
			MethodHandle put = findStatic("put" + capitalized(type),
					MethodType.methodType(void.class, int.class, type, ByteBuffer.class, int.class));
			put = MethodHandles.insertArguments(put, 0, field.offset());
			put = MethodHandles.filterArguments(put, 0, accessor.asType(MethodType.methodType(type, Object.class)));
			put = MethodHandles.dropArguments(put, 1, SegmentWriter.class);
			return MethodHandles.dropArguments(put, WRITE.parameterCount() - 1, int.class);
		}
		MethodHandle write = MethodHandles.insertArguments(WRITE_FIELD, 0, field.shape(), field);
		return MethodHandles.filterArguments(write, 0,
				accessor.asType(MethodType.methodType(Object.class, Object.class)));
	}

	private static MethodHandle reader(List<FieldLayout> fields, MethodHandle constructor) {
		MethodHandle read = constructor;
		if (fields.isEmpty()) {
			return MethodHandles.dropArguments(read, 0, READ.parameterList()).asType(READ);
		}
		for (int i = fields.size() - 1; i >= 0; i--) {
			Class<?> type = constructor.type().parameterType(i);
			read = MethodHandles.collectArguments(read, i, reader(fields.get(i), type));
			if (i < fields.size() - 1) {
				int[] order = new int[i + 2 * READ.parameterCount()];
				for (int k = 0; k < order.length; k++) {
					order[k] = (k < i + READ.parameterCount()) ? k : k - READ.parameterCount();
				}
				MethodType merged = read.type()
					.dropParameterTypes(i + READ.parameterCount(), i + 2 * READ.parameterCount());
				read = MethodHandles.permuteArguments(read, merged, order);
			}
		}
		return read.asType(READ);
	}

	private static MethodHandle reader(FieldLayout field, Class<?> type) {
		if (type.isPrimitive()) {
			MethodHandle get = findStatic("get" + capitalized(type),
					MethodType.methodType(type, int.class, MessageReader.class, int.class, int.class, int.class));
			return MethodHandles.insertArguments(get, 0, field.entry());
		}
		MethodHandle read = MethodHandles.insertArguments(READ_FIELD, 0, field.shape(), field);
		return read.asType(READ.changeReturnType(type));
	}

	private static TableBody define(MethodHandle write, MethodHandle read) {
		byte[] template = TEMPLATE;
		if (template == null) {
			return new HandleTableBody(write, read);
		}
		try {
			Class<?> type = LOOKUP.defineHiddenClassWithClassData(template, List.of(write, read), true).lookupClass();
			return (TableBody) LOOKUP.findConstructor(type, MethodType.methodType(void.class)).invoke();
		}
		catch (Throwable ex) {
			throw rethrow(ex);
		}
	}

	private static byte @Nullable [] template() {
		try (InputStream in = TableBodies.class.getResourceAsStream("TableBodyTemplate.class")) {
			return (in != null) ? in.readAllBytes() : null;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Throws what a handle threw; handles here throw nothing checked but by accessors.
	 */
	@SuppressWarnings("unchecked")
	static <T extends Throwable> RuntimeException rethrow(Throwable thrown) throws T {
		throw (T) thrown;
	}

	private static String capitalized(Class<?> primitive) {
		String name = primitive.getName();
		return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
	}

	private static MethodHandle findStatic(String name, MethodType type) {
		try {
			return LOOKUP.findStatic(ScalarFields.class, name, type);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static MethodHandle find(Class<?> type, String name, MethodType methodType) {
		try {
			return LOOKUP.findVirtual(type, name, methodType);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * The body where classes cannot be defined at run time: slower, the same otherwise.
	 */
	private static final class HandleTableBody implements TableBody {

		private final MethodHandle write;

		private final MethodHandle read;

		HandleTableBody(MethodHandle write, MethodHandle read) {
			this.write = write;
			this.read = read;
		}

		@Override
		public void write(@Nullable Object value, SegmentWriter out, ByteBuffer memory, int table, int base) {
			try {
				this.write.invokeExact(value, out, memory, table, base);
			}
			catch (Throwable ex) {
				throw rethrow(ex);
			}
		}

		@Override
		public @Nullable Object read(MessageReader in, int table, int vtable, int vtableBytes) {
			try {
				return (Object) this.read.invokeExact(in, table, vtable, vtableBytes);
			}
			catch (Throwable ex) {
				throw rethrow(ex);
			}
		}

	}

}
