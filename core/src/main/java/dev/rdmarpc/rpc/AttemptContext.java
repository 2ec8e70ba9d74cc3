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

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RailHistory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RpcChannel;

/**
 * What all attempts of one queue pair to connect have in common.
 *
 * @param transport for connections
 * @param target what it connects to, by name
 * @param addresses asked for each attempt; may block
 * @param options of the client
 * @param loops of the client
 * @param own the loop that the queue pair has on each rail it has used
 * @param history of the rails
 * @param handler of the channels
 */
record AttemptContext(RdmaTransport transport, String target, Supplier<InetSocketAddress> addresses,
		RpcClientOptions options, ClientLoops loops, Map<Rail, ChannelLoop> own, RailHistory history,
		ChannelHandler handler) {

	/** Made before any attempt: there may be no memory for a literal when it fails. */
	static final String NO_THREAD = "no thread to resolve its name".intern();

	static final String NO_ADDRESS = "its address is not known".intern();

	static final String NOT_TRIED = "it cannot be tried".intern();

	AttemptContext(RdmaTransport transport, String target, Supplier<InetSocketAddress> addresses,
			RpcClientOptions options, ClientLoops loops, RailHistory history, ChannelHandler handler) {
		this(transport, target, addresses, options, loops, new ConcurrentHashMap<>(), history, handler);
	}

	/** A channel on a rail, on the queue pair's loop there. */
	RpcChannel newChannel(Rail rail, ChannelOptions channel) {
		ChannelLoop loop = this.own.compute(rail,
				(key, known) -> (known != null && !known.isClosed()) ? known : this.loops.next(key));
		return this.transport.newChannel(loop, channel, this.handler);
	}

}
