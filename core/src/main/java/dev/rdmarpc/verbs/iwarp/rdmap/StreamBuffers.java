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

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * The memory through which all streams under one lock read and write. Guarded by that
 * lock.
 */
public final class StreamBuffers {

	/** Buffers that a stream reads or writes at once, at most. */
	public static final int MOST_VECTORS = GatherBatch.MOST_VECTORS;

	/** What one read finds at most. */
	private static final int INBOUND_BYTES = 128 * 1024;

	/** The same where there is hardly any place to keep what cannot be handled yet. */
	private static final int LEAST_INBOUND_BYTES = 4 * 1024;

	/** A read finds at most this part of what there is to keep things in. */
	private static final int KEEPERS = 32;

	private static final int KEPT_BATCHES = 64;

	private final int copyThreshold;

	private final int directBytes;

	private final ByteBuffer inbound = ByteBuffer.allocateDirect(INBOUND_BYTES);

	private final ByteBuffer outbound = ByteBuffer.allocateDirect(GatherBatch.STAGING_BYTES);

	private final ReadAhead readAhead = new ReadAhead();

	private final ArrayDeque<GatherBatch> batches = new ArrayDeque<>();

	private volatile StagingMemory staging;

	private long moments;

	private long copiedBytes;

	/**
	 * Allocates the memory.
	 * @param stagingBytes how much there is for what peers have begun
	 * @param copyThreshold up to how many bytes a piece of a payload is copied to be sent
	 * @param directBytes from how many bytes on a payload is read straight to its place
	 */
	public StreamBuffers(int stagingBytes, int copyThreshold, int directBytes) {
		this.staging = new StagingMemory(stagingBytes);
		this.copyThreshold = copyThreshold;
		this.directBytes = directBytes;
	}

	int copyThreshold() {
		return this.copyThreshold;
	}

	int directBytes() {
		return this.directBytes;
	}

	/** The memory for what peers have begun; from any thread. */
	public StagingMemory staging() {
		return this.staging;
	}

	/** Where streams read to. */
	ByteBuffer inbound() {
		return this.inbound.clear();
	}

	/**
	 * How much one read should find: what a stream may not handle yet is kept, and all
	 * together have a bounded place for that.
	 */
	int mostInboundBytes() {
		StagingMemory memory = this.staging;
		return Math.max(LEAST_INBOUND_BYTES, (memory.totalBytes() - memory.usedBytes()) / KEEPERS);
	}

	/** What is expected of the stream that is being read. */
	ReadAhead readAhead() {
		return this.readAhead;
	}

	/** Borrows an empty batch. */
	GatherBatch acquireBatch() {
		GatherBatch batch = this.batches.pollLast();
		return (batch != null) ? batch : new GatherBatch(this.outbound);
	}

	void releaseBatch(GatherBatch batch) {
		if (this.batches.size() < KEPT_BATCHES) {
			this.batches.addLast(batch);
		}
	}

	/** Counts what is begun, so that the older can be told from the newer. */
	long nextMoment() {
		return ++this.moments;
	}

	/** Counts bytes of messages that were copied from memory to memory. */
	void copied(int bytes) {
		this.copiedBytes += bytes;
	}

	public long copiedBytes() {
		return this.copiedBytes;
	}

	/** Lets go of the memory for what peers have begun; no stream is left. */
	public void close() {
		this.staging = StagingMemory.NONE;
	}

}
