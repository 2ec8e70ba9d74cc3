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

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.transport.RpcChannel;

/**
 * One call, as one of its observers and those after it see it. Keeps their failures from
 * harming the call.
 */
final class RpcObservedCall implements CallObservation {

	private static final Logger logger = LoggerFactory.getLogger(RpcObservedCall.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private final CallObservation observation;

	private final @Nullable RpcObservedCall next;

	private RpcObservedCall(CallObservation observation, @Nullable RpcObservedCall next) {
		this.observation = observation;
		this.next = next;
	}

	/**
	 * Starts the observations of a call.
	 * @return {@code null} if none could begin
	 */
	static @Nullable CallObservation start(List<CallObserver> observers, MethodDescriptor method, String peer,
			CallMetadata metadata) {
		return start(observers, 0, null, method, peer, metadata);
	}

	/** The same for a call that has arrived over a channel. */
	static @Nullable CallObservation start(List<CallObserver> observers, RpcChannel channel, MethodDescriptor method,
			String peer, CallMetadata metadata) {
		return start(observers, 0, channel, method, peer, metadata);
	}

	private static @Nullable RpcObservedCall start(List<CallObserver> observers, int from, @Nullable RpcChannel channel,
			MethodDescriptor method, String peer, CallMetadata metadata) {
		for (int i = from; i < observers.size(); i++) {
			CallObservation started = startOne(observers.get(i), channel, method, peer, metadata);
			if (started != null) {
				return new RpcObservedCall(started, start(observers, i + 1, channel, method, peer, metadata));
			}
		}
		return null;
	}

	private static @Nullable CallObservation startOne(CallObserver observer, @Nullable RpcChannel channel,
			MethodDescriptor method, String peer, CallMetadata metadata) {
		try {
			CallObservation started = (channel != null) ? observer.callArrived(channel, method, peer, metadata)
					: observer.callStarted(method, peer, metadata);
			return Objects.requireNonNull(started, "an observer must return an observation");
		}
		catch (Throwable ex) {
			log(ex);
			return null;
		}
	}

	@Override
	public Scope openScope() {
		Scope own = openOwnScope();
		Scope inner = (this.next != null) ? this.next.openScope() : Scope.NONE;
		if (own == Scope.NONE) {
			return inner;
		}
		return () -> {
			inner.close();
			try {
				own.close();
			}
			catch (Throwable ex) {
				log(ex);
			}
		};
	}

	private Scope openOwnScope() {
		try {
			return Objects.requireNonNull(this.observation.openScope(), "an observation must return a scope");
		}
		catch (Throwable ex) {
			log(ex);
			return Scope.NONE;
		}
	}

	@Override
	public void requestSent(RpcChannel channel) {
		try {
			this.observation.requestSent(channel);
		}
		catch (Throwable ex) {
			log(ex);
		}
		if (this.next != null) {
			this.next.requestSent(channel);
		}
	}

	@Override
	public void requestHeldBack(long nanos) {
		try {
			this.observation.requestHeldBack(nanos);
		}
		catch (Throwable ex) {
			log(ex);
		}
		if (this.next != null) {
			this.next.requestHeldBack(nanos);
		}
	}

	/** A call has ended, which is more important than that its observers hear of it. */
	static void end(@Nullable CallObservation watched, RpcStatus status, @Nullable Throwable error) {
		try {
			if (watched != null) {
				watched.callEnded(status, error);
			}
		}
		catch (Throwable ex) {
			// there was no memory to say so
		}
	}

	@Override
	public void callEnded(RpcStatus status, @Nullable Throwable error) {
		try {
			this.observation.callEnded(status, error);
		}
		catch (Throwable ex) {
			log(ex);
		}
		if (this.next != null) {
			this.next.callEnded(status, error);
		}
	}

	private static void log(Throwable failure) {
		try {
			failures.log(Level.WARN, "An observer failed, which changes nothing for the calls it watches", failure);
		}
		catch (Throwable ex) {
			// the call is more important than that it was not said
		}
	}

}
