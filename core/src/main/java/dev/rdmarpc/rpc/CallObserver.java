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

/**
 * Watches calls, on the client or the server side: for metrics, traces and logs. Must not
 * block.
 *
 * <p>
 * An observer cannot refuse a call. Whatever it or its observations throw is logged, at a
 * limited rate, and changes nothing: the call goes on, unobserved if it could not be
 * begun to be. A check that must be able to refuse belongs into the handler.
 */
@FunctionalInterface
public interface CallObserver {

	/**
	 * A call begins: on the client before its arguments are encoded, on the server before
	 * its handler runs.
	 * @param peer the other side, as far as known
	 * @param metadata travels with the request: added to on the client, read on the
	 * server
	 */
	CallObservation callStarted(MethodDescriptor method, String peer, CallMetadata metadata);

}
