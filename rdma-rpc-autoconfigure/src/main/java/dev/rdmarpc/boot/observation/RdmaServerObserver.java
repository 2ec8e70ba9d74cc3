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

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.rpc.CallMetadata;
import dev.rdmarpc.rpc.CallObservation;
import dev.rdmarpc.rpc.CallObserver;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.transport.ChannelSnapshot;
import dev.rdmarpc.transport.RpcChannel;

/** Observes the calls that a server executes. */
public class RdmaServerObserver implements CallObserver {

	private static final RdmaServerObservationConvention DEFAULT_CONVENTION = new DefaultRdmaServerObservationConvention();

	private final ObservationRegistry registry;

	private final @Nullable RdmaServerObservationConvention convention;

	private final @Nullable MeteredCalls metered;

	private final @Nullable String provider;

	/**
	 * Creates an observer that makes each call an observation.
	 * @param convention a custom convention, or {@code null} for the default
	 */
	public RdmaServerObserver(ObservationRegistry registry, @Nullable RdmaServerObservationConvention convention) {
		this(registry, convention, null);
	}

	/**
	 * Creates an observer that feeds meters directly while an observation would do
	 * nothing else.
	 * @param convention a custom convention, or {@code null} for the default
	 * @param meters those meters, if there are any
	 */
	public RdmaServerObserver(ObservationRegistry registry, @Nullable RdmaServerObservationConvention convention,
			@Nullable CallMeters meters) {
		this(registry, convention, meters, null);
	}

	/**
	 * Creates an observer as above, whose spans name the provider of the verbs.
	 * @param convention a custom convention, or {@code null} for the default
	 * @param meters those meters, if there are any
	 * @param provider the name of the provider, or {@code null} to leave it out
	 */
	public RdmaServerObserver(ObservationRegistry registry, @Nullable RdmaServerObservationConvention convention,
			@Nullable CallMeters meters, @Nullable String provider) {
		this.registry = registry;
		this.provider = provider;
		this.convention = convention;
		this.metered = (convention != null) ? null : MeteredCalls.of(registry,
				DefaultRdmaServerObservationConvention.NAME, RdmaServerObservationContext::new, meters);
	}

	@Override
	public CallObservation callStarted(MethodDescriptor method, String peer, CallMetadata metadata) {
		CallObservation call = (this.metered != null) ? this.metered.start(method, peer, metadata) : null;
		return (call != null) ? call : observe(0, this.provider, method, peer, metadata);
	}

	@Override
	public CallObservation callArrived(RpcChannel channel, MethodDescriptor method, String peer,
			CallMetadata metadata) {
		CallObservation call = (this.metered != null) ? this.metered.start(method, peer, metadata) : null;
		return (call != null) ? call : observe(ChannelSnapshot.of(channel).queuePair(),
				(this.provider != null) ? channel.loop().rail() : null, method, peer, metadata);
	}

	private CallObservation observe(int queuePair, @Nullable String rail, MethodDescriptor method, String peer,
			CallMetadata metadata) {
		RdmaServerObservationContext context = new RdmaServerObservationContext(method, peer, metadata);
		context.setQueuePair(queuePair);
		context.setProvider(rail);
		Observation observation = RdmaObservationDocumentation.SERVER_CALL
			.observation(this.convention, DEFAULT_CONVENTION, () -> context, this.registry)
			.start();
		return new ObservedCall(observation, this.registry, context::setStatus, context::setWaitedNanos);
	}

}
