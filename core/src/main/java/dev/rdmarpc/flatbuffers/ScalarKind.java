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

import java.lang.reflect.Array;
import java.nio.ByteBuffer;

/** The Java primitives as FlatBuffers scalars; {@code char} is an unsigned short. */
enum ScalarKind {

	/** {@code boolean}. */
	BOOLEAN(boolean.class, Boolean.class, Byte.BYTES, "bool"),

	/** {@code byte}. */
	BYTE(byte.class, Byte.class, Byte.BYTES, "byte"),

	/** {@code char}. */
	CHAR(char.class, Character.class, Character.BYTES, "ushort"),

	/** {@code short}. */
	SHORT(short.class, Short.class, Short.BYTES, "short"),

	/** {@code int}. */
	INT(int.class, Integer.class, Integer.BYTES, "int"),

	/** {@code long}. */
	LONG(long.class, Long.class, Long.BYTES, "long"),

	/** {@code float}. */
	FLOAT(float.class, Float.class, Float.BYTES, "float"),

	/** {@code double}. */
	DOUBLE(double.class, Double.class, Double.BYTES, "double");

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

	/** Writes a boxed value. */
	void put(ByteBuffer memory, int index, Object value) {
		switch (this) {
			case BOOLEAN -> memory.put(index, (byte) (((boolean) value) ? 1 : 0));
			case BYTE -> memory.put(index, (byte) value);
			case CHAR -> memory.putChar(index, (char) value);
			case SHORT -> memory.putShort(index, (short) value);
			case INT -> memory.putInt(index, (int) value);
			case LONG -> memory.putLong(index, (long) value);
			case FLOAT -> memory.putFloat(index, (float) value);
			case DOUBLE -> memory.putDouble(index, (double) value);
		}
	}

	/** Reads a value into a box. */
	Object get(ByteBuffer memory, int index) {
		return switch (this) {
			case BOOLEAN -> memory.get(index) != 0;
			case BYTE -> memory.get(index);
			case CHAR -> memory.getChar(index);
			case SHORT -> memory.getShort(index);
			case INT -> memory.getInt(index);
			case LONG -> memory.getLong(index);
			case FLOAT -> memory.getFloat(index);
			case DOUBLE -> memory.getDouble(index);
		};
	}

	/**
	 * Writes an array of the primitive as a vector.
	 * @return its position in the message
	 */
	int write(Object array, SegmentWriter out) {
		int count = Array.getLength(array);
		int at = out.reserveVector(count, this.bytes, this.bytes);
		putAll(out.memory(), at + SegmentWriter.OFFSET_BYTES, array, count);
		return at + out.base();
	}

	/**
	 * By one copy, also of a short array: that costs a view, but an element at a time
	 * takes longer from eight elements on, and ten times as long with 250.
	 */
	private void putAll(ByteBuffer memory, int index, Object array, int count) {
		switch (this) {
			case BOOLEAN -> {
				int at = index;
				for (boolean value : (boolean[]) array) {
					memory.put(at, (byte) (value ? 1 : 0));
					at++;
				}
			}
			case BYTE -> memory.put(index, (byte[]) array);
			case CHAR -> elements(memory, index, count).asCharBuffer().put((char[]) array);
			case SHORT -> elements(memory, index, count).asShortBuffer().put((short[]) array);
			case INT -> elements(memory, index, count).asIntBuffer().put((int[]) array);
			case LONG -> elements(memory, index, count).asLongBuffer().put((long[]) array);
			case FLOAT -> elements(memory, index, count).asFloatBuffer().put((float[]) array);
			case DOUBLE -> elements(memory, index, count).asDoubleBuffer().put((double[]) array);
		}
	}

	/** Reads an array of the primitive. */
	Object getAll(ByteBuffer memory, int index, int count) {
		return switch (this) {
			case BOOLEAN -> {
				boolean[] values = new boolean[count];
				for (int i = 0; i < count; i++) {
					values[i] = memory.get(index + i) != 0;
				}
				yield values;
			}
			case BYTE -> {
				byte[] values = new byte[count];
				memory.get(index, values);
				yield values;
			}
			case CHAR -> {
				char[] values = new char[count];
				elements(memory, index, count).asCharBuffer().get(values);
				yield values;
			}
			case SHORT -> {
				short[] values = new short[count];
				elements(memory, index, count).asShortBuffer().get(values);
				yield values;
			}
			case INT -> {
				int[] values = new int[count];
				elements(memory, index, count).asIntBuffer().get(values);
				yield values;
			}
			case LONG -> {
				long[] values = new long[count];
				elements(memory, index, count).asLongBuffer().get(values);
				yield values;
			}
			case FLOAT -> {
				float[] values = new float[count];
				elements(memory, index, count).asFloatBuffer().get(values);
				yield values;
			}
			case DOUBLE -> {
				double[] values = new double[count];
				elements(memory, index, count).asDoubleBuffer().get(values);
				yield values;
			}
		};
	}

	private ByteBuffer elements(ByteBuffer memory, int index, int count) {
		return memory.slice(index, count * this.bytes).order(memory.order());
	}

}
