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

package dev.rdmarpc.memory;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that can take long and nobody has to wait for, on a daemon thread that is there
 * while there is some. Thread-safe.
 */
final class BackgroundWork {

	private static final Logger logger = LoggerFactory.getLogger(BackgroundWork.class);

	private static final long IDLE_MILLIS = 500;

	private final Runnable work;

	private final Executor executor;

	private final AtomicBoolean requested = new AtomicBoolean();

	private volatile boolean running;

	/**
	 * Creates the work without a thread.
	 * @param work does all there is to do
	 */
	BackgroundWork(Runnable work) {
		this.work = work;
		this.executor = new ThreadPoolExecutor(0, 1, IDLE_MILLIS, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(),
				(task) -> {
					Thread thread = new Thread(task, "rdma-rpc-memory");
					thread.setDaemon(true);
					return thread;
				});
	}

	/**
	 * Has the work begin once more after now. Never throws: without a thread nothing
	 * begins, until the next request.
	 */
	@SuppressWarnings("CatchingUnchecked") // an Error too: whoever requests is releasing
	void request() {
		if (this.requested.compareAndSet(false, true)) {
			try {
				this.executor.execute(this::run);
			}
			catch (Throwable ex) {
				this.requested.set(false);
			}
		}
	}

	/** Whether it is being done, or about to be. */
	boolean isActive() {
		return this.requested.get() || this.running;
	}

	private void run() {
		this.running = true;
		this.requested.set(false);
		try {
			this.work.run();
		}
		catch (Throwable ex) {
			logger.error("Looking after registered memory has failed", ex);
		}
		finally {
			this.running = false;
		}
	}

}
