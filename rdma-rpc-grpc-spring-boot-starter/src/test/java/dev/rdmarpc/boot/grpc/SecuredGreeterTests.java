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

package dev.rdmarpc.boot.grpc;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

import io.grpc.Channel;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.grpc.client.ChannelBuilderOptions;
import org.springframework.grpc.client.GrpcChannelFactory;
import org.springframework.grpc.client.interceptor.security.BasicAuthenticationInterceptor;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.grpc.server.security.AuthenticationProcessInterceptor;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.security.config.Customizer;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

import dev.rdmarpc.boot.grpc.hello.GreetRequest;
import dev.rdmarpc.boot.grpc.hello.GreeterGrpc;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The application written for gRPC with Spring Security, configured as Spring gRPC
 * documents it, with our starter and some properties.
 */
class SecuredGreeterTests {

	private static final GreetRequest WORLD = GreetRequest.newBuilder().setName("world").setTimes(100).build();

	@ParameterizedTest
	@ValueSource(strings = { "rdma", "http2" })
	void callersAreAuthenticatedAndAuthorized(String transport) {
		ConfigurableApplicationContext context = start();
		RegisteredMemory memory = context.getBean(RegisteredMemory.class);
		try {
			Channel unknown = channel(context, transport);
			GreeterGrpc.GreeterBlockingStub stranger = GreeterGrpc.newBlockingStub(unknown);
			refused(() -> stranger.greet(WORLD), Status.Code.UNAUTHENTICATED);
			GreeterGrpc.GreeterBlockingStub liar = greeter(context, transport, "ada", "guessed");
			refused(() -> liar.greet(WORLD), Status.Code.UNAUTHENTICATED);
			GreeterGrpc.GreeterBlockingStub user = greeter(context, transport, "ada", "lovelace");
			assertThat(user.greet(WORLD).getText()).isEqualTo("Hello world");
			refused(() -> user.greetManyTimes(WORLD).next(), Status.Code.PERMISSION_DENIED);
			GreeterGrpc.GreeterBlockingStub admin = greeter(context, transport, "grace", "hopper");
			assertThat(admin.greetManyTimes(WORLD)).toIterable().hasSize(100);
			assertThat(HealthGrpc.newBlockingStub(unknown).check(HealthCheckRequest.getDefaultInstance()).getStatus())
				.isEqualTo(ServingStatus.SERVING);
			assertThat(context.getBean(Callers.class).names).containsExactly("ada hello.Greeter/Greet",
					"grace hello.Greeter/GreetManyTimes");
		}
		finally {
			context.close();
		}
		assertThat(memory.metrics().outstanding()).as("outstanding buffers").isZero();
	}

	private static void refused(Supplier<?> call, Status.Code expected) {
		assertThatExceptionOfType(StatusRuntimeException.class).isThrownBy(call::get)
			.satisfies((ex) -> assertThat(ex.getStatus().getCode()).isEqualTo(expected));
	}

	private static GreeterGrpc.GreeterBlockingStub greeter(ConfigurableApplicationContext context, String transport,
			String user, String password) {
		return GreeterGrpc
			.newBlockingStub(channel(context, transport, new BasicAuthenticationInterceptor(user, password)));
	}

	private static Channel channel(ConfigurableApplicationContext context, String transport,
			ClientInterceptor... interceptors) {
		int http2Port = context.getBean("nettyGrpcServerLifecycle", GrpcServerLifecycle.class).getPort();
		return context.getBean(GrpcChannelFactory.class)
			.createChannel(transport.equals("rdma") ? "greeter" : "static://localhost:" + http2Port,
					ChannelBuilderOptions.defaults().withInterceptors(List.of(interceptors)));
	}

	private static ConfigurableApplicationContext start() {
		return new SpringApplicationBuilder(GreeterApplication.class, Security.class).web(WebApplicationType.NONE)
			.properties("spring.grpc.server.port=0", "rdma.rpc.grpc.server.port=0",
					"spring.grpc.client.channel.greeter.target=rdma:///localhost:${local.rdma.grpc.port}",
					"rdma.rpc.provider=iwarp", "logging.level.root=warn", "spring.main.banner-mode=off")
			.run();
	}

	/** What an application adds for security; not found by scanning. */
	static class Security {

		@Bean
		InMemoryUserDetailsManager users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("ada").password("{noop}lovelace").roles("USER").build(),
					User.withUsername("grace").password("{noop}hopper").roles("ADMIN").build());
		}

		@Bean
		@GlobalServerInterceptor
		AuthenticationProcessInterceptor security(GrpcSecurity grpc) throws Exception {
			return grpc
				.authorizeRequests((requests) -> requests.methods("hello.Greeter/GreetManyTimes")
					.hasAuthority("ROLE_ADMIN")
					.methods("hello.Greeter/*")
					.authenticated()
					.methods("grpc.*/*")
					.permitAll()
					.allRequests()
					.denyAll())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		@Bean
		@GlobalServerInterceptor
		@Order(Integer.MAX_VALUE)
		Callers callers() {
			return new Callers();
		}

	}

	/** Notes who calls, where handlers run. */
	static class Callers implements ServerInterceptor {

		final Queue<String> names = new ConcurrentLinkedQueue<>();

		@Override
		public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(ServerCall<ReqT, RespT> call, Metadata headers,
				ServerCallHandler<ReqT, RespT> next) {
			return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {

				@Override
				public void onHalfClose() {
					Authentication caller = SecurityContextHolder.getContext().getAuthentication();
					if (caller != null && caller.isAuthenticated()) {
						Callers.this.names.add(caller.getName() + " " + call.getMethodDescriptor().getFullMethodName());
					}
					super.onHalfClose();
				}

			};
		}

	}

}
