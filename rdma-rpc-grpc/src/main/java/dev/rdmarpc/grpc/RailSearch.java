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

package dev.rdmarpc.grpc;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.grpc.Attributes;
import io.grpc.Status;
import io.grpc.internal.DisconnectError;
import io.grpc.internal.ManagedClientTransport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RailHistory;
import dev.rdmarpc.verbs.VerbsException;

/**
 * The search of a connection for a better rail than its own, from time to time. Each rail
 * is tried with a connection that carries no call and is closed when it is known whether
 * it works: gRPC makes its own.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. The lock guards whether the search goes on, and what it is doing:
 * it waits, or tries one rail. A connection that is being started is shut down by whoever
 * starts it. What fails for want of memory is tried again after the interval.
 */
final class RailSearch {

	private static final Logger logger = LoggerFactory.getLogger(RailSearch.class);

	private static final Status OVER = Status.UNAVAILABLE.withDescription("it was only tried whether the rail works");

	private final RailConnections connections;

	private final RailHistory history;

	private final String used;

	private final Consumer<Rail> found;

	private @Nullable Future<?> waiting;

	private @Nullable RdmaClientTransport trying;

	private boolean starting;

	private boolean ended;

	/**
	 * Creates a search, which is still to be begun.
	 * @param used the name of the connection's rail
	 * @param found is told at most once of a better rail that works
	 */
	RailSearch(RailConnections connections, RailHistory history, String used, Consumer<Rail> found) {
		this.connections = connections;
		this.history = history;
		this.used = used;
		this.found = found;
	}

	/** Waits until it is time to look, unless there is no better rail. */
	synchronized void begin() {
		if (this.ended || this.waiting != null || this.trying != null || this.history.isBest(this.used)) {
			return;
		}
		try {
			this.waiting = this.connections.transport()
				.timer()
				.schedule(this::due, this.connections.settings().rails().betterInterval().toNanos(),
						TimeUnit.NANOSECONDS);
		}
		catch (Throwable ex) {
			logger.debug("Looking for no better rail to {} any more", this.connections.address(), ex);
		}
	}

	/** Looks no more. */
	void end() {
		RdmaClientTransport unfinished;
		synchronized (this) {
			this.ended = true;
			if (this.waiting != null) {
				this.waiting.cancel(false);
			}
			unfinished = this.starting ? null : this.trying;
		}
		if (unfinished != null) {
			unfinished.shutdownNow(OVER);
		}
	}

	/** On the timer's thread. */
	private void due() {
		synchronized (this) {
			this.waiting = null;
			if (this.ended || this.trying != null) {
				return;
			}
		}
		goOn(() -> tryNext(new ArrayDeque<>(
				this.history.betterThan(this.used).stream().filter(this.connections::mayReach).toList())));
	}

	/** Connecting may block, as neither the timer nor a loop must. */
	private void goOn(Runnable step) {
		try {
			this.connections.transport().resolver().execute(() -> {
				try {
					step.run();
				}
				catch (Throwable ex) {
					waitAgain(ex);
				}
			});
		}
		catch (Throwable ex) {
			waitAgain(ex);
		}
	}

	private void waitAgain(Throwable failure) {
		logger.debug("No better rail to {} was tried", this.connections.address(), failure);
		begin();
	}

	private void tryNext(Deque<Rail> left) {
		Rail rail = left.poll();
		if (rail == null) {
			begin();
			return;
		}
		RdmaClientTransport begun;
		try {
			begun = this.connections.over(rail, false);
		}
		catch (VerbsException ex) {
			logger.debug("No connection to {} over {}", this.connections.address(), rail, ex);
			failed(rail, left);
			return;
		}
		start(begun, new Attempt(begun, rail, left));
	}

	private void start(RdmaClientTransport begun, Attempt attempt) {
		synchronized (this) {
			this.trying = begun;
			this.starting = true;
		}
		boolean started = false;
		try {
			begun.start(attempt);
			started = true;
		}
		finally {
			synchronized (this) {
				this.starting = false;
				started &= !this.ended;
			}
			if (!started) {
				begun.shutdownNow(OVER);
			}
		}
	}

	private void failed(Rail rail, Deque<Rail> left) {
		this.history.avoid(List.of(rail));
		goOn(() -> tryNext(left));
	}

	/** Whether the search goes on, now that there is no connection any more. */
	private synchronized boolean goesOn() {
		this.trying = null;
		return !this.ended;
	}

	/** Whether it is over with what was found. */
	private synchronized boolean finish() {
		boolean first = !this.ended;
		this.ended = true;
		return first;
	}

	/** What is seen of one rail; called by the tasks of one connection. */
	private final class Attempt implements ManagedClientTransport.Listener {

		private final RdmaClientTransport connection;

		private final Rail rail;

		private final Deque<Rail> left;

		Attempt(RdmaClientTransport connection, Rail rail, Deque<Rail> left) {
			this.connection = connection;
			this.rail = rail;
			this.left = left;
		}

		@Override
		public void transportReady() {
			try {
				if (finish()) {
					RailSearch.this.found.accept(this.rail);
				}
			}
			finally {
				this.connection.shutdownNow(OVER);
			}
		}

		@Override
		public void transportShutdown(Status status, DisconnectError error) {
			// its end follows
		}

		@Override
		public void transportTerminated() {
			if (goesOn()) {
				try {
					failed(this.rail, this.left);
				}
				catch (Throwable ex) {
					waitAgain(ex);
				}
			}
		}

		@Override
		public void transportInUse(boolean inUse) {
			// it has no calls
		}

		@Override
		public Attributes filterTransport(Attributes attributes) {
			return attributes;
		}

	}

}
