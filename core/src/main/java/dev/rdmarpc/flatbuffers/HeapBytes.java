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

/**
 * How much of the heap values take, in bytes: those of virtual machines with compressed
 * references, rounded up.
 */
final class HeapBytes {

	/** A reference. */
	static final int REFERENCE = 4;

	/** The header of an object, with what rounds it up. */
	static final int OBJECT = 16;

	/** The header of an array, with what rounds it up. */
	static final int ARRAY = 24;

	/** A string without its characters, of which each byte of UTF-8 takes up to two. */
	static final int STRING = 24 + ARRAY;

	/** An entry of a hash table that keeps the order, or of a sorted tree. */
	static final int ENTRY = 40;

	/** The place of an entry in a hash table, which is larger than needed. */
	static final int BUCKET = 12;

	/** An array list, or another collection over an array. */
	static final int LIST = 24 + ARRAY;

	/** A hash table without entries, or the set of its keys. */
	static final int TABLE = 56 + OBJECT + ARRAY;

	/** A view of a buffer, with those it is made by. */
	static final int VIEW = 3 * 64;

	private HeapBytes() {
	}

	/** An object with fields of those types. */
	static int object(Iterable<Class<?>> fields) {
		int bytes = OBJECT;
		for (Class<?> field : fields) {
			bytes += (field == long.class || field == double.class) ? Long.BYTES : REFERENCE;
		}
		return (bytes + 7) & -8;
	}

}
