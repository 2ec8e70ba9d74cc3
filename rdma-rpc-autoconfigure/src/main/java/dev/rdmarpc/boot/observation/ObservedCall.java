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

package dev.rdmarpc.boot.observation;

import java.util.function.Consumer;
import java.util.function.LongConsumer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.rpc.CallObservation;
import dev.rdmarpc.rpc.RpcStatus;

/** A call as an observation. */
final class ObservedCall implements CallObservation {

	private final Observation observation;

	private final ObservationRegistry registry;

	private final Consumer<RpcStatus> statusSetter;

	/** Who is told how long a served call has waited for its handler to begin. */
	private final @Nullable LongConsumer waited;

	private final long begunNanos;

	private volatile boolean running;

	ObservedCall(Observation observation, ObservationRegistry registry, Consumer<RpcStatus> statusSetter) {
		this(observation, registry, statusSetter, null);
	}

	ObservedCall(Observation observation, ObservationRegistry registry, Consumer<RpcStatus> statusSetter,
			@Nullable LongConsumer waited) {
		this.waited = waited;
		this.begunNanos = (waited != null) ? System.nanoTime() : 0;
		this.observation = observation;
		this.registry = registry;
		this.statusSetter = statusSetter;
	}

	/**
	 * A handler that fails while a scope opens or closes would leave the scope open on
	 * the thread, where the next calls would take it for their parent.
	 */
	@Override
	public Scope openScope() {
		if (this.waited != null && !this.running) {
			this.running = true;
			this.waited.accept(System.nanoTime() - this.begunNanos);
		}
		Observation.Scope outer = this.registry.getCurrentObservationScope();
		try {
			Observation.Scope scope = this.observation.openScope();
			return () -> {
				try {
					scope.close();
				}
				finally {
					this.registry.setCurrentObservationScope(outer);
				}
			};
		}
		catch (Throwable ex) {
			this.registry.setCurrentObservationScope(outer);
			throw ex;
		}
	}

	@Override
	public void callEnded(RpcStatus status, @Nullable Throwable error) {
		try {
			this.statusSetter.accept(status);
			if (error != null) {
				this.observation.error(error);
			}
		}
		finally {
			this.observation.stop();
		}
	}

}
