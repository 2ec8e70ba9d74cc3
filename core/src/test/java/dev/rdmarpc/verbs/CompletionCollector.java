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

package dev.rdmarpc.verbs;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Polls one completion queue and enters what it finds in the accounts of the queue pairs.
 * Whatever should not have come is kept as a violation, which ends the test.
 *
 * <p>
 * Thread-safe: one poll at a time.
 */
final class CompletionCollector implements AutoCloseable {

	private final CompletionQueue queue;

	private final Queue<String> violations;

	private final Map<QueuePair, VerbsEndpoint> endpoints = new ConcurrentHashMap<>();

	private final WorkCompletion[] batch = new WorkCompletion[16];

	private volatile boolean handsOff;

	private volatile boolean closed;

	CompletionCollector(CompletionQueue queue, Queue<String> violations) {
		this.queue = queue;
		this.violations = violations;
		for (int i = 0; i < this.batch.length; i++) {
			this.batch[i] = new WorkCompletion();
		}
	}

	CompletionQueue queue() {
		return this.queue;
	}

	void attach(VerbsEndpoint endpoint) {
		this.endpoints.put(endpoint.queuePair(), endpoint);
	}

	/** Whether somebody else than the fixture's own loop polls this queue. */
	CompletionCollector handsOff(boolean somebodyElsePolls) {
		this.handsOff = somebodyElsePolls;
		return this;
	}

	boolean isHandsOff() {
		return this.handsOff;
	}

	/**
	 * Polls once.
	 * @return how many completions there were
	 */
	int poll() {
		if (this.closed) {
			return 0;
		}
		synchronized (this.batch) {
			long startNanos = System.nanoTime();
			int count = this.queue.poll(this.batch);
			for (int i = 0; i < count; i++) {
				enter(this.batch[i], startNanos);
			}
			return count;
		}
	}

	private void enter(WorkCompletion completion, long startNanos) {
		VerbsEndpoint endpoint = this.endpoints.get(completion.queuePair());
		Completed copy = Completed.copyOf(completion);
		if (endpoint == null) {
			this.violations.add(copy + " is of a queue pair that is not attached to this completion queue");
			return;
		}
		boolean returned = completion.opcode() == WorkOpcode.RECEIVE && endpoint.sharesReceives();
		if (!returned && endpoint.wasClosedBefore(startNanos)) {
			this.violations.add(copy + " of " + endpoint.name() + " was reported after the queue pair was closed");
			return;
		}
		String violation = endpoint.ledgerOf(completion.opcode()).complete(copy);
		if (violation != null) {
			this.violations.add(violation);
		}
		endpoint.entered(copy);
	}

	boolean isClosed() {
		return this.closed;
	}

	@Override
	public void close() {
		this.closed = true;
		this.queue.close();
	}

}
