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

package dev.rdmarpc.benchmarks.compare.rdma;

import java.util.ArrayList;
import java.util.List;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.rdmarpc.benchmarks.compare.PeerCalls;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.benchmarks.compare.spring.SpringPeer;
import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaService;

/**
 * This framework as an application of Spring Boot gets it from the starter, with nothing
 * declared, and with Actuator.
 */
public final class RdmaSpringPeer extends SpringPeer {

	private static final List<String> COMMON = List.of("spring.grpc.server.enabled=false",
			"spring.grpc.client.enabled=false", "rdma.rpc.provider=iwarp", "rdma.rpc.memory.max=768MB");

	private final boolean observed;

	/**
	 * Creates the peer.
	 * @param observed whether calls are observed, as they are by default
	 */
	public RdmaSpringPeer(boolean observed) {
		this.observed = observed;
	}

	@Override
	public String name() {
		return this.observed ? "rdma-spring" : "rdma-spring-unobserved";
	}

	@Override
	protected Class<?> serverApplication() {
		return ServerApplication.class;
	}

	@Override
	protected List<String> serverProperties() {
		List<String> properties = new ArrayList<>(COMMON);
		properties.addAll(List.of("rdma.rpc.server.address=127.0.0.1", "rdma.rpc.server.port=0",
				"rdma.rpc.server.max-message-size=65MB", "rdma.rpc.observation.server=" + this.observed));
		return properties;
	}

	@Override
	protected int port(ConfigurableApplicationContext context) {
		return context.getEnvironment().getRequiredProperty("local.rdma.port", Integer.class);
	}

	@Override
	protected Class<?> clientApplication() {
		return ClientApplication.class;
	}

	@Override
	protected List<String> clientProperties(int port) {
		List<String> properties = new ArrayList<>(COMMON);
		properties.addAll(List.of("rdma.rpc.client.payloads.host=127.0.0.1", "rdma.rpc.client.payloads.port=" + port,
				"rdma.rpc.client.payloads.max-message-size=65MB", "rdma.rpc.observation.client=" + this.observed));
		return properties;
	}

	@Override
	protected PeerCalls calls(ConfigurableApplicationContext context, Workload workload) {
		return new ArrayCalls(context::getBean, workload, workload.payload());
	}

	/** The application that serves. */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class ServerApplication {

		@Bean
		@RdmaService
		Payloads payloads() {
			return new Payloads() {

				@Override
				public byte[] echo(byte[] payload) {
					return payload;
				}

				@Override
				public long upload(byte[] payload) {
					return payload.length;
				}

			};
		}

		@Bean
		@RdmaService
		Holding holding() {
			return new Holding.Handler();
		}

	}

	/** The application that calls. */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@ImportRdmaClients(target = "payloads", types = Payloads.class)
	@ImportRdmaClients(target = "payloads", types = AsyncPayloads.class,
			serviceName = "dev.rdmarpc.benchmarks.compare.rdma.Payloads")
	@ImportRdmaClients(target = "payloads", types = Holding.Blocking.class,
			serviceName = "dev.rdmarpc.benchmarks.compare.rdma.Holding")
	static class ClientApplication {

	}

}
