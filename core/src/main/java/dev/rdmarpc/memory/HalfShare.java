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

import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Half of what others leave of a memory, for large messages that wait for others to
 * arrive: if they took everything, nothing could, and nothing of them would be given
 * back. A single one may take more. Small ones are not counted. Thread-safe.
 *
 * <p>
 * Implementation notes. Those who wait are served in their order, so that one that needs
 * much gets its turn; whoever leaves their queue wakes the next. The first one goes to
 * the end of it when it could have taken something, and has found nothing, for as long as
 * {@link Patience} lasts. The lock guards the queue and how much is taken. It is not held
 * while memory is looked for: what is to be taken is counted before, and until it is
 * there it is pending, and not among what the memory says is allocated.
 */
public final class HalfShare {

	private final RegisteredMemory memory;

	private final ReentrantLock lock = new ReentrantLock();

	private final ArrayDeque<Claim> waiting = new ArrayDeque<>();

	private long takenBytes;

	/** What of it is only about to be allocated. */
	private long pendingBytes;

	HalfShare(RegisteredMemory memory) {
		this.memory = memory;
	}

	/**
	 * Allocates, waiting as long as {@link RegisteredMemory#patience()} lasts.
	 * @param lengthBytes at least 0
	 * @param mostNanos how long to wait at most
	 * @return a buffer with unspecified content, owned by the caller, who
	 * {@linkplain #release gives} it back here
	 * @throws MemoryExhaustedException when there was still no memory
	 */
	public RegisteredBuffer allocate(int lengthBytes, long mostNanos) {
		if (isSmall(lengthBytes)) {
			return this.memory.allocate(lengthBytes, mostNanos);
		}
		Claim claim = new Claim(lengthBytes);
		try {
			return this.memory.allocate(lengthBytes, mostNanos, claim);
		}
		catch (MemoryExhaustedException ex) {
			long others = takenBytes();
			giveUp(claim);
			throw new MemoryExhaustedException(
					ex.getMessage() + ", " + others + " by large requests, which may take half of what others leave",
					ex.getCause());
		}
		catch (Throwable ex) {
			giveUp(claim);
			throw ex;
		}
	}

	/** Gives back what was allocated here, to which nobody else has a reference. */
	public void release(RegisteredBuffer buffer) {
		int lengthBytes = buffer.length();
		if (!isSmall(lengthBytes)) {
			this.lock.lock();
			try {
				this.takenBytes -= lengthBytes;
			}
			finally {
				this.lock.unlock();
			}
		}
		buffer.release();
	}

	private static boolean isSmall(int lengthBytes) {
		return lengthBytes <= SizeClasses.MAX_BYTES;
	}

	/** Counts what is to be taken if it may be, and else waits behind others. */
	private boolean begin(Claim claim) {
		this.lock.lock();
		try {
			Claim first = this.waiting.peek();
			boolean mayTake = (first == null || first == claim) && mayTake(claim.lengthBytes);
			if (mayTake) {
				this.takenBytes += claim.lengthBytes;
				this.pendingBytes += claim.lengthBytes;
			}
			else {
				await(claim);
			}
			return mayTake;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean mayTake(int lengthBytes) {
		if (this.takenBytes == 0) {
			return true;
		}
		long others = this.memory.metrics().allocatedBytes() - (this.takenBytes - this.pendingBytes);
		return this.takenBytes + lengthBytes <= (this.memory.options().maxBytes() - others) / 2;
	}

	private void await(Claim claim) {
		if (!claim.waiting) {
			claim.waiting = true;
			claim.sinceNanos = System.nanoTime();
			this.waiting.add(claim);
		}
	}

	/** There was memory for it, or there was none. */
	private void end(Claim claim, boolean taken) {
		boolean wake;
		this.lock.lock();
		try {
			this.pendingBytes -= claim.lengthBytes;
			claim.taken = taken;
			if (taken) {
				this.waiting.remove(claim);
				wake = !this.waiting.isEmpty();
			}
			else {
				this.takenBytes -= claim.lengthBytes;
				wake = !claim.waiting || stepsAside(claim);
				await(claim);
			}
		}
		finally {
			this.lock.unlock();
		}
		if (wake) {
			this.memory.wake();
		}
	}

	/** Whether one that finds nothing, and for long, goes behind the others. */
	private boolean stepsAside(Claim claim) {
		long now = System.nanoTime();
		if (now - claim.sinceNanos < this.memory.patience().longestNanos()) {
			return false;
		}
		claim.sinceNanos = now;
		this.waiting.remove(claim);
		this.waiting.add(claim);
		return this.waiting.size() > 1;
	}

	private void giveUp(Claim claim) {
		this.lock.lock();
		try {
			if (claim.taken) {
				this.takenBytes -= claim.lengthBytes;
			}
			this.waiting.remove(claim);
		}
		finally {
			this.lock.unlock();
		}
		this.memory.wake();
	}

	/** How much is taken. */
	long takenBytes() {
		this.lock.lock();
		try {
			return this.takenBytes;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** What somebody wants; guarded by the lock. */
	private final class Claim implements RegisteredMemory.Gate {

		private final int lengthBytes;

		private boolean waiting;

		/** When it went behind others. */
		private long sinceNanos;

		private boolean taken;

		Claim(int lengthBytes) {
			this.lengthBytes = lengthBytes;
		}

		@Override
		public @Nullable RegisteredBuffer take(Supplier<@Nullable RegisteredBuffer> blocks) {
			if (!begin(this)) {
				return null;
			}
			RegisteredBuffer block = null;
			try {
				block = blocks.get();
				return block;
			}
			finally {
				end(this, block != null);
			}
		}

	}

}
