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

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Tasks that were left to a loop for want of memory, to be run at its next tick, when
 * there may be some again. Adding needs none. Any thread adds; the loop's driver runs
 * them.
 */
final class LinkedTasks {

	private final AtomicReference<@Nullable LinkedTask> last = new AtomicReference<>();

	boolean isEmpty() {
		return this.last.get() == null;
	}

	void add(LinkedTask task) {
		LinkedTask before;
		do {
			before = this.last.get();
			task.linked(before);
		}
		while (!this.last.compareAndSet(before, task));
	}

	/**
	 * Runs those there are; what they leave in turn is run the next time.
	 * @param users gets users' code, which is not run here
	 */
	void run(LoopFailures failures, Consumer<UserTask> users) {
		LinkedTask task = this.last.getAndSet(null);
		while (task != null) {
			LinkedTask before = task.linked();
			task.linked(null);
			try {
				if (task instanceof UserTask user) {
					users.accept(user);
				}
				else {
					task.run();
				}
			}
			catch (Throwable ex) {
				failures.report(task, ex);
			}
			task = before;
		}
	}

}
