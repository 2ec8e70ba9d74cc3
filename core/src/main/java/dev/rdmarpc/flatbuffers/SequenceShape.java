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
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.SortedSet;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.UnencodableValueException;

/** A collection or array of objects as a vector. */
final class SequenceShape extends ReferenceShape {

	private final SequenceKind kind;

	private @Nullable Shape element;

	private boolean compared;

	private boolean guarded;

	/**
	 * Creates a shape without elements.
	 * @param kind what holds the elements on the Java side
	 */
	SequenceShape(SequenceKind kind) {
		this.kind = kind;
	}

	/** A list of elements of that shape, which must be one that vectors can hold. */
	static SequenceShape of(Shape element) {
		SequenceShape list = new SequenceShape(Objects.requireNonNull(SequenceKind.ofCollection(List.class)));
		list.link(element, Object.class);
		return list;
	}

	/**
	 * Gives it the shape of its elements, which must be one that vectors can hold.
	 * @param type their class
	 */
	void link(Shape element, Class<?> type) {
		this.element = element;
		boolean harmless = KeyCollisions.areHarmless(type);
		this.compared = (this.kind.isHashed() || this.kind.isSorted()) && !harmless;
		this.guarded = this.kind.isHashed() && !harmless;
	}

	private Shape element() {
		Shape element = this.element;
		if (element == null) {
			throw new IllegalStateException("not linked");
		}
		return element;
	}

	@Override
	int writeTarget(Object value, SegmentWriter out) {
		Shape element = element();
		if (this.kind.isSorted()) {
			MapShape.checkOrder(((SortedSet<?>) value).comparator());
		}
		int count = this.kind.size(value);
		int at = out.reserveVector(count, element.slotBytes(), element.alignment());
		ByteBuffer memory = out.memory();
		int base = out.base();
		int slot = at + OFFSET_BYTES;
		boolean random = value instanceof Object[] || (value instanceof List<?> && value instanceof RandomAccess);
		if (random && element instanceof TableShape table) {
			table.writeElements(value, count, out, memory, slot, base);
		}
		else if (value instanceof List<?> list && random) {
			for (int i = 0; i < count; i++) {
				write(element, i, list.get(i), out, memory, slot, base);
				slot += element.slotBytes();
			}
		}
		else if (value instanceof Object[] array) {
			for (int i = 0; i < count; i++) {
				write(element, i, array[i], out, memory, slot, base);
				slot += element.slotBytes();
			}
		}
		else {
			writeAll((Collection<?>) value, count, out, memory, slot, base);
		}
		return at + base;
	}

	private void writeAll(Collection<?> values, int count, SegmentWriter out, ByteBuffer memory, int first, int base) {
		Shape element = element();
		int slot = first;
		int i = 0;
		for (Object each : values) {
			if (i == count) {
				break;
			}
			write(element, i, each, out, memory, slot, base);
			slot += element.slotBytes();
			i++;
		}
		if (i != count || values.size() != count) {
			throw new UnencodableValueException("changed while it was encoded");
		}
	}

	private static void write(Shape element, int index, @Nullable Object value, SegmentWriter out, ByteBuffer memory,
			int slot, int base) {
		if (value == null) {
			throw absentElement(index);
		}
		try {
			element.write(value, out, memory, slot, base);
		}
		catch (UnencodableValueException ex) {
			throw ex.within("[" + index + "]");
		}
	}

	@Override
	Object readTarget(MessageReader in, int position) {
		Shape element = element();
		int count = in.elements(position);
		Object target = this.kind.create(count);
		KeyCollisions collisions = (this.guarded && count > KeyCollisions.FEW_KEYS) ? new KeyCollisions(count) : null;
		int slot = position + OFFSET_BYTES;
		for (int i = 0; i < count; i++) {
			long before = in.work();
			Object value = element.read(in, slot);
			if (value == null) {
				throw new MalformedMessageException("element " + i + " of a sequence has no value");
			}
			if (collisions != null) {
				in.compare(collisions.count(value), before);
			}
			if (this.kind.add(target, i, value) && collisions != null) {
				collisions.added();
			}
			slot += element.slotBytes();
		}
		return target;
	}

	@Override
	void verifyTarget(MessageVerifier in, int position) {
		Shape element = element();
		int count = in.vector(position, element.slotBytes(), element.alignment());
		int each = this.kind.placeBytes() + element.valueBytes() + (this.guarded ? KeyCollisions.KEY_BYTES : 0);
		in.allocate(this.kind.valueBytes() + (long) count * each, position);
		if (element.isInline()) {
			return;
		}
		if (this.compared) {
			in.enterKey();
		}
		int slot = position + OFFSET_BYTES;
		for (int i = 0; i < count; i++) {
			element.verify(in, slot);
			slot += element.slotBytes();
		}
		if (this.compared) {
			in.leaveKey();
		}
	}

	@Override
	String schemaType(SchemaWriter schema) {
		return "[" + element().schemaType(schema) + "]";
	}

}
