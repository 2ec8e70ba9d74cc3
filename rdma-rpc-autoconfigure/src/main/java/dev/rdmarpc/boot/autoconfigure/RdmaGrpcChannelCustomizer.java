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

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientDefaultServiceConfigCustomizer;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientProperties;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientProperties.Channel;
import org.springframework.boot.grpc.client.autoconfigure.ServiceConfig;
import org.springframework.boot.util.LambdaSafe;
import org.springframework.grpc.client.GrpcChannelBuilderCustomizer;

import dev.rdmarpc.grpc.RdmaChannelBuilder;

/**
 * Applies to our channels what Boot applies to its own: registries, customizers, of which
 * one applies the properties, and the service config.
 */
class RdmaGrpcChannelCustomizer implements GrpcChannelBuilderCustomizer<RdmaChannelBuilder> {

	private static final String HEALTH = "healthCheckConfig";

	private final GrpcClientProperties properties;

	private final ObjectProvider<CompressorRegistry> compressors;

	private final ObjectProvider<DecompressorRegistry> decompressors;

	private final List<GrpcChannelBuilderCustomizer<?>> customizers;

	private final List<GrpcClientDefaultServiceConfigCustomizer> serviceConfigs;

	RdmaGrpcChannelCustomizer(GrpcClientProperties properties, ObjectProvider<CompressorRegistry> compressors,
			ObjectProvider<DecompressorRegistry> decompressors,
			ObjectProvider<GrpcChannelBuilderCustomizer<?>> customizers,
			ObjectProvider<GrpcClientDefaultServiceConfigCustomizer> serviceConfigs) {
		this.properties = properties;
		this.compressors = compressors;
		this.decompressors = decompressors;
		this.customizers = customizers.orderedStream().toList();
		this.serviceConfigs = serviceConfigs.orderedStream().toList();
	}

	@Override
	@SuppressWarnings("unchecked")
	public void customize(String target, RdmaChannelBuilder builder) {
		this.compressors.ifAvailable(builder::compressorRegistry);
		this.decompressors.ifAvailable(builder::decompressorRegistry);
		LambdaSafe.callbacks(GrpcChannelBuilderCustomizer.class, this.customizers, builder)
			.withLogger(RdmaGrpcChannelCustomizer.class)
			.invoke((customizer) -> customizer.customize(target, builder));
		Map<String, Object> serviceConfig = new LinkedHashMap<>();
		apply(channel(target), serviceConfig);
		this.serviceConfigs.forEach((customizer) -> customizer.customize(target, serviceConfig));
		if (!serviceConfig.isEmpty()) {
			builder.defaultServiceConfig(serviceConfig);
		}
	}

	private @Nullable Channel channel(String target) {
		Channel channel = this.properties.getChannel().get(target);
		return (channel != null) ? channel : this.properties.getChannel().get("default");
	}

	private static void apply(@Nullable Channel channel, Map<String, Object> serviceConfig) {
		if (channel == null) {
			return;
		}
		ServiceConfig configured = channel.getServiceConfig();
		if (configured != null) {
			configured.applyTo(serviceConfig);
		}
		if (channel.getHealth().isEnabled()) {
			String service = channel.getHealth().getServiceName();
			serviceConfig.put(HEALTH, Map.of("serviceName", (service != null) ? service : ""));
		}
	}

}
