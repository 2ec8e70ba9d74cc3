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

package dev.rdmarpc.benchmarks.compare.grpc;

import java.io.Closeable;
import java.util.List;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.grpc.client.BlockingStubFactory;
import org.springframework.grpc.client.ImportGrpcClients;
import org.springframework.grpc.client.SimpleStubFactory;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.grpc.server.service.GrpcService;

import dev.rdmarpc.benchmarks.compare.PeerCalls;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.benchmarks.compare.grpc.PayloadsGrpc.PayloadsBlockingStub;
import dev.rdmarpc.benchmarks.compare.grpc.PayloadsGrpc.PayloadsStub;
import dev.rdmarpc.benchmarks.compare.spring.SpringPeer;

/** gRPC as an application of Spring Boot gets it from the starters, with Actuator. */
public final class GrpcSpringPeer extends SpringPeer {

	private static final Closeable KEPT = () -> {
	};

	@Override
	public String name() {
		return "grpc-spring";
	}

	@Override
	protected Class<?> serverApplication() {
		return ServerApplication.class;
	}

	@Override
	protected List<String> serverProperties() {
		return List.of("spring.grpc.client.enabled=false", "spring.grpc.server.address=127.0.0.1",
				"spring.grpc.server.port=0", "spring.grpc.server.inbound.message.max-size=65MB");
	}

	@Override
	protected int port(ConfigurableApplicationContext context) {
		return context.getBean(GrpcServerLifecycle.class).getPort();
	}

	@Override
	protected Class<?> clientApplication() {
		return ClientApplication.class;
	}

	@Override
	protected List<String> clientProperties(int port) {
		return List.of("spring.grpc.server.enabled=false",
				"spring.grpc.client.channel.payloads.target=static://127.0.0.1:" + port);
	}

	@Override
	protected PeerCalls calls(ConfigurableApplicationContext context, Workload workload) {
		return new StubCalls(workload, workload.payload(), context.getBean(PayloadsBlockingStub.class),
				context.getBean(PayloadsStub.class), KEPT);
	}

	/** The application that serves. */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class ServerApplication {

		@Bean
		@GrpcService
		PayloadsGrpc.Service payloads() {
			return new PayloadsGrpc.Service();
		}

	}

	/** The application that calls. */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@ImportGrpcClients(target = "payloads", types = PayloadsBlockingStub.class, factory = BlockingStubFactory.class)
	@Import(AsyncClients.class)
	static class ClientApplication {

	}

	/** The clients of the other kind. */
	@Configuration(proxyBeanMethods = false)
	@ImportGrpcClients(target = "payloads", types = PayloadsStub.class, factory = SimpleStubFactory.class)
	static class AsyncClients {

	}

}
