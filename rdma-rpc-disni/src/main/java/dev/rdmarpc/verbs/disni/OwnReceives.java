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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;

import com.ibm.disni.verbs.IbvQP;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * The receive queue of one queue pair.
 *
 * <p>
 * Guarded by the lock of the completion queue.
 */
final class OwnReceives implements DisniReceiveSource {

	private final ReceiveSlots slots;

	private final int depth;

	private final int maxSegments;

	private final AdapterDomain domain;

	private final SegmentList segments;

	private @Nullable ReceivePoster poster;

	private int generation;

	OwnReceives(AdapterDomain domain, int depth, int maxSegments) {
		this.domain = domain;
		this.depth = depth;
		this.maxSegments = maxSegments;
		this.slots = new ReceiveSlots(depth, Math.max(1, maxSegments));
		this.segments = new SegmentList(Math.max(1, maxSegments));
	}

	@Override
	public int depth() {
		return this.depth;
	}

	@Override
	public int maxSegments() {
		return this.maxSegments;
	}

	boolean isFull() {
		return this.slots.isFull();
	}

	/**
	 * Takes a receive; there is room.
	 * @param list its segments, copied
	 * @param useless whether they cannot be used
	 * @param toAdapter whether the adapter is to have it, if there is one
	 */
	void post(WorkRequest request, SegmentList list, boolean useless, boolean toAdapter) throws IOException {
		this.segments.clear();
		if (useless) {
			this.segments.setUseless();
		}
		int slot = this.slots.add(request, useless ? this.segments : list, useless);
		if (toAdapter && this.poster != null) {
			handOver(this.poster, slot);
		}
	}

	private void handOver(ReceivePoster to, int slot) throws IOException {
		this.slots.copySegments(slot, this.segments);
		to.post(WorkId.receive(this.generation, slot), this.segments);
		this.slots.handOver(slot, true);
	}

	@Override
	public void open(IbvQP adapterQueuePair, int newGeneration) throws IOException {
		this.generation = newGeneration;
		ReceivePoster opened = ReceivePoster.prepare(adapterQueuePair, this.maxSegments,
				this.domain.attributes().iwarp());
		this.poster = opened;
		for (int slot = this.slots.first(); slot != ReceiveSlots.NONE; slot = this.slots.next(slot)) {
			handOver(opened, slot);
		}
	}

	@Override
	public void abandoned() {
		for (int slot = this.slots.first(); slot != ReceiveSlots.NONE; slot = this.slots.next(slot)) {
			this.slots.handOver(slot, false);
		}
		if (this.poster != null) {
			this.poster.free();
			this.poster = null;
		}
	}

	@Override
	public WorkStatus completed(CompletionReporter reporter, int slot, WorkStatus status, long bytes,
			int invalidatedKey) {
		if (!this.slots.isHandedOver(slot)) {
			return status;
		}
		WorkStatus outcome = this.slots.outcome(slot, status, this.domain.registered());
		end(reporter, slot, outcome, bytes, invalidatedKey);
		return outcome;
	}

	private void end(CompletionReporter reporter, int slot, WorkStatus status, long bytes, int invalidatedKey) {
		reporter.ended(this.slots.id(slot), status, WorkOpcode.RECEIVE, bytes, invalidatedKey);
		this.slots.remove(slot);
	}

	@Override
	public boolean isFlushed() {
		return this.slots.handedOverCount() == 0;
	}

	@Override
	public boolean hasEnded() {
		return this.slots.count() > 0 && this.slots.handedOverCount() == 0;
	}

	@Override
	public void reportEnded(CompletionReporter reporter) {
		while (hasEnded()) {
			end(reporter, this.slots.first(), WorkStatus.FLUSHED, 0, 0);
		}
	}

	@Override
	public void close() {
		this.slots.clear();
	}

}
