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

package dev.rdmarpc.verbs.iwarp;

import java.util.concurrent.locks.Condition;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairListener;

/**
 * The one call of a queue pair's listener. It is made without the reactor's lock, and
 * closing the queue pair waits for one under way in another thread. Its state is guarded
 * by the lock.
 */
final class ListenerCall {

	private static final Logger logger = LoggerFactory.getLogger(ListenerCall.class);

	private final IwarpQueuePair queuePair;

	private final QueuePairListener listener;

	private final Condition ended;

	private @Nullable Thread caller;

	ListenerCall(IwarpQueuePair queuePair, QueuePairListener listener) {
		this.queuePair = queuePair;
		this.listener = listener;
		this.ended = queuePair.reactor().newCondition();
	}

	/** Notes that the current thread is about to make the call. */
	void begin() {
		this.caller = Thread.currentThread();
	}

	/** Makes the call, without the lock. */
	void run() {
		QueuePairFault fault = this.queuePair.fault();
		if (fault == null) {
			return;
		}
		try {
			this.listener.onDisconnected(this.queuePair, fault);
		}
		catch (RuntimeException ex) {
			logger.error("Listener of {} failed", this.queuePair, ex);
		}
	}

	/** Notes that the call is over. */
	void end() {
		this.caller = null;
		this.ended.signalAll();
	}

	/** Waits for a call under way in another thread. */
	void awaitEnd(long timeoutNanos) {
		long remaining = timeoutNanos;
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
