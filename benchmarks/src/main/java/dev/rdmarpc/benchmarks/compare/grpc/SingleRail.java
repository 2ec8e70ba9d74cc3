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

package dev.rdmarpc.benchmarks.compare.grpc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/**
 * The transports of a process on which gRPC is measured, each with a single rail: that of
 * channels and servers that are given none would take shared memory. They live as long as
 * the process.
 */
public final class SingleRail {

	private static final Map<String, RdmaTransport> opened = new ConcurrentHashMap<>();

	private SingleRail() {
	}

	/** The one on a provider, with default settings otherwise. */
	public static RdmaTransport of(String provider) {
		return opened.computeIfAbsent(provider, (name) -> RdmaTransport
			.open(TransportOptions.DEFAULTS.withProvider(name, ""), RegisteredMemory.create(MemoryOptions.DEFAULTS)));
	}

}
