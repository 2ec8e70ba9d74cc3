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
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalLogId;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.internal.ClientStream;
import io.grpc.internal.ConnectionClientTransport;
import io.grpc.internal.DisconnectError;
import io.grpc.internal.SimpleDisconnectError;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RailHistory;
import dev.rdmarpc.verbs.VerbsException;

/**
 * A connection over the first of the rails on which the peer answers. If a better one
 * works later, gRPC is told that this connection ends: it makes another one for the next
 * calls, and those that have begun end on this one.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. gRPC makes no calls before the connection is ready, so that what
 * it has of a transport before that is its end alone, of which it is told once no rail is
 * left. The lock guards which transport is in use. One that is being started is shut down
 * by whoever starts it, since what gRPC says meanwhile would come before the start.
 */
final class RailsTransport implements ConnectionClientTransport {

	private static final Logger logger = LoggerFactory.getLogger(RailsTransport.class);

	private final RailConnections connections;

	private final RailHistory history;

	private final Deque<Rail> left;

	/** Those before it that do not work now. */
	private final List<Rail> failed = new ArrayList<>();

	/** The one that was tried last. */
	private Rail rail;

	private @Nullable RailSearch search;

	private final InternalLogId logId;

	private volatile RdmaClientTransport current;

	private boolean starting = true;

	private boolean forced;

	private @Nullable Status reason;

	/**
	 * Creates a connection, which is still to be started.
	 * @param history of the rails to the address
	 * @throws VerbsException if nothing can be tried on any rail
	 */
	RailsTransport(RailConnections connections, RailHistory history) {
		this.connections = connections;
		this.history = history;
		this.left = new ArrayDeque<>(reaching(connections, history.order()));
		this.rail = this.left.element();
		this.current = next();
		this.logId = this.current.getLogId();
	}

	/**
	 * Those that may reach the peer, or the last if none may, which then says why.
	 */
	private static List<Rail> reaching(RailConnections connections, List<Rail> all) {
		List<Rail> reaching = all.stream().filter(connections::mayReach).toList();
		return reaching.isEmpty() ? all.subList(all.size() - 1, all.size()) : reaching;
	}

	/** Of the next rail that is not down. */
	private RdmaClientTransport next() {
		while (true) {
			this.rail = this.left.remove();
			try {
				return this.connections.over(this.rail, this.left.isEmpty());
			}
			catch (VerbsException ex) {
				if (this.left.isEmpty()) {
					throw ex;
				}
				logger.debug("No connection to {} over {}", this.connections.address(), this.rail, ex);
				this.failed.add(this.rail);
			}
		}
	}

	@Override
	public ClientStream newStream(MethodDescriptor<?, ?> method, Metadata headers, CallOptions callOptions,
			ClientStreamTracer[] tracers) {
		return this.current.newStream(method, headers, callOptions, tracers);
	}

	@Override
	public void ping(PingCallback callback, Executor executor) {
		this.current.ping(callback, executor);
	}

	@Override
	public Attributes getAttributes() {
		return this.current.getAttributes();
	}

	@Override
	public ListenableFuture<SocketStats> getStats() {
		return this.current.getStats();
	}

	/** That of the first, which gRPC knows it by. */
	@Override
	public InternalLogId getLogId() {
		return this.logId;
	}

	@Override
	public @Nullable Runnable start(Listener told) {
		start(this.current, told);
		return null;
	}

	private void start(RdmaClientTransport begun, Listener told) {
		begun.start(new Attempt(told));
		Status why;
		boolean now;
		synchronized (this) {
			this.starting = false;
			why = this.reason;
			now = this.forced;
		}
		if (why != null) {
			end(begun, why, now);
		}
	}

	@Override
	public void shutdown(Status why) {
		shutdown(why, false);
	}

	@Override
	public void shutdownNow(Status why) {
		shutdown(why, true);
	}

	private void shutdown(Status why, boolean now) {
		RdmaClientTransport begun;
		synchronized (this) {
			this.reason = why;
			this.forced |= now;
			if (this.starting) {
				return;
			}
			begun = this.current;
		}
		end(begun, why, now);
	}

	private static void end(RdmaClientTransport begun, Status why, boolean now) {
		if (now) {
			begun.shutdownNow(why);
		}
		else {
			begun.shutdown(why);
		}
	}

	/** Whether the end of an attempt is followed by another one. */
	private synchronized boolean passesOver(Status status) {
		boolean passesOver = this.reason == null && !this.left.isEmpty()
				&& status.getCode() != Status.Code.UNAUTHENTICATED;
		if (passesOver) {
			this.failed.add(this.rail);
		}
		return passesOver;
	}

	/**
	 * A rail works: what does not is tried last for a while, and what is better again.
	 */
	private synchronized void searchBetter() {
		this.history.avoid(this.failed);
		this.search = new RailSearch(this.connections, this.history, this.rail.name(), this::move);
		if (this.reason == null) {
			this.search.begin();
		}
	}

	private void searchNoMore() {
		RailSearch over;
		synchronized (this) {
			over = this.search;
		}
		if (over != null) {
			over.end();
		}
	}

	/** New calls go over a better rail. */
	private void move(Rail better) {
		logger.info("Connection to {} moves from {} to {}", this.connections.address(), this.rail.name(),
				better.name());
		shutdown(Status.UNAVAILABLE.withDescription("calls go over another connection from now on"));
	}

	/** Tries the next rail, on a thread that may block. */
	private void goOn(Listener told) {
		try {
			this.connections.transport().resolver().execute(() -> tryNext(told));
		}
		catch (RejectedExecutionException ex) {
			giveUp(told, "the transport is closed");
		}
		catch (Throwable ex) {
			giveUp(told, FailureText.of(ex));
		}
	}

	private void tryNext(Listener told) {
		RdmaClientTransport begun;
		try {
			synchronized (this) {
				begun = (this.reason == null) ? next() : null;
				if (begun != null) {
					this.starting = true;
					this.current = begun;
				}
			}
		}
		catch (Throwable ex) {
			giveUp(told, FailureText.of(ex));
			return;
		}
		if (begun != null) {
			start(begun, told);
		}
		else {
			giveUp(told, "");
		}
	}

	private void giveUp(Listener told, String detail) {
		Status why;
		synchronized (this) {
			why = this.reason;
		}
		told.transportShutdown(
				(why != null) ? why
						: Status.UNAVAILABLE
							.withDescription("no connection to " + this.connections.address() + ": " + detail),
				SimpleDisconnectError.CONNECTION_RESET);
		told.transportTerminated();
	}

	/** What is seen of one rail; called by the tasks of one connection. */
	private final class Attempt implements Listener {

		private final Listener told;

		private boolean ready;

		private boolean passedOver;

		Attempt(Listener told) {
			this.told = told;
		}

		@Override
		public void transportShutdown(Status status, DisconnectError error) {
			this.passedOver = !this.ready && passesOver(status);
			if (!this.passedOver) {
				searchNoMore();
				this.told.transportShutdown(status, error);
			}
		}

		@Override
		public void transportTerminated() {
			if (this.passedOver) {
				goOn(this.told);
			}
			else {
				this.told.transportTerminated();
			}
		}

		@Override
		public void transportReady() {
			this.ready = true;
			this.told.transportReady();
			searchBetter();
		}

		@Override
		public void transportInUse(boolean inUse) {
			this.told.transportInUse(inUse);
		}

		@Override
		public Attributes filterTransport(Attributes attributes) {
			return this.told.filterTransport(attributes);
		}

	}

}
