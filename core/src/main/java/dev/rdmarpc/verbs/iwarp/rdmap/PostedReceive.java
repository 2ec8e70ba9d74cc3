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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.ProtectionDomain;

/**
 * The receive that an arriving Send is filling: a copy of the work request, taken off its
 * queue. Guarded by the reactor's lock.
 */
public final class PostedReceive {

	private final @Nullable IwarpMemoryRegion[] regions;

	private final int[] offsets;

	private final int[] lengths;

	private int segmentCount;

	private long id;

	private long totalBytes;

	private boolean taken;

	private int segment;

	private int segmentOffset;

	PostedReceive(int maxSegments) {
		this.regions = new IwarpMemoryRegion[maxSegments];
		this.offsets = new int[maxSegments];
		this.lengths = new int[maxSegments];
	}

	/** Takes the oldest entry off a ring that has one. */
	public void take(RequestRing ring) {
		long sequence = ring.head();
		this.id = ring.id(sequence);
		this.segmentCount = ring.segmentCount(sequence);
		this.totalBytes = ring.totalBytes(sequence);
		for (int i = 0; i < this.segmentCount; i++) {
			this.regions[i] = ring.region(sequence, i);
			this.offsets[i] = ring.offset(sequence, i);
			this.lengths[i] = ring.length(sequence, i);
		}
		this.segment = 0;
		this.segmentOffset = 0;
		this.taken = true;
		ring.release();
	}

	boolean isTaken() {
		return this.taken;
	}

	public long id() {
		return this.id;
	}

	long totalBytes() {
		return this.totalBytes;
	}

	/** Whether the queue pair's domain may place data in all segments. */
	boolean permits(ProtectionDomain domain) {
		for (int i = 0; i < this.segmentCount; i++) {
			IwarpMemoryRegion region = this.regions[i];
			if (region == null || !region.permitsLocal(domain, this.offsets[i], this.lengths[i], true)) {
				return false;
			}
		}
		return true;
	}

	/** Adds the memory for the next bytes of the message, which fit. */
	void place(int length, Placement placement) {
		int remaining = length;
		while (remaining > 0) {
			int piece = Math.min(remaining, this.lengths[this.segment] - this.segmentOffset);
			IwarpMemoryRegion region = this.regions[this.segment];
			if (piece > 0 && region != null) {
				placement.add(region, this.offsets[this.segment] + this.segmentOffset, piece);
			}
			remaining -= piece;
			this.segmentOffset += piece;
			if (this.segmentOffset == this.lengths[this.segment] && remaining > 0) {
				this.segment++;
				this.segmentOffset = 0;
			}
		}
	}

	public void clear() {
		Arrays.fill(this.regions, 0, this.segmentCount, null);
		this.segmentCount = 0;
		this.taken = false;
	}

}
