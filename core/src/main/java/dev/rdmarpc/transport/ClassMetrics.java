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

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What a loop has ordered by priority: counters for each class, by the code of its
 * priority. Written by the loop's driver and readable from any thread.
 */
public final class ClassMetrics {

	private final AtomicLongArray queued = new AtomicLongArray(Classes.COUNT);

	private final AtomicLongArray waits = new AtomicLongArray(Classes.COUNT);

	private final AtomicLongArray waitNanos = new AtomicLongArray(Classes.COUNT);

	private final AtomicLongArray sliced = new AtomicLongArray(Classes.COUNT);

	private final AtomicLongArray overtaken = new AtomicLongArray(Classes.COUNT);

	ClassMetrics() {
	}

	void queued(int priority) {
		add(this.queued, priority, 1);
	}

	void waited(int priority, long nanos) {
		add(this.waits, priority, 1);
		add(this.waitNanos, priority, nanos);
	}

	void sliced(int priority) {
		add(this.sliced, priority, 1);
	}

	void overtaken(int priority) {
		add(this.overtaken, priority, 1);
	}

	/** Adds what a loop that has ended has counted. */
	void include(ClassMetrics ended) {
		for (int priority = 0; priority < Classes.COUNT; priority++) {
			add(this.queued, priority, ended.queuedMessages(priority));
			add(this.waits, priority, ended.waits(priority));
			add(this.waitNanos, priority, ended.waitNanos(priority));
			add(this.sliced, priority, ended.slices(priority));
			add(this.overtaken, priority, ended.overtakings(priority));
		}
	}

	private static void add(AtomicLongArray counters, int priority, long more) {
		counters.setOpaque(priority, counters.getPlain(priority) + more);
	}

	/**
	 * Messages that could not be posted at once.
	 * @param priority the code of a priority
	 */
	public long queuedMessages(int priority) {
		return this.queued.getOpaque(priority);
	}

	/** Those of them that were posted later. */
	public long waits(int priority) {
		return this.waits.getOpaque(priority);
	}

	/** For how long they have waited, in nanoseconds. */
	public long waitNanos(int priority) {
		return this.waitNanos.getOpaque(priority);
	}

	/** Slices in which large messages were fetched. */
	public long slices(int priority) {
		return this.sliced.getOpaque(priority);
	}

	/** How often something more urgent went before a message that waited. */
	public long overtakings(int priority) {
		return this.overtaken.getOpaque(priority);
	}

}
