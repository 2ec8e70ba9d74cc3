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

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import reactor.core.publisher.Flux;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.RpcContext;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.transport.RdmaAuthenticator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** The caller of a handler that runs on a virtual thread. */
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadSecurityTests {

	private static final String ADMIN = "admin [ROLE_ADMIN] admin virtual";

	private static final String NOBODY = "nobody [] null virtual";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(RdmaTransportAutoConfiguration.class, RdmaServerAutoConfiguration.class,
						RdmaClientAutoConfiguration.class, RdmaSecurityAutoConfiguration.class))
		.withUserConfiguration(Application.class)
		.withPropertyValues("rdma.rpc.server.address=127.0.0.1", "rdma.rpc.server.port=0",
				"rdma.rpc.client.default.port=0", "rdma.rpc.memory.initial=1MB", "rdma.rpc.memory.extent=1MB",
				"rdma.rpc.memory.leak-detection=paranoid", "rdma.rpc.server.dispatch=executor",
				"rdma.rpc.server.handler-threads=virtual", "rdma.rpc.client.admin.token=admin",
				"rdma.rpc.client.reports.token=reports");

	/**
	 * Who is in the context of this thread, whom the call knows, and what thread it is.
	 */
	private static String whoIsHere(@Nullable Principal principal) {
		Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
		String name = (authentication != null) ? authentication.getName() + " " + authentication.getAuthorities()
				: "nobody []";
		return name + " " + ((principal != null) ? principal.getName() : null) + " "
				+ (Thread.currentThread().toString().startsWith("VirtualThread") ? "virtual" : "platform");
	}

	@Test
	void theCallerIsInTheContextOfItsHandler() {
		this.runner.run((context) -> {
			RdmaClients clients = context.getBean(RdmaClients.class);
			for (int i = 0; i < 50; i++) {
				assertThat(clients.proxy("admin", Safe.class).who()).isEqualTo(ADMIN);
				assertThat(clients.proxy("anybody", Safe.class).who()).isEqualTo(NOBODY);
			}
		});
	}

	@Test
	void manyHandlersAtOnceHaveTheirOwnCallers() {
		this.runner.run((context) -> {
			RdmaClients clients = context.getBean(RdmaClients.class);
			Safe admin = clients.proxy("admin", Safe.class);
			Safe anybody = clients.proxy("anybody", Safe.class);
			List<CompletableFuture<String>> known = new ArrayList<>();
			List<CompletableFuture<String>> unknown = new ArrayList<>();
			for (int i = 0; i < 200; i++) {
				known.add(admin.later());
				unknown.add(anybody.later());
			}
			assertThat(known).extracting(CompletableFuture::join).containsOnly(ADMIN);
			assertThat(unknown).extracting(CompletableFuture::join).containsOnly(NOBODY);
		});
	}

	@Test
	void messagesOfStreamsAreMadeInTheContextOfTheHandler() {
		this.runner.run((context) -> {
			Safe safe = context.getBean(RdmaClients.class).proxy("admin", Safe.class);
			List<String> all = new ArrayList<>();
			try (Stream<String> stream = safe.stream(300)) {
				stream.forEach(all::add);
			}
			assertThat(all).hasSize(300).allMatch((each) -> each.startsWith("admin [ROLE_ADMIN] admin "));
			assertThat(safe.flux(300).collectList().block()).hasSize(300)
				.allMatch((each) -> each.startsWith("admin [ROLE_ADMIN] admin "));
		});
	}

	@Test
	void methodsAreSecured() {
		this.runner.run((context) -> {
			RdmaClients clients = context.getBean(RdmaClients.class);
			assertThat(clients.proxy("admin", Safe.class).secret()).isEqualTo("42");
			assertThat(failure(clients.proxy("reports", Safe.class)::secret).status())
				.isEqualTo(RpcStatus.PERMISSION_DENIED);
			assertThat(failure(clients.proxy("anybody", Safe.class)::secret).status())
				.isEqualTo(RpcStatus.UNAUTHENTICATED);
		});
	}

	private static @Nullable Principal caller() {
		return Objects.requireNonNull(RpcContext.current()).principal();
	}

	private static RpcException failure(Supplier<?> call) {
		return catchThrowableOfType(RpcException.class, call::get);
	}

	/** What only some may open. */
	public interface Safe {

		String who();

		CompletableFuture<String> later();

		String secret();

		Stream<String> stream(int messages);

		Flux<String> flux(int messages);

	}

	@RdmaService
	static class SafeService implements Safe {

		@Override
		public String who() {
			return whoIsHere(caller());
		}

		@Override
		public CompletableFuture<String> later() {
			return CompletableFuture.completedFuture(who());
		}

		@Override
		@PreAuthorize("hasRole('ADMIN')")
		public String secret() {
			return "42";
		}

		@Override
		public Stream<String> stream(int messages) {
			Principal principal = caller();
			return Stream.generate(() -> whoIsHere(principal)).limit(messages);
		}

		@Override
		public Flux<String> flux(int messages) {
			Principal principal = caller();
			return Flux.range(0, messages).map((index) -> whoIsHere(principal));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableMethodSecurity
	static class Application {

		@Bean
		SafeService safeService() {
			return new SafeService();
		}

		@Bean
		RdmaAuthenticator authenticator() {
			return (credentials) -> CompletableFuture.completedFuture((credentials.token() != null)
					? new ConnectionSecurity.Name(new String(credentials.token(), StandardCharsets.UTF_8))
					: RdmaAuthenticator.ANONYMOUS);
		}

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(User.withUsername("admin").password("-").roles("ADMIN").build(),
					User.withUsername("reports").password("-").roles("READER").build());
		}

	}

}
