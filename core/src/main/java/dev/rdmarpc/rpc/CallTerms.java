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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.balancing.LoadBalancer;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;

/**
 * What asynchronous calls are made with beside their arguments. Calls that have nothing
 * of their own share one object, which keeps {@link CallFuture} small.
 */
final class CallTerms {

	private static final VarHandle OBSERVATION;

	static {
		try {
			OBSERVATION = MethodHandles.lookup().findVarHandle(CallTerms.class, "observation", CallObservation.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private final ClientCalls calls;

	private final CallOptions options;

	private final byte[] metadata;

	private final long key;

	private final @Nullable CarriedContext context;

	private volatile @Nullable CallObservation observation;

	/** What calls share that have no options, metadata, observation or context. */
	CallTerms(ClientCalls calls) {
		this(calls, CallOptions.NONE, RequestTemplate.NO_METADATA, null, LoadBalancer.NO_KEY, null);
	}

	/** What one call has. */
	CallTerms(ClientCalls calls, CallOptions options, byte[] metadata, @Nullable CallObservation observation, long key,
			@Nullable CarriedContext context) {
		this.calls = calls;
		this.options = options;
		this.metadata = metadata;
		this.observation = observation;
		this.key = key;
		this.context = context;
	}

	/** The client's calls. */
	ClientCalls calls() {
		return this.calls;
	}

	CallOptions options() {
		return this.options;
	}

	/** What is sent with the request. */
	byte[] metadata() {
		return this.metadata;
	}

	/** By which a channel is found. */
	long key() {
		return this.key;
	}

	/** What users' code that depends on the call runs with, or {@code null}. */
	@Nullable CarriedContext context() {
		return this.context;
	}

	/** The request goes out over a channel. */
	void sentOver(RpcChannel channel) {
		CallObservation watched = this.observation;
		if (watched != null) {
			watched.requestSent(channel);
		}
	}

	/** The request has waited for credits. */
	void heldBack(long nanos) {
		CallObservation watched = this.observation;
		if (watched != null) {
			watched.requestHeldBack(nanos);
		}
	}

	/** The call has ended; the first time counts. */
	void ended(RpcStatus status, @Nullable Throwable failure) {
		if (this.observation == null) {
			return;
		}
		CallObservation watched = (CallObservation) OBSERVATION.getAndSet(this, (CallObservation) null);
		if (watched != null) {
			watched.callEnded(status, failure);
		}
	}

}
