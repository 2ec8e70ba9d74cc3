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

package dev.rdmarpc.grpc;

import io.grpc.internal.FixedObjectPool;
import io.grpc.internal.ObjectPool;
import io.grpc.internal.SharedResourceHolder.Resource;
import io.grpc.internal.SharedResourcePool;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/**
 * The transport, with memory of its own, of channels and servers that are given none: one
 * for all, opened for the first and closed some time after the last.
 *
 * @param memory owned
 * @param transport owned
 */
record SharedTransport(RegisteredMemory memory, RdmaTransport transport) {

	private static final Resource<SharedTransport> RESOURCE = new Resource<>() {

		@Override
		public SharedTransport create() {
			RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
			try {
				return new SharedTransport(memory, RdmaTransport.open(TransportOptions.DEFAULTS, memory));
			}
			catch (Throwable ex) {
				memory.close();
				throw ex;
			}
		}

		@Override
		public void close(SharedTransport shared) {
			try {
				shared.transport.close();
			}
			finally {
				shared.memory.close();
			}
		}

		@Override
		public String toString() {
			return "rdma-rpc transport";
		}

	};

	/** Lends the one for all. */
	static ObjectPool<SharedTransport> pool() {
		return SharedResourcePool.forResource(RESOURCE);
	}

	/** Lends a transport that belongs to the caller. */
	static ObjectPool<SharedTransport> of(RdmaTransport transport) {
		return new FixedObjectPool<>(new SharedTransport(transport.memory(), transport));
	}

}
