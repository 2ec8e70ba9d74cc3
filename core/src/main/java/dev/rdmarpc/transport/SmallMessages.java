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

/**
 * The messages of one frame that were on any channel of a loop lately. The driver moves
 * what is large on one channel while small messages of the others wait, so that it moves
 * less of it at a time beside them ({@code QueuePair.favorLatency}). Confined to the
 * loop's driver.
 */
final class SmallMessages {

	private final RecentClasses arrived = new RecentClasses(ReadWindow.LATELY_NANOS);

	private final RecentClasses posted = new RecentClasses(ReadWindow.LATELY_NANOS);

	/** One has arrived. */
	void arrived(int priority, long nowNanos) {
		this.arrived.add(priority, nowNanos);
	}

	/** One was posted. */
	void posted(int priority, long nowNanos) {
		this.posted.add(priority, nowNanos);
	}

	/** Whether there were some of a class, or more urgent ones, that arrived. */
	boolean haveArrivedFrom(int priority, long nowNanos) {
		return this.arrived.hasFrom(priority, nowNanos);
	}

	/**
	 * The most urgent class of which some have arrived or were posted lately, or -1.
	 */
	int mostUrgent(long nowNanos) {
		int priority = Classes.COUNT - 1;
		while (priority >= 0 && !this.arrived.hasFrom(priority, nowNanos) && !this.posted.hasFrom(priority, nowNanos)) {
			priority--;
		}
		return priority;
	}

	/** The most urgent class of which some were posted since a time, or -1. */
	int mostUrgentPosted(long sinceNanos) {
		int priority = Classes.COUNT - 1;
		while (priority >= 0 && !this.posted.hasFromSince(priority, sinceNanos)) {
			priority--;
		}
		return priority;
	}

}
