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

import java.util.List;
import java.util.function.Supplier;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import org.springframework.grpc.client.ChannelBuilderOptions;
import org.springframework.grpc.client.ChannelCredentialsProvider;
import org.springframework.grpc.client.ClientInterceptorsConfigurer;
import org.springframework.grpc.client.DefaultGrpcChannelFactory;
import org.springframework.grpc.client.GrpcChannelBuilderCustomizer;

import dev.rdmarpc.grpc.RdmaChannelBuilder;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * Makes the gRPC channels to {@code rdma:} targets, on the transport of the application,
 * over the rails and with the protection of its clients of the same names.
 */
class RdmaGrpcChannelFactory extends DefaultGrpcChannelFactory<RdmaChannelBuilder> {

	private final Supplier<RdmaTransport> transport;

	private final RdmaRpcProperties properties;

	private final ConnectionSecurity security;

	private final RdmaGrpcTargets configured;

	RdmaGrpcChannelFactory(Supplier<RdmaTransport> transport, RdmaRpcProperties properties, ConnectionSecurity security,
			RdmaGrpcTargets configured, GrpcChannelBuilderCustomizer<RdmaChannelBuilder> customizer,
			ClientInterceptorsConfigurer interceptors, ChannelCredentialsProvider credentials) {
		super(List.of(declared(PropertyMapping.grpcChannel(properties), properties, security), customizer),
				interceptors);
		setVirtualTargets(configured);
		setCredentialsProvider(credentials);
		this.transport = transport;
		this.properties = properties;
		this.security = security;
		this.configured = configured;
	}

	/** What all channels have is known, and checked, before any is made. */
	private static GrpcChannelBuilderCustomizer<RdmaChannelBuilder> declared(ChannelOptions channel,
			RdmaRpcProperties properties, ConnectionSecurity security) {
		return (target, builder) -> builder.channelOptions(channel.withSecurity(security.client(target)))
			.railOptions(ClientSettings.rails(target, properties));
	}

	@Override
	public boolean supports(String target) {
		return RdmaGrpcTargets.isOurs(this.configured.getTarget(target));
	}

	@Override
	public ManagedChannel createChannel(String target, ChannelBuilderOptions options) {
		this.configured.check(target);
		ClientSettings.checkRails(target, this.properties, this.transport.get(),
				PropertyMapping.grpcChannel(this.properties).withSecurity(this.security.client(target)));
		return super.createChannel(target, options);
	}

	@Override
	protected RdmaChannelBuilder newChannelBuilder(String target, ChannelCredentials credentials) {
		return super.newChannelBuilder(target, credentials).transport(this.transport.get());
	}

}
