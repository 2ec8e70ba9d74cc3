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
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.grpc.client.autoconfigure.GrpcChannelFactoryCustomizer;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientDefaultServiceConfigCustomizer;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.grpc.client.ChannelCredentialsProvider;
import org.springframework.grpc.client.ClientInterceptorFilter;
import org.springframework.grpc.client.ClientInterceptorsConfigurer;
import org.springframework.grpc.client.GrpcChannelBuilderCustomizer;
import org.springframework.grpc.client.GrpcChannelFactory;

import dev.rdmarpc.grpc.RdmaChannelBuilder;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of gRPC channels to {@code rdma:}
 * targets, beside those of Spring Boot.
 */
@AutoConfiguration(after = RdmaTransportAutoConfiguration.class,
		afterName = "org.springframework.boot.grpc.client.autoconfigure.GrpcClientAutoConfiguration",
		beforeName = "org.springframework.boot.grpc.client.autoconfigure.CompositeChannelFactoryAutoConfiguration")
@ConditionalOnClass({ RdmaChannelBuilder.class, GrpcChannelFactory.class, GrpcClientProperties.class })
@ConditionalOnBean({ RdmaTransport.class, ClientInterceptorsConfigurer.class })
@ConditionalOnBooleanProperty(name = "spring.grpc.client.channelfactory.enabled", matchIfMissing = true)
public final class RdmaGrpcClientAutoConfiguration {

	/** Asked before those of Boot, which take every target. */
	@Bean
	@Order(0)
	@ConditionalOnMissingBean
	RdmaGrpcChannelFactory rdmaGrpcChannelFactory(ObjectProvider<RdmaTransport> transport, RdmaRpcProperties properties,
			ConnectionSecurity security, GrpcClientProperties grpc, Environment environment,
			ClientInterceptorsConfigurer interceptors, ChannelCredentialsProvider credentials,
			ObjectProvider<CompressorRegistry> compressors, ObjectProvider<DecompressorRegistry> decompressors,
			ObjectProvider<GrpcChannelBuilderCustomizer<?>> customizers,
			ObjectProvider<GrpcClientDefaultServiceConfigCustomizer> serviceConfigs,
			ObjectProvider<ClientInterceptorFilter> interceptorFilter,
			ObjectProvider<GrpcChannelFactoryCustomizer> factoryCustomizers, ConfigurableListableBeanFactory beans) {
		RdmaGrpcTargets targets = new RdmaGrpcTargets(grpc, environment);
		targets.checkAll();
		targets.ours().forEach((name) -> {
			security.client(name);
			ClientSettings.rails(name, properties);
		});
		RdmaGrpcChannelFactory factory = new RdmaGrpcChannelFactory(
				new LazyTransport(transport, beans, "rdmaGrpcChannelFactory"), properties, security, targets,
				new RdmaGrpcChannelCustomizer(grpc, compressors, decompressors, customizers, serviceConfigs),
				interceptors, credentials);
		interceptorFilter.ifAvailable(factory::setInterceptorFilter);
		factoryCustomizers.orderedStream().forEach((customizer) -> customizer.customize(factory));
		return factory;
	}

}
