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

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.Flow;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * The messages of a stream for a thread that waits for each. Some are asked for before
 * they are wanted, {@value #AHEAD} at most; where they hold received memory, none is, so
 * that closing leaves nothing behind.
 *
 * <p>
 * One thread at a time takes messages; any thread may close.
 *
 * <p>
 * Implementation notes. The lock guards everything but the calls of the subscription,
 * which may tell this object something.
 */
final class AwaitedMessages implements Flow.Subscriber<Object>, Iterator<Object> {

	private static final int AHEAD = 64;

	private final Flow.Publisher<?> source;

	private final MethodDescriptor method;

	private final boolean holdMemory;

	private final int ahead;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final Queue<Object> arrived = new ArrayDeque<>();

	private Flow.@Nullable Subscription subscription;

	private boolean subscribed;

	/** Asked for and not arrived. */
	private int expected;

	private boolean closed;

	private boolean ended;

	private @Nullable Throwable failure;

	/**
	 * Creates the iterator; {@link #subscribe} is what begins.
	 * @param holdMemory whether messages hold the memory they lie in
	 */
	AwaitedMessages(Flow.Publisher<?> source, MethodDescriptor method, boolean holdMemory) {
		this.source = source;
		this.method = method;
		this.holdMemory = holdMemory;
		this.ahead = holdMemory ? 1 : AHEAD;
	}

	/** Begins, once. */
	@SuppressWarnings("unchecked") // whatever is published
	void subscribe() {
		this.lock.lock();
		try {
			if (this.subscribed) {
				return;
			}
			this.subscribed = true;
		}
		finally {
			this.lock.unlock();
		}
		((Flow.Publisher<Object>) this.source).subscribe(this);
	}

	@Override
	public void onSubscribe(Flow.Subscription given) {
		boolean late;
		this.lock.lock();
		try {
			late = this.closed;
			this.subscription = given;
		}
		finally {
			this.lock.unlock();
		}
		if (late) {
			given.cancel();
		}
		else if (this.ahead > 1) {
			ask();
		}
	}

	@Override
	public void onNext(Object message) {
		boolean late;
		this.lock.lock();
		try {
			this.expected--;
			late = this.closed;
			if (!late) {
				this.arrived.add(message);
				this.changed.signalAll();
			}
		}
		finally {
			this.lock.unlock();
		}
		if (late) {
			giveBack(message);
		}
	}

	@Override
	public void onError(Throwable why) {
		end(why);
	}

	@Override
	public void onComplete() {
		end(null);
	}

	private void end(@Nullable Throwable why) {
		this.lock.lock();
		try {
			this.ended = true;
			this.failure = why;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public boolean hasNext() {
		subscribe();
		ask();
		try {
			if (await()) {
				return true;
			}
		}
		catch (InterruptedException ex) {
			close();
			Thread.currentThread().interrupt();
			throw new RpcException(RpcStatus.CANCELLED, "the thread that waits for messages was interrupted",
					this.method.service(), this.method.name(), ex);
		}
		RuntimeException thrown = thrown();
		if (thrown != null) {
			throw thrown;
		}
		return false;
	}

	/** Waits for a message; {@code false} if none comes any more. */
	private boolean await() throws InterruptedException {
		this.lock.lock();
		try {
			while (this.arrived.isEmpty() && !this.ended && !this.closed) {
				this.changed.await();
			}
			return !this.arrived.isEmpty();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** What the thread that waited throws, which cannot be a checked exception. */
	private @Nullable RuntimeException thrown() {
		Throwable why;
		this.lock.lock();
		try {
			why = this.closed ? null : this.failure;
		}
		finally {
			this.lock.unlock();
		}
		if (why == null) {
			return null;
		}
		if (why instanceof RpcException known) {
			return known.thrownHere();
		}
		if (why instanceof RuntimeException declared) {
			return declared;
		}
		return (why.getCause() instanceof RpcException known) ? known.thrownHere()
				: new RpcException(RpcStatus.UNKNOWN, why.toString(), this.method.service(), this.method.name(), why);
	}

	@Override
	public Object next() {
		if (hasNext()) {
			this.lock.lock();
			try {
				Object next = this.arrived.poll();
				if (next != null) {
					return next;
				}
			}
			finally {
				this.lock.unlock();
			}
		}
		throw new NoSuchElementException("the stream of messages has ended");
	}

	/** Asks for messages when half of those that may be ahead are gone. */
	private void ask() {
		Flow.Subscription asked;
		int more;
		this.lock.lock();
		try {
			asked = this.subscription;
			int there = this.arrived.size() + this.expected;
			more = (there <= this.ahead / 2 && !this.ended && !this.closed && asked != null) ? this.ahead - there : 0;
			this.expected += more;
		}
		finally {
			this.lock.unlock();
		}
		if (asked != null && more > 0) {
			asked.request(more);
		}
	}

	/** Takes no more messages: the call is canceled if it is not over. */
	void close() {
		Flow.Subscription open;
		Object[] left;
		this.lock.lock();
		try {
			open = this.ended ? null : this.subscription;
			this.closed = true;
			this.subscribed = true;
			left = this.arrived.toArray();
			this.arrived.clear();
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		if (open != null) {
			open.cancel();
		}
		for (Object message : left) {
			giveBack(message);
		}
	}

	private void giveBack(Object message) {
		if (this.holdMemory) {
			HoldingTypes.release(message);
		}
	}

	@Override
	public String toString() {
		return "messages of " + this.method;
	}

}
