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

package dev.rdmarpc.boot.autoconfigure;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Runs handlers on the application's executor. That executor rejects work as soon as the
 * application begins to close, while the server still accepts calls from peers that it
 * could not notify yet. Those calls get their own threads, at most one per call.
 */
final class DrainingExecutor implements Executor {

	private final Executor executor;

	private final AtomicBoolean closing = new AtomicBoolean();

	private final AtomicInteger threads = new AtomicInteger();

	DrainingExecutor(Executor executor, ConfigurableApplicationContext context) {
		this.executor = executor;
		context.addApplicationListener((ApplicationListener<ContextClosedEvent>) (event) -> {
			if (event.getApplicationContext() == context) {
				this.closing.set(true);
			}
		});
	}

	@Override
	public void execute(Runnable task) {
		try {
			this.executor.execute(task);
		}
		catch (RejectedExecutionException ex) {
			if (!this.closing.get()) {
				throw ex;
			}
			Thread thread = new Thread(task, "rdma-rpc-drain-" + this.threads.incrementAndGet());
			thread.setDaemon(true);
			thread.start();
		}
	}

}
