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

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/** The vtables that a message has so far, to be shared by tables of the same type. */
final class WrittenVtables {

	private static final int MAX_VARIANTS = 8;

	private @Nullable Variants[] types = new Variants[16];

	private int message;

	/** Starts with another message. */
	void clear() {
		this.message++;
	}

	/**
	 * The position of a vtable, which is written if the message has none such yet.
	 * @param layout the table type
	 * @param absent its fields without value, a bit set
	 */
	int position(TableLayout layout, long absent, SegmentWriter out) {
		int id = layout.id();
		Variants known = (id < this.types.length) ? this.types[id] : null;
		if (known == null) {
			known = create(id);
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
		int position = layout.writeVtable(out, absent);
		if (known.count < MAX_VARIANTS) {
			known.absent[known.count] = absent;
			known.positions[known.count] = position;
			known.count++;
		}
		return position;
	}

	private Variants create(int id) {
		if (id >= this.types.length) {
			this.types = Arrays.copyOf(this.types, Math.max(id + 1, this.types.length * 2));
		}
		Variants created = new Variants();
		this.types[id] = created;
		return created;
	}

	/** The vtables of one table type. */
	private static final class Variants {

		private final long[] absent = new long[MAX_VARIANTS];

		private final int[] positions = new int[MAX_VARIANTS];

		private int message;

		private int count;

	}

}
