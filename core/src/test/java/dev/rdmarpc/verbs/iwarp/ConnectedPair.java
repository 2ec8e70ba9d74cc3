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

package dev.rdmarpc.verbs.iwarp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.VerbsDevice;

/** Two connected endpoints, each on a device of its own. */
final class ConnectedPair implements AutoCloseable {

	final VerbsDevice clientDevice;

	final VerbsDevice serverDevice;

	final Endpoint client;

	final Endpoint server;

	final ConnectionInfo clientInfo;

	final ConnectionInfo serverInfo;

	ConnectedPair(IwarpOptions options) {
		this(options, options, 64, 64);
	}

	ConnectedPair(IwarpOptions clientOptions, IwarpOptions serverOptions, int sendDepth, int receiveDepth) {
		this(clientOptions, serverOptions, sendDepth, receiveDepth, UnaryOperator.identity());
	}

	/** Connects by way of another address, which leads to that of the listener. */
	ConnectedPair(IwarpOptions clientOptions, IwarpOptions serverOptions, int sendDepth, int receiveDepth,
			UnaryOperator<InetSocketAddress> route) {
		this.clientDevice = new IwarpProvider(clientOptions).openDevice(null);
		this.serverDevice = new IwarpProvider(serverOptions).openDevice(null);
		this.client = new Endpoint(this.clientDevice, sendDepth, receiveDepth);
		this.server = new Endpoint(this.serverDevice, sendDepth, receiveDepth);
		CompletableFuture<CompletableFuture<ConnectionInfo>> accepted = new CompletableFuture<>();
		try (ConnectionListener listener = this.serverDevice.listen(
				new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ListenOptions.DEFAULTS,
				(request) -> accepted.complete(request.accept(this.server.queuePair, ConnectOptions.DEFAULTS)))) {
			this.clientInfo = get(this.clientDevice.connect(this.client.queuePair, route.apply(listener.localAddress()),
					ConnectOptions.DEFAULTS));
			this.serverInfo = get(get(accepted));
		}
	}

	static <T> T get(CompletableFuture<T> future) {
		try {
			return future.get(Endpoint.DEADLINE.toSeconds(), TimeUnit.SECONDS);
		}
		catch (ExecutionException | InterruptedException | TimeoutException ex) {
			throw new AssertionError(ex);
		}
	}

	@Override
	public void close() {
		this.client.close();
		this.server.close();
		this.clientDevice.close();
		this.serverDevice.close();
	}

}
