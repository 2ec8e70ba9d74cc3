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

package dev.rdmarpc.tools.rpc;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.stream.Collectors;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.GenericClient;
import dev.rdmarpc.rpc.RdmaReflection;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.tools.ping.PingAddress;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/** A client with all that it needs, which is closed with it. */
final class Connection implements AutoCloseable {

	/** Greater than any name, so that a list of those that follow is empty. */
	private static final String LAST = "\uffff";

	private final RegisteredMemory memory;

	private final RdmaTransport transport;

	private final RpcClient client;

	private Connection(RegisteredMemory memory, RdmaTransport transport, RpcClient client) {
		this.memory = memory;
		this.transport = transport;
		this.client = client;
	}

	/** Opens a device and makes a client, which connects with its first call. */
	static Connection open(PingAddress target, TransportOptions transportOptions, RpcClientOptions options) {
		InetSocketAddress address = target.resolve();
		RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withInitialBytes(4L << 20));
		RdmaTransport transport = null;
		try {
			transport = RdmaTransport.open(transportOptions, memory);
			return new Connection(memory, transport,
					RpcClient.builder()
						.transport(transport)
						.target(target.toString(), () -> address)
						.options(options)
						.build());
		}
		catch (RuntimeException ex) {
			if (transport != null) {
				transport.close();
			}
			memory.close();
			throw ex;
		}
	}

	/** Which provider and device it uses, or if it is not connected, all that it has. */
	String device() {
		String used = this.client.queuePairs().get(0).rail();
		return this.transport.rails()
			.stream()
			.filter((rail) -> used == null || rail.name().equals(used))
			.map((rail) -> "provider " + rail.name() + ", device " + rail.device().name())
			.collect(Collectors.joining("; "));
	}

	/** Finds services and calls them. */
	GenericClient generic() {
		return this.client.generic();
	}

	/**
	 * What makes the smallest call there is: any server answers it, whether it has
	 * reflection or not.
	 */
	Pinger pinger(Duration deadline) {
		return new Pinger(this.client, deadline);
	}

	@Override
	public void close() {
		this.client.close();
		this.transport.close();
		this.memory.close();
	}

	/** Makes small calls. */
	static final class Pinger implements Runnable {

		private final RdmaReflection reflection;

		private Pinger(RpcClient client, Duration deadline) {
			this.reflection = CallOptions.deadline(deadline)
				.on(client.proxy(RdmaReflection.SERVICE, RdmaReflection.class));
		}

		@Override
		public void run() {
			hasReflection();
		}

		/** Makes a call, and tells whether the server has reflection. */
		boolean hasReflection() {
			try {
				this.reflection.services(LAST);
				return true;
			}
			catch (RpcException ex) {
				if (ex.status() == RpcStatus.UNIMPLEMENTED) {
					return false;
				}
				throw ex;
			}
		}

	}

}
