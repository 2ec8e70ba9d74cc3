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
import java.util.Arrays;

import com.ibm.disni.verbs.IbvSendWR;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * The work requests of a send queue that have not ended, in posting order: first those
 * that the adapter has, then those whose end is known already because they will never get
 * there.
 *
 * <p>
 * The adapter reports every request, so what has ended is known exactly, whether or not
 * the user wants to hear of it. Users hear of requests in posting order; the adapter may
 * tell of a Send before the end of an earlier Read, as siw does, and is heard then, but
 * keeps the room of the Send until the Read ends. A Read that scatters is several
 * requests where the adapter fills one segment per Read.
 *
 * <p>
 * Guarded by the lock of the completion queue.
 */
final class DisniSendQueue {

	private static final int SEND_WITH_INVALIDATE = 9;

	private final CompletionReporter reporter;

	private final int depth;

	private final boolean oneSegmentPerRead;

	private final int adapterDepth;

	private final int inlineBytes;

	private final long[] ids;

	private final WorkOpcode[] opcodes;

	private final boolean[] signaled;

	private final long[] bytes;

	private final int[] adapterRequests;

	private final @Nullable WorkStatus[] verdicts;

	private final @Nullable ReadSink[] sinks;

	private @Nullable SendBatch batch;

	private int generation;

	private int head;

	private int count;

	private int atAdapter;

	private int requestsAtAdapter;

	private int inBatch;

	private @Nullable WorkStatus doom;

	/**
	 * Creates an empty queue.
	 * @param reporter is told what has ended
	 * @param adapterDepth requests the adapter takes
	 * @param inlineBytes how much is copied into the request itself
	 */
	DisniSendQueue(CompletionReporter reporter, int depth, int adapterDepth, boolean oneSegmentPerRead,
			int inlineBytes) {
		this.reporter = reporter;
		this.depth = depth;
		this.adapterDepth = adapterDepth;
		this.oneSegmentPerRead = oneSegmentPerRead;
		this.inlineBytes = inlineBytes;
		this.ids = new long[depth];
		this.opcodes = new WorkOpcode[depth];
		this.signaled = new boolean[depth];
		this.bytes = new long[depth];
		this.adapterRequests = new int[depth];
		this.verdicts = new @Nullable WorkStatus[depth];
		this.sinks = new @Nullable ReadSink[depth];
	}

	/** Begins a connection. */
	void open(SendBatch newBatch, int newGeneration) {
		this.batch = newBatch;
		this.generation = newGeneration;
	}

	/** Ends a connection: what the adapter had not reported is flushed. */
	void close() {
		forgetBatch();
		for (int i = 0; i < this.count; i++) {
			int slot = (this.head + i) % this.depth;
			if (this.verdicts[slot] == null) {
				this.verdicts[slot] = WorkStatus.FLUSHED;
			}
		}
		this.atAdapter = 0;
		this.requestsAtAdapter = 0;
		if (this.batch != null) {
			this.batch.free();
			this.batch = null;
		}
	}

	boolean isFull() {
		return this.count == this.depth;
	}

	/** Requests that the adapter, or the batch on its way there, has. */
	int atAdapter() {
		return this.atAdapter;
	}

	/** How the first request ends that cannot be executed, if there is one. */
	@Nullable WorkStatus doom() {
		return this.doom;
	}

	/** Whether the adapter has room for a request. */
	boolean hasRoomFor(WorkRequest request, SegmentList segments) {
		return this.requestsAtAdapter + requestsFor(request, segments) <= this.adapterDepth;
	}

	private int requestsFor(WorkRequest request, SegmentList segments) {
		return (this.oneSegmentPerRead && request.opcode() == WorkOpcode.READ) ? Math.max(1, segments.count()) : 1;
	}

	/** Enters a request that ends without the adapter. */
	void enter(WorkRequest request, WorkStatus verdict) {
		int slot = append(request);
		this.verdicts[slot] = verdict;
		this.adapterRequests[slot] = 0;
		if (verdict != WorkStatus.FLUSHED && this.doom == null) {
			this.doom = verdict;
		}
	}

	private int append(WorkRequest request) {
		int slot = (this.head + this.count) % this.depth;
		this.count++;
		this.ids[slot] = request.id();
		this.opcodes[slot] = request.opcode();
		this.signaled[slot] = request.signaled();
		this.bytes[slot] = request.totalBytes();
		return slot;
	}

	/** Puts a request into the batch, and takes over the sinks it has if it is a Read. */
	void enter(WorkRequest request, SegmentList segments) throws IOException {
		SendBatch open = open();
		int requests = requestsFor(request, segments);
		int slot = append(request);
		this.verdicts[slot] = null;
		this.sinks[slot] = segments.takeSinks();
		this.adapterRequests[slot] = requests;
		this.atAdapter++;
		this.inBatch++;
		this.requestsAtAdapter += requests;
		long id = WorkId.send(this.generation, slot);
		if (requests > 1) {
			enterReads(open, request, segments, id);
		}
		else {
			makeRoom(open);
			open.add(id, opcodeOf(request, segments), flagsOf(request, segments), request.remoteAddress(),
					request.remoteKey());
			for (int i = 0; i < segments.count(); i++) {
				open.addSegment(segments.address(i), segments.lengthBytes(i), segments.key(i));
			}
		}
	}

	private void enterReads(SendBatch open, WorkRequest request, SegmentList segments, long id) throws IOException {
		long remoteAddress = request.remoteAddress();
		for (int i = 0; i < segments.count(); i++) {
			makeRoom(open);
			int flags = (i == segments.count() - 1) ? WorkRequestDescriptor.SIGNALED : 0;
			open.add(id, IbvSendWR.IBV_WR_RDMA_READ, flags, remoteAddress, request.remoteKey());
			open.addSegment(segments.address(i), segments.lengthBytes(i), segments.key(i));
			remoteAddress += segments.lengthBytes(i);
		}
	}

	private void makeRoom(SendBatch open) throws IOException {
		if (open.isFull()) {
			open.post();
			this.inBatch = 1;
		}
	}

	private SendBatch open() {
		if (this.batch == null) {
			throw new IllegalStateException("no connection");
		}
		return this.batch;
	}

	/** A Read of nothing is a Write of nothing, which every adapter takes. */
	private static int opcodeOf(WorkRequest request, SegmentList segments) {
		return switch (request.opcode()) {
			case READ -> (segments.count() > 0) ? IbvSendWR.IBV_WR_RDMA_READ : IbvSendWR.IBV_WR_RDMA_WRITE;
			case WRITE -> IbvSendWR.IBV_WR_RDMA_WRITE;
			case SEND_WITH_INVALIDATE -> SEND_WITH_INVALIDATE;
			default -> IbvSendWR.IBV_WR_SEND;
		};
	}

	private int flagsOf(WorkRequest request, SegmentList segments) {
		int flags = WorkRequestDescriptor.SIGNALED;
		if (request.opcode() == WorkOpcode.SEND_SOLICITED) {
			flags |= WorkRequestDescriptor.SOLICITED;
		}
		if (request.opcode() != WorkOpcode.READ && segments.count() > 0 && request.totalBytes() <= this.inlineBytes) {
			flags |= WorkRequestDescriptor.INLINE;
		}
		return flags;
	}

	/** Hands the batch to the adapter. */
	void post() throws IOException {
		if (this.batch != null && !this.batch.isEmpty()) {
			this.batch.post();
			this.inBatch = 0;
		}
	}

	/** Flushes what is in the batch: the adapter shall not have it any more. */
	void forgetBatch() {
		if (this.batch != null) {
			this.batch.clear();
		}
		for (int i = this.atAdapter - this.inBatch; i < this.atAdapter; i++) {
			int slot = (this.head + i) % this.depth;
			this.verdicts[slot] = WorkStatus.FLUSHED;
			this.requestsAtAdapter -= this.adapterRequests[slot];
		}
		this.atAdapter -= this.inBatch;
		this.inBatch = 0;
	}

	/**
	 * Takes what the adapter says of a request, and ends those whose turn it is.
	 * @return whether any has ended
	 */
	boolean complete(int slot, WorkStatus status) {
		int position = Math.floorMod(slot - this.head, this.depth);
		if (position >= this.atAdapter || this.verdicts[slot] != null) {
			return false;
		}
		this.verdicts[slot] = status;
		boolean any = false;
		while (this.atAdapter > 0 && this.verdicts[this.head] != null) {
			int requests = this.adapterRequests[this.head];
			endFirst();
			this.atAdapter--;
			this.requestsAtAdapter -= requests;
			any = true;
		}
		return any;
	}

	/** Reports those whose end is known and whose turn it is. */
	void reportEnded() {
		while (hasEnded()) {
			endFirst();
		}
	}

	/** Whether the oldest request ends without the adapter. */
	boolean hasEnded() {
		return this.atAdapter == 0 && this.count > 0;
	}

	/** What cannot be reported, because there is no heap for it, has not ended yet. */
	private void endFirst() {
		int slot = this.head;
		WorkStatus verdict = this.verdicts[slot];
		WorkStatus status = (verdict != null) ? verdict : WorkStatus.FLUSHED;
		if (!closeSinks(slot) && status == WorkStatus.SUCCESS) {
			status = WorkStatus.LOCAL_OPERATION_ERROR;
		}
		this.verdicts[slot] = status;
		if (this.signaled[slot] || status != WorkStatus.SUCCESS) {
			this.reporter.ended(this.ids[slot], status, this.opcodes[slot], this.bytes[slot], 0);
		}
		this.head = (slot + 1) % this.depth;
		this.count--;
	}

	/**
	 * Closes the sinks of a Read that has ended; returns false if it cannot be trusted
	 * because the peer may still write to one.
	 */
	private boolean closeSinks(int slot) {
		ReadSink opened = this.sinks[slot];
		this.sinks[slot] = null;
		return opened == null || opened.close();
	}

	/** Forgets everything without a report. */
	void clear() {
		for (int slot = 0; slot < this.depth; slot++) {
			closeSinks(slot);
		}
		this.head = 0;
		this.count = 0;
		this.atAdapter = 0;
		this.requestsAtAdapter = 0;
		this.inBatch = 0;
		Arrays.fill(this.verdicts, null);
	}

}
