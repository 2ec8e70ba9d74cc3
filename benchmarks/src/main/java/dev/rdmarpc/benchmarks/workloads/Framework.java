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

package dev.rdmarpc.benchmarks.workloads;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

import dev.rdmarpc.benchmarks.workloads.grpc.GrpcWorkloads;
import dev.rdmarpc.benchmarks.workloads.peer.WorkloadPeer;
import dev.rdmarpc.benchmarks.workloads.rdma.RdmaWorkloads;

/** What is compared; names are those of {@code benchmarks/compare}. */
enum Framework {

	/** This framework with nothing declared but what the sample's interface declares. */
	RDMA_DEFAULT("rdma-default", () -> new RdmaWorkloads(false, false)),

	/** The same, and calls have priorities. */
	RDMA_PRIORITIES("rdma-priorities", () -> new RdmaWorkloads(false, true)),

	/** Without priorities, and tensors are in registered memory. */
	RDMA_REGISTERED("rdma-registered", () -> new RdmaWorkloads(true, false)),

	/** The same, and calls have priorities. */
	RDMA_REGISTERED_PRIORITIES("rdma-registered-priorities", () -> new RdmaWorkloads(true, true)),

	/** The gRPC stubs over Netty, with grpc-java's default executors. */
	GRPC_DEFAULT("grpc-default", () -> new GrpcWorkloads(false, false)),

	/** The same stubs and executors over this project's transport. */
	RDMA_GRPC_DEFAULT("rdma-grpc-default", () -> new GrpcWorkloads(true, false)),

	/** The gRPC stubs over Netty, on the transport's threads. */
	GRPC_DIRECT("grpc-direct", () -> new GrpcWorkloads(false, true)),

	/** The same stubs over this project's transport, on the transport's threads. */
	RDMA_GRPC("rdma-grpc", () -> new GrpcWorkloads(true, true));

	/** The name of what others are compared with. */
	static final String BASE = GRPC_DEFAULT.peer;

	private final String peer;

	@SuppressWarnings("ImmutableEnumChecker") // makes records without state
	private final Supplier<WorkloadPeer> maker;

	Framework(String peer, Supplier<WorkloadPeer> maker) {
		this.peer = peer;
		this.maker = maker;
	}

	static List<String> names() {
		return Arrays.stream(values()).map((framework) -> framework.peer).toList();
	}

	static WorkloadPeer named(String name) {
		for (Framework framework : values()) {
			if (framework.peer.equals(name)) {
				return framework.maker.get();
			}
		}
		throw new IllegalArgumentException("peer " + name + " (expected: one of " + names() + ")");
	}

}
