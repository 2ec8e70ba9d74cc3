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

import org.springframework.beans.factory.DisposableBean;
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
 * Starts the server last and drains it together with the web server. A server starts
 * once, so that it stays up when the context pauses. As all threads of the transport are
 * daemons, a thread of its own keeps the application alive until the server stops.
 */
class RdmaServerLifecycle implements SmartLifecycle, DisposableBean {

	/** The phase in which Boot's web servers are shut down gracefully. */
	static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 1024;

	/** The property that holds the port listened on. */
	static final String LOCAL_PORT_PROPERTY = "local.rdma.port";

	private static final String PROPERTY_SOURCE = "server.ports";

	private final RpcServer server;

	private final ConfigurableApplicationContext context;

	private final CountDownLatch stopped = new CountDownLatch(1);

	RdmaServerLifecycle(RpcServer server, ConfigurableApplicationContext context) {
		this.server = server;
		this.context = context;
	}

	@Override
	public void start() {
		try {
			this.server.start();
		}
		catch (VerbsException ex) {
			throw new RdmaServerStartException(this.server.options().address(), ex);
		}
		keepAlive();
		publishPort(this.context.getEnvironment(), this.server.port());
		this.context.publishEvent(new RdmaServerStartedEvent(this.server));
	}

	private void keepAlive() {
		Thread thread = new Thread(() -> {
			try {
				this.stopped.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}, "rdma-rpc-keep-alive");
		thread.setDaemon(false);
		thread.start();
	}

	@SuppressWarnings("unchecked")
	private static void publishPort(ConfigurableEnvironment environment, int port) {
		MutablePropertySources sources = environment.getPropertySources();
		PropertySource<?> source = sources.get(PROPERTY_SOURCE);
		if (source == null) {
			source = new MapPropertySource(PROPERTY_SOURCE, new HashMap<>());
			sources.addFirst(source);
		}
		((Map<String, Object>) source.getSource()).put(LOCAL_PORT_PROPERTY, port);
	}

	@Override
	public void stop() {
		try {
			this.server.stop();
		}
		finally {
			this.stopped.countDown();
		}
	}

	/** Drains in the background, while others of the same phase do so too. */
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
		return this.server.isRunning();
	}

	@Override
	public boolean isPauseable() {
		return false;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
