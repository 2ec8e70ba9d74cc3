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

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.net.ssl.SSLException;

/**
 * The threads that compute what TLS handshakes need, so that the connection thread need
 * not. There are few, and none while there are no handshakes; each handshake has at most
 * one task at a time.
 */
final class TlsTasks {

	private static final int MOST_THREADS = 4;

	private static final int MOST_WAITING = 1024;

	private final ThreadPoolExecutor executor;

	TlsTasks(String deviceName) {
		AtomicInteger number = new AtomicInteger();
		int threads = Math.max(1, Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors()));
		this.executor = new ThreadPoolExecutor(threads, threads, 10, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(MOST_WAITING), (task) -> {
					Thread thread = new Thread(task, "rdma-tls-" + deviceName + "-" + number.incrementAndGet());
					thread.setDaemon(true);
					return thread;
				});
		this.executor.allowCoreThreadTimeOut(true);
	}

	/**
	 * Runs a task.
	 * @throws SSLException if too many wait already
	 */
	void execute(Runnable task) throws SSLException {
		try {
			this.executor.execute(task);
		}
		catch (RejectedExecutionException ex) {
			throw new SSLException("too many TLS handshakes at once", ex);
		}
	}

	void shutDown() {
		this.executor.shutdown();
	}

}
