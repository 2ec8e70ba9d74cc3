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

package dev.rdmarpc.boot.retry;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.AttemptBudget;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RdmaMethod;
import dev.rdmarpc.rpc.RpcClientInterceptor;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.rpc.ServiceDescriptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

/** Retries, as properties ask for them. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RetriesTests {

	/** The common pool may have a single thread. */
	private static final Executor THREADS = (task) -> new Thread(task).start();

	private static final String CLIENT = "rdma.rpc.client.shaky.";

	private static final String[] THREE = { CLIENT + "retry.max-retries=3", CLIENT + "retry.delay=1ms",
			CLIENT + "retry.jitter=0ms" };

	private final ShakyService service = new ShakyService();

	@Test
	void withoutPropertiesTheFirstFailureCounts() {
		run((context, shaky) -> {
			assertThat(failure(() -> shaky.find(1)).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			assertThat(this.service.calls).hasValue(1);
		});
	}

	@Test
	void callsOfIdempotentMethodsAreMadeAgain() {
		run((context, shaky) -> {
			assertThat(shaky.find(2)).isEqualTo("found after 3");
			assertThat(await(shaky.findLater(2))).isEqualTo("found after 3");
			StepVerifier.create(shaky.findReactive(2)).expectNext("found after 3").verifyComplete();
			StepVerifier.create(shaky.findReactive(2).repeat(1))
				.expectNext("found after 3", "found after 3")
				.verifyComplete();
			assertThat(context.getBean(MeterRegistry.class).get("rdma.rpc.client.retries").counters())
				.allSatisfy((counter) -> assertThat(counter.getId().getTag("status")).isEqualTo("UNAVAILABLE"))
				.extracting((counter) -> counter.getId().getTag("method"), Counter::count)
				.containsExactlyInAnyOrder(tuple("find", 2.0), tuple("findLater", 2.0), tuple("findReactive", 6.0));
		}, THREE);
	}

	@Test
	void theLastFailureHasThoseBeforeItSuppressed() {
		run((context, shaky) -> {
			RpcException blocking = failure(() -> shaky.find(100));
			assertThat(this.service.calls).hasValue(4);
			assertThat(blocking.detail()).isEqualTo("attempt 4");
			assertThat(((RpcException) blocking.getSuppressed()[0]).detail()).isEqualTo("attempt 3");
			this.service.calls.set(0);
			this.service.failures.set(0);
			Throwable later = catchThrowable(() -> await(shaky.findLater(100)));
			assertThat(RpcException.in(later).detail()).isEqualTo("attempt 4");
			assertThat(this.service.calls).hasValue(4);
		}, THREE);
	}

	@Test
	void anInterceptorThatFailsInALaterAttemptEndsTheCall() {
		try (ConfigurableApplicationContext context = start(this.service, Failing.class, THREE)) {
			Shaky shaky = context.getBean(RdmaClients.class).proxy("shaky", Shaky.class);
			assertThat(catchThrowable(() -> await(shaky.findLater(100)))).rootCause()
				.isInstanceOf(AssertionError.class)
				.hasMessage("in attempt 2");
			assertThat(this.service.calls).hasValue(1);
		}
	}

	@Test
	void callsOfOtherMethodsAreMadeOnceThoughTheyFail() {
		run((context, shaky) -> {
			assertThat(failure(() -> shaky.change(100)).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			assertThat(RpcException.in(catchThrowable(() -> await(shaky.changeLater(100)))).isBeforeExecution())
				.isFalse();
			assertThat(this.service.calls).hasValue(2);
		}, THREE);
	}

	/** The budget is ten retries, which take seconds here. */
	@Test
	void callsThatTheServerRefusesAreMadeAgainWhateverTheyDo() {
		run((context, shaky) -> {
			CompletableFuture<String> holding = shaky.hold();
			awaitTrue(() -> this.service.holding.get() == 1);
			CompletableFuture<String> later = shaky.changeLater(0);
			CompletableFuture<String> blocking = CompletableFuture.supplyAsync(() -> shaky.change(0), THREADS);
			Counter retries = awaitCounter(context);
			awaitTrue(() -> retries.count() >= 2);
			assertThat(this.service.calls).hasValue(0);
			this.service.hold.countDown();
			assertThat(await(holding)).isEqualTo("held");
			assertThat(await(later)).startsWith("found after");
			assertThat(await(blocking)).startsWith("found after");
			assertThat(this.service.calls).hasValue(2);
			assertThat(retries.getId().getTag("status")).isEqualTo("RESOURCE_EXHAUSTED");
		}, "rdma.rpc.server.max-concurrent-calls=1", CLIENT + "retry.max-retries=100", CLIENT + "retry.budget=10",
				CLIENT + "retry.delay=500ms", CLIENT + "retry.multiplier=1", CLIENT + "retry.jitter=5ms",
				CLIENT + "retry.max-delay=500ms");
	}

	private static Counter awaitCounter(ApplicationContext context) {
		MeterRegistry registry = context.getBean(MeterRegistry.class);
		awaitTrue(() -> registry.find("rdma.rpc.client.retries").counter() != null);
		return registry.get("rdma.rpc.client.retries").counter();
	}

	@Test
	void aRetryThatCouldNotBeginWithinTheDeadlineIsNotWaitedFor() {
		run((context, shaky) -> {
			Shaky hurried = CallOptions.deadline(Duration.ofSeconds(20)).on(shaky);
			assertThat(failure(() -> hurried.find(1)).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			assertThat(RpcException.in(catchThrowable(() -> await(hurried.findLater(2)))).status())
				.isEqualTo(RpcStatus.UNAVAILABLE);
			assertThat(this.service.calls).hasValue(2);
		}, CLIENT + "retry.max-retries=3", CLIENT + "retry.delay=1m", CLIENT + "retry.max-delay=1m");
	}

	@Test
	void withoutBudgetAFailureIsFinal() {
		run((context, shaky) -> {
			for (int i = 0; i < 30; i++) {
				this.service.failures.set(0);
				assertThat(failure(() -> shaky.find(100)).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			}
			assertThat(this.service.calls).hasValueBetween(40, 41);
		}, CLIENT + "retry.max-retries=3", CLIENT + "retry.delay=0ms", CLIENT + "retry.budget=0.01");
	}

	/** A call that is made later, and again, shows that those before it are not. */
	@Test
	void aCanceledFutureEndsTheRetries() {
		run((context, shaky) -> {
			CompletableFuture<String> later = shaky.findLater(100);
			awaitTrue(() -> this.service.calls.get() == 1);
			assertThat(later.cancel(true)).isTrue();
			StepVerifier.create(shaky.findReactive(100))
				.then(() -> awaitTrue(() -> this.service.calls.get() == 2))
				.thenCancel()
				.verify();
			assertThat(later).isCancelled();
			awaitTrue(() -> this.service.failures.get() == 2);
			assertThat(shaky.find(3)).isEqualTo("found after 4");
			assertThat(this.service.calls).hasValue(4);
		}, CLIENT + "retry.max-retries=3", CLIENT + "retry.delay=2s", CLIENT + "retry.max-delay=2s",
				CLIENT + "retry.jitter=0ms");
	}

	@Test
	void methodsCanDiffer() {
		run((context, shaky) -> {
			assertThat(shaky.find(1)).isEqualTo("found after 2");
			assertThat(RpcException.in(catchThrowable(() -> await(shaky.findLater(1)))).status())
				.isEqualTo(RpcStatus.UNAVAILABLE);
		}, CLIENT + "methods.Shaky.find.retry.max-retries=1", CLIENT + "methods.Shaky.find.retry.delay=0s",
				"rdma.rpc.client.default.methods.shaky.find-later.retry.delay=1ms");
	}

	@Test
	void methodsOfProxiesThatHaveGoneAreForgotten() {
		RetrySettings defaults = RetrySettings.DEFAULTS;
		RetrySettings once = new RetrySettings(1, defaults.delay(), defaults.multiplier(), defaults.jitter(),
				defaults.maxDelay(), defaults.statuses());
		RetryInterceptor interceptor = new RetryInterceptor((target, method) -> once, (target) -> new AttemptBudget(1),
				(target, method, retry, failure) -> {
				});
		WeakReference<MethodDescriptor> gone = apply(interceptor);
		awaitTrue(() -> {
			System.gc();
			return gone.get() == null;
		});
	}

	private static WeakReference<MethodDescriptor> apply(RetryInterceptor interceptor) {
		MethodDescriptor method = ServiceDescriptor.of(Shaky.class, new FlatBuffersCodec()).methods().iterator().next();
		assertThat(interceptor.appliesTo("shaky", method)).isTrue();
		return new WeakReference<>(method);
	}

	@Test
	void propertiesAreChecked() {
		assertThatThrownBy(() -> run((context, shaky) -> {
		}, CLIENT + "methods.Shaky.fnid.retry.max-retries=1")).hasStackTraceContaining(CLIENT + "methods.Shaky.fnid")
			.hasStackTraceContaining("such as 'find'");
		assertThatThrownBy(() -> run((context, shaky) -> {
		}, CLIENT + "retry.max-retries=1000")).hasStackTraceContaining(CLIENT + "retry.max-retries")
			.hasStackTraceContaining("from 0 to 100");
		assertThatThrownBy(() -> run((context, shaky) -> {
		}, CLIENT + "retry.budget=0")).hasStackTraceContaining(CLIENT + "retry.budget")
			.hasStackTraceContaining("more than 0");
		assertThatThrownBy(() -> run((context, shaky) -> {
		}, CLIENT + "methods.Shaky.find.retry.budget=1"))
			.hasStackTraceContaining(CLIENT + "methods.Shaky.find.retry.budget")
			.hasStackTraceContaining("is set for a target, not for a method");
		assertThatThrownBy(() -> run((context, shaky) -> {
		}, CLIENT + "retry.delay=2s")).hasStackTraceContaining("not less than delay");
	}

	@Test
	void aServerThatDiesHasBegunACallOnlyOnceUnlessItIsIdempotent() {
		ShakyService second = new ShakyService();
		try (ConfigurableApplicationContext first = start(this.service, Serving.class,
				"rdma.rpc.server.drain-timeout=10ms")) {
			int port = first.getBean(RpcServer.class).port();
			this.service.dying = first.getBean(RpcServer.class);
			try (ConfigurableApplicationContext client = start(this.service, Calling.class, CLIENT + "host=127.0.0.1",
					CLIENT + "port=" + port, CLIENT + "retry.max-retries=50", CLIENT + "retry.budget=10",
					CLIENT + "retry.delay=20ms", CLIENT + "retry.max-delay=20ms")) {
				Shaky shaky = client.getBean(RdmaClients.class).proxy("shaky", Shaky.class);
				CompletableFuture<String> change = CompletableFuture.supplyAsync(() -> shaky.change(0), THREADS);
				CompletableFuture<String> changeLater = shaky.changeLater(0);
				CompletableFuture<String> find = CompletableFuture.supplyAsync(() -> shaky.find(0), THREADS);
				CompletableFuture<String> findLater = shaky.findLater(0);
				awaitTrue(() -> this.service.calls.get() == 4);
				this.service.die.countDown();
				awaitTrue(() -> first.getBean(RpcServer.class).activeCalls() == 0);
				SpringApplication.exit(first);
				try (ConfigurableApplicationContext other = start(second, Serving.class,
						"rdma.rpc.server.port=" + port)) {
					assertThat(RpcException.in(catchThrowable(() -> await(change))).status())
						.isEqualTo(RpcStatus.UNAVAILABLE);
					assertThat(RpcException.in(catchThrowable(() -> await(changeLater))).status())
						.isEqualTo(RpcStatus.UNAVAILABLE);
					assertThat(await(find)).startsWith("found after");
					assertThat(await(findLater)).startsWith("found after");
					assertThat(other.getBean(RpcServer.class).activeCalls()).isZero();
				}
			}
		}
		assertThat(this.service.changes).hasValue(2);
		assertThat(second.changes).hasValue(0);
		assertThat(second.calls).hasValue(2);
	}

	private void run(Check check, String... properties) {
		RegisteredMemory memory;
		try (ConfigurableApplicationContext context = start(this.service, Both.class, properties)) {
			memory = context.getBean(RegisteredMemory.class);
			check.check(context, context.getBean(RdmaClients.class).proxy("shaky", Shaky.class));
			awaitTrue(() -> context.getBean(RpcServer.class).activeCalls() == 0
					&& context.getBean(RdmaClients.class).client("shaky").metrics().outstandingCalls() == 0);
		}
		assertThat(memory.metrics().outstanding()).isZero();
	}

	private static ConfigurableApplicationContext start(ShakyService service, Class<?> application,
			String... properties) {
		List<String> arguments = new ArrayList<>(List.of("--rdma.rpc.server.address=127.0.0.1",
				"--rdma.rpc.memory.leak-detection=paranoid", "--spring.jmx.enabled=false"));
		List.of(properties).forEach((property) -> arguments.add("--" + property));
		return new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.properties("rdma.rpc.server.port=0", "rdma.rpc.client.default.port=0")
			.initializers((context) -> context.getBeanFactory().registerSingleton("theService", service))
			.run(arguments.toArray(String[]::new));
	}

	private static RpcException failure(Runnable call) {
		return catchThrowableOfType(RpcException.class, call::run);
	}

	private static <T> T await(CompletableFuture<T> future) {
		try {
			return future.get(30, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void awaitTrue(BooleanSupplier condition) {
		long begin = System.nanoTime();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - begin).as("condition not met in time")
				.isLessThan(Duration.ofSeconds(30).toNanos());
			Thread.onSpinWait();
		}
	}

	/** What a test does. */
	private interface Check {

		void check(ApplicationContext context, Shaky shaky);

	}

	/** A service that fails as often as it is told to. */
	public interface Shaky {

		@RdmaMethod(idempotent = true)
		String find(int failures);

		@RdmaMethod(idempotent = true)
		CompletableFuture<String> findLater(int failures);

		@RdmaMethod(idempotent = true)
		Mono<String> findReactive(int failures);

		String change(int failures);

		CompletableFuture<String> changeLater(int failures);

		CompletableFuture<String> hold();

	}

	/** Counts. */
	static class ShakyService implements Shaky {

		private final AtomicInteger calls = new AtomicInteger();

		private final AtomicInteger changes = new AtomicInteger();

		private final AtomicInteger failures = new AtomicInteger();

		private final AtomicInteger holding = new AtomicInteger();

		private final CountDownLatch hold = new CountDownLatch(1);

		private final CountDownLatch die = new CountDownLatch(1);

		private volatile RpcServer dying;

		@Override
		public String find(int most) {
			this.calls.incrementAndGet();
			dieIfDue();
			int attempt = this.failures.incrementAndGet();
			if (attempt <= most) {
				throw new RpcException(RpcStatus.UNAVAILABLE, "attempt " + attempt);
			}
			this.failures.set(0);
			return "found after " + attempt;
		}

		private void dieIfDue() {
			RpcServer server = this.dying;
			if (server != null) {
				try {
					this.die.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				server.close();
			}
		}

		@Override
		public CompletableFuture<String> findLater(int most) {
			return CompletableFuture.completedFuture(find(most));
		}

		@Override
		public Mono<String> findReactive(int most) {
			return Mono.fromCallable(() -> find(most));
		}

		@Override
		public String change(int most) {
			this.changes.incrementAndGet();
			return find(most);
		}

		@Override
		public CompletableFuture<String> changeLater(int most) {
			this.changes.incrementAndGet();
			return findLater(most);
		}

		@Override
		public CompletableFuture<String> hold() {
			this.holding.incrementAndGet();
			return CompletableFuture.supplyAsync(() -> {
				try {
					this.hold.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
				return "held";
			}, THREADS);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Serving {

		@Bean
		@RdmaService
		Shaky served(ShakyService theService) {
			return new Delegate(theService);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@ImportRdmaClients(target = "shaky", types = Shaky.class)
	static class Calling {

		@Bean
		MeterRegistry meterRegistry() {
			return new SimpleMeterRegistry();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@ImportRdmaClients(target = "shaky", types = Shaky.class)
	static class Both {

		@Bean
		MeterRegistry meterRegistry() {
			return new SimpleMeterRegistry();
		}

		@Bean
		@RdmaService
		Shaky served(ShakyService theService) {
			return new Delegate(theService);
		}

	}

	/** With an interceptor of single attempts that fails in the second one. */
	@Configuration(proxyBeanMethods = false)
	@Import(Both.class)
	static class Failing {

		private final AtomicInteger attempts = new AtomicInteger();

		@Bean
		RpcClientInterceptor failingInterceptor() {
			return (call) -> {
				if (this.attempts.incrementAndGet() == 2) {
					throw new AssertionError("in attempt 2");
				}
				return call.proceed();
			};
		}

	}

	/** The bean that is served, of which each context has one. */
	record Delegate(ShakyService service) implements Shaky {

		@Override
		public String find(int failures) {
			return this.service.find(failures);
		}

		@Override
		public CompletableFuture<String> findLater(int failures) {
			return this.service.findLater(failures);
		}

		@Override
		public Mono<String> findReactive(int failures) {
			return this.service.findReactive(failures);
		}

		@Override
		public String change(int failures) {
			return this.service.change(failures);
		}

		@Override
		public CompletableFuture<String> changeLater(int failures) {
			return this.service.changeLater(failures);
		}

		@Override
		public CompletableFuture<String> hold() {
			return this.service.hold();
		}

	}

}
