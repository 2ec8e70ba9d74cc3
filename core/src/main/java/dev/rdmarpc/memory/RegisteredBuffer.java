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

	private final RegisteredMemory owner;

	private @Nullable Extent extent;

	private @Nullable RegisteredBuffer root;

	private @Nullable ByteBuffer view;

	private int offset;

	private int capacity;

	private int length;

	@SuppressWarnings("unused") // through REFERENCES
	private volatile int references;

	RegisteredBuffer(RegisteredMemory owner) {
		this.owner = owner;
	}

	/** Binds a dead object to a block or, with a root, to part of the root's block. */
	void bind(Extent extent, int offset, int capacity, @Nullable RegisteredBuffer root) {
		if (this.extent != extent || this.offset != offset || this.capacity != capacity) {
			this.view = null;
		}
		this.extent = extent;
		this.offset = offset;
		this.capacity = capacity;
		this.root = root;
	}

	void activate(int lengthBytes) {
		this.length = lengthBytes;
		REFERENCES.setRelease(this, 1);
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

	/** Retains unless the buffer is released already. */
	boolean tryRetain() {
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
			this.owner.recycleSlice(this);
			root.release();
		}
		else {
			this.owner.free(this);
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
		root.retain();
		RegisteredBuffer slice = this.owner.sliceObject();
		slice.bind(extent(), this.offset + offsetBytes, lengthBytes, root);
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
		return this;
	}

	Extent extent() {
		checkAlive();
		return Objects.requireNonNull(this.extent);
	}

	Extent freedExtent() {
		return Objects.requireNonNull(this.extent);
	}

	int freedOffset() {
		return this.offset;
	}

	int freedCapacity() {
		return this.capacity;
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

}
