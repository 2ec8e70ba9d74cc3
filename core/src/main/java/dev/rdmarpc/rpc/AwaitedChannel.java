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

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.RpcChannel;

/**
 * A channel that several callers may wait for, each with a future of its own. Whoever
 * completes that, because it waits no longer, is forgotten: a dependent of a
 * {@link CompletableFuture} would be kept until there is a channel, and there may be none
 * for hours. Thread-safe.
 *
 * <p>
 * Implementation notes. The lock guards the list of those who wait and the outcome; they
 * are told without it, in the order in which they came. To tell of a channel needs no
 * memory.
 */
final class AwaitedChannel {

	private final Runnable abandoned;

	private @Nullable Waiter first;

	private @Nullable Waiter last;

	private @Nullable RpcChannel channel;

	private @Nullable Throwable failure;

	AwaitedChannel() {
		this(() -> {
		});
	}

	/**
	 * Creates a channel that nobody waits for yet.
	 * @param abandoned is told when nobody waits any more, and there was no outcome;
	 * somebody else may wait by then
	 */
	AwaitedChannel(Runnable abandoned) {
		this.abandoned = abandoned;
	}

	/** A future for one who waits, to be completed by anybody. */
	CompletableFuture<RpcChannel> waiter() {
		Waiter own = new Waiter();
		own.whenComplete((opened, failed) -> {
			if (remove(own)) {
				this.abandoned.run();
			}
		});
		if (!add(own)) {
			tell(own);
		}
		return own;
	}

	/** Whether anybody waits. */
	synchronized boolean isAwaited() {
		return this.first != null;
	}

	/** How many wait. */
	synchronized int waiting() {
		int count = 0;
		for (Waiter waiter = this.first; waiter != null; waiter = waiter.next) {
			count++;
		}
		return count;
	}

	/** The first outcome counts. */
	void complete(RpcChannel opened) {
		synchronized (this) {
			if (!isOver()) {
				this.channel = opened;
			}
		}
		tellAll();
	}

	/** The first outcome counts. */
	void completeExceptionally(Throwable failed) {
		synchronized (this) {
			if (!isOver()) {
				this.failure = failed;
			}
		}
		tellAll();
	}

	private boolean isOver() {
		return this.channel != null || this.failure != null;
	}

	private synchronized boolean add(Waiter added) {
		if (isOver()) {
			return false;
		}
		Waiter before = this.last;
		added.previous = before;
		added.waiting = true;
		if (before != null) {
			before.next = added;
		}
		else {
			this.first = added;
		}
		this.last = added;
		return true;
	}

	/** Whether it was the last one that waited. */
	private synchronized boolean remove(Waiter removed) {
		if (!removed.waiting) {
			return false;
		}
		removed.waiting = false;
		Waiter before = removed.previous;
		Waiter after = removed.next;
		if (before != null) {
			before.next = after;
		}
		else {
			this.first = after;
		}
		if (after != null) {
			after.previous = before;
		}
		else {
			this.last = before;
		}
		removed.previous = null;
		removed.next = null;
		return this.first == null;
	}

	private synchronized @Nullable Waiter take() {
		Waiter taken = this.first;
		if (taken != null) {
			remove(taken);
		}
		return taken;
	}

	private void tellAll() {
		for (Waiter waiter = take(); waiter != null; waiter = take()) {
			tell(waiter);
		}
	}

	/** Once there is an outcome, which does not change. */
	@SuppressWarnings("UnusedException") // there is no memory to tell of it
	private void tell(Waiter waiter) {
		RpcChannel opened;
		Throwable failed;
		synchronized (this) {
			opened = this.channel;
			failed = this.failure;
		}
		try {
			if (opened != null) {
				waiter.complete(opened);
			}
			else if (failed != null) {
				waiter.completeExceptionally(failed);
			}
		}
		catch (Throwable ex) {
			// It gives up by itself, in time.
		}
	}

	private static final class Waiter extends CompletableFuture<RpcChannel> {

		private @Nullable Waiter previous;

		private @Nullable Waiter next;

		private boolean waiting;

	}

}
