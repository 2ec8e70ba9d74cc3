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

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
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
import io.grpc.internal.ClientTransportFactory.ClientTransportOptions;
import io.grpc.internal.ConnectionClientTransport;
import io.grpc.internal.DisconnectError;
import io.grpc.internal.SimpleDisconnectError;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.verbs.VerbsException;

/**
 * A connection over the first of the rails on which the peer answers. While there is
 * another one to be tried, a rail has {@link Rail#ATTEMPT_TIMEOUT}.
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

	private final RdmaTransport transport;

	private final ClientSettings settings;

	private final InetSocketAddress address;

	private final ClientTransportOptions options;

	private final Deque<Rail> left;

	private final InternalLogId logId;

	private volatile RdmaClientTransport current;

	private boolean starting = true;

	private boolean forced;

	private @Nullable Status reason;

	/**
	 * Creates a connection, which is still to be started.
	 * @throws VerbsException if nothing can be tried on any rail
	 */
	RailsTransport(RdmaTransport transport, ClientSettings settings, InetSocketAddress address,
			ClientTransportOptions options) {
		this.transport = transport;
		this.settings = settings;
		this.address = address;
		this.options = options;
		this.left = new ArrayDeque<>(railsTo(transport, settings.channel(), address));
		this.current = next();
		this.logId = this.current.getLogId();
	}

	/**
	 * Those that may reach the peer, or the last if none may, which then says why.
	 */
	private static List<Rail> railsTo(RdmaTransport transport, ChannelOptions channel, InetSocketAddress address) {
		transport.checkSecurity(channel);
		List<Rail> all = transport.rails(channel);
		List<Rail> reaching = all.stream().filter((rail) -> rail.mayReach(address)).toList();
		return reaching.isEmpty() ? List.of(all.get(all.size() - 1)) : reaching;
	}

	/** Of the next rail that is not down. */
	private RdmaClientTransport next() {
		while (true) {
			Rail rail = this.left.remove();
			try {
				return new RdmaClientTransport(this.transport, settings(), rail, this.address, this.options);
			}
			catch (VerbsException ex) {
				if (this.left.isEmpty()) {
					throw ex;
				}
				logger.debug("No connection to {} over {}", this.address, rail, ex);
			}
		}
	}

	private ClientSettings settings() {
		return this.left.isEmpty() ? this.settings
				: this.settings.withChannel(this.settings.channel().withHandshakeWithin(Rail.ATTEMPT_TIMEOUT));
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
		return this.reason == null && !this.left.isEmpty() && status.getCode() != Status.Code.UNAUTHENTICATED;
	}

	/** Tries the next rail, on a thread that may block. */
	private void goOn(Listener told) {
		try {
			this.transport.resolver().execute(() -> tryNext(told));
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
						: Status.UNAVAILABLE.withDescription("no connection to " + this.address + ": " + detail),
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
