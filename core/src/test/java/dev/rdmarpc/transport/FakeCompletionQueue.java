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

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.WorkCompletion;

/** A completion queue that a test fills; {@link #await} ends as that of a device does. */
final class FakeCompletionQueue implements CompletionQueue {

	final AtomicInteger awaiting = new AtomicInteger();

	volatile boolean closed;

	/** Run when a thread is about to sleep. */
	volatile Runnable onRequest = () -> {
	};

	/** Run before a thread polls. */
	volatile Runnable onPoll = () -> {
	};

	/** Run before a thread sleeps. */
	volatile Runnable onAwait = () -> {
	};

	private final ConcurrentLinkedQueue<Consumer<WorkCompletion>> completions = new ConcurrentLinkedQueue<>();

	private final Semaphore events = new Semaphore(0);

	/** Adds a completion. */
	void add(Consumer<WorkCompletion> completion) {
		this.completions.add(completion);
		this.events.release();
	}

	@Override
	public int poll(WorkCompletion[] filled) {
		this.onPoll.run();
		int count = 0;
		while (count < filled.length) {
			Consumer<WorkCompletion> completion = this.completions.poll();
			if (completion == null) {
				break;
			}
			completion.accept(filled[count++]);
		}
		return count;
	}

	@Override
	public void requestNotification(boolean solicitedOnly) {
		this.events.drainPermits();
		this.onRequest.run();
	}

	@Override
	public boolean await(long timeoutNanos) {
		this.onAwait.run();
		this.awaiting.incrementAndGet();
		try {
			return this.completions.isEmpty() && this.events.tryAcquire(timeoutNanos, TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		finally {
			this.awaiting.decrementAndGet();
		}
	}

	@Override
	public void wakeUp() {
		this.events.release();
	}

	@Override
	public void close() {
		this.closed = true;
	}

}
