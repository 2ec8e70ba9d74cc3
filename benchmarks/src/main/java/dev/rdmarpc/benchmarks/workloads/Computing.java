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

package dev.rdmarpc.benchmarks.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Threads of this process, which is none of those that are measured, that compute until
 * they are stopped.
 */
final class Computing {

	private final AtomicBoolean over = new AtomicBoolean();

	private final List<Thread> threads = new ArrayList<>();

	private Computing() {
	}

	/**
	 * Begins to compute.
	 * @param count how many threads
	 */
	static Computing start(int count) {
		Computing computing = new Computing();
		for (int i = 0; i < count; i++) {
			Thread thread = new Thread(computing::compute, "computes-" + i);
			thread.setDaemon(true);
			thread.start();
			computing.threads.add(thread);
		}
		return computing;
	}

	private void compute() {
		while (!this.over.get()) {
			Thread.onSpinWait();
		}
	}

	/** Returns when no thread computes any more, or the current one is interrupted. */
	void stop() {
		this.over.set(true);
		try {
			for (Thread thread : this.threads) {
				thread.join();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
