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
import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.rpc.CallMetadata;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcStatus;

/** An observed call on the side that serves it. Its carrier came with the request. */
public class RdmaServerObservationContext extends ReceiverContext<CallMetadata> {

	private final MethodDescriptor method;

	private final String peer;

	private volatile @Nullable RpcStatus status;

	private volatile int queuePair;

	private volatile @Nullable String provider;

	private volatile long waitedNanos;

	/** Creates the context of a call that begins. */
	public RdmaServerObservationContext(MethodDescriptor method, String peer, CallMetadata metadata) {
		super(CallMetadata::get, Kind.SERVER);
		this.method = method;
		this.peer = peer;
		setCarrier(metadata);
		String address = PeerAddress.uriOf(peer);
		if (address != null) {
			setRemoteServiceAddress(address);
		}
	}

	/** The method served. */
	public MethodDescriptor getMethod() {
		return this.method;
	}

	/** The caller's address. */
	public String getPeer() {
		return this.peer;
	}

	/** How the call ended, or {@code null} while it is in progress. */
	public @Nullable RpcStatus getStatus() {
		return this.status;
	}

	/** The number of the queue pair it came over, 0 if it is not known. */
	public int getQueuePair() {
		return this.queuePair;
	}

	void setQueuePair(int number) {
		this.queuePair = number;
	}

	/** How long the call has waited for its handler to begin, 0 before it has. */
	public Duration getWaited() {
		return Duration.ofNanos(this.waitedNanos);
	}

	void setWaitedNanos(long nanos) {
		this.waitedNanos = nanos;
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
