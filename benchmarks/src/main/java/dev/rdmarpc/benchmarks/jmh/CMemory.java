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

package dev.rdmarpc.benchmarks.jmh;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.util.Optional;

/**
 * {@code malloc} and {@code free} of the C library, called by way of
 * {@code java.lang.foreign}: needs Java 22 or later, while this module is compiled for
 * 17. All that is looked up by name ends in constant method handles, which cost the same
 * as direct use. A buffer is its boxed address. The calls do not leave the Java state,
 * the cheapest way there is.
 */
final class CMemory implements BenchmarkMemory {

	private static final String FOREIGN = "java.lang.foreign.";

	private static final MethodHandle MALLOC;

	private static final MethodHandle FREE;

	private static final MethodHandle PUT_LONG;

	static {
		try {
			Class<?> segment = type("MemorySegment");
			Object longLayout = type("ValueLayout").getField("JAVA_LONG_UNALIGNED").get(null);
			Object longs = Array.newInstance(type("MemoryLayout"), 1);
			Array.set(longs, 0, type("ValueLayout").getField("JAVA_LONG").get(null));
			Object toLong = type("FunctionDescriptor").getMethod("of", type("MemoryLayout"), longs.getClass())
				.invoke(null, Array.get(longs, 0), longs);
			Object toNothing = type("FunctionDescriptor").getMethod("ofVoid", longs.getClass()).invoke(null, longs);
			MALLOC = function("malloc", toLong);
			FREE = function("free", toNothing);
			Object all = segment.getMethod("reinterpret", long.class)
				.invoke(segment.getField("NULL").get(null), Long.MAX_VALUE);
			VarHandle longAt = (VarHandle) type("ValueLayout").getMethod("varHandle").invoke(longLayout);
			PUT_LONG = MethodHandles.insertArguments(longAt.toMethodHandle(VarHandle.AccessMode.SET), 0, all);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private static Class<?> type(String name) throws ClassNotFoundException {
		return Class.forName(FOREIGN + name);
	}

	private static MethodHandle function(String name, Object descriptor) throws ReflectiveOperationException {
		Class<?> option = type("Linker$Option");
		Object options = Array.newInstance(option, 1);
		Array.set(options, 0, option.getMethod("critical", boolean.class).invoke(null, false));
		Object linker = type("Linker").getMethod("nativeLinker").invoke(null);
		Object lookup = type("Linker").getMethod("defaultLookup").invoke(linker);
		Optional<?> symbol = (Optional<?>) type("SymbolLookup").getMethod("find", String.class).invoke(lookup, name);
		return (MethodHandle) type("Linker")
			.getMethod("downcallHandle", type("MemorySegment"), type("FunctionDescriptor"), options.getClass())
			.invoke(linker, symbol.orElseThrow(), descriptor, options);
	}

	@Override
	public Object allocate(int lengthBytes) {
		try {
			long address = (long) MALLOC.invokeExact((long) lengthBytes);
			PUT_LONG.invokeExact(address, (long) lengthBytes);
			PUT_LONG.invokeExact(address + lengthBytes - Long.BYTES, (long) lengthBytes);
			return address;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void release(Object buffer) {
		try {
			FREE.invokeExact((long) (Long) buffer);
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
	}

}
