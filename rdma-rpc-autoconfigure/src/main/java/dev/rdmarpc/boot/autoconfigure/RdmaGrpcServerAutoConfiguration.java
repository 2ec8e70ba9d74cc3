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

import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerExecutorProvider;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerFactoryCustomizer;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.grpc.server.GrpcServerFactory;
import org.springframework.grpc.server.ServerBuilderCustomizer;
import org.springframework.grpc.server.service.GrpcServiceConfigurer;
import org.springframework.grpc.server.service.GrpcServiceDiscoverer;

import dev.rdmarpc.grpc.RdmaServerBuilder;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of a gRPC server over RDMA, beside
 * the one of Spring Boot and for the same services.
 */
@AutoConfiguration(after = RdmaTransportAutoConfiguration.class,
		afterName = "org.springframework.boot.grpc.server.autoconfigure.GrpcServerAutoConfiguration",
		beforeName = "org.springframework.boot.grpc.server.autoconfigure.security.GrpcServerSecurityAutoConfiguration")
@ConditionalOnClass({ RdmaServerBuilder.class, GrpcServerFactory.class, GrpcServerProperties.class })
@ConditionalOnBean({ RdmaTransport.class, GrpcServiceDiscoverer.class })
@ConditionalOnBooleanProperty(name = "spring.grpc.server.factory.enabled", matchIfMissing = true)
public final class RdmaGrpcServerAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnProperty("rdma.rpc.grpc.server.port")
	RdmaGrpcServerFactory rdmaGrpcServerFactory(RdmaTransport transport, RdmaRpcProperties properties,
			ConnectionSecurity security, GrpcServerProperties grpc, GrpcServiceDiscoverer discoverer,
			GrpcServiceConfigurer configurer, ObjectProvider<CompressorRegistry> compressors,
			ObjectProvider<DecompressorRegistry> decompressors, ObjectProvider<GrpcServerExecutorProvider> executor,
			ObjectProvider<ServerBuilderCustomizer<?>> customizers,
			ObjectProvider<GrpcServerFactoryCustomizer> factoryCustomizers) {
		RdmaGrpcServerFactory factory = new RdmaGrpcServerFactory(transport, properties, security,
				new RdmaGrpcServerCustomizer(grpc, compressors, decompressors, executor, customizers));
		factoryCustomizers.orderedStream().forEach((customizer) -> customizer.customize(factory));
		discoverer.findServices()
			.stream()
			.map((service) -> configurer.configure(service, factory))
			.forEach(factory::addService);
		return factory;
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(RdmaGrpcServerFactory.class)
	RdmaGrpcServerLifecycle rdmaGrpcServerLifecycle(RdmaGrpcServerFactory factory, GrpcServerProperties grpc,
			ConfigurableApplicationContext context) {
		return new RdmaGrpcServerLifecycle(factory, grpc.getShutdown().getGracePeriod(), context);
	}

}
