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

import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ClientDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.MemoryDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ProviderDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.RailDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ReceivesDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ServiceDescriptor;
import dev.rdmarpc.verbs.DeviceLimits;

/** The responses of the parts of the endpoint {@code rdma}. */
public final class RdmaParts {

	private RdmaParts() {
	}

	/**
	 * The devices.
	 *
	 * @param provider the verbs provider and why it was chosen
	 * @param devices what the provider has
	 * @param device the one in use
	 * @param running whether it can open and close connections
	 * @param limits what it can do
	 * @param rails all providers and devices in use, in order of preference
	 */
	public record Devices(ProviderDescriptor provider, List<String> devices, String device, boolean running,
			DeviceLimits limits, List<RailDescriptor> rails) implements OperationResponseBody {

	}

	/**
	 * The registered memory.
	 *
	 * @param pool what it is and was used for
	 * @param settings how it was configured
	 * @param receives what of it the loops have posted for peers
	 * @param extentsAdded how often it has grown
	 * @param extentsRemoved how often it has shrunk
	 */
	public record Memory(MemoryDescriptor pool, MemorySettings settings, List<LoopReceives> receives, long extentsAdded,
			long extentsRemoved) implements OperationResponseBody {

	}

	/** The settings of memory; sizes in bytes, durations as in ISO 8601. */
	public record MemorySettings(long initial, long max, long extent, long threadCache, String allocationTimeout,
			String leakDetection, long registrationCache, String retention) {

	}

	/** The shared receive queue of a loop. */
	public record LoopReceives(String loop, ReceivesDescriptor receives) {

	}

	/** All queue pairs. */
	public record QueuePairs(List<QueuePair> queuePairs) implements OperationResponseBody {

	}

	/**
	 * A queue pair.
	 *
	 * @param number on its device
	 * @param role client if it was connected from here, otherwise server
	 * @param rail the provider that it is of
	 * @param loop the loop that drives it
	 * @param state of its channel
	 * @param localAddress its own address, if known
	 * @param peer the other one's
	 * @param outstandingCalls calls from here that wait for a reply
	 * @param sendCredits frames that the peer would take at once
	 * @param promisedReceives receives promised to the peer
	 * @param receivedFrames frames that the peer has sent since the handshake
	 * @param cancels how many of them have given up a call
	 * @param unfinishedBytes memory held for messages that the peer has begun
	 */
	public record QueuePair(int number, String role, String rail, String loop, String state,
			@Nullable String localAddress, @Nullable String peer, int outstandingCalls, int sendCredits,
			int promisedReceives, long receivedFrames, long cancels, long unfinishedBytes) {

	}

	/** All services. */
	public record Services(List<ServiceDescriptor> services) implements OperationResponseBody {

	}

	/**
	 * A service with its schemas.
	 *
	 * @param name its name on the wire
	 * @param type its interface
	 * @param schema that of all its messages, if the codec prints any
	 * @param methods its methods
	 */
	public record Service(String name, String type, @Nullable String schema,
			List<Method> methods) implements OperationResponseBody {

	}

	/**
	 * A method with its schema.
	 *
	 * @param name its name on the wire
	 * @param signature the Java method
	 * @param schema that of its messages, if the codec prints any
	 */
	public record Method(String name, String signature, @Nullable String schema) {

	}

	/** All clients. */
	public record Clients(List<ClientDescriptor> clients) implements OperationResponseBody {

	}

}
