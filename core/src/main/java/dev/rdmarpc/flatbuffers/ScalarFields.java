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

/**
 * Primitive fields of tables without boxing: what compiled table bodies call. Found by
 * name: {@code put} or {@code get} and the primitive's kind.
 */
@SuppressWarnings("unused")
final class ScalarFields {

	private ScalarFields() {
	}

	static void putBoolean(int offset, boolean value, ByteBuffer memory, int table) {
		memory.put(table + offset, (byte) (value ? 1 : 0));
	}

	static boolean getBoolean(int entry, MessageReader in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, entry);
		return offset != 0 && in.buffer().get(table + offset) != 0;
	}

	static void putByte(int offset, byte value, ByteBuffer memory, int table) {
		memory.put(table + offset, value);
	}

	static byte getByte(int entry, MessageReader in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, entry);
		return (offset != 0) ? in.buffer().get(table + offset) : 0;
	}

	static void putChar(int offset, char value, ByteBuffer memory, int table) {
		memory.putChar(table + offset, value);
	}

	static char getChar(int entry, MessageReader in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, entry);
		return (offset != 0) ? in.buffer().getChar(table + offset) : '\0';
	}

	static void putShort(int offset, short value, ByteBuffer memory, int table) {
		memory.putShort(table + offset, value);
	}

	static short getShort(int entry, MessageReader in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, entry);
		return (offset != 0) ? in.buffer().getShort(table + offset) : 0;
	}

	static void putInt(int offset, int value, ByteBuffer memory, int table) {
		memory.putInt(table + offset, value);
	}

	static int getInt(int entry, MessageReader in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, entry);
		return (offset != 0) ? in.buffer().getInt(table + offset) : 0;
	}

	static void putLong(int offset, long value, ByteBuffer memory, int table) {
		memory.putLong(table + offset, value);
	}

	static long getLong(int entry, MessageReader in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, entry);
		return (offset != 0) ? in.buffer().getLong(table + offset) : 0;
	}

	static void putFloat(int offset, float value, ByteBuffer memory, int table) {
		memory.putFloat(table + offset, value);
	}

	static float getFloat(int entry, MessageReader in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, entry);
		return (offset != 0) ? in.buffer().getFloat(table + offset) : 0;
	}

	static void putDouble(int offset, double value, ByteBuffer memory, int table) {
		memory.putDouble(table + offset, value);
	}

	static double getDouble(int entry, MessageReader in, int table, int vtable, int vtableBytes) {
		int offset = in.fieldOffset(vtable, vtableBytes, entry);
		return (offset != 0) ? in.buffer().getDouble(table + offset) : 0;
	}

}
