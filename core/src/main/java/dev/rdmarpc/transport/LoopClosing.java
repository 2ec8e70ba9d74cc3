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

package dev.rdmarpc.transport;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import dev.rdmarpc.verbs.CompletionQueue;

/**
 * The bounded time in which a closing loop comes to rest. Whoever sleeps is woken; what
 * holds up the loop's own thread is broken off after a while.
 */
final class LoopClosing {

	private static final long BREAK_OFF_NANOS = 1_000_000_000;

	private static final long LIMIT_NANOS = 5_000_000_000L;

	private static final long PAUSE_NANOS = 2_000_000;

	private final CompletionQueue completions;

	private final Runnable breakOff;

	private final long start = System.nanoTime();

	/**
	 * Begins the time.
	 * @param breakOff breaks off what holds up the loop's own thread, if anything
	 */
	LoopClosing(CompletionQueue completions, Runnable breakOff) {
		this.completions = completions;
		this.breakOff = breakOff;
	}

	/** Waits for something for what is left of the time; an interrupt ends nothing. */
	void await(BooleanSupplier ended) {
		boolean interrupted = false;
		long waited = 0;
		while (!ended.getAsBoolean() && waited < LIMIT_NANOS) {
			wakeAwaiter();
			if (waited >= BREAK_OFF_NANOS) {
				this.breakOff.run();
			}
			LockSupport.parkNanos(this, Math.min(waited, PAUSE_NANOS));
			interrupted |= Thread.interrupted();
			waited = System.nanoTime() - this.start;
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	private void wakeAwaiter() {
		try {
			this.completions.wakeUp();
		}
		catch (Throwable ex) {
			// the device fails; nobody can sleep in it for long
		}
	}

	/**
	 * What one thread does, and any other one waits for: once both have returned, the
	 * loop's memory may go.
	 */
	static final class Once {

		private final AtomicBoolean begun = new AtomicBoolean();

		private final CountDownLatch returned = new CountDownLatch(1);

		/** Runs it, or waits for the thread that does; an interrupt ends nothing. */
		void run(Runnable closing) {
			if (this.begun.compareAndSet(false, true)) {
				try {
					closing.run();
				}
				finally {
					this.returned.countDown();
				}
			}
			else {
				awaitReturn();
			}
		}

		private void awaitReturn() {
			boolean interrupted = false;
			long start = System.nanoTime();
			long waited = 0;
			while (this.returned.getCount() > 0 && waited < 2 * LIMIT_NANOS) {
				try {
					this.returned.await(2 * LIMIT_NANOS - waited, TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
				waited = System.nanoTime() - start;
			}
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
