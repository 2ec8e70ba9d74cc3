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
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.UnencodableValueException;

/**
 * A map as a vector of tables with the fields {@code key} and {@code value}, in the map's
 * order. Values may be null, keys may not.
 */
final class MapShape extends ReferenceShape {

	private final boolean sorted;

	private @Nullable TableShape entry;

	private boolean guarded;

	/**
	 * Creates a shape without entries.
	 * @param type the class or interface, a supported one
	 */
	MapShape(Class<?> type) {
		this.sorted = !type.isAssignableFrom(LinkedHashMap.class);
	}

	/** Whether values of a class or interface can be read. */
	static boolean isSupported(Class<?> type) {
		return Map.class.isAssignableFrom(type)
				&& (type.isAssignableFrom(LinkedHashMap.class) || type.isAssignableFrom(TreeMap.class));
	}

	/**
	 * Gives it the shape of its entries, which reads {@link Entry}s.
	 * @param keys the class of their keys
	 */
	void link(TableShape entry, Class<?> keys) {
		this.entry = entry;
		boolean harmless = KeyCollisions.areHarmless(keys);
		this.guarded = !this.sorted && !harmless;
		if (!harmless) {
			entry.compareFirst();
		}
	}

	private TableShape entry() {
		TableShape entry = this.entry;
		if (entry == null) {
			throw new IllegalStateException("not linked");
		}
		return entry;
	}

	/** Whether keys are compared with each other. */
	boolean isSorted() {
		return this.sorted;
	}

	@Override
	int writeTarget(Object value, SegmentWriter out) {
		Map<?, ?> map = (Map<?, ?>) value;
		if (this.sorted) {
			checkOrder(((SortedMap<?, ?>) map).comparator());
		}
		int count = map.size();
		int at = out.reserveVector(count, OFFSET_BYTES, OFFSET_BYTES);
		ByteBuffer memory = out.memory();
		int base = out.base();
		int slot = at + OFFSET_BYTES;
		int i = 0;
		for (Map.Entry<?, ?> each : map.entrySet()) {
			if (i == count) {
				break;
			}
			if (each.getKey() == null) {
				throw new UnencodableValueException("null key").within("[" + i + "]");
			}
			try {
				entry().write(each, out, memory, slot, base);
			}
			catch (UnencodableValueException ex) {
				throw ex.within("[" + i + "]");
			}
			slot += OFFSET_BYTES;
			i++;
		}
		if (i != count || map.size() != count) {
			throw new UnencodableValueException("changed while it was encoded");
		}
		return at + base;
	}

	@Override
	Object readTarget(MessageReader in, int position) {
		int count = in.elements(position);
		KeyCollisions collisions = (this.guarded && count > KeyCollisions.FEW_KEYS) ? new KeyCollisions(count) : null;
		Map<Object, @Nullable Object> map = this.sorted ? new TreeMap<>()
				: new LinkedHashMap<>(SequenceKind.capacity(count));
		int slot = position + OFFSET_BYTES;
		for (int i = 0; i < count; i++) {
			long before = in.work();
			Entry entry = (Entry) entry().read(in, slot);
			if (entry == null || entry.key() == null) {
				throw new MalformedMessageException("entry " + i + " of a map has no key");
			}
			int size = map.size();
			if (collisions != null) {
				in.compare(collisions.count(entry.key()), before);
			}
			map.put(entry.key(), entry.value());
			if (collisions != null && map.size() > size) {
				collisions.added();
			}
			slot += OFFSET_BYTES;
		}
		return map;
	}

	@Override
	void verifyTarget(MessageVerifier in, int position) {
		int count = in.vector(position, OFFSET_BYTES, OFFSET_BYTES);
		int each = HeapBytes.ENTRY + HeapBytes.BUCKET + (this.guarded ? KeyCollisions.KEY_BYTES : 0);
		in.allocate(HeapBytes.TABLE + (long) count * each, position);
		int slot = position + OFFSET_BYTES;
		for (int i = 0; i < count; i++) {
			entry().verify(in, slot);
			slot += OFFSET_BYTES;
		}
	}

	/**
	 * Checks that values are in the order in which they will be read.
	 * @throws UnencodableValueException if they are not
	 */
	static void checkOrder(@Nullable Comparator<?> comparator) {
		if (comparator != null && !comparator.equals(Comparator.naturalOrder())) {
			throw new UnencodableValueException("sorted by a comparator, which cannot be sent (expected: the natural"
					+ " order, or declare Map or Set, which keep the order)");
		}
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return "[" + entry().schemaType(schema) + "]";
	}

	/**
	 * An entry as it is read. Written is any {@link Map.Entry}.
	 *
	 * @param key the key, absent only in messages of others
	 * @param value the value
	 */
	record Entry(@Nullable Object key, @Nullable Object value) {

	}

}
