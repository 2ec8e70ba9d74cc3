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

import java.util.Objects;

import io.grpc.internal.WritableBuffer;
import io.grpc.internal.WritableBufferAllocator;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

/**
 * The pieces of the outgoing messages of one call: those that gRPC's framer fills, and
 * those that wait to be sent. All of their memory goes back when they were sent or the
 * call has ended.
 *
 * <p>
 * Thread-safe.
 */
final class OutgoingPieces implements WritableBufferAllocator {

	private static final int SMALLEST_BYTES = 64;

	private static final int LARGEST_BYTES = 1 << 20;

	private final RegisteredMemory memory;

	private @Nullable Owner owner;

	/** Those that are being filled, the last one first. */
	private @Nullable OutgoingPiece live;

	/** Those that wait, in order. */
	private @Nullable OutgoingPiece firstWaiting;

	private @Nullable OutgoingPiece lastWaiting;

	private long waitingBytes;

	private boolean closed;

	OutgoingPieces(RegisteredMemory memory) {
		this.memory = memory;
	}

	/** Says whose pieces they are; before any is asked for. */
	void ownedBy(Owner value) {
		this.owner = value;
	}

	/**
	 * A piece to be filled. Where there is no memory for it, its owner is told, and what
	 * is written goes nowhere: gRPC's framer, and what calls it, expect no exception.
	 */
	@Override
	public WritableBuffer allocate(int wantedBytes) {
		int capacity = Math.max(SMALLEST_BYTES, Math.min(wantedBytes, LARGEST_BYTES));
		synchronized (this) {
			if (this.closed) {
				return new OutgoingPiece(this, null, capacity);
			}
		}
		OutgoingPiece piece = new OutgoingPiece(this, claim(capacity), capacity);
		synchronized (this) {
			if (!this.closed) {
				piece.next = this.live;
				this.live = piece;
				return piece;
			}
		}
		piece.drop();
		return piece;
	}

	private @Nullable RegisteredBuffer claim(int bytes) {
		Owner told = Objects.requireNonNull(this.owner);
		try {
			return this.memory.allocate(bytes, Math.min(told.patienceNanos(), this.memory.patience().longestNanos()));
		}
		catch (Throwable ex) {
			if (!Unsent.isMemory(ex)) {
				throw ex;
			}
			told.lacksMemory(ex);
			close();
			return null;
		}
	}

	synchronized void forget(OutgoingPiece piece) {
		OutgoingPiece before = null;
		for (OutgoingPiece filled = this.live; filled != null; filled = filled.next) {
			if (filled == piece) {
				if (before != null) {
					before.next = piece.next;
				}
				else {
					this.live = piece.next;
				}
				piece.next = null;
				return;
			}
			before = filled;
		}
	}

	/** Keeps a piece until the message is sent that it is part of. */
	synchronized void await(OutgoingPiece piece) {
		forget(piece);
		if (this.closed) {
			piece.drop();
		}
		else {
			OutgoingPiece before = this.lastWaiting;
			this.lastWaiting = piece;
			if (before != null) {
				before.next = piece;
			}
			else {
				this.firstWaiting = piece;
			}
			this.waitingBytes += piece.readableBytes();
		}
	}

	/** What waits to be sent. */
	synchronized long waitingBytes() {
		return this.waitingBytes;
	}

	/** Appends to a message what waits to be sent. */
	synchronized void addTo(MessageSegments message) {
		for (OutgoingPiece piece = this.firstWaiting; piece != null; piece = piece.next) {
			piece.addTo(message);
		}
	}

	/** What waited is part of a message that was prepared, or of none. */
	synchronized void clear() {
		dropAll(this.firstWaiting);
		this.firstWaiting = null;
		this.lastWaiting = null;
		this.waitingBytes = 0;
	}

	/**
	 * The call has ended: gives all memory back, also of pieces that are being filled.
	 */
	synchronized void close() {
		this.closed = true;
		clear();
		dropAll(this.live);
		this.live = null;
	}

	private static void dropAll(@Nullable OutgoingPiece first) {
		OutgoingPiece piece = first;
		while (piece != null) {
			OutgoingPiece next = piece.next;
			piece.next = null;
			piece.drop();
			piece = next;
		}
	}

	/** The call that they are of; told by who writes its messages. */
	interface Owner {

		/** How long to wait for memory, if not less is usual. */
		default long patienceNanos() {
			return Long.MAX_VALUE;
		}

		/** There was no memory for a piece, and there will be no more pieces. */
		void lacksMemory(Throwable cause);

	}

}
