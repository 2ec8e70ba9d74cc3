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
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.transport.RpcChannel;

/**
 * A call that is made once more when it has had no answer for a while. Whatever attempt
 * answers first decides, also with a failure; the others are canceled, and what they
 * bring nevertheless goes back where it came from. That a server is not available or has
 * no room is an answer only if no other attempt is under way.
 *
 * <p>
 * Implementation notes. Attempts that end together agree under the lock which of them
 * decides. Futures are completed outside of it, since that runs users' code. An attempt
 * is in the list before it begins, so that it is canceled whenever the call ends.
 */
final class HedgedCall extends CallerStage implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(HedgedCall.class);

	/** Before looking again whether a call has found a connection, at least. */
	private static final long NOT_SENT_NANOS = 10_000_000;

	private final ClientCalls calls;

	private final Hedges hedges;

	private final HedgingOptions hedging;

	private final MethodDescriptor method;

	private final CallOptions options;

	private final Object content;

	private final long key;

	private final long deadlineNanos;

	private final @Nullable CarriedContext context;

	private final List<HedgedAttempt> attempts = new ArrayList<>(2);

	private int unavailable;

	private @Nullable Throwable failure;

	private boolean decided;

	private @Nullable ScheduledFuture<?> due;

	/**
	 * Creates a call.
	 * @param content the arguments, which do not change, or what they were encoded to
	 */
	HedgedCall(ClientCalls calls, Hedges hedges, HedgingOptions hedging, MethodDescriptor method, CallOptions options,
			Object content, long key, long deadlineNanos) {
		this.calls = calls;
		this.hedges = hedges;
		this.hedging = hedging;
		this.method = method;
		this.options = options;
		this.content = content;
		this.key = key;
		this.deadlineNanos = deadlineNanos;
		this.context = calls.capture();
	}

	/**
	 * Makes the call.
	 * @throws RpcException if it cannot be made
	 */
	void begin() {
		this.hedges.budget().called();
		HedgedAttempt first = attempt(1);
		add(first);
		this.calls.begin(first, System.nanoTime());
		schedule(this.hedging.delay().toNanos());
	}

	private HedgedAttempt attempt(int number) {
		CallOptions own = (this.options.replyMetadata() != null) ? this.options.withReplyMetadata(new CallMetadata())
				: this.options;
		CallTerms terms = this.calls.observed(this.method, own, this.key, this.context);
		return new HedgedAttempt(this, number, terms, this.method, this.content, this.deadlineNanos);
	}

	private synchronized boolean add(HedgedAttempt attempt) {
		if (!this.decided) {
			this.attempts.add(attempt);
		}
		return !this.decided;
	}

	private synchronized void schedule(long delayNanos) {
		boolean late = this.deadlineNanos != Long.MAX_VALUE && this.deadlineNanos - System.nanoTime() - delayNanos <= 0;
		if (this.decided || late || this.attempts.size() >= this.hedging.maxAttempts()) {
			return;
		}
		try {
			this.due = this.hedges.timer().schedule(this, delayNanos, TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Not hedging any more: the transport is closed");
		}
	}

	/** On the timer's thread. */
	@Override
	public void run() {
		this.calls.loops().runElsewhere(() -> {
			try {
				hedge();
			}
			catch (Throwable ex) {
				logger.debug("A call of {} is not hedged", this.method, ex);
			}
		});
	}

	private void hedge() {
		List<RpcChannel> used = used();
		if (isDone()) {
			return;
		}
		RpcChannel channel = used.isEmpty() ? null : this.calls.openChannel(this.key, used);
		if (channel == null) {
			schedule(Math.max(NOT_SENT_NANOS, this.hedging.delay().toNanos()));
			return;
		}
		if (!this.hedges.budget().tryTake()) {
			tell((listener) -> listener.suppressed(this.calls.target(), this.method));
			return;
		}
		HedgedAttempt next = nextIn(this.context);
		if (!add(next)) {
			next.cancel(false);
			return;
		}
		tell((listener) -> listener.hedged(this.calls.target(), this.method, next.number()));
		this.calls.start(channel, next, System.nanoTime());
		schedule(this.hedging.delay().toNanos());
	}

	/** Observers see it as part of what the caller does. */
	private HedgedAttempt nextIn(@Nullable CarriedContext carried) {
		ContextPropagation.Scope scope = (carried != null) ? carried.open() : null;
		try {
			return attempt(count() + 1);
		}
		finally {
			if (scope != null) {
				scope.close();
			}
		}
	}

	private synchronized int count() {
		return this.attempts.size();
	}

	/** The channels of the attempts so far, none if the first still waits for one. */
	private synchronized List<RpcChannel> used() {
		return this.attempts.stream().map(CallFuture::channel).filter(Objects::nonNull).toList();
	}

	/**
	 * An attempt has a result, or has failed.
	 * @return whether the caller gets it
	 */
	boolean ended(HedgedAttempt attempt, @Nullable Object value, @Nullable Throwable thrown) {
		if (!decide(thrown)) {
			return false;
		}
		try {
			won(attempt, thrown == null);
		}
		catch (Throwable ex) {
			// no other attempt decides any more
			failWith((thrown != null) ? thrown : internal(ex));
			return false;
		}
		return (thrown != null) ? failWith(thrown) : succeed(value);
	}

	/** Ends the other attempts, and says what came with this one. */
	private void won(HedgedAttempt attempt, boolean good) {
		stop(attempt);
		CallMetadata wanted = this.options.replyMetadata();
		CallMetadata received = attempt.options().replyMetadata();
		if (wanted != null && received != null) {
			wanted.fill(received);
		}
		if (good && attempt.number() > 1) {
			tell((listener) -> listener.won(this.calls.target(), this.method, attempt.number()));
		}
	}

	private Throwable internal(Throwable why) {
		try {
			return RpcException
				.madeElsewhere(RpcStatus.INTERNAL, "a reply was not handed over: " + FailureText.of(why), this.method,
						why)
				.forCaller();
		}
		catch (Throwable ex) {
			return why;
		}
	}

	/** Whether what an attempt brings is what becomes of the call. */
	private synchronized boolean decide(@Nullable Throwable thrown) {
		if (this.decided) {
			return false;
		}
		if (thrown != null && isUnavailable(thrown)) {
			this.unavailable++;
			Throwable before = this.failure;
			if (before != null && before != thrown) {
				thrown.addSuppressed(before);
			}
			this.failure = thrown;
			if (this.unavailable < this.attempts.size()) {
				return false;
			}
		}
		this.decided = true;
		return true;
	}

	private static boolean isUnavailable(Throwable thrown) {
		return thrown instanceof RpcException known
				&& (known.status() == RpcStatus.UNAVAILABLE || known.status() == RpcStatus.RESOURCE_EXHAUSTED);
	}

	@Override
	void givenUp() {
		stop(null);
	}

	/** Ends all attempts but one. */
	@SuppressWarnings("ReferenceEquality") // the very one
	private void stop(@Nullable HedgedAttempt winner) {
		List<HedgedAttempt> all;
		ScheduledFuture<?> next;
		synchronized (this) {
			this.decided = true;
			all = List.copyOf(this.attempts);
			next = this.due;
			this.due = null;
		}
		if (next != null) {
			next.cancel(false);
		}
		for (HedgedAttempt attempt : all) {
			if (attempt != winner) {
				attempt.cancel(false);
			}
		}
	}

	private void tell(Consumer<HedgingListener> what) {
		try {
			what.accept(this.hedges.listener());
		}
		catch (Throwable ex) {
			logger.debug("A listener of hedges has failed", ex);
		}
	}

}
