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

import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * Publishes what an iterator has, to one subscriber, in the thread that asks for it. The
 * source is closed when it has ended, has failed, or is not wanted any more.
 *
 * <p>
 * Implementation notes. Whoever raises the demand from 0 iterates until it is met, so one
 * thread at a time does. A cancellation counts as demand: it closes the source itself, or
 * leaves that to the thread that iterates, and interrupts it, for the source may block.
 * After the end the demand stays above 0, so nobody begins again.
 */
final class IteratedMessages implements Flow.Publisher<Object>, Flow.Subscription {

	private final Iterator<?> source;

	private final Runnable closing;

	private final AtomicBoolean taken = new AtomicBoolean();

	private final AtomicLong demand = new AtomicLong();

	/** Until the end; whoever iterates. */
	private Flow.@Nullable Subscriber<? super Object> subscriber;

	/** Of the thread that gave the source, for those that iterate. */
	private @Nullable CarriedContext context;

	private volatile boolean cancelled;

	private volatile @Nullable IllegalArgumentException misuse;

	/** Who iterates; guarded by this object. */
	private @Nullable Thread runner;

	private boolean interrupted;

	/**
	 * Creates the publisher.
	 * @param closing closes the source
	 */
	IteratedMessages(Iterator<?> source, Runnable closing) {
		this.source = source;
		this.closing = closing;
	}

	/** Has those that iterate do so with a context; before anybody subscribes. */
	void carry(CarriedContext carried) {
		this.context = carried;
	}

	@Override
	public void subscribe(Flow.@Nullable Subscriber<? super Object> newcomer) {
		Objects.requireNonNull(newcomer, "subscriber");
		if (!this.taken.compareAndSet(false, true)) {
			newcomer.onSubscribe(NoSubscription.INSTANCE);
			newcomer.onError(new IllegalStateException("a stream or iterator is sent once, and was sent already"));
			return;
		}
		this.subscriber = newcomer;
		newcomer.onSubscribe(this);
	}

	@Override
	public void request(long messages) {
		if (messages <= 0) {
			this.misuse = new IllegalArgumentException(
					"request for " + messages + " messages (expected: more than 0, Reactive Streams rule 3.9)");
		}
		add(Math.max(1, messages));
	}

	@Override
	public void cancel() {
		interrupt();
		add(1);
	}

	/**
	 * Nobody wants messages any more: the thread that iterates ends soon, and closes the
	 * source. Without one, {@link #cancel} is what closes it. Does not block.
	 */
	void interrupt() {
		this.cancelled = true;
		synchronized (this) {
			Thread busy = this.runner;
			if (busy != null && busy != Thread.currentThread()) {
				this.interrupted = true;
				busy.interrupt();
			}
		}
	}

	private void add(long messages) {
		if (this.demand.getAndAccumulate(messages, IteratedMessages::sum) == 0) {
			CarriedContext carried = this.context;
			runner(Thread.currentThread());
			try {
				if (carried != null) {
					carried.run(this::publish);
				}
				else {
					publish();
				}
			}
			finally {
				runner(null);
			}
		}
	}

	private static long sum(long first, long second) {
		long sum = first + second;
		return (sum < 0) ? Long.MAX_VALUE : sum;
	}

	private synchronized void runner(@Nullable Thread thread) {
		this.runner = thread;
		if (this.interrupted) {
			// it was meant for the source
			this.interrupted = false;
			Thread.interrupted();
		}
	}

	private void publish() {
		Flow.Subscriber<? super Object> told = this.subscriber;
		for (long wanted = this.demand.get(); wanted > 0; wanted = this.demand.addAndGet(-wanted)) {
			for (long i = 0; i < wanted; i++) {
				if (told == null || !publishNext(told)) {
					return;
				}
			}
		}
	}

	/** Publishes a message, and the end if there is no other. */
	private boolean publishNext(Flow.Subscriber<? super Object> told) {
		boolean more;
		try {
			IllegalArgumentException wrong = this.misuse;
			if (wrong != null && !this.cancelled) {
				throw wrong;
			}
			if (this.cancelled) {
				close();
				return false;
			}
			more = this.source.hasNext();
			if (more) {
				told.onNext(Objects.requireNonNull(this.source.next(), "message of a stream"));
				more = this.cancelled || this.source.hasNext();
			}
		}
		catch (Throwable ex) {
			end(told, ex);
			return false;
		}
		if (!more) {
			end(told, null);
		}
		return more;
	}

	private void end(Flow.Subscriber<? super Object> told, @Nullable Throwable failure) {
		Throwable why = failure;
		try {
			close();
		}
		catch (Throwable ex) {
			why = (why != null) ? why : ex;
		}
		if (this.cancelled) {
			return;
		}
		this.cancelled = true;
		if (why != null) {
			told.onError(why);
		}
		else {
			told.onComplete();
		}
	}

	private void close() {
		this.subscriber = null;
		this.closing.run();
	}

}
