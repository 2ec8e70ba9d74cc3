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

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;

import dev.rdmarpc.boot.RdmaServerStartedEvent;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.verbs.VerbsException;

/**
 * Starts the server last and drains it together with the web server, also when the
 * context is stopped or paused and restarted. All threads of the transport are daemons,
 * so a separate thread keeps the application alive until the server stops.
 */
class RdmaServerLifecycle implements SmartLifecycle, SmartInitializingSingleton, DisposableBean {

	/** The phase in which Boot's web servers are shut down gracefully. */
	static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 1024;

	/** The property that holds the server's port. */
	static final String LOCAL_PORT_PROPERTY = "local.rdma.port";

	private static final String PROPERTY_SOURCE = "server.ports";

	private final ConfigurableApplicationContext context;

	private volatile CountDownLatch stopped = new CountDownLatch(0);

	private volatile @Nullable RpcServer server;

	RdmaServerLifecycle(ConfigurableApplicationContext context) {
		this.context = context;
	}

	@Override
	public void afterSingletonsInstantiated() {
		server();
	}

	private RpcServer server() {
		RpcServer current = this.server;
		if (current == null) {
			current = this.context.getBean(RpcServer.class);
			this.server = current;
		}
		return current;
	}

	@Override
	public void start() {
		RpcServer starting = server();
		try {
			starting.start();
		}
		catch (VerbsException ex) {
			throw new RdmaServerStartException("rdma.rpc.server", starting.options().address(), ex);
		}
		CountDownLatch stopping = new CountDownLatch(1);
		this.stopped = stopping;
		keepAliveUntil(stopping);
		publishPort(this.context.getEnvironment(), LOCAL_PORT_PROPERTY, starting.port());
		this.context.publishEvent(new RdmaServerStartedEvent(starting));
	}

	private static void keepAliveUntil(CountDownLatch stopped) {
		Thread thread = new Thread(() -> {
			try {
				stopped.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}, "rdma-rpc-keep-alive");
		thread.setDaemon(false);
		thread.start();
	}

	@SuppressWarnings("unchecked")
	static void publishPort(ConfigurableEnvironment environment, String name, int port) {
		MutablePropertySources sources = environment.getPropertySources();
		PropertySource<?> source = sources.get(PROPERTY_SOURCE);
		if (source == null) {
			source = new MapPropertySource(PROPERTY_SOURCE, new HashMap<>());
			sources.addFirst(source);
		}
		((Map<String, Object>) source.getSource()).put(name, port);
	}

	@Override
	public void stop() {
		RpcServer current = this.server;
		try {
			if (current != null) {
				current.stop();
			}
		}
		finally {
			this.stopped.countDown();
		}
	}

	/** Drains in the background, in parallel with other beans of the same phase. */
	@Override
	public void stop(Runnable callback) {
		new Thread(() -> {
			try {
				stop();
			}
			finally {
				callback.run();
			}
		}, "rdma-rpc-shutdown").start();
	}

	@Override
	public void destroy() {
		this.stopped.countDown();
	}

	@Override
	public boolean isRunning() {
		RpcServer current = this.server;
		return current != null && current.isRunning();
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
