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

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A thread that polls completion queues until closed, so that the test thread need not.
 */
final class BackgroundProgress implements AutoCloseable {

	private final List<CompletionCollector> collectors;

	private final Thread thread;

	private volatile boolean stopped;

	private volatile @Nullable Throwable failure;

	BackgroundProgress(CompletionCollector... collectors) {
		this.collectors = List.of(collectors);
		this.collectors.forEach((collector) -> collector.handsOff(true));
		this.thread = new Thread(this::run, "background-progress");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	private void run() {
		try {
			while (!this.stopped) {
				int count = 0;
				for (CompletionCollector collector : this.collectors) {
					count += collector.poll();
				}
				if (count == 0) {
					VerbsFixture.letOthersRun();
				}
			}
		}
		catch (Throwable ex) {
			if (!isClosing(ex)) {
				this.failure = ex;
			}
		}
	}

	private boolean isClosing(Throwable ex) {
		return ex instanceof VerbsException verbsException && verbsException.error() == VerbsError.CLOSED
				&& this.collectors.stream().anyMatch(CompletionCollector::isClosed);
	}

	@Override
	public void close() {
		this.stopped = true;
		try {
			this.thread.join(VerbsFixture.DEADLINE.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (this.thread.isAlive()) {
			AssertionError error = new AssertionError("the polling thread hangs");
			error.setStackTrace(this.thread.getStackTrace());
			throw error;
		}
		this.collectors.forEach((collector) -> collector.handsOff(false));
		if (this.failure != null) {
			throw new AssertionError("the polling thread failed", this.failure);
		}
	}

}
