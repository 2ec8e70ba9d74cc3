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

package dev.rdmarpc.grpc;

import io.grpc.internal.WritableBuffer;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * A piece of an outgoing message, written straight into registered memory.
 *
 * <p>
 * Implementation notes. The end of a call, on any thread, takes the memory from pieces
 * that gRPC's framer still fills, since the framer drops what it has begun. The lock
 * keeps the memory in place while something is written; what is written afterwards is
 * lost, as the call is.
 */
final class OutgoingPiece implements WritableBuffer {

	private final OutgoingPieces home;

	private final int capacity;

	private @Nullable RegisteredBuffer memory;

	private int written;

	/** The next piece of those that its home has in the same state; guarded by that. */
	@Nullable OutgoingPiece next;

	/**
	 * Creates a piece.
	 * @param memory takes ownership; {@code null} if the call has ended
	 */
	OutgoingPiece(OutgoingPieces home, @Nullable RegisteredBuffer memory, int capacity) {
		this.home = home;
		this.memory = memory;
		this.capacity = capacity;
	}

	@Override
	public synchronized void write(byte[] source, int offset, int length) {
		RegisteredBuffer target = this.memory;
		if (target != null) {
			target.memory().put(target.offset() + this.written, source, offset, length);
		}
		this.written += length;
	}

	@Override
	public synchronized void write(byte value) {
		RegisteredBuffer target = this.memory;
		if (target != null) {
			target.memory().put(target.offset() + this.written, value);
		}
		this.written++;
	}

	@Override
	public int writableBytes() {
		return this.capacity - this.written;
	}

	@Override
	public int readableBytes() {
		return this.written;
	}

	/** Appends what was written to a message. */
	synchronized void addTo(MessageSegments message) {
		RegisteredBuffer source = this.memory;
		if (source != null) {
			message.add(source, 0, this.written);
		}
	}

	@Override
	public void release() {
		this.home.forget(this);
		drop();
	}

	/** Gives the memory back. */
	synchronized void drop() {
		RegisteredBuffer source = this.memory;
		if (source != null) {
			this.memory = null;
			source.release();
		}
	}

}
