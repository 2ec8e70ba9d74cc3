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

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * Asks an {@link AddressResolver} when it is time to: at first, when its interval has
 * passed, after a failure with pauses that grow, and soon after it was asked to. At most
 * one question is under way. Thread-safe.
 *
 * <p>
 * Implementation notes. The lock guards only the state; the resolver and the consumers
 * are called without it. What is asked for during a question is asked when it is
 * answered, because its answer may be older.
 */
final class AddressRefresh {

	private static final Logger logger = LoggerFactory.getLogger(AddressRefresh.class);

	/** Made with the class: there may be no memory for a literal when it is needed. */
	private static final String NO_THREAD = "no thread to ask".intern();

	private static final String NO_ANSWER = "the resolver does not answer".intern();

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	/** The least time between two questions that nobody waits for. */
	private static final long LEAST_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

	/** The longest pause while a call waits. */
	private static final long LONGEST_WAIT_NANOS = 250_000_000;

	private final String target;

	private final AddressResolver resolver;

	private final RdmaTransport transport;

	private final RpcClientOptions options;

	private final Consumer<List<InetSocketAddress>> found;

	private final Runnable failed;

	private boolean started;

	private boolean running;

	private boolean again;

	private boolean closed;

	private int failuresInARow;

	private long endedNanos = System.nanoTime();

	private long dueNanos;

	private @Nullable ScheduledFuture<?> due;

	private volatile String lastFailure = "";

	/**
	 * Creates what asks nothing yet.
	 * @param found gets each answer
	 * @param failed is told when there is none
	 */
	AddressRefresh(String target, AddressResolver resolver, RdmaTransport transport, RpcClientOptions options,
			Consumer<List<InetSocketAddress>> found, Runnable failed) {
		this.target = target;
		this.resolver = resolver;
		this.transport = transport;
		this.options = options;
		this.found = found;
		this.failed = failed;
	}

	/** Why there was no answer the last time, or an empty string. */
	String lastFailure() {
		return this.lastFailure;
	}

	/** Whether an answer is awaited or has come. */
	synchronized boolean isStarted() {
		return this.started;
	}

	/** Begins, or cuts a pause short because a call waits. */
	void start() {
		boolean first;
		synchronized (this) {
			first = !this.started;
			this.started = true;
			if (!first) {
				after(LONGEST_WAIT_NANOS);
				return;
			}
		}
		this.resolver.onChange(this::changed);
		synchronized (this) {
			at(System.nanoTime());
		}
	}

	/** The addresses have changed, says the resolver. */
	private synchronized void changed() {
		this.again = this.running;
		at(System.nanoTime());
	}

	/** The addresses may have changed, says a connection. */
	synchronized void soon() {
		if (this.started && !this.running) {
			after(LEAST_PAUSE_NANOS);
		}
	}

	/** So long after the last question, or now. With the lock. */
	private void after(long pauseNanos) {
		long now = System.nanoTime();
		long soonest = this.endedNanos + pauseNanos;
		at((soonest - now > 0) ? soonest : now);
	}

	/** With the lock. */
	private void at(long nanos) {
		if (this.closed || this.running || (this.due != null && this.dueNanos - nanos <= 0)) {
			return;
		}
		ScheduledExecutorService timer = this.transport.timer();
		if (this.due != null) {
			this.due.cancel(false);
			this.due = null;
		}
		try {
			this.dueNanos = nanos;
			this.due = timer.schedule(this::run, Math.max(0, nanos - System.nanoTime()), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Not asking for the addresses of '{}' any more: the transport is closed", this.target);
		}
	}

	/** On the timer's thread. */
	private void run() {
		synchronized (this) {
			if (this.closed || this.running) {
				return;
			}
			this.running = true;
			this.due = null;
		}
		try {
			this.transport.resolver().execute(this::ask);
		}
		catch (Throwable ex) {
			answered(null, FailedAttempts.reason(NO_THREAD, ex));
		}
	}

	private void ask() {
		List<InetSocketAddress> answer = null;
		String failure = "";
		try {
			answer = this.resolver.resolve();
			if (answer.isEmpty()) {
				failure = this.resolver + " has no addresses";
			}
		}
		catch (Throwable ex) {
			failure = noAnswer(ex);
		}
		answered(failure.isEmpty() ? answer : null, failure);
	}

	@SuppressWarnings("UnusedException") // there is no memory to tell of it
	private String noAnswer(Throwable failure) {
		try {
			return this.resolver + " does not answer: " + FailureText.of(failure);
		}
		catch (Throwable ex) {
			return NO_ANSWER;
		}
	}

	private void answered(@Nullable List<InetSocketAddress> answer, String failure) {
		this.lastFailure = failure;
		try {
			if (answer != null) {
				this.found.accept(answer);
			}
			else {
				failures.log(Level.WARN, "The addresses of '{}' are not known: {}", this.target, failure);
				this.failed.run();
			}
		}
		catch (Throwable ex) {
			failures.log(Level.WARN, "The addresses of '{}' cannot be used: {}", this.target, FailureText.of(ex));
		}
		finally {
			ended(answer != null);
		}
	}

	private synchronized void ended(boolean successful) {
		this.running = false;
		this.endedNanos = System.nanoTime();
		this.failuresInARow = successful ? 0 : this.failuresInARow + 1;
		if (this.again) {
			this.again = false;
			at(this.endedNanos);
			return;
		}
		long interval = this.resolver.refreshInterval().toNanos();
		if (!successful) {
			long initial = this.options.initialBackoff().toNanos();
			int doublings = Math.min(this.failuresInARow - 1, Long.numberOfLeadingZeros(initial) - 1);
			at(this.endedNanos + Math.min(this.options.maxBackoff().toNanos(), initial << doublings));
		}
		else if (interval > 0) {
			at(this.endedNanos + interval);
		}
	}

	/** Nothing is asked any more; an answer that is under way is ignored. */
	void close() {
		synchronized (this) {
			this.closed = true;
			if (this.due != null) {
				this.due.cancel(false);
			}
		}
		this.resolver.close();
	}

}
