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

package dev.rdmarpc.grpc;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The calls of a connection that have begun and not ended, in the order in which they
 * began. Each has its own place, so that adding and removing one makes no object, and
 * asks none for its hash code, which takes longer the first time than all the rest.
 *
 * <p>
 * Not thread-safe.
 */
final class CallList {

	private @Nullable Place first;

	private @Nullable Place last;

	private int size;

	int size() {
		return this.size;
	}

	boolean isEmpty() {
		return this.size == 0;
	}

	/** Adds a call at the end; once. */
	void add(Place place) {
		Place before = this.last;
		place.before = before;
		if (before != null) {
			before.after = place;
		}
		else {
			this.first = place;
		}
		this.last = place;
		place.list = this;
		this.size++;
	}

	/** Removes a call; returns whether it was there. */
	boolean remove(Place place) {
		if (place.list != this) {
			return false;
		}
		Place before = place.before;
		Place after = place.after;
		if (before != null) {
			before.after = after;
		}
		else {
			this.first = after;
		}
		if (after != null) {
			after.before = before;
		}
		else {
			this.last = before;
		}
		place.before = null;
		place.after = null;
		place.list = null;
		this.size--;
		return true;
	}

	/** All places, for use without the list. */
	List<Place> places() {
		List<Place> places = new ArrayList<>(this.size);
		for (Place place = this.first; place != null; place = place.after) {
			places.add(place);
		}
		return places;
	}

	/** Where a call is in the list. */
	static final class Place {

		private final RdmaClientStream call;

		private @Nullable CallList list;

		private @Nullable Place before;

		private @Nullable Place after;

		/** Creates the place of a call, in no list. */
		Place(RdmaClientStream call) {
			this.call = call;
		}

		RdmaClientStream call() {
			return this.call;
		}

	}

}
