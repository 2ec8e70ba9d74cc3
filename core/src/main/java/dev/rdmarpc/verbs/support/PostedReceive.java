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

package dev.rdmarpc.verbs.support;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ProtectionDomain;

/**
 * The receive that an arriving Send is filling: a copy of the work request, taken off its
 * queue, and how far it is filled. Guarded by the lock of the engine that fills it.
 */
public final class PostedReceive {

	private final @Nullable RegisteredMemory[] regions;

	private final int[] offsets;

	private final int[] lengths;

	private int segmentCount;

	private long id;

	private long totalBytes;

	private boolean taken;

	private int segment;

	private int segmentOffset;

	/** Creates the place of a receive of so many segments at most; none is taken. */
	public PostedReceive(int maxSegments) {
		this.regions = new RegisteredMemory[maxSegments];
		this.offsets = new int[maxSegments];
		this.lengths = new int[maxSegments];
	}

	/** Takes the oldest entry off a queue that has one. */
	public void take(WorkQueue queue) {
		long sequence = queue.head();
		this.id = queue.id(sequence);
		this.segmentCount = queue.segmentCount(sequence);
		this.totalBytes = queue.totalBytes(sequence);
		for (int i = 0; i < this.segmentCount; i++) {
			this.regions[i] = queue.region(sequence, i);
			this.offsets[i] = queue.offset(sequence, i);
			this.lengths[i] = queue.length(sequence, i);
		}
		this.segment = 0;
		this.segmentOffset = 0;
		this.taken = true;
		queue.release();
	}

	/** Whether there is a receive. */
	public boolean isTaken() {
		return this.taken;
	}

	/** The caller's name for the request. */
	public long id() {
		return this.id;
	}

	/** Sum of the segments' lengths. */
	public long totalBytes() {
		return this.totalBytes;
	}

	/** Whether the queue pair's domain may place data in all segments. */
	public boolean permits(ProtectionDomain domain) {
		for (int i = 0; i < this.segmentCount; i++) {
			RegisteredMemory region = this.regions[i];
			if (region == null || !region.permitsLocal(domain, this.offsets[i], this.lengths[i], true)) {
				return false;
			}
		}
		return true;
	}

	/** How many of the next bytes, at most so many, lie next to one another; maybe 0. */
	public int piece(int most) {
		return Math.min(most, this.lengths[this.segment] - this.segmentOffset);
	}

	/** The region of the next bytes, which are {@link #permits permitted}. */
	@SuppressWarnings("NullAway") // permits has seen it
	public RegisteredMemory region() {
		return this.regions[this.segment];
	}

	/** Where in their region the next bytes lie. */
	public int offset() {
		return this.offsets[this.segment] + this.segmentOffset;
	}

	/** Goes on behind a {@link #piece}. */
	public void advance(int piece) {
		this.segmentOffset += piece;
		if (this.segmentOffset == this.lengths[this.segment]) {
			this.segment++;
			this.segmentOffset = 0;
		}
	}

	/** Forgets the receive. */
	public void clear() {
		Arrays.fill(this.regions, 0, this.segmentCount, null);
		this.segmentCount = 0;
		this.taken = false;
	}

}
