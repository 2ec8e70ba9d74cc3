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

import io.micrometer.observation.ObservationHandler;

import dev.rdmarpc.rpc.CallObservation;
import dev.rdmarpc.rpc.MethodDescriptor;

/**
 * Feeds the meters that a handler of observations would feed, without observations.
 */
public interface CallMeters {

	/** Whether it feeds what this handler feeds, and in the same way. */
	boolean areThoseOf(ObservationHandler<?> handler);

	/**
	 * The meters of a method's calls.
	 * @param name that of the observations
	 */
	MethodMeters of(String name, MethodDescriptor method);

	/**
	 * Increases whenever meters have been removed from their registry, so that they have
	 * to be asked for again.
	 */
	int removals();

	/** The meters of one method's calls. */
	@FunctionalInterface
	interface MethodMeters {

		/** A call begins. */
		CallObservation callStarted();

	}

}
