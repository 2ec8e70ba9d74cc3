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

package dev.rdmarpc.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.MemoryRegion;

/**
 * A piece of registered memory with a reference count. It is born with one reference,
 * owned by who allocated it; whoever keeps it longer than its owner {@link #retain()
 * retains} it, and each reference is {@link #release() released} once.
 *
 * <p>
 * Retaining and releasing are safe from any thread; a buffer may be released by another
 * thread than the one that allocated it. The bytes are as safe as those of a
 * {@link ByteBuffer}: hand over by a happens-before edge. Use after the last release
 * throws {@link IllegalStateException} as long as the object has not been given out
 * again, which {@link LeakDetection#PARANOID} prevents for good.
 *
 * <p>
 * All views have {@link ByteOrder#LITTLE_ENDIAN}.
 */
public final class RegisteredBuffer {

	private static final VarHandle REFERENCES;

	static {
		try {
			REFERENCES = MethodHandles.lookup().findVarHandle(RegisteredBuffer.class, "references", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private final Home home;

	/** Of a block; slices and users' memory have none. */
	private final @Nullable Span span;

	private @Nullable Extent extent;

	/** What a slice is a part of. */
	private @Nullable RegisteredBuffer root;

	private @Nullable ByteBuffer view;

	private LeakDetector.@Nullable Track track;

	private int offset;

	private int capacity;

	private int length;

	private boolean filled;

	@SuppressWarnings("unused") // through REFERENCES
	private volatile int references;

	/** Creates the object of a block; its place never changes. */
	RegisteredBuffer(Home home, Span span, int offset) {
		this.home = home;
		this.span = span;
		this.extent = span.extent();
		this.offset = offset;
		this.capacity = span.blockBytes();
	}

	/** Creates the object of a piece of the user's memory. */
	RegisteredBuffer(Home home, Extent extent) {
		this.home = home;
		this.span = null;
		this.extent = extent;
		this.capacity = extent.lengthBytes();
	}

	/** Creates an object for slices. */
	RegisteredBuffer(Home home) {
		this.home = home;
		this.span = null;
	}

	/** Begins to live, with one reference. */
	void activate(int lengthBytes) {
		if (this.filled) {
			int written = FillPattern.find(boundExtent().memory(), this.offset, this.capacity);
			if (written >= 0) {
				throw new IllegalStateException("memory was written after its release, at byte "
						+ (written - this.offset) + " of a block of " + this.capacity);
			}
		}
		this.length = lengthBytes;
		REFERENCES.setRelease(this, 1);
	}

	/** Another object for the same block, whose memory is filled with a pattern. */
	RegisteredBuffer successor() {
		FillPattern.write(boundExtent().memory(), this.offset, this.capacity);
		forgetMemory();
		RegisteredBuffer successor = new RegisteredBuffer(this.home, span(), this.offset);
		successor.filled = true;
		return successor;
	}

	/** Lets the memory of a free block go. */
	void forgetMemory() {
		this.view = null;
	}

	/** Replaces what follows the buffer to find out whether it is lost. */
	LeakDetector.@Nullable Track follow(LeakDetector.@Nullable Track track) {
		LeakDetector.Track before = this.track;
		if (before != track) {
			this.track = track;
		}
		return before;
	}

	boolean isBlock() {
		return this.span != null;
	}

	/** The span of a block. */
	Span span() {
		return Objects.requireNonNull(this.span);
	}

	/** The extent, also of a buffer that is released. */
	Extent boundExtent() {
		return Objects.requireNonNull(this.extent);
	}

	/** The capacity, also of a buffer that is released. */
	int blockBytes() {
		return this.capacity;
	}

	/** Number of bytes asked for. */
	public int length() {
		checkAlive();
		return this.length;
	}

	/** Number of bytes there are, at least {@link #length()}. */
	public int capacity() {
		checkAlive();
		return this.capacity;
	}

	/**
	 * The memory around the buffer, shared by all buffers of the extent: for absolute
	 * access from {@link #offset()}. Its position, limit and order must not be changed.
	 */
	public ByteBuffer memory() {
		return extent().memory();
	}

	/** Where the buffer begins in {@link #memory()}, in bytes. */
	public int offset() {
		checkAlive();
		return this.offset;
	}

	/**
	 * A view of exactly the buffer's bytes: position 0, limit {@link #length()}. The same
	 * object each time, reset by the call, so one thread uses it at a time; the others
	 * duplicate it. Must not be used after the buffer is released.
	 */
	public ByteBuffer buffer() {
		Extent extent = extent();
		ByteBuffer view = this.view;
		if (view == null) {
			view = extent.memory().slice(this.offset, this.capacity).order(ByteOrder.LITTLE_ENDIAN);
			this.view = view;
		}
		view.clear().limit(this.length);
		return view;
	}

	/** Whether the bytes cannot be written; only for users' own memory. */
	public boolean isReadOnly() {
		return extent().memory().isReadOnly();
	}

	/**
	 * The region of an attached device in which the buffer lies, at
	 * {@link #regionOffset()}.
	 * @throws IllegalStateException when the attachment is closed or of another memory
	 */
	public MemoryRegion region(MemoryAttachment attachment) {
		MemoryRegion region = extent().region(attachment.index());
		if (region == null || attachment.isClosed()) {
			throw new IllegalStateException(attachment + " has no region for the buffer (expected: an open"
					+ " attachment of the memory that allocated it)");
		}
		return region;
	}

	/**
	 * The region of an attached device in which the buffer lies, {@code null} when the
	 * attachment is closed or of another memory.
	 */
	public @Nullable MemoryRegion findRegion(MemoryAttachment attachment) {
		return extent().region(attachment);
	}

	/** Where the buffer begins in each of its regions, in bytes. */
	public int regionOffset() {
		checkAlive();
		return this.offset;
	}

	/** Number of references. 0 when released. */
	public int references() {
		return (int) REFERENCES.getAcquire(this);
	}

	/**
	 * Adds a reference, to be released on its own.
	 * @return this buffer
	 */
	public RegisteredBuffer retain() {
		if (!tryRetain()) {
			throw released();
		}
		return this;
	}

	private boolean tryRetain() {
		for (;;) {
			int count = (int) REFERENCES.getAcquire(this);
			if (count <= 0) {
				return false;
			}
			if (count == Integer.MAX_VALUE) {
				throw new IllegalStateException("too many references");
			}
			if (REFERENCES.weakCompareAndSetPlain(this, count, count + 1)) {
				return true;
			}
		}
	}

	/**
	 * Gives a reference back; the last one returns the memory to its pool.
	 * @return whether it was the last
	 * @throws IllegalStateException when there is none left
	 */
	public boolean release() {
		for (;;) {
			int count = (int) REFERENCES.getAcquire(this);
			if (count <= 0) {
				throw released();
			}
			if (REFERENCES.compareAndSet(this, count, count - 1)) {
				if (count == 1) {
					free();
				}
				return count == 1;
			}
		}
	}

	private void free() {
		RegisteredBuffer root = this.root;
		if (root != null) {
			this.root = null;
			this.extent = null;
			this.view = null;
			this.home.giveSlice(this);
			root.release();
		}
		else {
			this.home.free(this);
		}
	}

	/**
	 * Part of this buffer as a buffer of its own, which holds a reference to this one's
	 * memory: both are released, in either order. Allocates nothing in the steady state.
	 * @return the slice, owned by the caller
	 */
	public RegisteredBuffer slice(int offsetBytes, int lengthBytes) {
		checkAlive();
		Objects.checkFromIndexSize(offsetBytes, lengthBytes, this.length);
		RegisteredBuffer root = (this.root != null) ? this.root : this;
		RegisteredBuffer idle = this.home.takeSlice();
		RegisteredBuffer slice = (idle != null) ? idle : new RegisteredBuffer(this.home);
		slice.root = root.retain();
		slice.extent = this.extent;
		slice.offset = this.offset + offsetBytes;
		slice.capacity = lengthBytes;
		slice.activate(lengthBytes);
		return slice;
	}

	/**
	 * Notes where the buffer is, for the report should it leak.
	 * @param hint anything whose {@code toString} tells
	 * @return this buffer
	 */
	public RegisteredBuffer touch(Object hint) {
		checkAlive();
		LeakDetector.Track track = (this.root != null) ? this.root.track : this.track;
		if (track != null) {
			track.touch(hint);
		}
		return this;
	}

	private Extent extent() {
		checkAlive();
		return boundExtent();
	}

	private void checkAlive() {
		if ((int) REFERENCES.getAcquire(this) <= 0) {
			throw released();
		}
	}

	private static IllegalStateException released() {
		return new IllegalStateException("buffer was released (expected: at least one reference)");
	}

	@Override
	public String toString() {
		return "RegisteredBuffer[offset=" + this.offset + ", length=" + this.length + ", references=" + references()
				+ "]";
	}

	/** Where buffers go when they are released. */
	interface Home {

		/** Takes back a buffer that was released for the last time. */
		void free(RegisteredBuffer buffer);

		/** Takes an unused object for a slice, if there is one. */
		@Nullable RegisteredBuffer takeSlice();

		/** Takes the object of a released slice. */
		void giveSlice(RegisteredBuffer slice);

	}

}
