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

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pool of memory that is registered with one or more devices. Grows by extents from
 * {@link MemoryOptions#initialBytes()} to {@link MemoryOptions#maxBytes()} and gives them
 * back.
 *
 * <p>
 * Thread-safe; buffers may be released by any thread.
 */
public final class RegisteredMemory implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RegisteredMemory.class);

	private static final int UNIT_BYTES = 64;

	private final MemoryOptions options;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition released = this.lock.newCondition();

	private final List<MemoryAttachment> attachments = new ArrayList<>();

	/** The pool's extents in the order of their creation, each with its free ranges. */
	private final Map<Extent, FreeRanges> extents = new LinkedHashMap<>();

	private final IdentityHashMap<ByteBuffer, RegisteredBuffer> userBuffers = new IdentityHashMap<>();

	private final ArrayDeque<RegisteredBuffer> objects = new ArrayDeque<>();

	private final ConcurrentLinkedDeque<RegisteredBuffer> sliceObjects = new ConcurrentLinkedDeque<>();

	private final MemoryCounters metrics = new MemoryCounters();

	private boolean closed;

	private RegisteredMemory(MemoryOptions options) {
		this.options = options;
	}

	/**
	 * Creates a pool and its initial extents.
	 * @throws MemoryExhaustedException when the process has not enough direct memory
	 */
	public static RegisteredMemory create(MemoryOptions options) {
		RegisteredMemory memory = new RegisteredMemory(options);
		memory.lock.lock();
		try {
			while (memory.metrics.registeredBytes() < options.initialBytes()) {
				memory.grow((int) Math.min(options.extentBytes(),
						options.initialBytes() - memory.metrics.registeredBytes()));
			}
		}
		finally {
			memory.lock.unlock();
		}
		return memory;
	}

	/** The settings. */
	public MemoryOptions options() {
		return this.options;
	}

	/**
	 * Registers all memory, present and future, with a device.
	 * @throws RuntimeException what the hook threw; nothing is attached then
	 */
	public MemoryAttachment attach(RegistrationHook hook) {
		this.lock.lock();
		try {
			checkOpen();
			MemoryAttachment attachment = new MemoryAttachment(this, hook, freeIndex());
			List<Extent> registered = new ArrayList<>();
			boolean complete = false;
			try {
				for (Extent extent : allExtents()) {
					extent.register(attachment);
					registered.add(extent);
				}
				complete = true;
			}
			finally {
				if (!complete) {
					registered.forEach((extent) -> extent.deregister(attachment));
				}
			}
			this.attachments.add(attachment);
			return attachment;
		}
		finally {
			this.lock.unlock();
		}
	}

	private int freeIndex() {
		BitSet used = new BitSet();
		this.attachments.forEach((attachment) -> used.set(attachment.index()));
		return used.nextClearBit(0);
	}

	private List<Extent> allExtents() {
		List<Extent> all = new ArrayList<>(this.extents.keySet());
		this.userBuffers.values().forEach((buffer) -> all.add(buffer.freedExtent()));
		return all;
	}

	void detach(MemoryAttachment attachment) {
		this.lock.lock();
		try {
			if (!attachment.isClosed()) {
				attachment.markClosed();
				this.attachments.remove(attachment);
				allExtents().forEach((extent) -> extent.deregister(attachment));
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Allocates, waiting up to {@link MemoryOptions#allocationTimeout()} for others to
	 * release when the budget is spent.
	 * @param lengthBytes at least 0
	 * @return a buffer with unspecified content, owned by the caller
	 * @throws MemoryExhaustedException when there was still no memory
	 */
	public RegisteredBuffer allocate(int lengthBytes) {
		this.lock.lock();
		try {
			RegisteredBuffer buffer = allocateLocked(lengthBytes);
			long remaining = this.options.allocationTimeout().toNanos();
			if (buffer == null && remaining > 0) {
				this.metrics.waits.incrementAndGet();
			}
			while (buffer == null && remaining > 0) {
				try {
					remaining = this.released.awaitNanos(remaining);
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
					remaining = 0;
				}
				buffer = allocateLocked(lengthBytes);
			}
			if (buffer == null) {
				this.metrics.failures.incrementAndGet();
				throw new MemoryExhaustedException("no registered memory for " + lengthBytes + " bytes: "
						+ this.metrics.allocatedBytes() + " of " + this.options.maxBytes() + " in use", null);
			}
			return buffer;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Allocates without waiting for a release; it may take the time of growing by an
	 * extent.
	 * @param lengthBytes at least 0
	 * @return a buffer with unspecified content, owned by the caller, or {@code null}
	 * when the budget is spent
	 */
	public @Nullable RegisteredBuffer tryAllocate(int lengthBytes) {
		this.lock.lock();
		try {
			RegisteredBuffer buffer;
			try {
				buffer = allocateLocked(lengthBytes);
			}
			catch (MemoryExhaustedException ex) {
				logger.warn("Cannot grow registered memory", ex);
				buffer = null;
			}
			if (buffer == null) {
				this.metrics.failures.incrementAndGet();
			}
			return buffer;
		}
		finally {
			this.lock.unlock();
		}
	}

	private @Nullable RegisteredBuffer allocateLocked(int lengthBytes) {
		checkOpen();
		if (lengthBytes < 0 || lengthBytes > MemoryOptions.MAX_EXTENT_BYTES) {
			throw new IllegalArgumentException(
					"length " + lengthBytes + " (expected: from 0 to " + MemoryOptions.MAX_EXTENT_BYTES + ")");
		}
		int capacity = Math.max(UNIT_BYTES, (lengthBytes + UNIT_BYTES - 1) & -UNIT_BYTES);
		for (Map.Entry<Extent, FreeRanges> entry : this.extents.entrySet()) {
			int offset = entry.getValue().find(capacity);
			if (offset >= 0) {
				return take(entry.getKey(), entry.getValue(), offset, capacity, lengthBytes);
			}
		}
		int needed = (capacity + MemoryOptions.PAGE_BYTES - 1) & -MemoryOptions.PAGE_BYTES;
		long left = this.options.maxBytes() - this.metrics.registeredBytes();
		if (needed > left) {
			return null;
		}
		Extent extent = grow((int) Math.min(left, Math.max(needed, this.options.extentBytes())));
		return take(extent, Objects.requireNonNull(this.extents.get(extent)), 0, capacity, lengthBytes);
	}

	private RegisteredBuffer take(Extent extent, FreeRanges free, int offset, int capacity, int lengthBytes) {
		free.take(offset, capacity);
		RegisteredBuffer buffer = this.objects.poll();
		if (buffer == null) {
			buffer = new RegisteredBuffer(this);
		}
		this.metrics.allocatedBytes.addAndGet(capacity);
		this.metrics.allocations.incrementAndGet();
		buffer.bind(extent, offset, capacity, null);
		buffer.activate(lengthBytes);
		return buffer;
	}

	private Extent grow(int lengthBytes) {
		Extent extent = Extent.allocate(lengthBytes);
		try {
			extent.registerAll(this.attachments);
		}
		catch (RuntimeException ex) {
			throw new MemoryExhaustedException(
					"a device refused to register another extent of " + lengthBytes + " bytes", ex);
		}
		this.extents.put(extent, new FreeRanges(lengthBytes));
		this.metrics.extents.incrementAndGet();
		this.metrics.registeredBytes.addAndGet(lengthBytes);
		return extent;
	}

	/**
	 * Registers memory of the user's own: the bytes from position to limit. The same
	 * buffer again gives the same registration as long as it has not been released as
	 * often as it was registered.
	 * @param direct a direct buffer; stays reachable until released
	 * @return the buffer, owned by the caller
	 */
	public RegisteredBuffer register(ByteBuffer direct) {
		if (!direct.isDirect() || !direct.hasRemaining()) {
			throw new IllegalArgumentException(direct + " (expected: a direct buffer that is not empty)");
		}
		this.lock.lock();
		try {
			checkOpen();
			RegisteredBuffer known = this.userBuffers.get(direct);
			if (known != null && known.freedCapacity() == direct.remaining() && known.tryRetain()) {
				return known;
			}
			Extent extent = new Extent(direct.slice());
			extent.registerAll(this.attachments);
			RegisteredBuffer buffer = new RegisteredBuffer(this);
			buffer.bind(extent, 0, extent.lengthBytes(), null);
			buffer.activate(extent.lengthBytes());
			this.userBuffers.put(direct, buffer);
			this.metrics.userBytes.addAndGet(extent.lengthBytes());
			this.metrics.allocations.incrementAndGet();
			return buffer;
		}
		finally {
			this.lock.unlock();
		}
	}

	void free(RegisteredBuffer buffer) {
		this.lock.lock();
		try {
			this.metrics.frees.incrementAndGet();
			Extent extent = buffer.freedExtent();
			FreeRanges free = this.extents.get(extent);
			if (free != null) {
				free.release(buffer.freedOffset(), buffer.freedCapacity());
				this.metrics.allocatedBytes.addAndGet(-buffer.freedCapacity());
				this.objects.push(buffer);
				giveBack(extent, free);
				this.released.signalAll();
			}
			else if (!this.closed) {
				this.userBuffers.values().remove(buffer);
				this.attachments.forEach(extent::deregister);
				this.metrics.userBytes.addAndGet(-extent.lengthBytes());
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Gives an extent back that is free, when there is another one like it. */
	private void giveBack(Extent extent, FreeRanges free) {
		long left = this.metrics.registeredBytes() - extent.lengthBytes();
		if (left >= this.options.initialBytes() && free.isFree()
				&& this.extents.entrySet()
					.stream()
					.anyMatch((other) -> other.getKey() != extent && other.getValue().isFree())) {
			this.extents.remove(extent);
			this.metrics.extents.decrementAndGet();
			this.attachments.forEach(extent::deregister);
			this.metrics.registeredBytes.set(left);
			this.objects.clear();
			this.sliceObjects.clear();
		}
	}

	RegisteredBuffer sliceObject() {
		RegisteredBuffer slice = this.sliceObjects.poll();
		return (slice != null) ? slice : new RegisteredBuffer(this);
	}

	void recycleSlice(RegisteredBuffer slice) {
		this.sliceObjects.push(slice);
	}

	/** The counters. */
	public MemoryMetrics metrics() {
		return this.metrics;
	}

	private void checkOpen() {
		if (this.closed) {
			throw new IllegalStateException("registered memory is closed");
		}
	}

	/**
	 * Deregisters everything and reports what is outstanding. Idempotent.
	 * @throws IllegalStateException with {@link LeakDetection#PARANOID}, after closing,
	 * when buffers are outstanding
	 */
	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
			List.copyOf(this.attachments).forEach(this::detach);
			this.extents.clear();
			this.userBuffers.clear();
			this.objects.clear();
			this.sliceObjects.clear();
			this.metrics.registeredBytes.set(0);
			this.metrics.extents.set(0);
			this.metrics.userBytes.set(0);
			this.released.signalAll();
			long outstanding = this.metrics.outstanding();
			if (outstanding != 0) {
				String message = outstanding + " buffers outstanding when registered memory was closed";
				logger.warn(message);
				if (this.options.leakDetection() == LeakDetection.PARANOID) {
					throw new IllegalStateException(message);
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
