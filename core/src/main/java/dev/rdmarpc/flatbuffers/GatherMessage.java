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

package dev.rdmarpc.flatbuffers;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * A finished FlatBuffers message: a list of segments with a reference count. It is born
 * with one reference, owned by who finished it; whoever keeps it longer than its owner
 * {@linkplain #retain() retains} it, and each reference is {@linkplain #release()
 * released} once.
 *
 * <p>
 * It is part of any number of other messages at once
 * ({@link GatherBuilder#put(TableField.OfTable, GatherMessage)}), each of which holds a
 * reference of its own and none of which copies it. As an argument or result of a call it
 * is sent from where it lies; a received one is a view of the received memory.
 *
 * <p>
 * Thread-safe; its content does not change. Use after the last release throws
 * {@link IllegalStateException} as long as the object has not been used again.
 */
public final class GatherMessage implements SegmentOwner {

	private static final int IDLE = 0;

	private static final int CLEARING = -1;

	private static final VarHandle REFERENCES;

	static {
		try {
			REFERENCES = MethodHandles.lookup().findVarHandle(GatherMessage.class, "references", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private final MessageSegments segments = new MessageSegments();

	private @Nullable TableType type;

	private TableField.@Nullable OfTables vector;

	private int position;

	private int depth;

	@SuppressWarnings("unused") // through REFERENCES
	private volatile int references;

	/** Creates an object without content. */
	GatherMessage() {
	}

	/**
	 * A message that is part of received memory.
	 * @param memory keeps the message
	 * @param index of the first byte
	 */
	static GatherMessage ofReceived(ReceivedMemory memory, int index, int lengthBytes) {
		GatherMessage message = new GatherMessage();
		RegisteredBuffer buffer = memory.take(index, lengthBytes);
		message.segments.keep(buffer);
		message.segments.addKept(buffer, buffer.offset(), buffer.length());
		REFERENCES.setRelease(message, 1);
		memory.keep(message);
		return message;
	}

	/** Completes an object with content. */
	void complete(int at, int tables) {
		this.depth = tables;
		this.position = at;
		REFERENCES.setRelease(this, 1);
	}

	/** Its segments, to be filled while it is built and then only read. */
	MessageSegments segments() {
		return this.segments;
	}

	/**
	 * The type of its root table; {@code null} if it has none, being a vector, or if it
	 * was received.
	 */
	public @Nullable TableType type() {
		checkAlive();
		return this.type;
	}

	/**
	 * The field whose value it is, if it was begun as a vector and can only be part of
	 * another message.
	 */
	public TableField.@Nullable OfTables vector() {
		checkAlive();
		return this.vector;
	}

	/** The most tables that are nested in each other. */
	int depth() {
		return this.depth;
	}

	/** The position of its root table or vector. */
	int position() {
		return this.position;
	}

	/** Number of bytes. */
	public int totalBytes() {
		checkAlive();
		return this.segments.totalBytes();
	}

	/** Number of segments. */
	public int segmentCount() {
		checkAlive();
		return this.segments.sharedSegmentCount();
	}

	/**
	 * Copies all of it to the target's position, which advances.
	 * @throws java.nio.BufferOverflowException if it does not fit
	 */
	public void copyTo(ByteBuffer target) {
		checkAlive();
		this.segments.copyTo(target);
	}

	/**
	 * Appends it to a list of segments, which holds a reference until it is cleared.
	 * @throws dev.rdmarpc.codec.MessageTooLargeException if it does not fit
	 */
	public void addTo(MessageSegments target) {
		target.keep(retain());
		target.addAll(this.segments);
	}

	/**
	 * Adds its segments to the gather list of a work request. Whoever posts it holds a
	 * reference until it has completed.
	 * @param request a Send or Write with room for {@link #segmentCount()} elements
	 * @param attachment the device that it is posted to
	 * @throws IllegalStateException if a segment is not in registered memory
	 */
	public void addTo(WorkRequest request, MemoryAttachment attachment) {
		checkAlive();
		this.segments.addTo(request, attachment);
	}

	/**
	 * A view of its bytes, valid until it is released.
	 * @return a read-only little-endian buffer from position to limit
	 * @throws IllegalStateException if it has more than one segment
	 */
	public ByteBuffer buffer() {
		checkAlive();
		int segmentCount = this.segments.sharedSegmentCount();
		if (segmentCount != 1) {
			throw new IllegalStateException("message of " + segmentCount + " segments (expected: one)");
		}
		return this.segments.segmentMemory(0)
			.slice(this.segments.segmentOffset(0), this.segments.segmentLength(0))
			.asReadOnlyBuffer()
			.order(ByteOrder.LITTLE_ENDIAN);
	}

	/** Number of references. 0 when released. */
	public int references() {
		return Math.max(0, (int) REFERENCES.getAcquire(this));
	}

	/**
	 * Adds a reference, to be released on its own.
	 * @return this message
	 */
	public GatherMessage retain() {
		for (;;) {
			int count = (int) REFERENCES.getAcquire(this);
			if (count <= 0) {
				throw released();
			}
			if (count == Integer.MAX_VALUE) {
				throw new IllegalStateException("too many references");
			}
			if (REFERENCES.weakCompareAndSetPlain(this, count, count + 1)) {
				return this;
			}
		}
	}

	/**
	 * Gives a reference back; the last one gives back all that the message refers to.
	 * @return whether it was the last
	 * @throws IllegalStateException when there is none left
	 */
	@Override
	public boolean release() {
		for (;;) {
			int count = (int) REFERENCES.getAcquire(this);
			if (count <= 0) {
				throw released();
			}
			if (count == 1 && REFERENCES.compareAndSet(this, 1, CLEARING)) {
				recycle();
				return true;
			}
			if (count > 1 && REFERENCES.compareAndSet(this, count, count - 1)) {
				return false;
			}
		}
	}

	/** Gives everything back, finished or not. */
	void recycle() {
		try {
			this.segments.clear();
		}
		finally {
			REFERENCES.setRelease(this, IDLE);
		}
	}

	/** Takes the object for a message that is not complete. */
	void begin(@Nullable TableType ofType, TableField.@Nullable OfTables ofVector) {
		REFERENCES.set(this, CLEARING);
		if (this.type != ofType) {
			this.type = ofType;
		}
		if (this.vector != ofVector) {
			this.vector = ofVector;
		}
	}

	/** Whether it has no content and may be used for another message. */
	boolean isIdle() {
		return (int) REFERENCES.getAcquire(this) == IDLE;
	}

	private void checkAlive() {
		if ((int) REFERENCES.getAcquire(this) <= 0) {
			throw released();
		}
	}

	private static IllegalStateException released() {
		return new IllegalStateException("message was released (expected: at least one reference)");
	}

	@Override
	public String toString() {
		return "GatherMessage[" + ((this.type != null) ? this.type.name() + ", " : "") + "bytes="
				+ this.segments.totalBytes() + ", references=" + references() + "]";
	}

}
