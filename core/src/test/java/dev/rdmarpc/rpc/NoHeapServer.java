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

import java.util.concurrent.locks.LockSupport;

import dev.rdmarpc.NoHeap;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/** A server in a process of its own, which has no heap left when a handler has failed. */
public final class NoHeapServer {

	static final String PORT = "port ";

	/** In which the server tries to tell of the failure. */
	private static final long PAUSE_NANOS = 200_000_000;

	private NoHeapServer() {
	}

	@SuppressWarnings("SystemOut")
	public static void main(String[] arguments) throws Exception {
		try (RegisteredMemory memory = RegisteredMemory
			.create(MemoryOptions.builder().initialBytes(2L << 20).maxBytes(12L << 20).build());
				RdmaTransport transport = RdmaTransport.open(TransportOptions.DEFAULTS
					.withProvider(TestEnvironment.provider(TransportOptions.DEFAULTS.provider()), ""), memory);
				RpcServer server = RpcServer.builder()
					.transport(transport)
					.options(RpcFixture.serverOptions(0))
					.service(Greedy.class, new GreedyService())
					.build()
					.start()) {
			System.out.println(PORT + server.port());
			while (!GreedyService.taking || server.activeCalls() > 0) {
				LockSupport.parkNanos(1_000_000);
			}
			LockSupport.parkNanos(PAUSE_NANOS);
			NoHeap.giveBack();
			System.in.read();
		}
	}

	/** A service whose handler takes all the memory there is, and then fails. */
	interface Greedy {

		@RdmaMethod(inline = true)
		void fail(boolean greedy);

	}

	private static final class GreedyService implements Greedy {

		static volatile boolean taking;

		private final RuntimeException failure = new IllegalStateException("prepared before");

		@Override
		public void fail(boolean greedy) {
			if (greedy) {
				taking = true;
				NoHeap.take();
			}
			throw this.failure;
		}

	}

}
