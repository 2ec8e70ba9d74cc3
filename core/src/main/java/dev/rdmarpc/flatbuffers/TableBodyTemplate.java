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
import java.lang.invoke.MethodHandles;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/**
 * The class that {@link TableBodies} defines anew for each table type, so that the
 * handles are constants and the just-in-time compiler inlines through them. Never used
 * under its own name.
 */
final class TableBodyTemplate implements TableBody {

	private static final MethodHandle WRITE = handle(0);

	private static final MethodHandle READ = handle(1);

	private static MethodHandle handle(int index) {
		try {
			return MethodHandles.classDataAt(MethodHandles.lookup(), "_", MethodHandle.class, index);
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void write(@Nullable Object value, SegmentWriter out, ByteBuffer memory, int table, int base) {
		try {
			WRITE.invokeExact(value, out, memory, table, base);
		}
		catch (Throwable ex) {
			throw TableBodies.rethrow(ex);
		}
	}

	@Override
	public @Nullable Object read(MessageReader in, int table, int vtable, int vtableBytes) {
		try {
			return (Object) READ.invokeExact(in, table, vtable, vtableBytes);
		}
		catch (Throwable ex) {
			throw TableBodies.rethrow(ex);
		}
	}

}
