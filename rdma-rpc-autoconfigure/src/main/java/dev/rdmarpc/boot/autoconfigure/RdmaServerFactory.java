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

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ConfigurableApplicationContext;

import dev.rdmarpc.boot.RdmaServerCustomizer;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.rpc.ContextPropagation;
import dev.rdmarpc.rpc.RpcExceptionHandler;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerInterceptor;
import dev.rdmarpc.rpc.RpcServerOptions;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * Creates the server for the beans to serve. Some of these can be recognized only once
 * they have been instantiated: their bean method declares an interface, while the
 * annotation is on the class. If all are of that kind, the server is registered after
 * them.
 */
class RdmaServerFactory implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(RdmaServerFactory.class);

	static final String BEAN_NAME = "rdmaServerFactory";

	private final ObjectProvider<RdmaTransport> transport;

	private final MessageCodec codec;

	private final RdmaRpcProperties properties;

	private final ConnectionSecurity security;

	private final ConfigurableApplicationContext context;

	private final HandlerExecutors executors;

	private final ObjectProvider<RpcExceptionHandler> exceptionHandlers;

	private final ObjectProvider<RpcServerInterceptor> interceptors;

	private final ObjectProvider<ContextPropagation> propagation;

	private final ObjectProvider<RdmaServerCustomizer> customizers;

	private final List<ServiceBean> served = new ArrayList<>();

	private boolean created;

	private @Nullable RpcServer server;

	/** For what can change at run time. */
	private int maxConcurrentCalls;

	RdmaServerFactory(ObjectProvider<RdmaTransport> transport, MessageCodec codec, RdmaRpcProperties properties,
			ConnectionSecurity security, ConfigurableApplicationContext context, HandlerExecutors executors,
			ObjectProvider<RpcExceptionHandler> exceptionHandlers, ObjectProvider<RpcServerInterceptor> interceptors,
			ObjectProvider<ContextPropagation> propagation, ObjectProvider<RdmaServerCustomizer> customizers) {
		this.transport = transport;
		this.codec = codec;
		this.properties = properties;
		this.maxConcurrentCalls = properties.server().maxConcurrentCalls();
		this.security = security;
		this.context = context;
		this.executors = executors;
		this.exceptionHandlers = exceptionHandlers;
		this.interceptors = interceptors;
		this.propagation = propagation;
		this.customizers = customizers;
	}

	RpcServer create() {
		RpcServerOptions read = PropertyMapping.server(this.properties);
		RpcServerOptions options = read.withLimits(read.maxConnections(), concurrentCalls())
			.withChannel(read.channel().withSecurity(this.security.server()));
		RpcServer.Builder builder = RpcServer.builder()
			.transport(this.transport.getObject())
			.codec(this.codec)
			.options(options.withHandlers(this.executors.adapt(options.handlers())));
		Executor executor = this.executors.find();
		if (executor != null) {
			builder.executor(executor);
		}
		if (this.properties.server().reflection().enabled()) {
			builder.reflection();
		}
		this.created = true;
		this.served.addAll(ServiceBean.find(this.context.getBeanFactory()));
		new ServiceExporter(builder).export(this.served);
		this.exceptionHandlers.orderedStream().forEach(builder::exceptionHandler);
		this.interceptors.orderedStream().forEach(builder::interceptor);
		this.propagation.ifAvailable(builder::contextPropagation);
		this.customizers.orderedStream().forEach((customizer) -> customizer.customize(builder));
		ServiceAccess.apply(this.properties.server().services(), builder,
				builder.options().channel().security().authenticator() != null);
		ServerCallLog.addTo(builder, this.properties.server());
		warnOfMemory(builder.options().channel().maxMessageBytes());
		return made(builder.build());
	}

	/** For a request and its reply may both be large. */
	private void warnOfMemory(int messageBytes) {
		long most = this.transport.getObject().memory().options().maxBytes();
		if (most / 2 < messageBytes) {
			logger.warn(
					"'rdma.rpc.server.max-message-size' is {}B, of which 'rdma.rpc.memory.max', {}B here, has no room "
							+ "for two: a large request with a large reply fails",
					messageBytes, most);
		}
	}

	/** Whether it has made a server, for the properties are those of no other one. */
	boolean hasCreated() {
		return this.created;
	}

	private synchronized int concurrentCalls() {
		return this.maxConcurrentCalls;
	}

	private synchronized RpcServer made(RpcServer built) {
		this.server = built;
		return built;
	}

	/**
	 * Applies what can change at run time, if its property has changed.
	 * @param changed have been checked
	 */
	synchronized void refresh(RdmaRpcProperties changed) {
		int before = this.maxConcurrentCalls;
		this.maxConcurrentCalls = changed.server().maxConcurrentCalls();
		RpcServer current = this.server;
		if (current != null && this.maxConcurrentCalls != before) {
			current.maxConcurrentCalls(this.maxConcurrentCalls);
			logger.info("Maximum number of concurrent calls changed to {}", this.maxConcurrentCalls);
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		ConfigurableListableBeanFactory beanFactory = this.context.getBeanFactory();
		List<ServiceBean> services = ServiceBean.find(beanFactory);
		if (this.created) {
			services.stream().filter((service) -> !this.served.contains(service)).findFirst().ifPresent((late) -> {
				throw new InvalidServiceException(
						"@RdmaService of bean '" + late.name() + "' was found after the server had been made",
						"Put the annotation on the method that makes the bean, or have the server injected lazily "
								+ "where it is injected");
			});
		}
		else if (!services.isEmpty() && !ServiceBean.hasServer(beanFactory)
				&& beanFactory instanceof BeanDefinitionRegistry registry) {
			register(registry, "rdmaServer", RpcServer.class, this::create);
			register(registry, "rdmaServerLifecycle", RdmaServerLifecycle.class,
					() -> new RdmaServerLifecycle(this.context));
			beanFactory.getBean(RdmaServerLifecycle.class).afterSingletonsInstantiated();
		}
		else if (services.isEmpty() && !ServiceBean.hasServer(beanFactory)) {
			logger.atLevel(ServiceBean.hasClient(beanFactory) ? Level.DEBUG : Level.INFO)
				.log("No server is started: no bean is known to have @RdmaService, which one that is made lazily "
						+ "has to have on its class, if that is declared, or on the method that makes it");
		}
	}

	private static <T> void register(BeanDefinitionRegistry registry, String name, Class<T> type,
			Supplier<T> supplier) {
		RootBeanDefinition definition = new RootBeanDefinition(type, supplier);
		definition.setDependsOn(BEAN_NAME);
		registry.registerBeanDefinition(name, definition);
	}

}
