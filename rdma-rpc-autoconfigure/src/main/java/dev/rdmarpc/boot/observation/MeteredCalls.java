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

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.boot.observation.CallMeters.MethodMeters;
import dev.rdmarpc.rpc.CallMetadata;
import dev.rdmarpc.rpc.CallObservation;
import dev.rdmarpc.rpc.MethodDescriptor;

/**
 * Calls that need no observation, because it would do nothing but feed meters: they feed
 * them directly. Whether that is so is found out for each method, and again when
 * something has been added to the registry of observations.
 */
final class MeteredCalls {

	private final String name;

	private final Example example;

	private final CallMeters meters;

	private final RegistryContents contents;

	/** By name, because each proxy has descriptors of its own. */
	private final Map<MethodName, Known> methods = new ConcurrentHashMap<>();

	private MeteredCalls(String name, Example example, CallMeters meters, RegistryContents contents) {
		this.name = name;
		this.example = example;
		this.meters = meters;
		this.contents = contents;
	}

	/** Those of a registry, or {@code null} if all calls need an observation. */
	static @Nullable MeteredCalls of(ObservationRegistry registry, String name, Example example,
			@Nullable CallMeters meters) {
		if (meters == null) {
			return null;
		}
		RegistryContents contents = RegistryContents.of(registry);
		return (contents != null) ? new MeteredCalls(name, example, meters, contents) : null;
	}

	/** Starts a call, or returns {@code null} if it needs an observation. */
	@Nullable CallObservation start(MethodDescriptor method, String peer, CallMetadata metadata) {
		MethodName called = new MethodName(method.service(), method.name());
		Known known = this.methods.get(called);
		int version = this.contents.size() + this.meters.removals();
		if (known == null || known.version != version) {
			boolean enough = this.contents.feedOnly(this.meters, this.name,
					this.example.context(method, peer, metadata));
			known = new Known(version, enough ? this.meters.of(this.name, method) : null);
			this.methods.put(called, known);
		}
		return (known.meters != null) ? known.meters.callStarted() : null;
	}

	/** Makes a context such as a call would have. */
	@FunctionalInterface
	interface Example {

		Observation.Context context(MethodDescriptor method, String peer, CallMetadata metadata);

	}

	private record MethodName(String service, String name) {
	}

	/** What is known of a method, and when it was found out. */
	private record Known(int version, @Nullable MethodMeters meters) {
	}

}
