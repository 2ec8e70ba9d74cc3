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

package dev.rdmarpc.tools.rpc;

import java.util.ArrayList;
import java.util.List;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.rpc.RpcException;

/**
 * Threads that do the same again and again, each as soon as it has done it. One that has
 * failed {@value #MAX_FAILURES} times in a row gives up.
 */
final class Load {

	/** The most threads. */
	static final int MAX_THREADS = 1024;

	private static final int MAX_FAILURES = 100;

	private final Runnable work;

	private final int threads;

	/** Creates a load of so many threads, which are started by each run. */
	Load(Runnable work, int threads) {
		this.work = work;
		this.threads = threads;
	}

	/** Runs for a time, and says what was done in it. */
	Result run(long nanos) throws InterruptedException {
		List<Worker> workers = new ArrayList<>();
		long begun = System.nanoTime();
		for (int i = 0; i < this.threads; i++) {
			Worker worker = new Worker(begun + nanos);
			workers.add(worker);
			Thread thread = new Thread(worker, "bench-" + i);
			thread.setDaemon(true);
			worker.thread = thread;
			thread.start();
		}
		Histogram all = Latencies.histogram();
		long failures = 0;
		RpcException failure = null;
		for (Worker worker : workers) {
			worker.join();
			all.add(worker.latencies);
			failures += worker.failures;
			failure = (failure != null) ? failure : worker.failure;
		}
		return new Result(all.getTotalCount(), failures, failure, System.nanoTime() - begun, all);
	}

	/**
	 * What was done.
	 *
	 * @param calls how many went well
	 * @param failures how many did not
	 * @param failure one of these
	 * @param nanos how long it took
	 * @param latencies of the calls that went well, in nanoseconds
	 */
	record Result(long calls, long failures, @Nullable RpcException failure, long nanos, Histogram latencies) {

	}

	private final class Worker implements Runnable {

		private final long end;

		private final Histogram latencies = Latencies.histogram();

		private long failures;

		private @Nullable RpcException failure;

		private @Nullable Thread thread;

		Worker(long end) {
			this.end = end;
		}

		@Override
		public void run() {
			int inARow = 0;
			for (long now = System.nanoTime(); now - this.end < 0 && inARow < MAX_FAILURES;) {
				boolean done = once();
				long after = System.nanoTime();
				if (done) {
					this.latencies.recordValue(after - now);
				}
				inARow = done ? 0 : inARow + 1;
				now = after;
			}
		}

		private boolean once() {
			try {
				Load.this.work.run();
				return true;
			}
			catch (RpcException ex) {
				this.failures++;
				this.failure = ex;
				return false;
			}
		}

		void join() throws InterruptedException {
			Thread started = this.thread;
			if (started != null) {
				started.join();
			}
		}

	}

}
