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
		int at = out.reserveVector(Array.getLength(array), this.bytes, this.bytes);
		putAll(out.memory(), at + SegmentWriter.OFFSET_BYTES, array);
		return at + out.base();
	}

	/**
	 * By one copy, also of a short array: an element at a time costs ten times as much
	 * for 250 of them.
	 */
	private void putAll(ByteBuffer memory, int index, Object array) {
		ByteBuffer target = elements(memory, index, Array.getLength(array));
		switch (this) {
			case BOOLEAN -> {
				for (boolean value : (boolean[]) array) {
					target.put((byte) (value ? 1 : 0));
				}
			}
			case BYTE -> target.put((byte[]) array);
			case CHAR -> target.asCharBuffer().put((char[]) array);
			case SHORT -> target.asShortBuffer().put((short[]) array);
			case INT -> target.asIntBuffer().put((int[]) array);
			case LONG -> target.asLongBuffer().put((long[]) array);
			case FLOAT -> target.asFloatBuffer().put((float[]) array);
			case DOUBLE -> target.asDoubleBuffer().put((double[]) array);
		}
	}

	/** Reads an array of the primitive. */
	Object getAll(ByteBuffer memory, int index, int count) {
		ByteBuffer source = elements(memory, index, count);
		return switch (this) {
			case BOOLEAN -> {
				boolean[] values = new boolean[count];
				for (int i = 0; i < count; i++) {
					values[i] = source.get(i) != 0;
				}
				yield values;
			}
			case BYTE -> {
				byte[] values = new byte[count];
				source.get(values);
				yield values;
			}
			case CHAR -> {
				char[] values = new char[count];
				source.asCharBuffer().get(values);
				yield values;
			}
			case SHORT -> {
				short[] values = new short[count];
				source.asShortBuffer().get(values);
				yield values;
			}
			case INT -> {
				int[] values = new int[count];
				source.asIntBuffer().get(values);
				yield values;
			}
			case LONG -> {
				long[] values = new long[count];
				source.asLongBuffer().get(values);
				yield values;
			}
			case FLOAT -> {
				float[] values = new float[count];
				source.asFloatBuffer().get(values);
				yield values;
			}
			case DOUBLE -> {
				double[] values = new double[count];
				source.asDoubleBuffer().get(values);
				yield values;
			}
		};
	}

	/** A view of the elements of a vector. */
	private ByteBuffer elements(ByteBuffer memory, int index, int count) {
		return memory.slice(index, count * this.bytes).order(memory.order());
	}

}
