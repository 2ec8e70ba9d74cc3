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

package dev.rdmarpc.verbs.shm.ring;

import java.nio.ByteBuffer;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ProtectionDomain;

/**
 * The receive that an arriving Send is filling: a copy of the work request, taken off its
 * queue.
 */
public final class PostedReceive {

	private final @Nullable SharedMemoryRegion[] regions;

	private final int[] offsets;

	private final int[] lengths;

	private int segmentCount;

	private long id;

	private long totalBytes;

	private boolean taken;

	private int segment;

	private int segmentOffset;

	PostedReceive(int maxSegments) {
		this.regions = new SharedMemoryRegion[maxSegments];
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

	boolean isTaken() {
		return this.taken;
	}

	/** The caller's name for the request. */
	public long id() {
		return this.id;
	}

	long totalBytes() {
		return this.totalBytes;
	}

	/** Whether the queue pair's domain may place data in all segments. */
	boolean permits(ProtectionDomain domain) {
		for (int i = 0; i < this.segmentCount; i++) {
			SharedMemoryRegion region = this.regions[i];
			if (region == null || !region.permitsLocal(domain, this.offsets[i], this.lengths[i], true)) {
				return false;
			}
		}
		return true;
	}

	/** Places the next bytes of the message, which fit and are permitted. */
	void place(ByteBuffer source, int index, int count) {
		int remaining = count;
		int from = index;
		while (remaining > 0) {
			int piece = Math.min(remaining, this.lengths[this.segment] - this.segmentOffset);
			SharedMemoryRegion region = this.regions[this.segment];
			if (piece > 0 && region != null) {
				region.memory().put(this.offsets[this.segment] + this.segmentOffset, source, from, piece);
			}
			remaining -= piece;
			from += piece;
			this.segmentOffset += piece;
			if (this.segmentOffset == this.lengths[this.segment]) {
				this.segment++;
				this.segmentOffset = 0;
			}
		}
	}

	/** Forgets the receive. */
	public void clear() {
		Arrays.fill(this.regions, 0, this.segmentCount, null);
		this.segmentCount = 0;
		this.taken = false;
	}

}
