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

package dev.rdmarpc.verbs.support;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairState;

/**
 * The one call of a queue pair's listener: made without any lock, and over when the queue
 * pair's close returns.
 *
 * <p>
 * Its state is guarded by the lock under which the queue pair is closed. The provider
 * sees to it that {@link #make()} is called once.
 */
public final class ListenerCall {

	private static final Logger logger = LoggerFactory.getLogger(ListenerCall.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private static final RateLimitedLogger blocks = new RateLimitedLogger(logger);

	private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

	private final QueuePair queuePair;

	private final Lock lock;

	private final Condition ended;

	private @Nullable Thread caller;

	/**
	 * Creates the call of a queue pair's listener.
	 * @param queuePair whose listener is called, with its fault
	 * @param lock under which the queue pair goes to {@link QueuePairState#CLOSED}
	 */
	public ListenerCall(QueuePair queuePair, Lock lock) {
		this.queuePair = queuePair;
		this.lock = lock;
		this.ended = lock.newCondition();
	}

	/** Calls the listener, unless the queue pair was closed. The caller holds no lock. */
	public void make() {
		QueuePairFault fault = this.queuePair.fault();
		if (fault == null || !begin()) {
			return;
		}
		try {
			this.queuePair.listener().onDisconnected(this.queuePair, fault);
		}
		catch (Throwable ex) {
			failures.log(Level.ERROR, "Listener of {} failed", this.queuePair, ex);
		}
		finally {
			end();
		}
	}

	private boolean begin() {
		this.lock.lock();
		try {
			if (this.queuePair.state() == QueuePairState.CLOSED) {
				return false;
			}
			this.caller = Thread.currentThread();
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void end() {
		this.lock.lock();
		try {
			this.caller = null;
			this.ended.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Waits, but not for ever, for a call under way in another thread. The caller holds
	 * the lock and has closed the queue pair.
	 */
	public void awaitEnd() {
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
			blocks.log(Level.ERROR, "Listener of {} blocks; the queue pair is closed without waiting for it any longer",
					this.queuePair);
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

}
