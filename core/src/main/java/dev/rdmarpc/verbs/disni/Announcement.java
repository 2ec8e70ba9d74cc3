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

import java.util.concurrent.locks.Condition;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairState;

/**
 * The one call of a queue pair's listener: made without any lock, and over when the queue
 * pair's close returns.
 *
 * <p>
 * Guarded by the lock of the completion queue, except {@link #run()}.
 */
final class Announcement {

	private static final Logger logger = LoggerFactory.getLogger(Announcement.class);

	private static final long PATIENCE_NANOS = 5_000_000_000L;

	private final DisniQueuePair queuePair;

	private final DisniCompletionQueue completionQueue;

	private final Condition ended;

	private @Nullable Thread caller;

	Announcement(DisniQueuePair queuePair, DisniCompletionQueue completionQueue) {
		this.queuePair = queuePair;
		this.completionQueue = completionQueue;
		this.ended = completionQueue.newCondition();
	}

	/** Calls the listener, unless the queue pair was closed. The caller holds no lock. */
	void run() {
		QueuePairFault fault = this.queuePair.fault();
		if (fault == null || !begin()) {
			return;
		}
		try {
			this.queuePair.listener().onDisconnected(this.queuePair, fault);
		}
		catch (RuntimeException ex) {
			logger.error("Listener of {} failed", this.queuePair, ex);
		}
		finally {
			end();
		}
	}

	private boolean begin() {
		this.completionQueue.lock();
		try {
			if (this.queuePair.state() == QueuePairState.CLOSED) {
				return false;
			}
			this.caller = Thread.currentThread();
			return true;
		}
		finally {
			this.completionQueue.unlock();
		}
	}

	private void end() {
		this.completionQueue.lock();
		try {
			this.caller = null;
			this.ended.signalAll();
		}
		finally {
			this.completionQueue.unlock();
		}
	}

	/** Waits for a call under way in another thread. */
	void awaitEnd() {
		long remaining = PATIENCE_NANOS;
		boolean interrupted = false;
		while (this.caller != null && this.caller != Thread.currentThread() && remaining > 0) {
			try {
				remaining = this.ended.awaitNanos(remaining);
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (remaining <= 0) {
			logger.error("Listener of {} blocks; the queue pair is closed without waiting for it any longer",
					this.queuePair);
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

}
