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

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The body of a table with more fields than method handles have parameters: slower, the
 * same otherwise.
 */
final class WideTableBody implements TableBody {

	/**
	 * The widest constructor that is read by method handles, which have up to 255
	 * parameters, some of their own; {@code long} and {@code double} count twice.
	 */
	private static final int MAX_SLOTS = 240;

	private final FieldLayout[] fields;

	private final @Nullable Object[] absent;

	private final MethodHandle write;

	private final Constructor constructor;

	/**
	 * Creates a body.
	 * @param types of the fields as they are declared
	 * @param write writes all fields
	 */
	WideTableBody(List<FieldLayout> fields, List<Class<?>> types, MethodHandle write, Constructor constructor) {
		this.fields = fields.toArray(FieldLayout[]::new);
		this.absent = new Object[this.fields.length];
		for (int i = 0; i < this.absent.length; i++) {
			this.absent[i] = Array.get(Array.newInstance(types.get(i), 1), 0);
		}
		this.write = write;
		this.constructor = constructor;
	}

	/** Whether values of those types are too many for method handles. */
	static boolean isNeeded(Iterable<? extends Class<?>> types) {
		int slots = 0;
		for (Class<?> type : types) {
			slots += (type == long.class || type == double.class) ? 2 : 1;
		}
		return slots > MAX_SLOTS;
	}

	@Override
	public void write(@Nullable Object value, SegmentWriter out, ByteBuffer memory, int table, int base) {
		try {
			this.write.invokeExact(value, out, memory, table, base);
		}
		catch (Throwable ex) {
			throw TableBodies.rethrow(ex);
		}
	}

	@Override
	public @Nullable Object read(MessageReader in, int table, int vtable, int vtableBytes) {
		@Nullable Object[] values = this.absent.clone();
		for (int i = 0; i < values.length; i++) {
			FieldLayout field = this.fields[i];
			Object value = field.shape().readField(field, in, table, vtable, vtableBytes);
			if (value != null) {
				values[i] = value;
			}
		}
		try {
			return this.constructor.create(values);
		}
		catch (Throwable ex) {
			throw TableBodies.rethrow(ex);
		}
	}

	/** Makes a value of its fields. */
	@FunctionalInterface
	interface Constructor {

		/** Takes the values of all fields, in order. */
		Object create(@Nullable Object[] values) throws Throwable;

	}

}
