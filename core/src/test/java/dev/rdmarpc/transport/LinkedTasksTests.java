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

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tasks that were left for want of memory. */
class LinkedTasksTests {

	private final LinkedTasks tasks = new LinkedTasks();

	private final LoopFailures failures = new LoopFailures();

	private final List<UserTask> users = new ArrayList<>();

	private final List<String> ran = new ArrayList<>();

	@Test
	void eachRunsOnceThoughOneFails() {
		this.tasks.add(new Task(() -> this.ran.add("one")));
		this.tasks.add(new Task(() -> {
			throw new IllegalStateException("expected");
		}));
		this.tasks.add(new Task(() -> this.ran.add("two")));
		this.tasks.run(this.failures, this.users::add);
		this.tasks.run(this.failures, this.users::add);
		assertThat(this.ran).containsExactlyInAnyOrder("one", "two");
		assertThat(this.tasks.isEmpty()).isTrue();
	}

	@Test
	void whatIsLeftAgainRunsTheNextTime() {
		Task again = new Task(() -> this.ran.add("again"));
		this.tasks.add(new Task(() -> this.tasks.add(again)));
		this.tasks.run(this.failures, this.users::add);
		assertThat(this.ran).isEmpty();
		assertThat(this.tasks.isEmpty()).isFalse();
		this.tasks.run(this.failures, this.users::add);
		assertThat(this.ran).containsExactly("again");
	}

	private static final class Task extends LinkableTask {

		private final Runnable work;

		Task(Runnable work) {
			this.work = work;
		}

		@Override
		public void run() {
			this.work.run();
		}

	}

}
