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

/** Of which classes there were messages lately. Confined to the loop's driver. */
final class RecentClasses {

	private final long latelyNanos;

	/** When there were some of a class, or more urgent ones, last. */
	private final long[] lastNanos = new long[Classes.COUNT];

	/** Whether that was lately, when it was looked at last: times overflow. */
	private final boolean[] lately = new boolean[Classes.COUNT];

	RecentClasses(long latelyNanos) {
		this.latelyNanos = latelyNanos;
	}

	/** There is a message of a class. */
	void add(int priority, long nowNanos) {
		if (this.lately[priority] && this.lastNanos[priority] == nowNanos) {
			return;
		}
		for (int i = 0; i <= priority; i++) {
			this.lastNanos[i] = nowNanos;
			this.lately[i] = true;
		}
	}

	/** Whether there were some of a class, or more urgent ones. */
	boolean hasFrom(int priority, long nowNanos) {
		boolean any = this.lately[priority] && nowNanos - this.lastNanos[priority] < this.latelyNanos;
		this.lately[priority] = any;
		return any;
	}

	/** The same since a time, which may be longer ago. */
	boolean hasFromSince(int priority, long sinceNanos) {
		return this.lately[priority] && this.lastNanos[priority] - sinceNanos >= 0;
	}

}
