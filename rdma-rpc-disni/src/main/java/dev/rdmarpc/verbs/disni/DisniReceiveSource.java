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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;

import com.ibm.disni.verbs.IbvQP;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.WorkStatus;

/**
 * Where a queue pair takes its receives from.
 *
 * <p>
 * Guarded by the lock of the completion queue, except {@link #allow}.
 */
interface DisniReceiveSource {

	/** The shared receive queue the adapter is to use, or {@code null}. */
	default @Nullable IbvQP adapterQueue() {
		return null;
	}

	/** How many receives the adapter's queue pair has of its own. */
	int depth();

	/** Segments of a receive. */
	int maxSegments();

	/** Hands over to an adapter's queue pair what was posted before there was one. */
	void open(IbvQP adapterQueuePair, int generation) throws IOException;

	/** The adapter's queue pair is gone, with the receives it had. */
	void abandoned();

	/** See {@link dev.rdmarpc.verbs.QueuePair#allowReceives}. */
	default void allow(int count) {
		// not counted
	}

	/**
	 * Ends a receive as the adapter says.
	 * @param reporter is told of it
	 * @return how it ended
	 */
	WorkStatus completed(CompletionReporter reporter, int slot, WorkStatus status, long bytes, int invalidatedKey);

	/** Whether the adapter's queue pair has none any more. */
	boolean isFlushed();

	/**
	 * Whether what the adapter has may be promised to others as soon as this queue pair
	 * has failed: then its adapter is not waited for, except after an orderly end, which
	 * that would cut short.
	 */
	default boolean isBorrowed() {
		return false;
	}

	/** Whether a receive ends without the adapter, and it is its turn. */
	default boolean hasEnded() {
		return false;
	}

	/** Reports those. */
	default void reportEnded(CompletionReporter reporter) {
		// what is shared does not end with the queue pair
	}

	/** The queue pair is closed. */
	void close();

	/** The queue pair goes to error, and nothing more is received through it. */
	default void failed() {
	}

}
