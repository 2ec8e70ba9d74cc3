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

import java.time.Duration;

import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.SenderContext;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.rpc.CallMetadata;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcStatus;

/** An observed call on the side that makes it. Its carrier travels with the request. */
public class RdmaClientObservationContext extends SenderContext<CallMetadata> {

	private final MethodDescriptor method;

	private final String target;

	private volatile @Nullable RpcStatus status;

	private volatile int queuePair;

	private volatile @Nullable String provider;

	private volatile long waitedNanos;

	private volatile int sendCredits;

	private volatile long creditWaitNanos;

	/** Creates the context of a call that begins. */
	public RdmaClientObservationContext(MethodDescriptor method, String target, CallMetadata metadata) {
		super((carrier, key, value) -> {
			if (carrier != null) {
				carrier.put(key, value);
			}
		}, Kind.CLIENT);
		this.method = method;
		this.target = target;
		setCarrier(metadata);
		setRemoteServiceName(method.service());
		String address = PeerAddress.uriOf(target);
		if (address != null) {
			setRemoteServiceAddress(address);
		}
	}

	/** The method called. */
	public MethodDescriptor getMethod() {
		return this.method;
	}

	/** The target: its name, or host and port. */
	public String getTarget() {
		return this.target;
	}

	/** How the call ended, or {@code null} while it is in progress. */
	public @Nullable RpcStatus getStatus() {
		return this.status;
	}

	/** The number of the queue pair the request went out over, 0 before it has. */
	public int getQueuePair() {
		return this.queuePair;
	}

	/** How long the call has waited for a connection to send its request over. */
	public Duration getWaited() {
		return Duration.ofNanos(this.waitedNanos);
	}

	/**
	 * How many frames the peer would have taken at once when the request was handed over.
	 */
	public int getSendCredits() {
		return this.sendCredits;
	}

	/**
	 * How long the request has waited for the peer to grant credits, or for room in the
	 * send queue; in all attempts together.
	 */
	public Duration getCreditWait() {
		return Duration.ofNanos(this.creditWaitNanos);
	}

	// attempts follow each other: one thread at a time adds
	@SuppressWarnings("NonAtomicVolatileUpdate")
	void addCreditWait(long nanos) {
		this.creditWaitNanos = this.creditWaitNanos + nanos;
	}

	void setSent(int number, int credits, long waited) {
		this.queuePair = number;
		this.sendCredits = credits;
		this.waitedNanos = waited;
	}

	/** The provider of the verbs, or {@code null} if it is not known. */
	public @Nullable String getProvider() {
		return this.provider;
	}

	void setProvider(@Nullable String provider) {
		this.provider = provider;
	}

	void setStatus(RpcStatus status) {
		this.status = status;
	}

}
