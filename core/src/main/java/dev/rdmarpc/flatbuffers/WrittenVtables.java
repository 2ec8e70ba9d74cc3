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

import org.jspecify.annotations.Nullable;

/** The vtables that a message has so far, to be shared by tables of the same type. */
final class WrittenVtables {

	private static final int MAX_VARIANTS = 8;

	private final LayoutTable<Variants> types = new LayoutTable<>();

	private int message;

	private int lastId = -1;

	private long lastAbsent;

	private int lastPosition;

	/** Starts with another message. */
	void clear() {
		this.message++;
		this.lastId = -1;
	}

	/**
	 * The position of a vtable, which is written if the message has none such yet.
	 * @param layout the table type
	 * @param absent its fields without value, a bit set
	 */
	int position(TableLayout layout, long absent, SegmentWriter out) {
		int id = layout.id();
		if (id != this.lastId || absent != this.lastAbsent) {
			this.lastPosition = find(layout, id, absent, out);
			this.lastId = id;
			this.lastAbsent = absent;
		}
		return this.lastPosition;
	}

	private int find(TableLayout layout, int id, long absent, SegmentWriter out) {
		Variants known = this.types.find(id);
		if (known == null) {
			known = this.types.add(new Variants(id));
		}
		if (known.message != this.message) {
			known.message = this.message;
			known.count = 0;
		}
		for (int i = 0; i < known.count; i++) {
			if (known.absent[i] == absent) {
				return known.positions[i];
			}
		}
		long[] vtable = (absent != 0) ? known.vtable(layout, absent) : layout.fullVtable();
		int at = out.reserve(layout.vtableBytes(), 2, 0);
		ByteBuffer memory = out.memory();
		memory.putLong(at, vtable[0]);
		for (int i = 1; i < vtable.length; i++) {
			memory.putLong(at + i * Long.BYTES, vtable[i]);
		}
		int position = at + out.base();
		if (known.count < MAX_VARIANTS) {
			known.absent[known.count] = absent;
			known.positions[known.count] = position;
			known.count++;
		}
		return position;
	}

	/** The vtables of one table type. */
	private static final class Variants extends LayoutTable.Entry {

		private final long[] absent = new long[MAX_VARIANTS];

		private final int[] positions = new int[MAX_VARIANTS];

		private final @Nullable Made[] made = new Made[MAX_VARIANTS];

		private int message;

		private int count;

		Variants(int id) {
			super(id);
		}

		/** A vtable that lacks some fields, perhaps made for a message before. */
		long[] vtable(TableLayout layout, long lacking) {
			int place = (int) ((lacking * 0x9E3779B97F4A7C15L) >>> 61);
			Made known = this.made[place];
			if (known == null || known.absent != lacking) {
				known = new Made(lacking, layout.vtable(lacking));
				this.made[place] = known;
			}
			return known.vtable;
		}

	}

	/** The bytes of a vtable that lacks some fields. */
	private static final class Made {

		private final long absent;

		private final long[] vtable;

		Made(long absent, long[] vtable) {
			this.absent = absent;
			this.vtable = vtable;
		}

	}

}
