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

import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.support.WorkQueue;

/**
 * How far the bytes of a work request are moved between its segments and a ring. The
 * memory is looked at before each move: it may have been deregistered since the last.
 */
final class SegmentCursor {

	private final WorkQueue queue;

	private final ProtectionDomain domain;

	private long sequence;

	private int segment;

	private int segmentOffset;

	private long moved;

	SegmentCursor(WorkQueue queue, ProtectionDomain domain) {
		this.queue = queue;
		this.domain = domain;
	}

	void begin(long sequence) {
		this.sequence = sequence;
		this.segment = 0;
		this.segmentOffset = 0;
		this.moved = 0;
	}

	long moved() {
		return this.moved;
	}

	/** Whether the request's segments may still be read, or written. */
	boolean isPermitted(boolean write) {
		return this.queue.permitsLocal(this.sequence, this.domain, write);
	}

	/** Copies the next bytes, of which there are enough, into a ring. */
	void copyTo(ByteBuffer ring, int index, int count) {
		int remaining = count;
		int at = index;
		while (remaining > 0) {
			int piece = piece(remaining);
			if (piece > 0) {
				ring.put(at, memory(), offset(), piece);
			}
			advance(piece);
			at += piece;
			remaining -= piece;
		}
		this.moved += count;
	}

	/** Copies the next bytes, of which there are enough, out of a ring. */
	void copyFrom(ByteBuffer ring, int index, int count) {
		int remaining = count;
		int at = index;
		while (remaining > 0) {
			int piece = piece(remaining);
			if (piece > 0) {
				memory().put(offset(), ring, at, piece);
			}
			advance(piece);
			at += piece;
			remaining -= piece;
		}
		this.moved += count;
	}

	private int piece(int wanted) {
		return Math.min(wanted, this.queue.length(this.sequence, this.segment) - this.segmentOffset);
	}

	private int offset() {
		return this.queue.offset(this.sequence, this.segment) + this.segmentOffset;
	}

	@SuppressWarnings("NullAway") // isPermitted has seen it
	private ByteBuffer memory() {
		return this.queue.region(this.sequence, this.segment).memory();
	}

	private void advance(int piece) {
		this.segmentOffset += piece;
		if (this.segmentOffset == this.queue.length(this.sequence, this.segment)) {
			this.segment++;
			this.segmentOffset = 0;
		}
	}

}
