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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.AnnotatedGenericBeanDefinition;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.security.autoconfigure.SecurityProperties;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.concurrent.DelegatingSecurityContextExecutor;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.test.context.support.WithMockUser;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import dev.rdmarpc.boot.RdmaAdvice;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaExceptionHandler;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.boot.security.RdmaAuthenticationConverter;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RdmaMethod;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcServerCall;
import dev.rdmarpc.rpc.RpcServerInterceptor;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.transport.RdmaAuthenticator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Handlers in the security context of their caller. */
@SpringBootTest(classes = SpringSecurityTests.Application.class, webEnvironment = WebEnvironment.NONE,
		properties = { "rdma.rpc.server.address=127.0.0.1", "rdma.rpc.server.port=0", "rdma.rpc.client.default.port=0",
				"rdma.rpc.memory.initial=1MB", "rdma.rpc.memory.extent=1MB", "rdma.rpc.memory.leak-detection=paranoid",
				"rdma.rpc.client.admin.token=admin", "rdma.rpc.client.reports.token=reports",
				"rdma.rpc.client.former.token=former", "rdma.rpc.client.stranger.token=stranger" })
class SpringSecurityTests {

	private static final String ADMIN = "admin [ROLE_ADMIN]";

	private static final String NOBODY = "nobody";

	@Autowired
	private RdmaClients clients;

	@Autowired
	private ExecutorService rdmaServerExecutor;

	@Autowired
	private RpcServer server;

	private Vault as(String target) {
		return this.clients.proxy(target, Vault.class);
	}

	private static RpcException failure(Supplier<?> call) {
		return catchThrowableOfType(RpcException.class, call::get);
	}

	private static String whoIsHere() {
		Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
		return (authentication != null) ? authentication.getName() + " " + authentication.getAuthorities() : NOBODY;
	}

	@AfterEach
	void noThreadOfHandlersHasAContext() {
		Awaitility.await().until(() -> this.server.activeCalls() == 0);
		assertThat(CompletableFuture.supplyAsync(SpringSecurityTests::whoIsHere, this.rdmaServerExecutor).join())
			.isEqualTo(NOBODY);
		assertThat(as(NOBODY).inline()).isEqualTo(NOBODY);
	}

	@Test
	void theCallerIsInTheContextOfItsHandler() {
		assertThat(as("admin").who()).isEqualTo(ADMIN);
		assertThat(as("reports").who()).isEqualTo("reports [ROLE_READER]");
		assertThat(as(NOBODY).who()).isEqualTo(NOBODY);
		assertThat(as("admin").inline()).isEqualTo(ADMIN);
		assertThat(as(NOBODY).inline()).isEqualTo(NOBODY);
	}

	@Test
	void interceptorsOfTheApplicationSeeTheCaller(@Autowired Seen seen) {
		seen.callers.clear();
		as("admin").who();
		assertThat(seen.callers).containsExactly(ADMIN);
	}

	@Test
	void methodsOfServicesAreSecured() {
		assertThat(as("admin").secret()).isEqualTo("42");
		RpcException denied = failure(as("reports")::secret);
		assertThat(denied.status()).isEqualTo(RpcStatus.PERMISSION_DENIED);
		assertThat(denied.detail()).isEqualTo("access to " + Vault.class.getName() + "/secret is denied");
		assertThat(failure(as(NOBODY)::secret).status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
	}

	@Test
	void adviceOfTheApplicationDecidesWhatDeniedCallersAreTold() {
		RpcException denied = failure(as("reports")::own);
		assertThat(denied.status()).isEqualTo(RpcStatus.NOT_FOUND);
	}

	@Test
	void callersWhoAreNotAcceptedAreUnauthenticated() {
		assertThat(failure(as("stranger")::who).status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
		assertThat(failure(as("former")::who).status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
	}

	@Test
	void futuresContinueWithTheContextTheyCarry() {
		assertThat(as("admin").later().join()).isEqualTo(ADMIN);
		assertThat(as("admin").mono().block()).isEqualTo(ADMIN);
	}

	@Test
	void messagesOfStreamsAreMadeInTheContextOfTheHandler() {
		List<String> all = new ArrayList<>();
		try (Stream<String> stream = as("admin").stream(300)) {
			stream.forEach(all::add);
		}
		assertThat(all).hasSize(300).containsOnly(ADMIN);
		assertThat(as("admin").flux(300).collectList().block()).hasSize(300).containsOnly(ADMIN);
		assertThat(failure(() -> as("reports").flux(-1).blockLast()).status()).isEqualTo(RpcStatus.PERMISSION_DENIED);
	}

	@Test
	@WithMockUser(username = "mock", roles = "ADMIN")
	void theContextOfTheCallingThreadIsNotThatOfTheHandler() {
		assertThat(whoIsHere()).isEqualTo("mock [ROLE_ADMIN]");
		assertThat(as(NOBODY).who()).isEqualTo(NOBODY);
		assertThat(as(NOBODY).inline()).isEqualTo(NOBODY);
		assertThat(as("reports").who()).isEqualTo("reports [ROLE_READER]");
		assertThat(failure(as(NOBODY)::secret).status()).isEqualTo(RpcStatus.UNAUTHENTICATED);
		assertThat(whoIsHere()).isEqualTo("mock [ROLE_ADMIN]");
	}

	@Test
	void withoutUsersOfTheApplicationCallersHaveNoAuthorities() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(RdmaSecurityAutoConfiguration.class))
			.withInitializer((context) -> registerUserOfBoot((GenericApplicationContext) context))
			.run((context) -> {
				assertThat(context).hasSingleBean(UserDetailsService.class);
				Authentication converted = context.getBean(RdmaAuthenticationConverter.class)
					.convert(new ConnectionSecurity.Name("reports"));
				assertThat(converted.getName()).isEqualTo("reports");
				assertThat(converted.isAuthenticated()).isTrue();
				assertThat(converted.getAuthorities()).isEmpty();
			});
	}

	/** As a web application has it that names no user. */
	private static void registerUserOfBoot(GenericApplicationContext context) {
		context.registerBean(SecurityProperties.class);
		context.getBeanFactory().registerSingleton("boot", new UserDetailsServiceAutoConfiguration());
		AnnotationMetadata type = AnnotationMetadata.introspect(UserDetailsServiceAutoConfiguration.class);
		AnnotatedGenericBeanDefinition definition = new AnnotatedGenericBeanDefinition(type,
				type.getAnnotatedMethods(Bean.class.getName()).iterator().next());
		definition.setFactoryBeanName("boot");
		definition.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
		context.registerBeanDefinition("user", definition);
	}

	/** What only some may have. */
	public interface Vault {

		String who();

		@RdmaMethod(inline = true)
		String inline();

		String secret();

		String own();

		CompletableFuture<String> later();

		Mono<String> mono();

		Stream<String> stream(int messages);

		Flux<String> flux(int messages);

	}

	@RdmaService
	static class VaultService implements Vault {

		@Override
		public String who() {
			return whoIsHere();
		}

		@Override
		public String inline() {
			return whoIsHere();
		}

		@Override
		@PreAuthorize("hasRole('ADMIN')")
		public String secret() {
			return "42";
		}

		@Override
		public String own() {
			throw new NotYoursException();
		}

		@Override
		public CompletableFuture<String> later() {
			return CompletableFuture.supplyAsync(SpringSecurityTests::whoIsHere,
					new DelegatingSecurityContextExecutor((task) -> new Thread(task).start()));
		}

		@Override
		public Mono<String> mono() {
			return Mono.fromSupplier(SpringSecurityTests::whoIsHere);
		}

		@Override
		public Stream<String> stream(int messages) {
			return Stream.generate(SpringSecurityTests::whoIsHere).limit(messages);
		}

		@Override
		public Flux<String> flux(int messages) {
			return (messages >= 0) ? Flux.range(0, messages).map((index) -> whoIsHere())
					: Flux.error(() -> new AccessDeniedException("less than nothing"));
		}

	}

	/** A failure that an advice knows. */
	private static final class NotYoursException extends AccessDeniedException {

		private static final long serialVersionUID = 1L;

		NotYoursException() {
			super("not yours");
		}

	}

	@RdmaAdvice
	static class Advice {

		@RdmaExceptionHandler(NotYoursException.class)
		RpcStatus hidden() {
			return RpcStatus.NOT_FOUND;
		}

	}

	/** Whom an interceptor has seen. */
	static class Seen implements RpcServerInterceptor {

		private final List<String> callers = new ArrayList<>();

		@Override
		public @Nullable Object intercept(RpcServerCall call) throws Throwable {
			this.callers.add(whoIsHere());
			return call.proceed();
		}

		@Override
		public boolean appliesTo(MethodDescriptor method) {
			return method.name().equals("who");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableMethodSecurity
	@ImportAutoConfiguration({ RdmaTransportAutoConfiguration.class, RdmaServerAutoConfiguration.class,
			RdmaClientAutoConfiguration.class, RdmaSecurityAutoConfiguration.class })
	static class Application {

		@Bean
		VaultService vaultService() {
			return new VaultService();
		}

		@Bean
		Advice advice() {
			return new Advice();
		}

		@Bean
		Seen seen() {
			return new Seen();
		}

		/** One thread, which would show what a call has left. */
		@Bean(destroyMethod = "shutdown")
		ExecutorService rdmaServerExecutor() {
			return Executors.newSingleThreadExecutor();
		}

		/** Takes callers at their word, and those who say nothing as well. */
		@Bean
		RdmaAuthenticator authenticator() {
			return (credentials) -> CompletableFuture.completedFuture((credentials.token() != null)
					? new ConnectionSecurity.Name(new String(credentials.token(), StandardCharsets.UTF_8))
					: RdmaAuthenticator.ANONYMOUS);
		}

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(User.withUsername("admin").password("-").roles("ADMIN").build(),
					User.withUsername("reports").password("-").roles("READER").build(),
					User.withUsername("former").password("-").roles("ADMIN").disabled(true).build());
		}

	}

}
