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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;

import dev.rdmarpc.boot.RdmaServerControl;
import dev.rdmarpc.boot.RdmaServerStartedEvent;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.verbs.VerbsException;

/**
 * Starts the server last and drains it together with the web server, also when the
 * context is stopped or paused and restarted; meanwhile the application is not ready. All
 * threads of the transport are daemons, so a separate thread keeps the application alive
 * until the server stops.
 */
class RdmaServerLifecycle implements RdmaServerControl, SmartLifecycle, SmartInitializingSingleton, DisposableBean {

	private static final Logger logger = LoggerFactory.getLogger(RdmaServerLifecycle.class);

	/** The phase in which Boot's web servers are shut down gracefully. */
	static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 1024;

	/** The property that holds the server's port. */
	static final String LOCAL_PORT_PROPERTY = "local.rdma.port";

	private static final String PROPERTY_SOURCE = "server.ports";

	private final ConfigurableApplicationContext context;

	private volatile CountDownLatch stopped = new CountDownLatch(0);

	private volatile @Nullable RpcServer server;

	/** Whether the server was stopped and not started again. */
	private volatile boolean drained;

	private volatile @Nullable Thread draining;

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
			checkSecurity(current);
			ServiceAccess.checkApplied(this.context, "a server of the application");
			this.server = current;
		}
		return current;
	}

	/** As it is at last, whoever made it or changed its options. */
	private void checkSecurity(RpcServer made) {
		boolean reached = made.transport().rails().stream().anyMatch(Rail::reachesOtherHosts);
		this.context.getBean(ConnectionSecurity.class)
			.check(made.options().address(), made.options().channel().security(), reached);
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
		CountDownLatch before = this.stopped;
		this.stopped = stopping;
		keepAliveUntil(stopping);
		before.countDown();
		publishPort(this.context, LOCAL_PORT_PROPERTY, starting.port());
		try {
			this.context.publishEvent(new RdmaServerStartedEvent(starting));
		}
		finally {
			if (this.drained) {
				this.drained = false;
				AvailabilityChangeEvent.publish(this.context, ReadinessState.ACCEPTING_TRAFFIC);
			}
		}
	}

	@Override
	public synchronized State state() {
		if (isDraining()) {
			return State.DRAINING;
		}
		return isRunning() ? State.RUNNING : State.STOPPED;
	}

	private boolean isDraining() {
		Thread busy = this.draining;
		return busy != null && busy.isAlive();
	}

	/** The application is kept alive meanwhile. */
	@Override
	public synchronized void drain() {
		if (state() != State.RUNNING) {
			return;
		}
		RpcServer current = server();
		logger.info("Draining the server on {}: {} calls are running", current.address(), current.activeCalls());
		this.drained = true;
		AvailabilityChangeEvent.publish(this.context, ReadinessState.REFUSING_TRAFFIC);
		Thread thread = new Thread(() -> {
			current.stop();
			logger.info("The server is drained");
		}, "rdma-rpc-drain");
		this.draining = thread;
		thread.start();
	}

	@Override
	public synchronized void resume() {
		State state = state();
		if (state == State.DRAINING) {
			throw new IllegalStateException(
					"the server is still draining: " + server().activeCalls() + " calls are running");
		}
		if (state == State.STOPPED) {
			start();
			logger.info("The server is back in service on {}", server().address());
		}
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

	/** In the environment of a context and of those above, as Boot's web servers do. */
	static void publishPort(ConfigurableApplicationContext context, String name, int port) {
		publishPort(context.getEnvironment(), name, port);
		if (context.getParent() instanceof ConfigurableApplicationContext parent) {
			publishPort(parent, name, port);
		}
	}

	@SuppressWarnings("unchecked")
	private static void publishPort(ConfigurableEnvironment environment, String name, int port) {
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
				stop(current);
			}
		}
		finally {
			this.stopped.countDown();
		}
	}

	/** Whoever asks for readiness learns first that there is no use in calling. */
	private void stop(RpcServer current) {
		try {
			if (current.isRunning()) {
				this.drained = true;
				AvailabilityChangeEvent.publish(this.context, ReadinessState.REFUSING_TRAFFIC);
			}
		}
		finally {
			current.stop();
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

	/** Also while it is drained: beans that its calls use are stopped after that. */
	@Override
	public boolean isRunning() {
		RpcServer current = this.server;
		return current != null && (current.isRunning() || isDraining());
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
