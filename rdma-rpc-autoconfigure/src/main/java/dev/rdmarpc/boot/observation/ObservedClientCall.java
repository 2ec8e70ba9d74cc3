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

import dev.rdmarpc.rpc.CallObservation;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.transport.ChannelSnapshot;
import dev.rdmarpc.transport.RpcChannel;

/** A client's call as an observation, which learns over what the request goes out. */
final class ObservedClientCall implements CallObservation {

	private final ObservedCall call;

	private final RdmaClientObservationContext context;

	private final long begunNanos = System.nanoTime();

	ObservedClientCall(Observation observation, ObservationRegistry registry, RdmaClientObservationContext context) {
		this.call = new ObservedCall(observation, registry, context::setStatus);
		this.context = context;
	}

	@Override
	public Scope openScope() {
		return this.call.openScope();
	}

	/** The time before the first attempt is what it has waited. */
	@Override
	public void requestSent(RpcChannel channel) {
		long waited = (this.context.getQueuePair() != 0) ? this.context.getWaited().toNanos()
				: System.nanoTime() - this.begunNanos;
		ChannelSnapshot seen = ChannelSnapshot.of(channel);
		if (this.context.getProvider() != null) {
			this.context.setProvider(channel.loop().rail());
		}
		this.context.setSent(seen.queuePair(), seen.sendCredits(), waited);
	}

	@Override
	public void requestHeldBack(long nanos) {
		this.context.addCreditWait(nanos);
	}

	@Override
	public void callEnded(RpcStatus status, @Nullable Throwable error) {
		this.call.callEnded(status, error);
	}

}
