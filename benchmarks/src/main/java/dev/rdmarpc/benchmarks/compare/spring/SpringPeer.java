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

package dev.rdmarpc.benchmarks.compare.spring;

import java.net.InetSocketAddress;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.Peer;
import dev.rdmarpc.benchmarks.compare.PeerCalls;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.Workload;

/**
 * A peer whose server and client are applications of Spring Boot, used as their users do:
 * an annotated service, imported clients, Actuator, and the defaults.
 *
 * <p>
 * The client's application is started for the first workload and kept, and its
 * connections with it. How many those are is the starter's decision, so there is no
 * workload with many.
 */
public abstract class SpringPeer implements Peer {

	/**
	 * A file of properties that there is not: {@code application.properties} on the class
	 * path is the sample's.
	 */
	private static final String NO_FILE = "spring.config.name=comparison";

	private @Nullable ConfigurableApplicationContext clients;

	@Override
	public boolean supports(Mode mode) {
		return mode != Mode.MULTI && !mode.isStreaming();
	}

	@Override
	public PeerServer startServer() {
		ConfigurableApplicationContext context = start(serverApplication(), serverProperties());
		return new RunningServer(context, port(context));
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) {
		ConfigurableApplicationContext context = this.clients;
		if (context == null) {
			context = start(clientApplication(), clientProperties(server.getPort()));
			this.clients = context;
		}
		PeerCalls calls = calls(context, workload);
		return PeerCalls.client(workload, () -> calls);
	}

	/** The client's application, null before the first workload. */
	@Nullable ConfigurableApplicationContext clients() {
		return this.clients;
	}

	private static ConfigurableApplicationContext start(Class<?> application, List<String> properties) {
		return new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.properties(NO_FILE)
			.properties(properties.toArray(String[]::new))
			.run();
	}

	/** The configuration of the server's application. */
	protected abstract Class<?> serverApplication();

	/** Its properties, each as {@code name=value}. */
	protected abstract List<String> serverProperties();

	/** The port on which the application listens. */
	protected abstract int port(ConfigurableApplicationContext context);

	/** The configuration of the client's application. */
	protected abstract Class<?> clientApplication();

	/** Its properties, each as {@code name=value}. */
	protected abstract List<String> clientProperties(int port);

	/** The calls of a workload, with clients that are kept. */
	protected abstract PeerCalls calls(ConfigurableApplicationContext context, Workload workload);

	private record RunningServer(ConfigurableApplicationContext context, int port) implements PeerServer {

		@Override
		public void close() {
			this.context.close();
		}

	}

}
