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

import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.RpcChannel;

/** A handler on the side that calls, where the peer must not. */
interface CallingSide extends ChannelHandler {

	@Override
	default void onRequest(RpcChannel channel, IncomingMessage request) {
		channel.close("a request from the side that serves");
	}

	@Override
	default void onUnreadableRequest(RpcChannel channel, int requestId, String detail) {
		channel.close("a request from the side that serves");
	}

	@Override
	default void onCancel(RpcChannel channel, int requestId) {
		// nothing is executed here for the peer
	}

}
