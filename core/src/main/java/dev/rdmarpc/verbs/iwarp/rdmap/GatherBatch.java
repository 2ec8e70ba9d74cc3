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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * FPDUs on their way into the socket: headers and small payloads in a staging buffer,
 * large payloads where they lie, all in one gathering write. Guarded by the reactor's
 * lock.
 *
 * <p>
 * Filled once, then written until empty, then filled again or given back.
 */
final class GatherBatch {

	/** Holds the longest FPDU even if all of it is copied. */
	static final int STAGING_BYTES = 80 * 1024;

	/** Buffers of one write at most. */
	static final int MOST_VECTORS = 257;

	private final ByteBuffer staging;

	private final ByteBuffer[] slices = new ByteBuffer[MOST_VECTORS / 2 + 1];

	private final ByteBuffer[] vectors = new ByteBuffer[MOST_VECTORS];

	private final @Nullable RegisteredMemory[] regions = new RegisteredMemory[MOST_VECTORS];

	private int sliceCount;

	private int count;

	private int first;

	private int position;

	private int runStart;

	private long remainingBytes;

	/**
	 * Creates a batch.
	 * @param staging of {@link #STAGING_BYTES}; batches may share it as long as what is
	 * left of one is moved before another is filled
	 */
	GatherBatch(ByteBuffer staging) {
		this.staging = staging;
	}

	/** Whether nothing is left to write. */
	boolean isEmpty() {
		return this.remainingBytes == 0;
	}

	long remainingBytes() {
		return this.remainingBytes;
	}

	/** Whether an FPDU of so many staged bytes and so many references fits. */
	boolean fits(int stagedBytes, int references) {
		return this.position + stagedBytes <= STAGING_BYTES && this.count + 2 * references + 1 < MOST_VECTORS;
	}

	/** The staging buffer; its position and limit may be changed freely. */
	ByteBuffer staging() {
		return this.staging;
	}

	/** The next free byte of the staging buffer. */
	int position() {
		return this.position;
	}

	/** Takes staged bytes into the batch. */
	void advance(int bytes) {
		this.position += bytes;
		this.remainingBytes += bytes;
	}

	/** Takes memory into the batch where it lies. */
	ByteBuffer reference(RegisteredMemory region, int offset, int length) {
		seal();
		ByteBuffer view = region.acquireView(offset, length);
		this.vectors[this.count] = view;
		this.regions[this.count] = region;
		this.count++;
		this.remainingBytes += length;
		return view;
	}

	/** Ends the run of staged bytes, so that they are written. */
	void seal() {
		if (this.position == this.runStart) {
			return;
		}
		ByteBuffer slice = this.slices[this.sliceCount];
		if (slice == null) {
			slice = this.staging.duplicate();
			this.slices[this.sliceCount] = slice;
		}
		this.sliceCount++;
		slice.limit(this.position).position(this.runStart);
		this.vectors[this.count++] = slice;
		this.runStart = this.position;
	}

	/** Whether all memory that is still to be written is registered. */
	boolean isValid() {
		for (int i = this.first; i < this.count; i++) {
			RegisteredMemory region = this.regions[i];
			if (region != null && !region.isValid()) {
				return false;
			}
		}
		return true;
	}

	/** Writes what the socket takes and returns how much that was. */
	long write(GatheringByteChannel channel) throws IOException {
		seal();
		long written = (this.count - this.first == 1) ? channel.write(this.vectors[this.first])
				: channel.write(this.vectors, this.first, this.count - this.first);
		this.remainingBytes -= written;
		while (this.first < this.count && !this.vectors[this.first].hasRemaining()) {
			this.first++;
		}
		if (this.remainingBytes == 0) {
			reset();
		}
		return written;
	}

	/** How much of what is left to be written was staged. */
	int stagedBytes() {
		int bytes = 0;
		for (int i = this.first; i < this.count; i++) {
			bytes += (this.regions[i] == null) ? this.vectors[i].remaining() : 0;
		}
		return bytes;
	}

	/** Moves what was staged and is left to be written to memory of its own. */
	void moveStaged(ByteBuffer target) {
		int at = 0;
		for (int i = this.first; i < this.count; i++) {
			ByteBuffer slice = this.vectors[i];
			if (this.regions[i] == null && slice.hasRemaining()) {
				int length = slice.remaining();
				target.put(at, slice, slice.position(), length);
				this.vectors[i] = target.slice(at, length);
				at += length;
			}
		}
	}

	/** Copies what is left to be written. */
	void copyRemainder(ByteBuffer target) {
		seal();
		for (int i = this.first; i < this.count; i++) {
			target.put(this.vectors[i]);
		}
	}

	/** Forgets what is left and gives the memory back. */
	void reset() {
		for (int i = 0; i < this.count; i++) {
			RegisteredMemory region = this.regions[i];
			if (region != null) {
				region.releaseView(this.vectors[i]);
				this.regions[i] = null;
			}
		}
		this.sliceCount = 0;
		this.count = 0;
		this.first = 0;
		this.position = 0;
		this.runStart = 0;
		this.remainingBytes = 0;
	}

}
