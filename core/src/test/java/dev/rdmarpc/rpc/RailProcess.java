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
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.DeliveryFile.Deliveries;
import dev.rdmarpc.transport.RdmaTransport;

/** A process that serves over some rails until it is killed. */
public final class RailProcess {

	static final String READY = "serving on ";

	private RailProcess() {
	}

	/**
	 * Takes the directory of shared memory, providers, an address, a port, and the file
	 * for what is delivered.
	 */
	@SuppressWarnings("SystemOut")
	public static void main(String[] arguments) throws Exception {
		RegisteredMemory memory = RailsFixture.newMemory();
		RdmaTransport transport = RailsFixture.open(Path.of(arguments[0]), memory, List.of(arguments[1].split(",")));
		InetSocketAddress address = new InetSocketAddress(arguments[2], Integer.parseInt(arguments[3]));
		try (DeliveryFile file = new DeliveryFile(Path.of(arguments[4]))) {
			RpcServer server = RpcServer.builder()
				.transport(transport)
				.options(RpcServerOptions.DEFAULTS.withAddress(address))
				.service(Deliveries.class, file.service())
				.build()
				.start();
			System.out.println(READY + server.rails());
			new CountDownLatch(1).await();
		}
	}

}
