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
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.MemorySource;

/**
 * A pool of memory that is registered with one or more devices: a general allocator.
 * Grows by extents from {@link MemoryOptions#initialBytes()} to
 * {@link MemoryOptions#maxBytes()} and gives them back. Allocating and releasing allocate
 * nothing on the heap in the steady state.
 *
 * <p>
 * Thread-safe; buffers may be released by any thread.
 */
public final class RegisteredMemory implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RegisteredMemory.class);

	private static final int MAX_SITES = 10;

	private static final int MOST_TOGETHER_BYTES = 1024;

	private final MemoryOptions options;

	private final Patience patience;

	private final @Nullable MemorySource source;

	private final boolean paranoid;

	private final @Nullable LeakDetector leakDetector;

	private final RegisteredBuffer.Home home = new Home();

	private final HalfShare half = new HalfShare(this);

	private final Registrar registrar = new Registrar();

	private final UserRegistrations users;

	private final Extents extents;

	private final Waiters waiters = new Waiters();

	private final BackgroundWork deregistering = new BackgroundWork(this::deregisterRetired);

	private final BlockAllocator blocks;

	private final MemoryCounters metrics;

	/** How many extents there had been when a refusal was logged: once at each height. */
	private final AtomicLong refusedAt = new AtomicLong(-1);

	private final ReentrantLock closing = new ReentrantLock();

	private volatile boolean closed;

	private RegisteredMemory(MemoryOptions options, @Nullable MemorySource source) {
		this.options = options;
		this.patience = Patience.of(options.allocationTimeout());
		this.source = source;
		this.paranoid = options.leakDetection() == LeakDetection.PARANOID;
		this.leakDetector = LeakDetector.of(options.leakDetection());
		this.users = new UserRegistrations(this.registrar, options.registrationCacheBytes());
		this.extents = new Extents(options, source, this.registrar, System::nanoTime, this.deregistering::request);
		this.blocks = new BlockAllocator(this.home, options, this.extents, this.waiters, this.deregistering);
		this.metrics = new MemoryCounters(this.blocks, this.extents, this.users, this.leakDetector);
	}

	/**
	 * Creates a pool and its initial extents.
	 * @throws MemoryExhaustedException when the process has not enough direct memory
	 */
	public static RegisteredMemory create(MemoryOptions options) {
		return create(options, null);
	}

	/**
	 * Creates a pool and its initial extents, of memory that a provider's source has, and
	 * of direct memory when it has none.
	 * @param source takes ownership, also when this fails; {@code null} if there is none
	 * @throws MemoryExhaustedException when the process has not enough direct memory
	 */
	public static RegisteredMemory create(MemoryOptions options, @Nullable MemorySource source) {
		RegisteredMemory memory = new RegisteredMemory((source != null) ? options : options.withinDirectMemory(),
				source);
		boolean complete = false;
		try {
			memory.extents.open();
			complete = true;
			return memory;
		}
		finally {
			if (!complete && source != null) {
				source.close();
			}
		}
	}

	/** The settings, with the budget that there can be. */
	public MemoryOptions options() {
		return this.options;
	}

	/**
	 * Registers all memory, present and future, with a device.
	 * @throws RuntimeException what the hook threw; nothing is attached then
	 */
	public MemoryAttachment attach(RegistrationHook hook) {
		return this.registrar.attach(hook);
	}

	/**
	 * Allocates, waiting for others to release when the budget is spent, as long as
	 * {@link #patience()} lasts, and up to 2 s while the garbage collector is freeing
	 * what is left of it.
	 * @param lengthBytes at least 0
	 * @return a buffer with unspecified content, owned by the caller
	 * @throws MemoryExhaustedException when there was still no memory
	 */
	public RegisteredBuffer allocate(int lengthBytes) {
		return allocate(lengthBytes, this.patience.longestNanos());
	}

	/**
	 * The same for who has less time, or more.
	 * @param mostNanos how long to wait at most
	 * @return a buffer with unspecified content, owned by the caller
	 * @throws MemoryExhaustedException when there was still no memory
	 */
	public RegisteredBuffer allocate(int lengthBytes, long mostNanos) {
		check(lengthBytes);
		RegisteredBuffer block = this.blocks.take(lengthBytes);
		return activate((block != null) ? block : allocateSlowly(lengthBytes, mostNanos, Supplier::get), lengthBytes);
	}

	/** Whether somebody waits for memory, who is to have what is not needed. */
	public boolean isAwaited() {
		return this.waiters.any();
	}

	/** What messages may take that wait for others to arrive. */
	public HalfShare half() {
		return this.half;
	}

	/** The same where not everybody may take something at once. */
	RegisteredBuffer allocate(int lengthBytes, long mostNanos, Gate gate) {
		check(lengthBytes);
		return activate(allocateSlowly(lengthBytes, mostNanos, gate), lengthBytes);
	}

	private RegisteredBuffer allocateSlowly(int lengthBytes, long mostNanos, Gate gate) {
		Attempts attempts = new Attempts(lengthBytes);
		RegisteredBuffer block = gate.take(attempts);
		long left = (lengthBytes <= this.options.maxBytes()) ? leftNanos(mostNanos, 0) : 0;
		if (block == null && left > 0) {
			this.metrics.waits.incrementAndGet();
			Supplier<@Nullable RegisteredBuffer> again = () -> {
				checkOpen();
				return gate.take(attempts);
			};
			long begin = System.nanoTime();
			while (block == null && left > 0 && !Thread.currentThread().isInterrupted()) {
				block = this.waiters.await(again, left);
				left = leftNanos(mostNanos, System.nanoTime() - begin);
			}
			if (block == null) {
				// what was waited for may have come since the last attempt
				block = again.get();
			}
		}
		if (block == null) {
			this.metrics.failures.incrementAndGet();
			throw new MemoryExhaustedException(
					"no registered memory for " + lengthBytes + " bytes: " + this.metrics.allocatedBytes()
							+ " of at most " + this.options.maxBytes() + " in use" + suffix(attempts.refused),
					attempts.refused);
		}
		return block;
	}

	/** Lets all who wait look again. */
	void wake() {
		if (this.waiters.any()) {
			this.waiters.signal();
		}
	}

	/**
	 * Whether an allocation may yet succeed, as {@link #patience()} says: somebody may
	 * release, or the garbage collector is about to free memory that was given back in
	 * pieces too small to be used, which can take longer.
	 * @param waitedNanos for how long it has been tried in vain
	 */
	public boolean isWorthWaiting(long waitedNanos) {
		return leftNanos(this.patience.longestNanos(), waitedNanos) > 0;
	}

	private long leftNanos(long mostNanos, long waitedNanos) {
		long left = this.patience.leftNanos(mostNanos, waitedNanos, this.blocks.stillNanos());
		if (!this.blocks.isCollecting()) {
			return left;
		}
		// what the collector does is looked at anew from time to time, and not for ever
		long collected = Math.min(mostNanos, this.patience.longestNanos()) - waitedNanos;
		return Math.max(left, Math.min(collected, this.patience.timeoutNanos()));
	}

	/** How long to wait for memory, of which large blocks may move meanwhile. */
	public Patience patience() {
		return this.patience;
	}

	private static String suffix(@Nullable MemoryExhaustedException refused) {
		return (refused != null) ? ", and " + refused.getMessage() : "";
	}

	private @Nullable RegisteredBuffer allocateAnywhere(int lengthBytes) {
		RegisteredBuffer block = this.blocks.takeOrGrow(lengthBytes);
		return (block != null) ? block : this.blocks.takeReclaimed(lengthBytes, true);
	}

	/**
	 * Allocates without waiting for a release; it may take the time of growing by an
	 * extent.
	 * @param lengthBytes at least 0
	 * @return a buffer with unspecified content, owned by the caller, or {@code null}
	 * when the budget is spent or what is left of it has to be freed by the garbage
	 * collector first
	 */
	public @Nullable RegisteredBuffer tryAllocate(int lengthBytes) {
		check(lengthBytes);
		RegisteredBuffer block = this.blocks.take(lengthBytes);
		if (block == null) {
			try {
				block = allocateAnywhere(lengthBytes);
			}
			catch (MemoryExhaustedException ex) {
				if (this.refusedAt.getAndSet(this.extents.added()) != this.extents.added()) {
					logger.warn("Cannot grow registered memory", ex);
				}
				block = this.blocks.takeReclaimed(lengthBytes, false);
			}
		}
		if (block == null) {
			this.metrics.failures.incrementAndGet();
			return null;
		}
		return activate(block, lengthBytes);
	}

	/**
	 * Allocates several small buffers of a length like {@link #tryAllocate(int)}, which
	 * costs less than one by one. Where leaks are looked for, or memory is short, it is
	 * only one.
	 * @param lengthBytes from 0 to 1024
	 * @param into gets the buffers, owned by the caller, from its beginning on
	 * @param most how many, at least 1
	 * @return how many; 0 where there is no memory
	 */
	public int tryAllocate(int lengthBytes, @Nullable RegisteredBuffer[] into, int most) {
		if (lengthBytes > MOST_TOGETHER_BYTES) {
			throw new IllegalArgumentException(
					"length " + lengthBytes + " (expected: at most " + MOST_TOGETHER_BYTES + ")");
		}
		Objects.checkFromIndexSize(0, most, into.length);
		check(lengthBytes);
		int count = (most > 1 && this.leakDetector == null && !this.waiters.any())
				? this.blocks.take(lengthBytes, into, most) : 0;
		for (int i = 0; i < count; i++) {
			Objects.requireNonNull(into[i]).activate(lengthBytes);
		}
		if (count == 0) {
			into[0] = tryAllocate(lengthBytes);
			count = (into[0] != null) ? 1 : 0;
		}
		return count;
	}

	/**
	 * Allocates like {@link #tryAllocate(int)}, but only if so much of the budget stays
	 * free for others.
	 * @param lengthBytes at least 0
	 * @return a buffer with unspecified content, owned by the caller, or {@code null}
	 */
	public @Nullable RegisteredBuffer tryAllocate(int lengthBytes, long keptFreeBytes) {
		if (this.metrics.allocatedBytes() + lengthBytes > this.options.maxBytes() - keptFreeBytes) {
			this.metrics.failures.incrementAndGet();
			return null;
		}
		return tryAllocate(lengthBytes);
	}

	/**
	 * Gives extents back that nobody has used for the {@linkplain MemoryOptions#retention
	 * retention}. Releases do the same; this is for a pool where nothing happens any
	 * more. Loops call it now and then.
	 */
	public void trim() {
		if (!this.closed) {
			this.blocks.trimExtents();
		}
	}

	/** Deregisters what is not needed any more, for which nobody has to wait. */
	private void deregisterRetired() {
		this.extents.deregisterRetired();
		this.users.deregisterRetired();
		this.waiters.signal();
	}

	private void check(int lengthBytes) {
		checkOpen();
		if (lengthBytes < 0 || lengthBytes > MemoryOptions.MAX_EXTENT_BYTES) {
			throw new IllegalArgumentException(
					"length " + lengthBytes + " (expected: from 0 to " + MemoryOptions.MAX_EXTENT_BYTES + ")");
		}
	}

	private RegisteredBuffer activate(RegisteredBuffer buffer, int lengthBytes) {
		buffer.activate(lengthBytes);
		if (this.leakDetector != null) {
			follow(buffer, this.leakDetector);
		}
		return buffer;
	}

	private static void follow(RegisteredBuffer buffer, LeakDetector detector) {
		try {
			buffer.follow(detector.follow(buffer, buffer.length()));
		}
		catch (Throwable ex) {
			buffer.release();
			throw ex;
		}
	}

	/**
	 * Registers memory of the user's own: the bytes from position to limit.
	 *
	 * <p>
	 * The same buffer object with the same position and limit again gives the same
	 * regions. They are kept when all buffers are released, for the next time, and keep
	 * the memory reachable; when what is kept exceeds
	 * {@link MemoryOptions#registrationCacheBytes()}, or when a device refuses more, the
	 * longest unused are dropped. Memory that is to be freed by other means than the
	 * garbage collector must be {@link #forget forgotten} before.
	 * @param direct a direct buffer; stays reachable until forgotten or dropped
	 * @return a buffer, owned by the caller
	 * @throws MemoryExhaustedException when a device refuses
	 */
	public RegisteredBuffer register(ByteBuffer direct) {
		if (!direct.isDirect() || !direct.hasRemaining()) {
			throw new IllegalArgumentException(direct + " (expected: a direct buffer that is not empty)");
		}
		checkOpen();
		RegisteredBuffer buffer = new RegisteredBuffer(this.home, this.users.use(direct));
		this.blocks.countAllocation();
		return activate(buffer, buffer.blockBytes());
	}

	/**
	 * Drops the registrations of a buffer that was {@link #register registered}: at once,
	 * or with the last release if they are in use. The next time it is registered anew.
	 * @param direct the same object; borrowed
	 * @return whether there was one
	 */
	public boolean forget(ByteBuffer direct) {
		return this.users.forget(direct);
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
		this.closing.lock();
		try {
			if (this.closed) {
				return;
			}
			this.closed = true;
			this.extents.close();
			this.registrar.close();
		}
		finally {
			this.closing.unlock();
		}
		this.users.close();
		this.blocks.close();
		this.waiters.signal();
		if (this.source != null) {
			this.source.close();
		}
		reportOutstanding();
	}

	private void reportOutstanding() {
		long leaks = this.metrics.leaks();
		long outstanding = this.metrics.outstanding();
		if (outstanding != 0) {
			String message = outstanding + " buffers outstanding when registered memory was closed, " + leaks
					+ " of them lost";
			IllegalStateException report = new IllegalStateException(message);
			if (this.leakDetector != null) {
				this.leakDetector.sites(MAX_SITES).forEach(report::addSuppressed);
			}
			if (this.paranoid) {
				throw report;
			}
			if (report.getSuppressed().length > 0) {
				logger.warn(message, report);
			}
			else {
				logger.warn(message);
			}
		}
	}

	/** What buffers know of the memory that they are from. */
	private final class Home implements RegisteredBuffer.Home {

		@Override
		public void free(RegisteredBuffer buffer) {
			LeakDetector.Track track = buffer.follow(null);
			if (track != null && RegisteredMemory.this.leakDetector != null) {
				RegisteredMemory.this.leakDetector.end(track);
			}
			if (!buffer.isBlock()) {
				RegisteredMemory.this.users.release(buffer.boundExtent());
				RegisteredMemory.this.blocks.countFree(0);
				if (RegisteredMemory.this.users.hasRetired()) {
					RegisteredMemory.this.deregistering.request();
				}
			}
			else if (RegisteredMemory.this.closed) {
				RegisteredMemory.this.blocks.countFree(buffer.blockBytes());
			}
			else {
				RegisteredMemory.this.blocks.give(RegisteredMemory.this.paranoid ? buffer.successor() : buffer);
			}
		}

		@Override
		public @Nullable RegisteredBuffer takeSlice() {
			return RegisteredMemory.this.paranoid ? null : RegisteredMemory.this.blocks.takeSlice();
		}

		@Override
		public void giveSlice(RegisteredBuffer slice) {
			if (!RegisteredMemory.this.paranoid) {
				RegisteredMemory.this.blocks.giveSlice(slice);
			}
		}

	}

	/** The attempts of one allocation: after a refusal, with what there is. */
	private final class Attempts implements Supplier<@Nullable RegisteredBuffer> {

		private final int lengthBytes;

		private @Nullable MemoryExhaustedException refused;

		Attempts(int lengthBytes) {
			this.lengthBytes = lengthBytes;
		}

		@Override
		public @Nullable RegisteredBuffer get() {
			RegisteredBuffer block = RegisteredMemory.this.blocks.take(this.lengthBytes);
			if (block != null) {
				return block;
			}
			if (this.refused == null) {
				try {
					return allocateAnywhere(this.lengthBytes);
				}
				catch (MemoryExhaustedException ex) {
					this.refused = ex;
				}
			}
			return RegisteredMemory.this.blocks.takeReclaimed(this.lengthBytes, false);
		}

	}

	/** Decides whether memory may be looked for now. */
	@FunctionalInterface
	interface Gate {

		/**
		 * Takes a block if that may be.
		 * @param blocks looks for one
		 */
		@Nullable RegisteredBuffer take(Supplier<@Nullable RegisteredBuffer> blocks);

	}

}
