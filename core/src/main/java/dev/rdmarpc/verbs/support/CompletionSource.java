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

package dev.rdmarpc.verbs.support;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePair;

/**
 * Whose completions are in a {@link CompletionRing}. Guarded by the lock of the
 * completion queue.
 *
 * <p>
 * Implementation notes. A slot of the ring keeps its reference after the completion has
 * been taken, until another takes its place. So that a closed queue pair is forgotten
 * without looking at all slots, which are many times as many as a queue pair has, they
 * refer to this, and only this refers to the queue pair.
 */
public final class CompletionSource {

	private final boolean once;

	private @Nullable QueuePair queuePair;

	private CompletionSource(QueuePair queuePair, boolean once) {
		this.queuePair = queuePair;
		this.once = once;
	}

	/** The source of all completions of a queue pair until it closes. */
	public static CompletionSource of(QueuePair queuePair) {
		return new CompletionSource(queuePair, false);
	}

	/** The source of completions that outlive the queue pair; slots do not keep it. */
	static CompletionSource once(QueuePair queuePair) {
		return new CompletionSource(queuePair, true);
	}

	boolean isOnce() {
		return this.once;
	}

	/** The queue pair, or {@code null} if it has closed. */
	@Nullable QueuePair queuePair() {
		return this.queuePair;
	}

	void close() {
		this.queuePair = null;
	}

}
