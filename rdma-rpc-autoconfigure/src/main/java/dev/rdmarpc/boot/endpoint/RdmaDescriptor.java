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

package dev.rdmarpc.boot.endpoint;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

import dev.rdmarpc.rpc.AddressHealth;
import dev.rdmarpc.rpc.QueuePairHealth;
import dev.rdmarpc.verbs.DeviceLimits;

/**
 * The response of the endpoint {@code rdma}.
 *
 * @param provider the verbs provider and why it was chosen
 * @param device name of the device, {@code null} as long as nothing has needed it
 * @param problems what should run but does not, one sentence each
 * @param limits what the device can do, if it is open
 * @param rails all providers and devices in use, in order of preference
 * @param memory registered memory, if there is any
 * @param loops the loops that are running
 * @param server the server, if there is one
 * @param clients the clients
 */
public record RdmaDescriptor(ProviderDescriptor provider, @Nullable String device, List<String> problems,
		@Nullable DeviceLimits limits, List<RailDescriptor> rails, @Nullable MemoryDescriptor memory,
		List<LoopDescriptor> loops, @Nullable ServerDescriptor server,
		List<ClientDescriptor> clients) implements OperationResponseBody {

	/** The selected provider, the reason, and all candidates. */
	public record ProviderDescriptor(String name, String reason, List<CandidateDescriptor> candidates) {

	}

	/** A rail: a provider, why it is used, its device, and why it does not run. */
	public record RailDescriptor(String name, String reason, String device, boolean running, @Nullable String problem,
			boolean reachesOtherHosts) {

	}

	/** A rail of the server's transport: its address, or why it is not listened on. */
	public record ListeningDescriptor(String rail, @Nullable String address, @Nullable String problem) {

	}

	/** A provider and its answer to whether it can work here. */
	public record CandidateDescriptor(String name, boolean available, String reason) {

	}

	/** Registered memory; sizes in bytes. */
	public record MemoryDescriptor(long max, long registered, long allocated, long cached, long user, int extents,
			long buffers, long allocations, long waits, long failures, long leaks) {

	}

	/** A loop, its counters since its start, and its channels. */
	public record LoopDescriptor(String name, String rail, int outstandingCalls, long completions, long polls,
			long emptyPolls, long paidSpins, long spinBudgetMicros, long waits, long waitMillis, long wakeUps,
			long sentBytes, long receivedBytes, long readBytes, long sentFrames, long receivedFrames, long creditFrames,
			ReceivesDescriptor receives, List<ChannelDescriptor> channels) {

	}

	/** The shared receive queue of a loop; memory in bytes. */
	public record ReceivesDescriptor(long posted, long promised, long memory, long refills, long replacements) {

	}

	/** A channel: one queue pair, by its number on the device, and its peer. */
	public record ChannelDescriptor(int queuePair, String peer, String state) {

	}

	/** The server and what it offers. */
	public record ServerDescriptor(String state, boolean running, @Nullable String address,
			List<ListeningDescriptor> rails, int activeCalls, int maxConcurrentCalls, int connections,
			int maxConnections, List<SuspectDescriptor> suspects,
			List<ServiceDescriptor> services) implements OperationResponseBody {

	}

	/**
	 * An address some of whose connections were turned away or given up.
	 *
	 * @param address whose it is
	 * @param rejected its connections that were rejected because of a limit
	 * @param givenUp those that were given up because of what it did, or did not do
	 * @param lastReason why the last one was
	 * @param lastTime when that was, in ISO 8601
	 */
	public record SuspectDescriptor(String address, long rejected, long givenUp, String lastReason, String lastTime) {

	}

	/** A service by its name on the wire. */
	public record ServiceDescriptor(String name, String type, List<MethodDescriptor> methods) {

	}

	/** A method by its name on the wire. */
	public record MethodDescriptor(String name, String signature, boolean asynchronous, boolean inline,
			boolean idempotent, boolean takesStream, boolean repliesWithStream) {

	}

	/** A client, and why it has no connection; the deadline is as in ISO 8601. */
	public record ClientDescriptor(String target, String state, String health, String lastFailure, String deadline,
			PoolDescriptor pool, List<AddressHealth> addresses,
			List<QueuePairHealth> queuePairs) implements OperationResponseBody {

	}

	/** The bounds of a client's queue pairs, and their history. */
	public record PoolDescriptor(int open, int min, int max, int outstandingCalls, long connects, long growths,
			long shrinks, long losses, long repetitions) {

	}

}
