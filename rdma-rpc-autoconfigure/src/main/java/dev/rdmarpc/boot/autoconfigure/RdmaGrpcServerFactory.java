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

package dev.rdmarpc.boot.autoconfigure;

import java.net.InetSocketAddress;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.grpc.server.DefaultGrpcServerFactory;
import org.springframework.grpc.server.ServerBuilderCustomizer;

import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.GrpcServer;
import dev.rdmarpc.grpc.RdmaServerBuilder;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * Creates the gRPC server that is called over RDMA, on the transport of the application
 * and protected as its own server.
 */
class RdmaGrpcServerFactory extends DefaultGrpcServerFactory<RdmaServerBuilder> {

	private final RdmaTransport transport;

	private final InetSocketAddress address;

	private final ChannelOptions channel;

	private final int loops;

	private final int maxConnections;

	private final @Nullable Integer maxConcurrentCalls;

	private final PeerLimits peers;

	RdmaGrpcServerFactory(RdmaTransport transport, RdmaRpcProperties properties, ConnectionSecurity security,
			ServerBuilderCustomizer<RdmaServerBuilder> customizer) {
		super("", List.of(customizer));
		GrpcServer server = properties.grpc().server();
		this.transport = transport;
		this.address = PropertyMapping.grpcAddress(server);
		this.channel = PropertyMapping.grpcChannel(properties).withSecurity(security.server());
		security.check(this.address, this.channel.security(), transport.rail().reachesOtherHosts());
		this.loops = server.loops();
		this.maxConnections = server.maxConnections();
		this.maxConcurrentCalls = server.maxConcurrentCalls();
		this.peers = PropertyMapping.peers(properties);
	}

	InetSocketAddress listenAddress() {
		return this.address;
	}

	@Override
	protected RdmaServerBuilder newServerBuilder() {
		RdmaServerBuilder builder = RdmaServerBuilder.forAddress(this.address)
			.transport(this.transport)
			.channelOptions(this.channel)
			.loops(this.loops)
			.maxConnections(this.maxConnections)
			.peerLimits(this.peers);
		return (this.maxConcurrentCalls != null) ? builder.maxConcurrentCalls(this.maxConcurrentCalls) : builder;
	}

}
