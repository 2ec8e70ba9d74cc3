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

package dev.rdmarpc.transport;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * What waits of one class, in the order of deadlines: what has none comes last, and what
 * has the same one in the order in which it was added. The oldest is passed a bounded
 * number of times only, so nothing waits without end.
 *
 * <p>
 * Not thread-safe. Neither adding nor removing searches: they take constant time where
 * deadlines are in the order of adding, otherwise logarithmic time.
 *
 * <p>
 * Implementation notes. Calls that are all given the same time, or none, are added in the
 * order of their deadlines. These form the run, and without others the queue is nothing
 * but a list. What has an earlier deadline than the last one of the run goes into a heap.
 * Things of the same deadline never change places, wherever they are: of two that could
 * be next, the older one is, and so is the one that was passed too often, which is the
 * oldest of all. Only the heap needs memory, and only when it grows.
 *
 * @param <E> what waits
 */
public final class DeadlineQueue<E> {

	/** No deadline. */
	public static final long NONE = Long.MAX_VALUE;

	/** How often the oldest is passed at most. */
	static final int MOST_PASSES = 32;

	private static final int FIRST_CAPACITY = 16;

	/** Those in the order both of adding and of deadlines. */
	private final Line<E> run = new Line<>();

	/** Those of the heap, in the order of adding. */
	private final Line<E> early = new Line<>();

	/** Ordered by deadline and age, none before its children, which are at 2i+1, 2i+2. */
	private @Nullable Place<E>[] heap = places(0);

	private int heapSize;

	private int size;

	private long added;

	/** How often the oldest was passed. */
	private int passes;

	@SuppressWarnings({ "unchecked", "rawtypes" }) // nobody else has the array
	private static <E> @Nullable Place<E>[] places(int capacity) {
		return new Place[capacity];
	}

	/** Whether one deadline is before another one. */
	static boolean isEarlier(long deadline, long other) {
		return deadline != other && deadline != NONE && (other == NONE || deadline - other < 0);
	}

	/** How much waits. */
	public int size() {
		return this.size;
	}

	/** Whether nothing waits. */
	public boolean isEmpty() {
		return this.size == 0;
	}

	/**
	 * Adds something that does not wait, in the order of deadlines.
	 * @param place of it
	 * @param deadlineNanos by {@link System#nanoTime()}, or {@link #NONE}
	 */
	public void add(Place<E> place, long deadlineNanos) {
		Place<E> last = this.run.last;
		if (last == null || !isEarlier(deadlineNanos, last.deadlineNanos)) {
			append(place, deadlineNanos);
			return;
		}
		if (this.heapSize == this.heap.length) {
			this.heap = Arrays.copyOf(this.heap, Math.max(FIRST_CAPACITY, 2 * this.heapSize));
		}
		place.deadlineNanos = deadlineNanos;
		place.number = this.added++;
		this.early.add(place);
		this.size++;
		moveUp(this.heapSize++, place);
	}

	/**
	 * Adds something whose turn is after all that waits with the same deadline or an
	 * earlier one, and not before what has waited longest.
	 */
	void addBehind(Place<E> place, long deadlineNanos) {
		Place<E> last = this.run.last;
		append(place,
				(last != null && isEarlier(deadlineNanos, last.deadlineNanos)) ? last.deadlineNanos : deadlineNanos);
	}

	private void append(Place<E> place, long deadlineNanos) {
		place.deadlineNanos = deadlineNanos;
		place.number = this.added++;
		place.index = Place.IN_RUN;
		this.run.add(place);
		this.size++;
	}

	/** What is next, or {@code null} if nothing waits. */
	public @Nullable E first() {
		Place<E> next = next();
		return (next != null) ? next.item : null;
	}

	private @Nullable Place<E> next() {
		Place<E> first = this.run.first;
		if (this.heapSize == 0) {
			return first;
		}
		if (this.passes >= MOST_PASSES) {
			return oldest();
		}
		Place<E> earliest = this.heap[0];
		return (first == null || (earliest != null && goesBefore(earliest, first))) ? earliest : first;
	}

	/**
	 * What has its turn after something that waits, or {@code null} if there is nothing,
	 * or that is still to be found out.
	 */
	@Nullable E following(Place<E> place) {
		Place<E> after = (place.index == Place.IN_RUN && this.passes < MOST_PASSES) ? place.after : null;
		Place<E> earliest = (this.heap.length > 0) ? this.heap[0] : null;
		return (after != null && (earliest == null || goesBefore(after, earliest))) ? after.item : null;
	}

	private @Nullable Place<E> oldest() {
		Place<E> first = this.run.first;
		Place<E> other = this.early.first;
		return (first == null || (other != null && other.number < first.number)) ? other : first;
	}

	private static boolean goesBefore(Place<?> place, Place<?> other) {
		return (place.deadlineNanos != other.deadlineNanos) ? isEarlier(place.deadlineNanos, other.deadlineNanos)
				: place.number < other.number;
	}

	/** What was added last, or {@code null} if nothing waits. */
	public @Nullable E last() {
		Place<E> last = this.run.last;
		Place<E> other = this.early.last;
		if (last == null || (other != null && other.number > last.number)) {
			last = other;
		}
		return (last != null) ? last.item : null;
	}

	/** Removes what has its turn, which is counted as passing the oldest. */
	public void take(Place<E> place) {
		this.passes++;
		remove(place);
	}

	/** Removes something that waits. */
	public void remove(Place<E> place) {
		if (place == oldest()) {
			this.passes = 0;
		}
		if (place.index == Place.IN_RUN) {
			this.run.remove(place);
		}
		else {
			this.early.remove(place);
			removeFromHeap(place.index);
		}
		place.index = Place.NOWHERE;
		this.size--;
	}

	private void removeFromHeap(int index) {
		Place<E> moved = this.heap[--this.heapSize];
		this.heap[this.heapSize] = null;
		if (index == this.heapSize || moved == null) {
			return;
		}
		moveDown(index, moved);
		if (moved.index == index) {
			moveUp(index, moved);
		}
	}

	private void moveUp(int from, Place<E> place) {
		int index = from;
		while (index > 0) {
			int parent = (index - 1) / 2;
			Place<E> above = this.heap[parent];
			if (above == null || !goesBefore(place, above)) {
				break;
			}
			put(index, above);
			index = parent;
		}
		put(index, place);
	}

	private void moveDown(int from, Place<E> place) {
		int index = from;
		for (int child = 2 * index + 1; child < this.heapSize; child = 2 * index + 1) {
			Place<E> below = this.heap[child];
			Place<E> right = (child + 1 < this.heapSize) ? this.heap[child + 1] : null;
			if (below == null || (right != null && goesBefore(right, below))) {
				below = right;
				child++;
			}
			if (below == null || !goesBefore(below, place)) {
				break;
			}
			put(index, below);
			index = child;
		}
		put(index, place);
	}

	private void put(int index, Place<E> place) {
		this.heap[index] = place;
		place.index = index;
	}

	/** Shows all of them. */
	void forEach(Consumer<E> seen) {
		this.run.forEach(seen);
		this.early.forEach(seen);
	}

	/** Whether one is as it should be. */
	boolean contains(Predicate<E> wanted) {
		return this.run.find(wanted) != null || this.early.find(wanted) != null;
	}

	/** Removes one that is as it should be, or returns {@code null}. */
	@Nullable E removeFirst(Predicate<E> wanted) {
		Place<E> found = this.run.find(wanted);
		if (found == null) {
			found = this.early.find(wanted);
		}
		if (found == null) {
			return null;
		}
		remove(found);
		return found.item;
	}

	/** Removes each one that is as it should be. */
	void removeAll(Predicate<E> wanted, Consumer<E> taken) {
		removeAll(this.run, wanted, taken);
		removeAll(this.early, wanted, taken);
	}

	private void removeAll(Line<E> line, Predicate<E> wanted, Consumer<E> taken) {
		Place<E> place = line.first;
		while (place != null) {
			Place<E> following = place.after;
			if (wanted.test(place.item)) {
				remove(place);
				taken.accept(place.item);
			}
			place = following;
		}
	}

	/**
	 * Shows those that were added, the last one first, as long as that goes on: first of
	 * those that were added with deadlines in order, then of the others.
	 */
	void fromLast(Predicate<E> goesOn) {
		this.run.fromLast(goesOn);
		this.early.fromLast(goesOn);
	}

	/**
	 * The place of something in a queue, which can be in one at a time. It belongs to the
	 * queue while it is there.
	 *
	 * @param <E> what waits
	 */
	public static final class Place<E> {

		private static final int IN_RUN = -1;

		private static final int NOWHERE = -2;

		private final E item;

		private long deadlineNanos;

		/** How many were added before. */
		private long number;

		/** In the heap, or one of the above. */
		private int index = NOWHERE;

		private @Nullable Place<E> before;

		private @Nullable Place<E> after;

		/** Creates the place of something. */
		public Place(E item) {
			this.item = item;
		}

		/** Whether it is in a queue. */
		boolean isWaiting() {
			return this.index != NOWHERE;
		}

	}

	/** Some of what waits, in the order of adding. */
	private static final class Line<E> {

		private @Nullable Place<E> first;

		private @Nullable Place<E> last;

		void add(Place<E> place) {
			Place<E> before = this.last;
			place.before = before;
			if (before != null) {
				before.after = place;
			}
			else {
				this.first = place;
			}
			this.last = place;
		}

		void remove(Place<E> place) {
			Place<E> before = place.before;
			Place<E> after = place.after;
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
		}

		@Nullable Place<E> find(Predicate<E> wanted) {
			Place<E> place = this.first;
			while (place != null && !wanted.test(place.item)) {
				place = place.after;
			}
			return place;
		}

		void forEach(Consumer<E> seen) {
			for (Place<E> place = this.first; place != null; place = place.after) {
				seen.accept(place.item);
			}
		}

		void fromLast(Predicate<E> goesOn) {
			Place<E> place = this.last;
			while (place != null && goesOn.test(place.item)) {
				place = place.before;
			}
		}

	}

}
