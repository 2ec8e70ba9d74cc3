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

/** The Java primitives as FlatBuffers scalars; {@code char} is an unsigned short. */
enum ScalarKind {

	/** {@code boolean}. */
	BOOLEAN(boolean.class, Boolean.class, 1, "bool") {

		@Override
		void put(ByteBuffer memory, int index, Object value) {
			memory.put(index, (byte) (((Boolean) value) ? 1 : 0));
		}

		@Override
		Object get(ByteBuffer memory, int index) {
			return memory.get(index) != 0;
		}

		@Override
		int length(Object array) {
			return ((boolean[]) array).length;
		}

		@Override
		void putAll(ByteBuffer memory, int index, Object array) {
			int at = index;
			for (boolean value : (boolean[]) array) {
				memory.put(at, (byte) (value ? 1 : 0));
				at += 1;
			}
		}

		@Override
		Object getAll(ByteBuffer memory, int index, int count) {
			boolean[] values = new boolean[count];
			for (int i = 0; i < count; i++) {
				values[i] = memory.get(index + i) != 0;
			}
			return values;
		}

	},

	/** {@code byte}. */
	BYTE(byte.class, Byte.class, 1, "byte") {

		@Override
		void put(ByteBuffer memory, int index, Object value) {
			memory.put(index, (Byte) value);
		}

		@Override
		Object get(ByteBuffer memory, int index) {
			return memory.get(index);
		}

		@Override
		int length(Object array) {
			return ((byte[]) array).length;
		}

		@Override
		void putAll(ByteBuffer memory, int index, Object array) {
			int at = index;
			for (byte value : (byte[]) array) {
				memory.put(at, value);
				at += 1;
			}
		}

		@Override
		Object getAll(ByteBuffer memory, int index, int count) {
			byte[] values = new byte[count];
			for (int i = 0; i < count; i++) {
				values[i] = memory.get(index + i);
			}
			return values;
		}

	},

	/** {@code char}. */
	CHAR(char.class, Character.class, 2, "ushort") {

		@Override
		void put(ByteBuffer memory, int index, Object value) {
			memory.putChar(index, (Character) value);
		}

		@Override
		Object get(ByteBuffer memory, int index) {
			return memory.getChar(index);
		}

		@Override
		int length(Object array) {
			return ((char[]) array).length;
		}

		@Override
		void putAll(ByteBuffer memory, int index, Object array) {
			int at = index;
			for (char value : (char[]) array) {
				memory.putChar(at, value);
				at += 2;
			}
		}

		@Override
		Object getAll(ByteBuffer memory, int index, int count) {
			char[] values = new char[count];
			for (int i = 0; i < count; i++) {
				values[i] = memory.getChar(index + 2 * i);
			}
			return values;
		}

	},

	/** {@code short}. */
	SHORT(short.class, Short.class, 2, "short") {

		@Override
		void put(ByteBuffer memory, int index, Object value) {
			memory.putShort(index, (Short) value);
		}

		@Override
		Object get(ByteBuffer memory, int index) {
			return memory.getShort(index);
		}

		@Override
		int length(Object array) {
			return ((short[]) array).length;
		}

		@Override
		void putAll(ByteBuffer memory, int index, Object array) {
			int at = index;
			for (short value : (short[]) array) {
				memory.putShort(at, value);
				at += 2;
			}
		}

		@Override
		Object getAll(ByteBuffer memory, int index, int count) {
			short[] values = new short[count];
			for (int i = 0; i < count; i++) {
				values[i] = memory.getShort(index + 2 * i);
			}
			return values;
		}

	},

	/** {@code int}. */
	INT(int.class, Integer.class, 4, "int") {

		@Override
		void put(ByteBuffer memory, int index, Object value) {
			memory.putInt(index, (Integer) value);
		}

		@Override
		Object get(ByteBuffer memory, int index) {
			return memory.getInt(index);
		}

		@Override
		int length(Object array) {
			return ((int[]) array).length;
		}

		@Override
		void putAll(ByteBuffer memory, int index, Object array) {
			int at = index;
			for (int value : (int[]) array) {
				memory.putInt(at, value);
				at += 4;
			}
		}

		@Override
		Object getAll(ByteBuffer memory, int index, int count) {
			int[] values = new int[count];
			for (int i = 0; i < count; i++) {
				values[i] = memory.getInt(index + 4 * i);
			}
			return values;
		}

	},

	/** {@code long}. */
	LONG(long.class, Long.class, 8, "long") {

		@Override
		void put(ByteBuffer memory, int index, Object value) {
			memory.putLong(index, (Long) value);
		}

		@Override
		Object get(ByteBuffer memory, int index) {
			return memory.getLong(index);
		}

		@Override
		int length(Object array) {
			return ((long[]) array).length;
		}

		@Override
		void putAll(ByteBuffer memory, int index, Object array) {
			int at = index;
			for (long value : (long[]) array) {
				memory.putLong(at, value);
				at += 8;
			}
		}

		@Override
		Object getAll(ByteBuffer memory, int index, int count) {
			long[] values = new long[count];
			for (int i = 0; i < count; i++) {
				values[i] = memory.getLong(index + 8 * i);
			}
			return values;
		}

	},

	/** {@code float}. */
	FLOAT(float.class, Float.class, 4, "float") {

		@Override
		void put(ByteBuffer memory, int index, Object value) {
			memory.putFloat(index, (Float) value);
		}

		@Override
		Object get(ByteBuffer memory, int index) {
			return memory.getFloat(index);
		}

		@Override
		int length(Object array) {
			return ((float[]) array).length;
		}

		@Override
		void putAll(ByteBuffer memory, int index, Object array) {
			int at = index;
			for (float value : (float[]) array) {
				memory.putFloat(at, value);
				at += 4;
			}
		}

		@Override
		Object getAll(ByteBuffer memory, int index, int count) {
			float[] values = new float[count];
			for (int i = 0; i < count; i++) {
				values[i] = memory.getFloat(index + 4 * i);
			}
			return values;
		}

	},

	/** {@code double}. */
	DOUBLE(double.class, Double.class, 8, "double") {

		@Override
		void put(ByteBuffer memory, int index, Object value) {
			memory.putDouble(index, (Double) value);
		}

		@Override
		Object get(ByteBuffer memory, int index) {
			return memory.getDouble(index);
		}

		@Override
		int length(Object array) {
			return ((double[]) array).length;
		}

		@Override
		void putAll(ByteBuffer memory, int index, Object array) {
			int at = index;
			for (double value : (double[]) array) {
				memory.putDouble(at, value);
				at += 8;
			}
		}

		@Override
		Object getAll(ByteBuffer memory, int index, int count) {
			double[] values = new double[count];
			for (int i = 0; i < count; i++) {
				values[i] = memory.getDouble(index + 8 * i);
			}
			return values;
		}

	};

	private final Class<?> primitive;

	private final Class<?> box;

	private final int bytes;

	private final String schemaType;

	ScalarKind(Class<?> primitive, Class<?> box, int bytes, String schemaType) {
		this.primitive = primitive;
		this.box = box;
		this.bytes = bytes;
		this.schemaType = schemaType;
	}

	/** The primitive type. */
	Class<?> primitive() {
		return this.primitive;
	}

	/** Its box. */
	Class<?> box() {
		return this.box;
	}

	/** Size and alignment. */
	int bytes() {
		return this.bytes;
	}

	/** The name in the FlatBuffers schema language. */
	String schemaType() {
		return this.schemaType;
	}

	/**
	 * Writes an array of the primitive as a vector.
	 * @return its position in the message
	 */
	final int write(Object array, SegmentWriter out) {
		int at = out.reserveVector(length(array), this.bytes, this.bytes);
		putAll(out.memory(), at + SegmentWriter.OFFSET_BYTES, array);
		return at + out.base();
	}

	/** Writes a boxed value. */
	abstract void put(ByteBuffer memory, int index, Object value);

	/** Reads a value into a box. */
	abstract Object get(ByteBuffer memory, int index);

	/** The length of an array of the primitive. */
	abstract int length(Object array);

	/** Writes the elements of an array of the primitive. */
	abstract void putAll(ByteBuffer memory, int index, Object array);

	/** Reads an array of the primitive. */
	abstract Object getAll(ByteBuffer memory, int index, int count);

}
