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

import java.util.concurrent.Executor;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Lazy;

import dev.rdmarpc.boot.RdmaServerCustomizer;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.rpc.ContextPropagation;
import dev.rdmarpc.rpc.RpcExceptionHandler;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerInterceptor;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of a server for the beans annotated
 * with {@link RdmaService}.
 */
@AutoConfiguration(after = { RdmaTransportAutoConfiguration.class, RdmaContextPropagationAutoConfiguration.class,
		TaskExecutionAutoConfiguration.class })
@ConditionalOnBooleanProperty(name = "rdma.rpc.server.enabled", matchIfMissing = true)
public final class RdmaServerAutoConfiguration {

	@Bean(RdmaServerFactory.BEAN_NAME)
	@ConditionalOnMissingBean(value = RpcServer.class, search = SearchStrategy.CURRENT)
	RdmaServerFactory rdmaServerFactory(ObjectProvider<RdmaTransport> transport, MessageCodec codec,
			RdmaRpcProperties properties, ConnectionSecurity security, ConfigurableApplicationContext context,
			@Qualifier(HandlerExecutors.BEAN_NAME) ObjectProvider<Executor> named,
			@Qualifier(TaskExecutionAutoConfiguration.APPLICATION_TASK_EXECUTOR_BEAN_NAME) ObjectProvider<Executor> general,
			ObjectProvider<RpcExceptionHandler> exceptionHandlers, ObjectProvider<RpcServerInterceptor> interceptors,
			ObjectProvider<ContextPropagation> propagation, ObjectProvider<RdmaServerCustomizer> customizers) {
		return new RdmaServerFactory(transport, codec, properties, security, context,
				new HandlerExecutors(context, named, general), exceptionHandlers, interceptors, propagation,
				customizers);
	}

	/** Created with the server, and with it the beans that it asks. */
	@Bean
	@Lazy
	@ConditionalOnMissingBean(name = "rdmaAdviceExceptionHandler", search = SearchStrategy.CURRENT)
	AdviceExceptionHandler rdmaAdviceExceptionHandler(ConfigurableListableBeanFactory beans) {
		return new AdviceExceptionHandler(beans);
	}

	/** Created by its life cycle when all beans to serve exist. */
	@Bean
	@Lazy
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@Conditional(OnRdmaServiceCondition.class)
	RpcServer rdmaServer(RdmaServerFactory factory) {
		return factory.create();
	}

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	@ConditionalOnBean(value = RpcServer.class, search = SearchStrategy.CURRENT)
	RdmaServerLifecycle rdmaServerLifecycle(ConfigurableApplicationContext context) {
		return new RdmaServerLifecycle(context);
	}

}
