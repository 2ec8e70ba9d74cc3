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

package dev.rdmarpc.benchmarks.workloads.peer;

import java.io.Closeable;
import java.time.Duration;
import java.util.List;

import dev.rdmarpc.benchmarks.workloads.store.AsyncReads;
import dev.rdmarpc.benchmarks.workloads.tensors.Model;
import dev.rdmarpc.benchmarks.workloads.tensors.Worker;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.sample.store.FeatureStore;

/** A framework that serves and calls the services of the workloads. */
public interface WorkloadPeer {

	/**
	 * Starts a server with an empty store and no parameters, on the loopback address.
	 * @param workers how many give their gradients of each tensor
	 * @throws Exception if it does not start
	 */
	Server serve(int workers) throws Exception;

	/**
	 * Connects to servers, with one connection to each.
	 * @param ports of the servers
	 */
	Client connect(List<Integer> ports);

	/**
	 * Closes memory.
	 * @throws IllegalStateException if some of it is still in use
	 */
	static void close(RegisteredMemory memory) {
		long outstanding = memory.metrics().allocatedBytes();
		memory.close();
		if (outstanding > 0) {
			throw new IllegalStateException(outstanding + " bytes of registered memory are outstanding");
		}
	}

	/** A server that runs. */
	interface Server extends Closeable {

		/** Where it listens. */
		int port();

	}

	/** A client of some servers. */
	interface Client extends Closeable {

		/** The store of the first server; any thread. */
		FeatureStore store();

		/** Gets from the same store over the same connection, each with this deadline. */
		AsyncReads reads(Duration deadline);

		/** Where large values of the store are before and after calls. */
		RegisteredMemory memory();

		/**
		 * Exchanges parameters with all servers; to be closed before the client.
		 * @param model the tensors
		 * @param index of this worker, from 0
		 * @param workers how many there are
		 * @param forward how long a forward pass takes
		 */
		Worker worker(Model model, int index, int workers, Duration forward);

	}

}
