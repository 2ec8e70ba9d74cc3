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

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The shared receive queues of a device by the number that their receives are marked
 * with. Thread-safe.
 */
final class SharedReceivesTable {

	private final Map<Integer, SharedReceives> queues = new ConcurrentHashMap<>();

	private final AtomicInteger nextNumber = new AtomicInteger(1);

	int nextNumber() {
		return this.nextNumber.getAndIncrement() & WorkId.MASK;
	}

	void add(SharedReceives queue) {
		this.queues.put(queue.number(), queue);
	}

	void remove(SharedReceives queue) {
		this.queues.remove(queue.number());
	}

	/** A shared receive was taken by a queue pair that has gone. */
	void forget(int number, int slot) {
		SharedReceives queue = this.queues.get(number);
		if (queue != null) {
			queue.forget(slot);
		}
	}

}
