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

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import dev.rdmarpc.transport.RpcChannel;

/**
 * The wait for a channel to any address of a target, also to those that are found
 * meanwhile. Thread-safe.
 */
final class ChannelWait extends CompletableFuture<RpcChannel> {

	private final boolean forReady;

	private final Consumer<ChannelWait> exhausted;

	private final AwaitedChannel shared;

	private final Set<AddressPool> followed = Collections.newSetFromMap(new IdentityHashMap<>());

	private int left;

	private boolean unauthenticated = true;

	/**
	 * Creates a wait that follows no address yet.
	 * @param forReady whether it outlasts failed attempts to connect
	 * @param exhausted is told when nothing can come of any address followed so far
	 * @param abandoned is told when the last one of those who share it has given up
	 */
	ChannelWait(boolean forReady, Consumer<ChannelWait> exhausted, Consumer<ChannelWait> abandoned) {
		this.forReady = forReady;
		this.exhausted = exhausted;
		this.shared = new AwaitedChannel(() -> abandoned.accept(this));
		whenComplete((channel, failure) -> {
			if (failure != null) {
				this.shared.completeExceptionally(failure);
			}
			else {
				this.shared.complete(channel);
			}
		});
	}

	/** A future for one of those who share it. */
	CompletableFuture<RpcChannel> waiter() {
		return this.shared.waiter();
	}

	/** Whether any of them waits. */
	boolean isShared() {
		return this.shared.isAwaited();
	}

	boolean isForReady() {
		return this.forReady;
	}

	/**
	 * Waits for these addresses, too.
	 * @return whether any of them is new to it
	 */
	boolean follow(List<AddressPool> addresses) {
		List<AddressPool> added = new ArrayList<>();
		synchronized (this) {
			for (AddressPool address : addresses) {
				if (this.followed.add(address)) {
					added.add(address);
				}
			}
			this.left += added.size();
		}
		for (AddressPool address : added) {
			CompletableFuture<RpcChannel> one = address.queuePairs().channel(this.forReady);
			whenComplete((channel, failure) -> one.cancel(false));
			one.whenComplete((channel, failure) -> {
				if (failure == null) {
					complete(channel);
				}
				else if (!isDone() && isLast(failure)) {
					this.exhausted.accept(this);
				}
			});
		}
		return !added.isEmpty();
	}

	private synchronized boolean isLast(Throwable failure) {
		this.unauthenticated &= failure instanceof RpcException known && known.status() == RpcStatus.UNAUTHENTICATED;
		return --this.left == 0;
	}

	/** The status that there is no channel, once nothing can come of any address. */
	synchronized RpcStatus status() {
		return this.unauthenticated ? RpcStatus.UNAUTHENTICATED : RpcStatus.UNAVAILABLE;
	}

}
