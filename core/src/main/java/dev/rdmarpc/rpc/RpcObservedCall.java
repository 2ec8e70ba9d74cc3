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

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;

/** Fans one call out to its observers, and keeps their failures from harming the call. */
final class RpcObservedCall implements CallObservation {

	private static final Logger logger = LoggerFactory.getLogger(RpcObservedCall.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private final List<CallObservation> observations;

	private RpcObservedCall(List<CallObservation> observations) {
		this.observations = observations;
	}

	/** Starts an observation. */
	static CallObservation start(List<CallObserver> observers, MethodDescriptor method, String peer,
			CallMetadata metadata) {
		List<CallObservation> started = new ArrayList<>(observers.size());
		for (CallObserver observer : observers) {
			guarded(() -> started.add(Objects.requireNonNull(observer.callStarted(method, peer, metadata),
					"an observer must return an observation")));
		}
		return new RpcObservedCall(started);
	}

	@Override
	public Scope openScope() {
		List<Scope> scopes = new ArrayList<>(this.observations.size());
		for (CallObservation observation : this.observations) {
			guarded(() -> scopes.add(0,
					Objects.requireNonNull(observation.openScope(), "an observation must return a scope")));
		}
		return () -> scopes.forEach((scope) -> guarded(scope::close));
	}

	@Override
	public void callEnded(RpcStatus status, @Nullable Throwable error) {
		this.observations.forEach((observation) -> guarded(() -> observation.callEnded(status, error)));
	}

	private static void guarded(Runnable step) {
		try {
			step.run();
		}
		catch (Throwable ex) {
			log(ex);
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
