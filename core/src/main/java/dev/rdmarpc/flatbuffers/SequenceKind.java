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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;

import org.jspecify.annotations.Nullable;

/**
 * What holds a sequence of objects on the Java side: an array, or a collection. What is
 * declared as an interface is read as a mutable collection that keeps the order.
 */
abstract class SequenceKind {

	private static final int MAX_CAPACITY = 1 << 30;

	private static final List<Collections> COLLECTIONS = List.of(new Collections(ArrayList.class, ArrayList::new),
			new Collections(LinkedHashSet.class, (count) -> new LinkedHashSet<>(capacity(count))),
			new Collections(TreeSet.class, (count) -> new TreeSet<>()),
			new Collections(ArrayDeque.class, ArrayDeque::new));

	/**
	 * The kind for a collection class or interface.
	 * @return the kind, or null if there is none
	 */
	static @Nullable SequenceKind ofCollection(Class<?> type) {
		if (Collection.class.isAssignableFrom(type)) {
			for (Collections candidate : COLLECTIONS) {
				if (type.isAssignableFrom(candidate.type)) {
					return candidate;
				}
			}
		}
		return null;
	}

	/** The kind for arrays of that class. */
	static SequenceKind ofArray(Class<?> elementType) {
		return new Arrays(elementType);
	}

	/** The initial capacity of a hash table for that many entries. */
	static int capacity(int count) {
		return (int) Math.min(count / 0.75 + 1, MAX_CAPACITY);
	}

	/** Whether elements are compared with each other. */
	boolean isSorted() {
		return false;
	}

	/** Whether elements are looked for by their hash codes. */
	boolean isHashed() {
		return false;
	}

	/** Heap that a value without elements takes. */
	abstract int valueBytes();

	/** Heap that the place of an element takes. */
	abstract int placeBytes();

	/** The number of elements of a value. */
	abstract int size(Object value);

	/** Creates a value that will be given that many elements. */
	abstract Object create(int count);

	/**
	 * Adds the next element.
	 * @return whether it was not there before
	 */
	abstract boolean add(Object value, int index, Object element);

	/** Arrays of one class. */
	private static final class Arrays extends SequenceKind {

		private final Class<?> elementType;

		Arrays(Class<?> elementType) {
			this.elementType = elementType;
		}

		@Override
		int valueBytes() {
			return HeapBytes.ARRAY;
		}

		@Override
		int placeBytes() {
			return HeapBytes.REFERENCE;
		}

		@Override
		int size(Object value) {
			return ((Object[]) value).length;
		}

		@Override
		Object create(int count) {
			return Array.newInstance(this.elementType, count);
		}

		@Override
		boolean add(Object value, int index, Object element) {
			((Object[]) value)[index] = element;
			return true;
		}

	}

	/** Collections of one class. */
	private static final class Collections extends SequenceKind {

		private final Class<?> type;

		private final IntFunction<Collection<Object>> factory;

		Collections(Class<?> type, IntFunction<Collection<Object>> factory) {
			this.type = type;
			this.factory = factory;
		}

		@Override
		boolean isSorted() {
			return this.type == TreeSet.class;
		}

		@Override
		boolean isHashed() {
			return this.type == LinkedHashSet.class;
		}

		@Override
		int valueBytes() {
			return Set.class.isAssignableFrom(this.type) ? HeapBytes.TABLE : HeapBytes.LIST;
		}

		@Override
		int placeBytes() {
			return Set.class.isAssignableFrom(this.type) ? HeapBytes.ENTRY + HeapBytes.BUCKET : HeapBytes.REFERENCE;
		}

		@Override
		int size(Object value) {
			return ((Collection<?>) value).size();
		}

		@Override
		Object create(int count) {
			return this.factory.apply(count);
		}

		@Override
		@SuppressWarnings("unchecked")
		boolean add(Object value, int index, Object element) {
			return ((Collection<Object>) value).add(element);
		}

	}

}
