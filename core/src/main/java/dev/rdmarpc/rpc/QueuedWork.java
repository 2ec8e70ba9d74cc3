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

package dev.rdmarpc.rpc;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.DeadlineQueue;
import dev.rdmarpc.transport.LinkableTask;
import dev.rdmarpc.transport.RequestTemplate;

/** What can wait in a {@link CallQueue} for a thread of the executor, once at a time. */
abstract class QueuedWork extends LinkableTask {

	/** Where it waits for a thread; these two belong to the queue. */
	CallQueue.@Nullable Lane lane;

	final DeadlineQueue.Place<QueuedWork> place = new DeadlineQueue.Place<>(this);

	/** The code of its priority. */
	int priority = RequestTemplate.NORMAL_PRIORITY;

	/** The deadline of its call. */
	long dueNanos = DeadlineQueue.NONE;

	/** Whether nobody waits for it any more, so that it need not begin. */
	abstract boolean isCancelled();

	/** Runs on a thread of the executor. */
	abstract void runInTurn();

	/** The executor has no thread; not the driver. */
	abstract void reject(String why);

	/** It was canceled before it could wait; not the driver. */
	abstract void notEnqueued();

	/**
	 * What it has until its end.
	 * @throws IllegalStateException if it is used after its end
	 */
	static <T> T required(@Nullable T value) {
		if (value == null) {
			throw new IllegalStateException("call used after its end");
		}
		return value;
	}

}
