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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * What a thread sleeps on that awaits completions: the adapter's notification, a
 * completion that comes without the adapter, a wake-up, the close.
 *
 * <p>
 * Implementation notes. The sleeper first says that it sleeps and then looks at the
 * flags; who sets a flag does so before it looks whether somebody sleeps. So one of the
 * two sees the other. A wake-up that comes too late for its sleeper ends the next one's
 * sleep for a moment, nothing more. Interrupting a thread does not end a native sleep, so
 * a sleeper looks every now and then.
 */
final class CompletionSignal {

	private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final AdapterCompletionQueue queue;

	private final ReentrantLock sleeper = new ReentrantLock();

	private volatile boolean sleeping;

	private volatile boolean wakeUpRequested;

	private volatile boolean armed;

	private volatile boolean requested;

	private volatile boolean fired;

	private volatile boolean closed;

	CompletionSignal(AdapterCompletionQueue queue) {
		this.queue = queue;
	}

	/** Asks for one notification; what came of an earlier request is forgotten. */
	void arm(boolean solicitedOnly) {
		try {
			boolean stale = this.requested && !this.sleeping;
			while (stale && this.queue.await(0)) {
				// forgotten
			}
			this.fired = false;
			this.armed = true;
			this.requested = true;
			this.queue.request(solicitedOnly);
		}
		catch (IOException ex) {
			throw failed(ex);
		}
	}

	/** A completion has come, or will, that the adapter does not notify of. */
	void fire() {
		if (this.armed) {
			this.armed = false;
			this.fired = true;
			wakeSleeper();
		}
	}

	/** Ends the current or else the next sleep. */
	void wakeUp() {
		this.wakeUpRequested = true;
		wakeSleeper();
	}

	private void wakeSleeper() {
		if (this.sleeping) {
			try {
				this.queue.wake();
			}
			catch (IOException ex) {
				throw failed(ex);
			}
		}
	}

	/**
	 * Sleeps.
	 * @return whether there was a notification; {@code null} if the queue is closed
	 */
	@Nullable Boolean await(long timeoutNanos) {
		long start = System.nanoTime();
		this.sleeper.lock();
		try {
			this.sleeping = true;
			while (true) {
				if (this.closed) {
					return null;
				}
				if (this.fired) {
					this.fired = false;
					return true;
				}
				if (this.wakeUpRequested) {
					this.wakeUpRequested = false;
					return false;
				}
				long remaining = timeoutNanos - (System.nanoTime() - start);
				boolean over = remaining <= 0 || Thread.currentThread().isInterrupted();
				if (this.queue.await(over ? 0 : Math.min(remaining, SLICE_NANOS))) {
					this.armed = false;
					this.requested = false;
					return true;
				}
				if (over) {
					return this.closed ? null : Boolean.FALSE;
				}
			}
		}
		catch (IOException ex) {
			throw failed(ex);
		}
		finally {
			this.sleeping = false;
			this.sleeper.unlock();
		}
	}

	private static VerbsException failed(IOException ex) {
		return new VerbsException(VerbsError.DEVICE_ERROR, "completion channel failed: " + ex.getMessage(), ex);
	}

	/** Ends the current sleep and all later ones. */
	void close() {
		this.closed = true;
		wakeSleeper();
		awaitNobody();
	}

	/** Waits until nobody sleeps. */
	@SuppressWarnings("LockNotBeforeTry") // there is nothing to do between
	private void awaitNobody() {
		this.sleeper.lock();
		this.sleeper.unlock();
	}

}
