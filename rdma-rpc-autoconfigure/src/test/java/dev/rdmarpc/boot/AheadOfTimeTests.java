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

package dev.rdmarpc.boot;

import java.math.BigDecimal;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import jakarta.validation.constraints.NotBlank;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.ReflectionHintsPredicates;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.validation.annotation.Validated;

import dev.rdmarpc.boot.autoconfigure.RdmaClientAutoConfiguration;
import dev.rdmarpc.boot.autoconfigure.RdmaServerAutoConfiguration;
import dev.rdmarpc.boot.autoconfigure.RdmaTransportAutoConfiguration;
import dev.rdmarpc.boot.autoconfigure.RdmaValidationAutoConfiguration;
import dev.rdmarpc.rpc.FieldViolations;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** What is generated ahead of time, and that it runs. */
class AheadOfTimeTests {

	private static final ReflectionHintsPredicates REFLECTION = RuntimeHintsPredicates.reflection();

	@Test
	void interfacesOfClientsHaveProxyHints() {
		RuntimeHints hints = hints(Calling.class);
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Greeter.class)).accepts(hints);
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Runnable.class)).rejects(hints);
	}

	@Test
	void withoutClientsThereAreNone() {
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Greeter.class)).rejects(hints(Idle.class));
	}

	@Test
	void contractsOfClientsAreReflectedUpon() throws Exception {
		assertContract(hints(CallingShop.class));
	}

	@Test
	void contractsOfServicesAreReflectedUpon() throws Exception {
		RuntimeHints hints = hints(Serving.class);
		assertContract(hints);
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(Shop.class)).rejects(hints);
	}

	private static void assertContract(RuntimeHints hints) throws Exception {
		for (String method : List.of("price", "offers")) {
			assertThat(REFLECTION.onMethodInvocation(Shop.class.getMethod(method, String.class))).accepts(hints);
		}
		assertThat(REFLECTION.onMethodInvocation(Catalog.class.getMethod("find", Object.class))).accepts(hints);
		for (Class<?> message : List.of(Price.class, Page.class, Offer.class, Discount.class, Percentage.class,
				Unit.class, Article.class, Detail.class)) {
			assertThat(REFLECTION.onType(TypeReference.of(message))
				.withMemberCategories(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS,
						MemberCategory.INVOKE_DECLARED_METHODS))
				.as(message.getName())
				.accepts(hints);
		}
		assertThat(REFLECTION.onConstructorInvocation(Closed.class.getDeclaredConstructor(Detail.class)))
			.accepts(hints);
		assertThat(REFLECTION.onType(BigDecimal.class)).rejects(hints);
	}

	@Test
	void whatEveryApplicationNeedsIsRegistered() {
		RuntimeHints hints = new RuntimeHints();
		AotServices.factories()
			.load(RuntimeHintsRegistrar.class)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));
		assertThat(RuntimeHintsPredicates.resource().forResource("META-INF/services/dev.rdmarpc.verbs.VerbsProvider"))
			.accepts(hints);
		for (Class<?> details : List.of(FieldViolations.class, FieldViolations.Violation.class)) {
			assertThat(REFLECTION.onType(details)
				.withMemberCategories(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS,
						MemberCategory.INVOKE_DECLARED_METHODS))
				.accepts(hints);
		}
	}

	@Test
	void methodsOfAdvicesAreInvoked() throws Exception {
		assertThat(REFLECTION.onMethodInvocation(Problems.class.getDeclaredMethod("missing")))
			.accepts(hints(Serving.class));
	}

	@Test
	@CompileWithForkedClassLoader
	void theGeneratedContextServesAndCalls() {
		runGenerated(Application.class, (context) -> {
			User user = context.getBean(User.class);
			assertThat(user.shop.price("pear")).isEqualTo(new Price(new BigDecimal("0.40"), Unit.PIECE));
			assertThat(user.shop.find("pear")).isEqualTo(new Article("pear"));
			assertThat(user.shop.offers("pear").join().items()).containsExactly(new Offer(new Percentage(3)));
			assertThatExceptionOfType(Closed.class).isThrownBy(() -> user.shop.price("closed"))
				.satisfies((ex) -> assertThat(ex.detail()).isEqualTo(new Detail("until Monday")));
			assertThat(catchThrowableOfType(RpcException.class, () -> user.shop.price("missing")).status())
				.isEqualTo(RpcStatus.NOT_FOUND);
			assertThat(
					catchThrowableOfType(RpcException.class, () -> user.shop.price(" ")).details(FieldViolations.class)
						.orElseThrow()
						.violations())
				.singleElement()
				.satisfies((one) -> assertThat(one.field()).isEqualTo("article"));
			assertThat(user.greeter.greet("Ada")).isEqualTo("Hello Ada");
		});
	}

	@Test
	@CompileWithForkedClassLoader
	void theGeneratedContextOfAClientStarts() {
		runGenerated(Calling.class, (context) -> {
			assertThat(context.getBeanNamesForType(Greeter.class)).containsExactly("greeters.greeter");
			assertThatExceptionOfType(RpcException.class).isThrownBy(() -> context.getBean(Greeter.class).greet("x"))
				.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.UNAVAILABLE));
		}, "rdma.rpc.client.greeters.port=1");
	}

	/** The one of Boot is told from one of the application's in another way then. */
	@Test
	@CompileWithForkedClassLoader
	void theGeneratedContextHasAnExecutorOfItsOwn() {
		runGenerated(Threading.class, (context) -> {
			assertThat(context.getBean("applicationTaskExecutor")).isNotNull();
			assertThat(context.getBean("threads.aheadOfTimeTests.ThreadName", ThreadName.class).get())
				.startsWith("rdma-rpc-handler-");
		}, "rdma.rpc.server.dispatch=executor");
	}

	/** The hints that are generated for an application. */
	static RuntimeHints hints(Class<?> application) {
		TestGenerationContext generation = new TestGenerationContext(application);
		generate(application, generation);
		return generation.getRuntimeHints();
	}

	private static void runGenerated(Class<?> application, Consumer<ConfigurableApplicationContext> user,
			String... properties) {
		TestGenerationContext generation = new TestGenerationContext(application);
		String initializer = generate(application, generation, properties);
		TestCompiler.forSystem().with(generation).compile((compiled) -> {
			GenericApplicationContext context = new GenericApplicationContext();
			try (context) {
				properties(context, properties);
				initializer(compiled.getInstance(ApplicationContextInitializer.class, initializer)).initialize(context);
				context.refresh();
				user.accept(context);
			}
			assertThat(context.getBeanFactory().containsSingleton("rdmaRegisteredMemory")).isFalse();
		});
	}

	@SuppressWarnings("unchecked")
	private static ApplicationContextInitializer<GenericApplicationContext> initializer(
			ApplicationContextInitializer<?> any) {
		return (ApplicationContextInitializer<GenericApplicationContext>) any;
	}

	/** Returns the class that initializes a context. */
	private static String generate(Class<?> application, TestGenerationContext generation, String... properties) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			properties(context, properties);
			context.register(application);
			String initializer = new ApplicationContextAotGenerator().processAheadOfTime(context, generation)
				.canonicalName();
			generation.writeGeneratedContent();
			return initializer;
		}
	}

	private static void properties(ConfigurableApplicationContext context, String... more) {
		TestPropertyValues
			.of("rdma.rpc.server.address=127.0.0.1", "rdma.rpc.server.port=0", "rdma.rpc.client.default.port=0",
					"rdma.rpc.memory.leak-detection=paranoid")
			.and(more)
			.applyTo(context);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greeters", types = Greeter.class)
	@ImportAutoConfiguration({ RdmaTransportAutoConfiguration.class, RdmaClientAutoConfiguration.class })
	static class Calling {

	}

	/** Says where its handler runs. */
	public interface ThreadName {

		String get();

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "threads", types = ThreadName.class)
	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, RdmaTransportAutoConfiguration.class,
			RdmaServerAutoConfiguration.class, RdmaClientAutoConfiguration.class })
	static class Threading {

		@Bean
		@RdmaService
		ServedThreadName servedThreadName() {
			return new ServedThreadName();
		}

	}

	/** As a class of its own, which is what is generated for. */
	static class ServedThreadName implements ThreadName {

		@Override
		public String get() {
			return Thread.currentThread().getName();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "shops", types = Shop.class)
	@ImportAutoConfiguration({ RdmaTransportAutoConfiguration.class, RdmaClientAutoConfiguration.class })
	static class CallingShop {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RdmaTransportAutoConfiguration.class, RdmaClientAutoConfiguration.class })
	static class Idle {

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ ShopTable.class, Problems.class })
	@ImportAutoConfiguration({ RdmaTransportAutoConfiguration.class, RdmaServerAutoConfiguration.class,
			RdmaValidationAutoConfiguration.class, ValidationAutoConfiguration.class })
	static class Serving {

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Serving.class, User.class })
	@ImportRdmaClients(target = "shops", types = { Shop.class, Greeter.class })
	@ImportAutoConfiguration({ RdmaTransportAutoConfiguration.class, RdmaClientAutoConfiguration.class })
	static class Application {

		@Bean
		@RdmaService
		Greeter greeterBean() {
			return new GreeterService();
		}

	}

	static class User {

		private final Shop shop;

		@Autowired
		@Qualifier("shops")
		private Greeter greeter;

		User(@Qualifier("shops") Shop shop) {
			this.shop = shop;
		}

		Shop shop() {
			return this.shop;
		}

		Greeter greeter() {
			return this.greeter;
		}

	}

	/** A service, with much to be known. */
	@RdmaService
	public interface Shop extends Catalog<String, Article> {

		Price price(@NotBlank String article) throws Closed;

		CompletableFuture<Page<Offer>> offers(String article);

	}

	/** A generic part of it. */
	public interface Catalog<K, V> {

		V find(K key);

		/** As all objects have it, hence no method of the service. */
		@Override
		String toString();

	}

	/** A message. */
	public record Article(String name) {

	}

	/** A message. */
	public record Price(BigDecimal amount, Unit unit) {

	}

	/** A part of it. */
	public enum Unit {

		PIECE, KILOGRAM

	}

	/** A generic message. */
	public record Page<T>(List<T> items) {

	}

	/** A part of it. */
	public record Offer(Discount discount) {

	}

	/** With cases. */
	public sealed interface Discount permits Percentage {

	}

	/** A case. */
	public record Percentage(int percent) implements Discount {

	}

	/** What an exception holds. */
	public record Detail(String text) {

	}

	/** Declared by the service. */
	@SuppressWarnings("serial")
	public static class Closed extends RuntimeException {

		private final Detail detail;

		Closed(Detail detail) {
			super(detail.text());
			this.detail = detail;
		}

		public Detail detail() {
			return this.detail;
		}

	}

	@RdmaService
	@Validated
	static class ShopTable implements Shop {

		@Override
		public Price price(String article) {
			return switch (article) {
				case "closed" -> throw new Closed(new Detail("until Monday"));
				case "missing" -> throw new NoSuchElementException();
				default -> new Price(new BigDecimal("0.40"), Unit.PIECE);
			};
		}

		@Override
		public CompletableFuture<Page<Offer>> offers(String article) {
			return CompletableFuture.completedFuture(new Page<>(List.of(new Offer(new Percentage(3)))));
		}

		@Override
		public Article find(String key) {
			return new Article(key);
		}

	}

	@RdmaAdvice
	static class Problems {

		@RdmaExceptionHandler(NoSuchElementException.class)
		RpcStatus missing() {
			return RpcStatus.NOT_FOUND;
		}

	}

}
