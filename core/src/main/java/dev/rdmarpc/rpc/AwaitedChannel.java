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

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import dev.rdmarpc.transport.RpcChannel;

/**
 * A channel that several callers may wait for, each with a future of its own. Whoever
 * completes that, because it waits no longer, is forgotten: a dependent of a
 * {@link CompletableFuture} would be kept until there is a channel, and there may be none
 * for hours. Thread-safe.
 *
 * <p>
 * Implementation notes. A waiter is in the set before it looks for an outcome, and the
 * outcome is there before the set is gone through, so that none is missed; it may be told
 * twice.
 */
final class AwaitedChannel {

	private final CompletableFuture<RpcChannel> outcome = new CompletableFuture<>();

	private final Set<CompletableFuture<RpcChannel>> waiters = ConcurrentHashMap.newKeySet();

	/** A future for one who waits, to be completed by anybody. */
	CompletableFuture<RpcChannel> waiter() {
		CompletableFuture<RpcChannel> own = new CompletableFuture<>();
		this.waiters.add(own);
		own.whenComplete((channel, failure) -> this.waiters.remove(own));
		if (this.outcome.isDone()) {
			tell(own);
		}
		return own;
	}

	/** How many wait. */
	int waiting() {
		return this.waiters.size();
	}

	void complete(RpcChannel channel) {
		this.outcome.complete(channel);
		this.waiters.forEach(this::tell);
	}

	void completeExceptionally(Throwable failure) {
		this.outcome.completeExceptionally(failure);
		this.waiters.forEach(this::tell);
	}

	private void tell(CompletableFuture<RpcChannel> waiter) {
		this.outcome.whenComplete((channel, failure) -> {
			if (failure != null) {
				waiter.completeExceptionally(failure);
			}
			else {
				waiter.complete(channel);
			}
		});
	}

}
