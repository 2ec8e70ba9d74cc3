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

package dev.rdmarpc.codec;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * An encoded message: an ordered list of pieces of memory whose concatenation is the
 * message. Made to be kept and used again; once warm it allocates nothing.
 *
 * <p>
 * Codecs write small things into memory claimed from here ({@link #claimMemory}) and
 * append what they wrote; large things they append where they are. The transport copies
 * slices of the whole ({@link #copyTo(int, ByteBuffer)}) or walks the segments, after
 * {@link #coalesce(int)} if there are more than it can take.
 *
 * <p>
 * Ownership: claimed memory belongs to this object and is valid until {@link #clear()}.
 * Appended foreign memory is borrowed until then and must not change. Registered buffers
 * are retained, and {@linkplain #keep(SegmentOwner) kept} references owned, until then.
 *
 * <p>
 * Not thread-safe; may be handed from thread to thread with a happens-before edge.
 */
public final class MessageSegments {

	private final MessageSegmentList segments = new MessageSegmentList();

	private int totalBytes;

	private final KeptReferences kept = new KeptReferences();

	private final ClaimedMemory claimed = new ClaimedMemory();

	private int maxBytes = Integer.MAX_VALUE;

	private @Nullable Object workspace;

	/**
	 * The largest message this object takes, in bytes.
	 * @return the limit, {@link Integer#MAX_VALUE} unless set
	 */
	public int maxBytes() {
		return this.maxBytes;
	}

	/**
	 * Limits the size of messages from here on, {@link #clear()} notwithstanding.
	 * @param maxBytes the limit, at least 0
	 */
	public MessageSegments maxBytes(int maxBytes) {
		if (maxBytes < 0) {
			throw new IllegalArgumentException("maxBytes " + maxBytes + " (expected: at least 0)");
		}
		this.maxBytes = maxBytes;
		return this;
	}

	/** Number of bytes of the message. */
	public int totalBytes() {
		return this.totalBytes;
	}

	/** Number of segments. */
	public int segmentCount() {
		return this.segments.size();
	}

	/**
	 * Number of segments, for a message that does not change and that several threads may
	 * read.
	 */
	public int sharedSegmentCount() {
		return this.segments.sharedSize();
	}

	/** The memory of a segment; absolute access only, positions mean nothing. */
	public ByteBuffer segmentMemory(int index) {
		return MessageSegmentList.memory(this.segments.source(index));
	}

	/** The offset of a segment within its memory, in bytes. */
	public int segmentOffset(int index) {
		return this.segments.offset(index);
	}

	/** The length of a segment, in bytes. */
	public int segmentLength(int index) {
		return this.segments.length(index);
	}

	/**
	 * The registered buffer that a segment lies in, or {@code null} if it lies in other
	 * memory. Alive until {@link #clear()}; borrowed.
	 */
	public @Nullable RegisteredBuffer segmentBuffer(int index) {
		return (this.segments.source(index) instanceof RegisteredBuffer buffer) ? buffer : null;
	}

	/**
	 * Copies the whole message to the target's position, which advances.
	 * @throws java.nio.BufferOverflowException if it does not fit
	 */
	public void copyTo(ByteBuffer target) {
		if (target.remaining() < this.totalBytes) {
			throw new java.nio.BufferOverflowException();
		}
		copyTo(0, target);
	}

	/**
	 * Copies a slice of the message to the target's position, which advances: as many
	 * bytes as the target has room for or the message has left.
	 * @param fromOffset first byte of the slice, from 0 to {@link #totalBytes()}
	 * @return number of bytes copied
	 */
	public int copyTo(int fromOffset, ByteBuffer target) {
		Objects.checkFromToIndex(fromOffset, this.totalBytes, this.totalBytes);
		int start = target.position();
		this.segments.copyTo(fromOffset, target);
		return target.position() - start;
	}

	/**
	 * Appends the bytes between position and limit of a buffer, which is borrowed.
	 * @throws MessageTooLargeException if the message exceeds {@link #maxBytes()}
	 */
	public void addBytes(ByteBuffer bytes) {
		add(bytes, bytes.position(), bytes.remaining());
	}

	/**
	 * Appends part of a buffer. Continues the last segment if it ends where this begins.
	 * @param memory the memory, borrowed
	 * @param offset first byte, absolute
	 * @param lengthBytes number of bytes
	 * @throws MessageTooLargeException if the message exceeds {@link #maxBytes()}
	 */
	public void add(ByteBuffer memory, int offset, int lengthBytes) {
		Objects.checkFromIndexSize(offset, lengthBytes, memory.capacity());
		count(lengthBytes);
		if (lengthBytes > 0) {
			this.segments.join(memory, offset, lengthBytes);
		}
	}

	/**
	 * Appends part of a registered buffer, which is retained until {@link #clear()}.
	 * @param offsetBytes first byte, counted from the buffer's begin
	 * @param lengthBytes number of bytes
	 * @throws MessageTooLargeException if the message exceeds {@link #maxBytes()}
	 */
	public void add(RegisteredBuffer buffer, int offsetBytes, int lengthBytes) {
		Objects.checkFromIndexSize(offsetBytes, lengthBytes, buffer.length());
		int offset = buffer.offset() + offsetBytes;
		checkRoom(lengthBytes);
		if (lengthBytes > 0) {
			this.segments.addRetained(buffer, offset, lengthBytes);
			this.totalBytes += lengthBytes;
		}
	}

	/**
	 * Appends part of a registered buffer that the caller {@linkplain #keep keeps}.
	 * @param offset first byte, in {@link RegisteredBuffer#memory()}
	 * @param lengthBytes number of bytes
	 * @throws MessageTooLargeException if the message exceeds {@link #maxBytes()}
	 */
	public void addKept(RegisteredBuffer buffer, int offset, int lengthBytes) {
		count(lengthBytes);
		if (lengthBytes > 0) {
			this.segments.addScratch(buffer, offset, lengthBytes);
		}
	}

	/**
	 * Appends part of a registered buffer that the caller {@linkplain #keep keeps}, and
	 * after it another buffer, which is retained until {@link #clear()}.
	 * @param scratch kept by the caller
	 * @param offset first byte, in {@link RegisteredBuffer#memory()}
	 * @param lengthBytes number of bytes of it, at least 1
	 * @param buffer the other buffer
	 * @param bufferBytes its length, at least 1
	 * @throws MessageTooLargeException if the message exceeds {@link #maxBytes()}
	 */
	public void addGathered(RegisteredBuffer scratch, int offset, int lengthBytes, RegisteredBuffer buffer,
			int bufferBytes) {
		long total = (long) this.totalBytes + lengthBytes + bufferBytes;
		if (total > this.maxBytes) {
			throw new MessageTooLargeException(this.maxBytes);
		}
		this.segments.addGathered(scratch, offset, lengthBytes, buffer, bufferBytes);
		this.totalBytes = (int) total;
	}

	private void count(int lengthBytes) {
		checkRoom(lengthBytes);
		this.totalBytes += lengthBytes;
	}

	private void checkRoom(int lengthBytes) {
		if (lengthBytes > this.maxBytes - this.totalBytes) {
			throw new MessageTooLargeException(this.maxBytes);
		}
	}

	/**
	 * Appends all segments of another message.
	 * @param others borrowed; must stay as they are until {@link #clear()}, for which the
	 * caller {@linkplain #keep(SegmentOwner) keeps} their owner
	 * @throws MessageTooLargeException if the message exceeds {@link #maxBytes()}
	 */
	public void addAll(MessageSegments others) {
		count(others.totalBytes);
		this.segments.addAll(others.segments, others.totalBytes);
	}

	/** Takes ownership of a reference and gives it back with {@link #clear()}. */
	public void keep(RegisteredBuffer buffer) {
		this.kept.add(buffer);
	}

	/** Takes ownership of a reference and gives it back with {@link #clear()}. */
	public void keep(SegmentOwner owner) {
		this.kept.add(owner);
	}

	/**
	 * Makes the message one of at most that many segments, by copying the smallest to
	 * where they lie side by side.
	 * @param maxSegments at least 1
	 */
	public void coalesce(int maxSegments) {
		new SegmentCoalescer(this).coalesce(maxSegments);
	}

	/**
	 * Adds all segments to the gather list of a work request, which reads them until it
	 * completes; until then they must be kept.
	 * @param request a Send or Write with room for {@link #segmentCount()} elements
	 * @param attachment the device that it is posted to
	 * @throws IllegalStateException if a segment is not in registered memory
	 * @throws dev.rdmarpc.verbs.VerbsException if there are too many
	 */
	public void addTo(WorkRequest request, MemoryAttachment attachment) {
		this.segments.addTo(request, attachment);
	}

	/**
	 * Replaces segments by one with the same content.
	 * @param source claimed from here
	 */
	void replace(int first, int count, ByteBuffer source, int offset) {
		this.segments.replace(first, count, source, offset, this.kept);
	}

	/**
	 * Hands out memory for a codec to write to. It appears in the message only through
	 * {@link #add}.
	 * @param minBytes least number of bytes needed
	 * @return a direct, little-endian buffer of at least that capacity, exclusively the
	 * codec's until {@link #clear()}; absolute access only
	 */
	public ByteBuffer claimMemory(int minBytes) {
		return this.claimed.claim(minBytes);
	}

	/**
	 * The codec's own state that travels with this object, so that it is reused without
	 * thread-locals.
	 * @param type its class
	 * @param factory makes one when there is none of that class yet
	 */
	public <W> W workspace(Class<W> type, Supplier<W> factory) {
		Object present = this.workspace;
		if (type.isInstance(present)) {
			return type.cast(present);
		}
		W created = factory.get();
		this.workspace = created;
		return created;
	}

	/** Empties the message, lets go of foreign memory and gives kept references back. */
	public void clear() {
		this.totalBytes = 0;
		this.claimed.reclaim();
		try {
			this.segments.clear();
		}
		finally {
			this.kept.releaseAll();
		}
	}

}
