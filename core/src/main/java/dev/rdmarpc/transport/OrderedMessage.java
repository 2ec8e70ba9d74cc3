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

/** What decides on the place of a message among those that wait to be sent. */
abstract class OrderedMessage {

	private int priority = RequestTemplate.NORMAL_PRIORITY;

	private long dueNanos = DeadlineQueue.NONE;

	private long sinceNanos;

	/** Puts it into the class of a code of a priority, by the deadline of its call. */
	final void classify(int code, long deadlineNanos) {
		this.priority = Classes.of(code);
		this.dueNanos = deadlineNanos;
	}

	/**
	 * Says since when it has been held back: nothing of it could be posted at once, or
	 * the peer was told of it.
	 * @param nanos by {@link System#nanoTime()}, or 0
	 */
	final void since(long nanos) {
		this.sinceNanos = nanos;
	}

	/** When the peer was told of it, or before that, when it was held back, or 0. */
	final long since() {
		return this.sinceNanos;
	}

	/** Its class. */
	final int priority() {
		return this.priority;
	}

	/** The deadline of its call. */
	final long dueNanos() {
		return this.dueNanos;
	}

}
