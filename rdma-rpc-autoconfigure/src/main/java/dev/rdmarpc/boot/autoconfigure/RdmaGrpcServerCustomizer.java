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

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerExecutorProvider;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerProperties;
import org.springframework.boot.util.LambdaSafe;
import org.springframework.grpc.server.ServerBuilderCustomizer;

import dev.rdmarpc.grpc.RdmaServerBuilder;

/**
 * Applies to our server what Boot applies to its own: registries, executor, properties
 * and customizers.
 */
class RdmaGrpcServerCustomizer implements ServerBuilderCustomizer<RdmaServerBuilder> {

	private static final String PREFIX = "spring.grpc.server.inbound.";

	private final GrpcServerProperties properties;

	private final ObjectProvider<CompressorRegistry> compressors;

	private final ObjectProvider<DecompressorRegistry> decompressors;

	private final ObjectProvider<GrpcServerExecutorProvider> executor;

	private final List<ServerBuilderCustomizer<?>> customizers;

	RdmaGrpcServerCustomizer(GrpcServerProperties properties, ObjectProvider<CompressorRegistry> compressors,
			ObjectProvider<DecompressorRegistry> decompressors, ObjectProvider<GrpcServerExecutorProvider> executor,
			ObjectProvider<ServerBuilderCustomizer<?>> customizers) {
		this.properties = properties;
		this.compressors = compressors;
		this.decompressors = decompressors;
		this.executor = executor;
		this.customizers = customizers.orderedStream().toList();
	}

	@Override
	@SuppressWarnings("unchecked")
	public void customize(RdmaServerBuilder builder) {
		this.compressors.ifAvailable(builder::compressorRegistry);
		this.decompressors.ifAvailable(builder::decompressorRegistry);
		this.executor.ifAvailable((provider) -> builder.executor(provider.getExecutor()));
		GrpcServerProperties.Inbound inbound = this.properties.getInbound();
		builder.maxInboundMessageSize(PropertyCheck.bytes(PREFIX + "message.max-size",
				inbound.getMessage().getMaxSize(), 0, Integer.MAX_VALUE, 1));
		builder.maxInboundMetadataSize(PropertyCheck.bytes(PREFIX + "metadata.max-size",
				inbound.getMetadata().getMaxSize(), 0, Integer.MAX_VALUE, 1));
		keepAlive(this.properties.getKeepalive(), builder);
		LambdaSafe.callbacks(ServerBuilderCustomizer.class, this.customizers, builder)
			.withLogger(RdmaGrpcServerCustomizer.class)
			.invoke((customizer) -> customizer.customize(builder));
	}

	private static void keepAlive(GrpcServerProperties.Keepalive keepAlive, RdmaServerBuilder builder) {
		PropertyMapper map = PropertyMapper.get();
		map.from(keepAlive::getTime).to(time(builder::keepAliveTime));
		map.from(keepAlive::getTimeout).to(time(builder::keepAliveTimeout));
		map.from(keepAlive.getConnection()::getMaxIdleTime).to(time(builder::maxConnectionIdle));
		map.from(keepAlive.getConnection()::getMaxAge).to(time(builder::maxConnectionAge));
		map.from(keepAlive.getConnection()::getGracePeriod).to(time(builder::maxConnectionAgeGrace));
	}

	private static Consumer<Duration> time(BiConsumer<Long, TimeUnit> setter) {
		return (duration) -> setter.accept(duration.toNanos(), TimeUnit.NANOSECONDS);
	}

}
