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

import dev.rdmarpc.transport.RpcChannel;

/**
 * Observes calls, on the client or the server side, for metrics, traces and logs. Must
 * not block.
 *
 * <p>
 * An observer cannot reject a call. Whatever it or its observations throw is logged, at a
 * limited rate, and the call continues, unobserved if its observation could not begin.
 * Checks that can reject a call belong in the handler.
 */
@FunctionalInterface
public interface CallObserver {

	/**
	 * A call begins: on the client before its arguments are encoded, on the server before
	 * its handler runs.
	 * @param peer the other side, as far as known
	 * @param metadata travels with the request; the client adds to it, the server reads
	 * it
	 */
	CallObservation callStarted(MethodDescriptor method, String peer, CallMetadata metadata);

	/**
	 * The same on the server, where the channel is known. Must not keep it.
	 */
	default CallObservation callArrived(RpcChannel channel, MethodDescriptor method, String peer,
			CallMetadata metadata) {
		return callStarted(method, peer, metadata);
	}

}
