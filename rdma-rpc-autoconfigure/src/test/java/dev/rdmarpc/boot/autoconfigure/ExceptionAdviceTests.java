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

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicReference;

import jakarta.validation.ConstraintViolationException;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.NotBlank;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.annotation.Order;
import org.springframework.validation.annotation.Validated;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaAdvice;
import dev.rdmarpc.boot.RdmaExceptionHandler;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.FieldViolations;
import dev.rdmarpc.rpc.FieldViolations.Violation;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcExceptionHandler;
import dev.rdmarpc.rpc.RpcStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/** What callers are told of exceptions in an application that handles and validates. */
class ExceptionAdviceTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withUserConfiguration(Serving.class)
		.withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class));

	private static Orders orders(ApplicationContext context) {
		return context.getBean("orders.exceptionAdviceTests.Orders", Orders.class);
	}

	private static void assertTold(ApplicationContext context, String kind, RpcStatus status, String detail) {
		assertThat(catchThrowable(() -> orders(context).fail(kind))).isInstanceOfSatisfying(RpcException.class,
				(ex) -> {
					assertThat(ex.status()).isEqualTo(status);
					assertThat(ex.detail()).startsWith(detail);
				});
	}

	@Test
	void theNearestMethodOfTheFirstAdviceDecides() {
		this.runner.withBean(Problems.class).withBean(Rest.class).run((context) -> {
			assertTold(context, "element", RpcStatus.NOT_FOUND, "no element");
			assertTold(context, "state", RpcStatus.FAILED_PRECONDITION, "fail: no state");
			assertTold(context, "cause", RpcStatus.NOT_FOUND, "no cause");
			assertTold(context, "runtime", RpcStatus.DATA_LOSS, "rest");
			assertThat(catchThrowable(() -> orders(context).fail("index"))).isInstanceOf(Closed.class)
				.hasMessage("no index");
		});
	}

	@Test
	void causesThatFormACircleAreFollowedOnce() {
		this.runner.withBean(Problems.class)
			.run((context) -> assertTold(context, "circle", RpcStatus.UNKNOWN, "the handler failed, reference "));
	}

	@Test
	void beansThatHandleExceptionsAreAskedToo() {
		this.runner
			.withBean(RpcExceptionHandler.class, () -> (method, failure) -> new RpcException(RpcStatus.ABORTED, "bean"))
			.run((context) -> assertTold(context, "state", RpcStatus.ABORTED, "bean"));
	}

	@Test
	void withoutAdviceNothingIsSaid() {
		this.runner.run((context) -> {
			assertTold(context, "state", RpcStatus.UNKNOWN, "the handler failed, reference ");
			assertTold(context, "argument", RpcStatus.INVALID_ARGUMENT, "the handler failed, reference ");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "false", "true" })
	void rejectedArgumentsAreNamed(String adapted) {
		this.runner.withPropertyValues("spring.validation.method.adapt-constraint-violations=" + adapted)
			.run((context) -> assertThat(catchThrowable(() -> orders(context).order(" ", new Amount(12, "kg"))))
				.isInstanceOfSatisfying(RpcException.class, (ex) -> {
					assertThat(ex.status()).isEqualTo(RpcStatus.INVALID_ARGUMENT);
					assertThat(ex.detail())
						.isEqualTo("amount.many: must be less than or equal to 10; article: must not be blank");
					assertThat(ex.details(FieldViolations.class)).contains(new FieldViolations(
							List.of(new Violation("amount.many", "must be less than or equal to 10"),
									new Violation("article", "must not be blank")),
							0));
				}));
	}

	@Test
	void advicesAreAskedBeforeArgumentsAreRejectedAsUsual() {
		this.runner.withBean(OwnWords.class)
			.run((context) -> assertThat(catchThrowable(() -> orders(context).order(" ", new Amount(1, "kg"))))
				.isInstanceOfSatisfying(RpcException.class,
						(ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.FAILED_PRECONDITION)));
	}

	/** Of methods that make beans, also where the first one is declared last. */
	@Test
	void advicesHaveTheOrderOfTheirMethods() {
		this.runner.withUserConfiguration(OrderedByMethods.class)
			.run((context) -> assertTold(context, "state", RpcStatus.CANCELLED, ""));
	}

	/** The proxy is asked, which finds what there is now. */
	@Test
	void advicesMayHaveAScope() {
		this.runner.withUserConfiguration(ScopedAdvice.class).run((context) -> {
			assertTold(context, "state", RpcStatus.ABORTED, "");
			context.getBean(SimpleScope.class).beans.clear();
			context.getBean(ScopedAdvice.class).current.set(RpcStatus.DATA_LOSS);
			assertTold(context, "state", RpcStatus.DATA_LOSS, "");
		});
	}

	@Test
	void advicesOfParentAndChildAreAsked() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(RdmaTransportAutoConfiguration.class, RdmaServerAutoConfiguration.class))
			.withBean(Problems.class)
			.run((parent) -> this.runner.withParent(parent).withBean(Rest.class).run((context) -> {
				assertTold(context, "element", RpcStatus.NOT_FOUND, "");
				assertTold(context, "runtime", RpcStatus.DATA_LOSS, "");
				assertThat(parent.getEnvironment().getProperty("local.rdma.port"))
					.isEqualTo(context.getEnvironment().getProperty("local.rdma.port"));
			}));
	}

	/** A caller decides how much is wrong. */
	@ParameterizedTest
	@ValueSource(strings = { "false", "true" })
	void whatIsToldOfVeryManyIsBounded(String adapted) {
		this.runner.withPropertyValues("spring.validation.method.adapt-constraint-violations=" + adapted)
			.run((context) -> assertThat(
					catchThrowable(() -> orders(context).orderAll(Collections.nCopies(1000, new Amount(12, "kg")))))
				.isInstanceOfSatisfying(RpcException.class, (ex) -> {
					assertThat(ex.status()).isEqualTo(RpcStatus.INVALID_ARGUMENT);
					assertThat(ex.detail()).startsWith("amounts[0].many: must be less than or equal to 10; ")
						.hasSizeLessThanOrEqualTo(1024);
					FieldViolations told = ex.details(FieldViolations.class).orElseThrow();
					assertThat(told.violations()).isNotEmpty().hasSize(1000 - told.omitted());
					assertThat(told.violations().get(0).field()).isEqualTo("amounts[0].many");
				}));
	}

	@Test
	void aMethodReturnsDetails() {
		this.runner.withBean(Problems.class)
			.run((context) -> assertThat(catchThrowable(() -> orders(context).fail("unsupported")))
				.isInstanceOfSatisfying(RpcException.class, (ex) -> {
					assertThat(ex.status()).isEqualTo(RpcStatus.UNIMPLEMENTED);
					assertThat(ex.details(Instead.class)).contains(new Instead("order"));
				}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "false", "true" })
	void aRejectedResultIsNoFaultOfTheCaller(String adapted) {
		this.runner.withPropertyValues("spring.validation.method.adapt-constraint-violations=" + adapted)
			.run((context) -> assertThat(catchThrowable(() -> orders(context).order("nothing", new Amount(1, "kg"))))
				.isInstanceOfSatisfying(RpcException.class,
						(ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.UNKNOWN)));
	}

	@Test
	void methodsThatCannotHandleAreRefusedAtStart() {
		for (Object advice : List.of(new Silent(), new Nameless(), new Twice(), new Wrong())) {
			this.runner.withBean("advice", Object.class, () -> advice)
				.run((context) -> assertThat(context).getFailure()
					.rootCause()
					.isInstanceOf(InvalidServiceException.class)
					.hasMessageContaining("@RdmaExceptionHandler on " + advice.getClass().getName()));
		}
	}

	/** The service. */
	public interface Orders {

		@NotBlank
		String order(@NotBlank String article, @Valid Amount amount);

		void orderAll(List<@Valid Amount> amounts);

		String fail(String kind) throws Closed;

	}

	/** Details. */
	public record Instead(String method) {

	}

	/** An argument. */
	public record Amount(@Max(10) int many, String unit) {

	}

	/** Declared by the service. */
	@SuppressWarnings("serial")
	public static class Closed extends IllegalStateException {

		Closed(String message) {
			super(message);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "orders", types = Orders.class)
	static class Serving {

		@Bean
		OrderTable orderTable() {
			return new OrderTable();
		}

	}

	@RdmaService
	@Validated
	static class OrderTable implements Orders {

		@Override
		public String order(String article, Amount amount) {
			return article.equals("nothing") ? "" : article;
		}

		@Override
		public void orderAll(List<Amount> amounts) {
		}

		@Override
		public String fail(String kind) {
			throw switch (kind) {
				case "element" -> new NoSuchElementException("no element");
				case "cause" -> new RuntimeException("outer", new NoSuchElementException("no cause"));
				case "index" -> new IndexOutOfBoundsException("no index");
				case "state" -> new IllegalStateException("no state");
				case "circle" -> circle();
				case "unsupported" -> new UnsupportedOperationException("no");
				case "argument" -> new IllegalArgumentException("no argument");
				default -> new RuntimeException("rest");
			};
		}

		/** Two causes of each other. */
		private static RuntimeException circle() {
			RuntimeException first = new RuntimeException("first");
			first.initCause(new RuntimeException("second", first));
			return first;
		}

	}

	@RdmaAdvice
	@Order(1)
	static class Problems {

		@RdmaExceptionHandler(NoSuchElementException.class)
		RpcStatus missing() {
			return RpcStatus.NOT_FOUND;
		}

		@RdmaExceptionHandler
		RpcException state(IllegalStateException failure, MethodDescriptor method) {
			return new RpcException(RpcStatus.FAILED_PRECONDITION, method.name() + ": " + failure.getMessage());
		}

		@RdmaExceptionHandler
		RpcException unsupported(UnsupportedOperationException failure) {
			return new RpcException(RpcStatus.UNIMPLEMENTED, "not here", new Instead("order"));
		}

		@RdmaExceptionHandler
		Closed index(IndexOutOfBoundsException failure) {
			return new Closed("no index");
		}

	}

	@RdmaAdvice
	@Order(2)
	static class Rest {

		@RdmaExceptionHandler
		RpcStatus rest(Exception failure) {
			return RpcStatus.DATA_LOSS;
		}

	}

	@RdmaAdvice
	static class OwnWords {

		@RdmaExceptionHandler
		RpcStatus rejected(ConstraintViolationException failure) {
			return RpcStatus.FAILED_PRECONDITION;
		}

	}

	@RdmaAdvice
	static class Generation {

		private final RpcStatus status;

		Generation(RpcStatus status) {
			this.status = status;
		}

		@RdmaExceptionHandler
		RpcStatus any(IllegalStateException failure) {
			return this.status;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OrderedByMethods {

		@Bean
		@Order(2)
		Generation second() {
			return new Generation(RpcStatus.ABORTED);
		}

		@Bean
		@Order(1)
		Generation first() {
			return new Generation(RpcStatus.CANCELLED);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedAdvice {

		@Bean
		static SimpleScope simpleScope() {
			return new SimpleScope();
		}

		@Bean
		static CustomScopeConfigurer scopes(SimpleScope scope) {
			CustomScopeConfigurer scopes = new CustomScopeConfigurer();
			scopes.addScope("simple", scope);
			return scopes;
		}

		private final AtomicReference<RpcStatus> current = new AtomicReference<>(RpcStatus.ABORTED);

		@Bean
		@Scope(scopeName = "simple", proxyMode = ScopedProxyMode.TARGET_CLASS)
		ScopedProblems scoped() {
			return new ScopedProblems(this.current.get());
		}

	}

	@RdmaAdvice
	static class ScopedProblems {

		private final RpcStatus status;

		ScopedProblems() {
			this(RpcStatus.OK);
		}

		ScopedProblems(RpcStatus status) {
			this.status = status;
		}

		@RdmaExceptionHandler
		RpcStatus any(IllegalStateException failure) {
			return this.status;
		}

	}

	/** Keeps beans until it is emptied. */
	static class SimpleScope implements org.springframework.beans.factory.config.Scope {

		private final Map<String, Object> beans = new HashMap<>();

		@Override
		public Object get(String name, ObjectFactory<?> factory) {
			return this.beans.computeIfAbsent(name, (key) -> factory.getObject());
		}

		@Override
		public Object remove(String name) {
			return this.beans.remove(name);
		}

		@Override
		public void registerDestructionCallback(String name, Runnable callback) {
		}

	}

	@RdmaAdvice
	static class Silent {

		@RdmaExceptionHandler
		void silent(Exception failure) {
		}

	}

	@RdmaAdvice
	static class Nameless {

		@RdmaExceptionHandler
		RpcStatus nameless() {
			return RpcStatus.ABORTED;
		}

	}

	@RdmaAdvice
	static class Twice {

		@RdmaExceptionHandler
		RpcStatus one(Exception failure) {
			return RpcStatus.ABORTED;
		}

		@RdmaExceptionHandler
		RpcStatus other(Exception failure) {
			return RpcStatus.ABORTED;
		}

	}

	@RdmaAdvice
	static class Wrong {

		@RdmaExceptionHandler(Error.class)
		RpcStatus wrong(Exception failure) {
			return RpcStatus.ABORTED;
		}

	}

}
