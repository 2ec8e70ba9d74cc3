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

/**
 * What a reader or writer knows of table types, by the ids of their layouts. As large as
 * the types that it has seen are many, whatever their ids are; it forgets all of them
 * when there are too many.
 *
 * <p>
 * Not thread-safe.
 *
 * @param <E> what is known of one type
 */
final class LayoutTable<E extends LayoutTable.Entry> {

	private static final int MAX_ENTRIES = 4096;

	private @Nullable Entry[] places = new Entry[16];

	private int count;

	/** What is known of a type, or {@code null}. */
	@SuppressWarnings("unchecked")
	@Nullable E find(int id) {
		int mask = this.places.length - 1;
		for (int at = id & mask;; at = (at + 1) & mask) {
			Entry entry = this.places[at];
			if (entry == null || entry.id == id) {
				return (E) entry;
			}
		}
	}

	/** Adds what is known of a type that is not there. */
	E add(E entry) {
		if (this.count == MAX_ENTRIES) {
			Arrays.fill(this.places, null);
			this.count = 0;
		}
		else if (2 * this.count >= this.places.length) {
			@Nullable Entry[] before = this.places;
			this.places = new Entry[2 * before.length];
			for (Entry each : before) {
				if (each != null) {
					place(each);
				}
			}
		}
		place(entry);
		this.count++;
		return entry;
	}

	private void place(Entry entry) {
		int mask = this.places.length - 1;
		int at = entry.id & mask;
		while (this.places[at] != null) {
			at = (at + 1) & mask;
		}
		this.places[at] = entry;
	}

	/** What is known of one type. */
	abstract static class Entry {

		private final int id;

		/** Creates an entry for the layout with that id. */
		Entry(int id) {
			this.id = id;
		}

	}

}
