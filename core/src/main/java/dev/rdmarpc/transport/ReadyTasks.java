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

import org.jspecify.annotations.Nullable;

/** The users' code that a turn has made ready. Confined to the driver. */
final class ReadyTasks {

	private @Nullable LinkedTask first;

	private @Nullable LinkedTask last;

	boolean isEmpty() {
		return this.first == null;
	}

	@Nullable LinkedTask first() {
		return this.first;
	}

	void add(UserTask task) {
		LinkedTask before = this.last;
		if (before == null) {
			this.first = task;
		}
		else {
			before.linked(task);
		}
		this.last = task;
	}

	/**
	 * Gives the tasks to a thread that is going to leave.
	 * @return the first task where there is no such thread, else {@code null}
	 */
	@Nullable LinkedTask moveTo(@Nullable DriverLeave leave) {
		LinkedTask head = this.first;
		LinkedTask tail = this.last;
		this.first = null;
		this.last = null;
		if (leave == null || head == null || tail == null) {
			return head;
		}
		leave.add(head, tail);
		return null;
	}

}
