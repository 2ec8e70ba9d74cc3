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

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.convert.DurationStyle;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaServerControl;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ClientDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaDescriptor.ServerDescriptor;
import dev.rdmarpc.boot.endpoint.RdmaParts.Clients;
import dev.rdmarpc.boot.endpoint.RdmaParts.QueuePairs;
import dev.rdmarpc.boot.endpoint.RdmaParts.Services;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * The Actuator endpoint {@code rdma}: the whole state, its parts, and operations that
 * drain the server and change limits. By default it can only be read.
 */
@Endpoint(id = "rdma", defaultAccess = Access.READ_ONLY)
public class RdmaEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(RdmaEndpoint.class);

	private static final String SERVER = "server";

	private static final String SERVICES = "services";

	private static final String CLIENTS = "clients";

	private final ProviderSelection selection;

	private final Supplier<@Nullable RdmaTransport> transport;

	private final Supplier<@Nullable RpcServer> server;

	private final Supplier<@Nullable RdmaServerControl> control;

	private final @Nullable RdmaClients clients;

	/**
	 * Creates the endpoint. Suppliers are queried on each request.
	 * @param transport returns {@code null} as long as nothing has opened it
	 * @param server returns {@code null} as long as there is none
	 * @param control of the server
	 */
	public RdmaEndpoint(ProviderSelection selection, Supplier<@Nullable RdmaTransport> transport,
			Supplier<@Nullable RpcServer> server, Supplier<@Nullable RdmaServerControl> control,
			@Nullable RdmaClients clients) {
		this.selection = selection;
		this.transport = transport;
		this.server = server;
		this.control = control;
		this.clients = clients;
	}

	/** Returns the whole state. */
	@ReadOperation
	public RdmaDescriptor rdma() {
		RdmaTransport open = this.transport.get();
		if (open == null) {
			return new RdmaDescriptor(RdmaView.provider(this.selection), null, List.of(), null, List.of(), null,
					List.of(), serverState(), clientStates());
		}
		return new RdmaDescriptor(RdmaView.provider(open.selection()), open.device().name(), open.problems(),
				open.device().limits(), open.rails().stream().map(RdmaView::rail).toList(),
				RdmaView.memory(open.memory()), open.loops().stream().map(RdmaView::loop).toList(), serverState(),
				clientStates());
	}

	/**
	 * Returns a part of the state.
	 * @param part devices, memory, queue-pairs, server, services or clients
	 * @return {@code null} if there is no such part
	 */
	@ReadOperation
	public @Nullable OperationResponseBody part(@Selector String part) {
		RdmaTransport open = this.transport.get();
		return switch (part) {
			case "devices" -> (open != null) ? RdmaView.devices(open) : null;
			case "memory" -> (open != null) ? RdmaView.memoryOf(open) : null;
			case "queue-pairs" -> new QueuePairs((open != null) ? RdmaView.queuePairs(open) : List.of());
			case SERVER -> serverState();
			case SERVICES -> services();
			case CLIENTS -> new Clients(clientStates());
			default -> null;
		};
	}

	/**
	 * Returns one of the services, with its schemas, or one of the clients.
	 * @param part services or clients
	 * @param name of the service, or of the client's target
	 * @return {@code null} if there is none
	 */
	@ReadOperation
	public @Nullable OperationResponseBody member(@Selector String part, @Selector String name) {
		return switch (part) {
			case SERVICES -> service(name);
			case CLIENTS -> client(name);
			default -> null;
		};
	}

	/**
	 * Drains the server or puts it back into service, or changes its limits.
	 * @param part server
	 * @param draining whether it is to be out of service
	 * @param maxConcurrentCalls maximum number of concurrent calls, at least 1
	 * @return the server's state afterwards, {@code null} if there is no server
	 */
	@WriteOperation
	public @Nullable ServerDescriptor change(@Selector String part, @Nullable Boolean draining,
			@Nullable Integer maxConcurrentCalls) {
		RpcServer current = this.server.get();
		if (!part.equals(SERVER) || current == null) {
			return null;
		}
		require(draining != null || maxConcurrentCalls != null,
				"nothing to change (expected: draining or maxConcurrentCalls)");
		if (maxConcurrentCalls != null) {
			limit(current, maxConcurrentCalls);
		}
		if (draining != null) {
			drain(draining);
		}
		return serverState();
	}

	/**
	 * Changes the default deadline of a client.
	 * @param part clients
	 * @param name of its target
	 * @param deadline such as 500ms or PT2S, 0 for none
	 * @return the client's state afterwards, {@code null} if there is no such client
	 */
	@WriteOperation
	public @Nullable ClientDescriptor changeMember(@Selector String part, @Selector String name, String deadline) {
		if (!part.equals(CLIENTS) || this.clients == null || client(name) == null) {
			return null;
		}
		this.clients.defaultDeadline(name, duration(deadline));
		return client(name);
	}

	private static void limit(RpcServer server, int calls) {
		require(calls >= 1, "maxConcurrentCalls " + calls + " (expected: at least 1)");
		int before = server.options().maxConcurrentCalls();
		server.maxConcurrentCalls(calls);
		logger.info("Maximum number of concurrent calls changed from {} to {}", before, calls);
	}

	private void drain(boolean draining) {
		RdmaServerControl known = this.control.get();
		if (known == null) {
			throw refusal("this server cannot be drained");
		}
		if (draining) {
			known.drain();
			return;
		}
		try {
			known.resume();
		}
		catch (IllegalStateException ex) {
			throw new InvalidEndpointRequestException(String.valueOf(ex.getMessage()), ex.getMessage(), ex);
		}
	}

	private static Duration duration(String text) {
		Duration value;
		try {
			value = DurationStyle.detectAndParse(text);
		}
		catch (IllegalArgumentException ex) {
			throw refusal("deadline '" + text + "' (expected: a duration such as 500ms or PT2S, 0 for none)");
		}
		require(!value.isNegative(), "deadline " + text + " (expected: not negative)");
		return value;
	}

	private static void require(boolean valid, String reason) {
		if (!valid) {
			throw refusal(reason);
		}
	}

	private static InvalidEndpointRequestException refusal(String reason) {
		return new InvalidEndpointRequestException(reason, reason);
	}

	private @Nullable ServerDescriptor serverState() {
		RpcServer current = this.server.get();
		if (current == null) {
			return null;
		}
		RdmaServerControl known = this.control.get();
		return RdmaView.server(current, (known != null) ? known.state()
				: current.isRunning() ? RdmaServerControl.State.RUNNING : RdmaServerControl.State.STOPPED);
	}

	private Services services() {
		RpcServer current = this.server.get();
		return new Services(
				(current != null) ? current.services().stream().map(RdmaView::service).toList() : List.of());
	}

	private RdmaParts.@Nullable Service service(String name) {
		RpcServer current = this.server.get();
		if (current == null) {
			return null;
		}
		return current.services()
			.stream()
			.filter((service) -> service.name().equals(name))
			.findFirst()
			.map(RdmaView::serviceWithSchemas)
			.orElse(null);
	}

	private Map<String, RpcClient> known() {
		return (this.clients != null) ? this.clients.clients() : Map.of();
	}

	private List<ClientDescriptor> clientStates() {
		return known().entrySet().stream().map((entry) -> RdmaView.client(entry.getKey(), entry.getValue())).toList();
	}

	private @Nullable ClientDescriptor client(String target) {
		RpcClient known = known().get(target);
		return (known != null) ? RdmaView.client(target, known) : null;
	}

}
