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

package dev.rdmarpc.codec;

import java.nio.ByteBuffer;
import java.util.PriorityQueue;

/**
 * Reduces the number of a message's segments by copying, smallest first. Used once.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * Neighbouring segments are joined to groups; a group of more than one is copied. What
 * joining two neighbouring groups costs is the bytes of those that are not copied yet.
 * The cheapest join is made first, until there are few enough groups. Costs in the queue
 * are corrected when they surface: they only fall when a neighbour is joined, and then a
 * new entry is queued.
 */
final class SegmentCoalescer {

	private final MessageSegments message;

	private final int[] next;

	private final int[] previous;

	private final long[] bytes;

	private final boolean[] copied;

	private final boolean[] joined;

	private final PriorityQueue<Join> joins = new PriorityQueue<>();

	private int groups;

	/** Looks at a message. */
	SegmentCoalescer(MessageSegments message) {
		int count = message.segmentCount();
		this.message = message;
		this.groups = count;
		this.next = new int[count];
		this.previous = new int[count];
		this.bytes = new long[count];
		this.copied = new boolean[count];
		this.joined = new boolean[count];
		for (int i = 0; i < count; i++) {
			this.next[i] = i + 1;
			this.previous[i] = i - 1;
			this.bytes[i] = message.segmentLength(i);
		}
	}

	/** Does it, in memory claimed from the message. */
	void coalesce(int maxSegments) {
		if (maxSegments < 1) {
			throw new IllegalArgumentException("maxSegments " + maxSegments + " (expected: at least 1)");
		}
		for (int group = 0; group < this.next.length; group++) {
			queue(group);
		}
		Join cheapest = this.joins.poll();
		while (cheapest != null && (this.groups > maxSegments || cheapest.cost == 0)) {
			if (!this.joined[cheapest.group] && cost(cheapest.group) == cheapest.cost) {
				join(cheapest.group);
			}
			cheapest = this.joins.poll();
		}
		copy();
	}

	private void queue(int group) {
		if (group >= 0 && this.next[group] < this.next.length) {
			this.joins.add(new Join(group, cost(group)));
		}
	}

	/** What joining a group with the next one costs; -1 for the last one. */
	private long cost(int group) {
		int following = this.next[group];
		if (following == this.next.length) {
			return -1;
		}
		return stayingBytes(group) + stayingBytes(following);
	}

	/** The bytes of a group that would have to be copied in addition. */
	private long stayingBytes(int group) {
		if (this.copied[group]) {
			return 0;
		}
		return this.bytes[group];
	}

	private void join(int group) {
		int following = this.next[group];
		int after = this.next[following];
		this.joined[following] = true;
		this.next[group] = after;
		if (after < this.next.length) {
			this.previous[after] = group;
		}
		this.bytes[group] += this.bytes[following];
		this.copied[group] = true;
		this.groups--;
		queue(group);
		queue(this.previous[group]);
	}

	private void copy() {
		long total = 0;
		for (int group = 0; group < this.next.length; group = this.next[group]) {
			total += this.bytes[group] - stayingBytes(group);
		}
		if (total == 0) {
			return;
		}
		ByteBuffer target = this.message.claimMemory(Math.toIntExact(total));
		int at = 0;
		int index = 0;
		for (int group = 0; group < this.next.length; group = this.next[group]) {
			if (this.copied[group]) {
				int count = this.next[group] - group;
				for (int i = index; i < index + count; i++) {
					int length = this.message.segmentLength(i);
					target.put(at, this.message.segmentMemory(i), this.message.segmentOffset(i), length);
					at += length;
				}
				this.message.replace(index, count, target, at - (int) this.bytes[group]);
			}
			index++;
		}
	}

	/** A possible join of a group with the next one. */
	private record Join(int group, long cost) implements Comparable<Join> {

		@Override
		public int compareTo(Join other) {
			int byCost = Long.compare(this.cost, other.cost);
			return (byCost != 0) ? byCost : Integer.compare(this.group, other.group);
		}

	}

}
