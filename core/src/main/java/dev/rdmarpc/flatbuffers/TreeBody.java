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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.UnencodableValueException;

/**
 * The body of a table whose values are maps from the names of fields to trees. The field
 * of a union has a second name for the name of its member, {@code x_type} for {@code x},
 * as in the JSON of FlatBuffers. What a map does not have is absent; what the table does
 * not have is an error.
 */
final class TreeBody implements TableBody {

	/** What the name of a union's field is followed by to name its member. */
	static final String UNION_TYPE = "_type";

	private final String name;

	private final FieldLayout[] fields;

	private final @Nullable String[] typeNames;

	/**
	 * Creates a body.
	 * @param name what to call the table in messages to people
	 */
	TreeBody(String name, List<FieldLayout> fields) {
		this.name = name;
		this.fields = fields.toArray(FieldLayout[]::new);
		this.typeNames = new String[this.fields.length];
		for (int i = 0; i < this.fields.length; i++) {
			this.typeNames[i] = (this.fields[i].shape() instanceof TreeUnion) ? this.fields[i].name() + UNION_TYPE
					: null;
		}
	}

	/** Heap that a value of so many fields takes. */
	static int heapBytes(int fields) {
		return HeapBytes.TABLE + fields * (HeapBytes.ENTRY + HeapBytes.BUCKET);
	}

	@Override
	public void write(@Nullable Object value, SegmentWriter out, ByteBuffer memory, int table, int base) {
		if (value != null && !(value instanceof Map<?, ?>)) {
			throw TreeValues.unexpected(value, this.name + ": a map of " + TreeValues.names(names()));
		}
		Map<?, ?> map = (value != null) ? (Map<?, ?>) value : Map.of();
		if (!map.isEmpty()) {
			check(map);
		}
		for (int i = 0; i < this.fields.length; i++) {
			FieldLayout field = this.fields[i];
			Object tree = map.get(field.name());
			String typeName = this.typeNames[i];
			if (typeName != null && (tree != null || map.get(typeName) != null)) {
				tree = new TreeUnion.Member(map.get(typeName), tree);
			}
			field.shape().writeField(field, tree, out, memory, table, base);
		}
	}

	private void check(Map<?, ?> map) {
		int known = 0;
		for (int i = 0; i < this.fields.length; i++) {
			known += map.containsKey(this.fields[i].name()) ? 1 : 0;
			known += (this.typeNames[i] != null && map.containsKey(this.typeNames[i])) ? 1 : 0;
		}
		if (known == map.size()) {
			return;
		}
		List<String> names = names();
		for (Object key : map.keySet()) {
			if (!(key instanceof String text) || !names.contains(text)) {
				throw new UnencodableValueException(this.name + " has no such field (expected: "
						+ (names.isEmpty() ? "none" : TreeValues.names(names)) + ")")
					.within(String.valueOf(key));
			}
		}
	}

	private List<String> names() {
		List<String> names = new ArrayList<>();
		for (int i = 0; i < this.fields.length; i++) {
			String typeName = this.typeNames[i];
			if (typeName != null) {
				names.add(typeName);
			}
			names.add(this.fields[i].name());
		}
		return names;
	}

	@Override
	public Object read(MessageReader in, int table, int vtable, int vtableBytes) {
		Map<String, @Nullable Object> map = new LinkedHashMap<>(SequenceKind.capacity(this.fields.length));
		for (int i = 0; i < this.fields.length; i++) {
			FieldLayout field = this.fields[i];
			Object value = field.shape().readField(field, in, table, vtable, vtableBytes);
			String typeName = this.typeNames[i];
			if (value instanceof TreeUnion.Member member && typeName != null) {
				map.put(typeName, member.type());
				value = member.value();
			}
			map.put(field.name(), value);
		}
		return map;
	}

	/** The body of an entry of a map: its key and its value. */
	static final class OfEntry implements TableBody {

		private final FieldLayout key;

		private final FieldLayout value;

		/** Creates a body of two fields. */
		OfEntry(List<FieldLayout> fields) {
			this.key = fields.get(0);
			this.value = fields.get(1);
		}

		@Override
		public void write(@Nullable Object value, SegmentWriter out, ByteBuffer memory, int table, int base) {
			Map.Entry<?, ?> entry = (Map.Entry<?, ?>) Objects.requireNonNull(value);
			this.key.shape().writeField(this.key, entry.getKey(), out, memory, table, base);
			try {
				this.value.shape().writeField(this.value, entry.getValue(), out, memory, table, base);
			}
			catch (UnencodableValueException ex) {
				throw ex.within(String.valueOf(entry.getKey()));
			}
		}

		@Override
		public Object read(MessageReader in, int table, int vtable, int vtableBytes) {
			return new MapShape.Entry(this.key.shape().readField(this.key, in, table, vtable, vtableBytes),
					this.value.shape().readField(this.value, in, table, vtable, vtableBytes));
		}

	}

}
