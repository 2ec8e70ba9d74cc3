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

package dev.rdmarpc.direct;

import java.net.InetSocketAddress;

import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/** A server in plain Java. */
final class PictureServer implements AutoCloseable {

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(256 << 20)
		.withInitialBytes(16 << 20)
		.withLeakDetection(LeakDetection.PARANOID));

	private final RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS, this.memory);

	private final PictureStore store = new PictureStore();

	private final RpcServer server;

	PictureServer(InetSocketAddress address) {
		this.server = RpcServer.builder()
			.transport(this.transport)
			.options(RpcServerOptions.DEFAULTS.withAddress(address).withLimits(100, 1000))
			.service("pictures", Pictures.class, this.store)
			.reflection()
			.build()
			.start();
	}

	int port() {
		return this.server.port();
	}

	@Override
	public void close() {
		this.server.close();
		this.store.close();
		this.transport.close();
		this.memory.close();
	}

	RegisteredMemory memory() {
		return this.memory;
	}

}
