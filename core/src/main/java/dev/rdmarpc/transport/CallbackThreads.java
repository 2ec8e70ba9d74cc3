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

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Threads for users' code that depends on futures: it may block, and wait for the next.
 * Beyond their number, whoever may wait runs it. A thread that drives a loop, or is a
 * timer, may not: it leaves the code to one more thread. Thread-safe.
 */
final class CallbackThreads implements Executor {

	private final AtomicInteger number = new AtomicInteger();

	private final ThreadPoolExecutor threads;

	private final BooleanSupplier mayWait;

	private final Executor others;

	/**
	 * Creates the threads when they are needed.
	 * @param most how many there are at a time
	 * @param mayWait whether the current thread may run users' code
	 * @param others for what no thread is left for
	 */
	CallbackThreads(int most, BooleanSupplier mayWait, Executor others) {
		this.threads = new ThreadPoolExecutor(0, most, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), this::newThread);
		this.mayWait = mayWait;
		this.others = others;
	}

	private Thread newThread(Runnable task) {
		Thread thread = new Thread(task, "rdma-rpc-callback-" + this.number.incrementAndGet());
		thread.setDaemon(true);
		return thread;
	}

	@Override
	public void execute(Runnable task) {
		try {
			this.threads.execute(task);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			if (this.mayWait.getAsBoolean()) {
				task.run();
			}
			else {
				executeOnOneMore(task);
			}
		}
	}

	@SuppressWarnings("UnusedException") // it is run in any case
	private void executeOnOneMore(Runnable task) {
		try {
			this.others.execute(task);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			task.run();
		}
	}

	/** What runs is mostly over soon; waits for that. */
	void close() {
		this.threads.shutdown();
		try {
			this.threads.awaitTermination(1, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
