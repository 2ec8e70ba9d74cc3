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

package dev.rdmarpc.boot.resilience;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import io.github.resilience4j.bulkhead.BulkheadFullException;
import io.github.resilience4j.bulkhead.BulkheadRegistry;
import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterRegistry;
import io.github.resilience4j.ratelimiter.RequestNotPermitted;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.RdmaMethod;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Circuit breakers, bulkheads and rate limiters of Resilience4j, by the name of a target.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ResilienceTests {

	private static final String BREAKER = "resilience4j.circuitbreaker.instances.gates.";

	private static final String LIMITER = "resilience4j.ratelimiter.instances.gates.";

	private static final AtomicInteger CALLS = new AtomicInteger();

	private static final List<CompletableFuture<String>> HELD = new CopyOnWriteArrayList<>();

	@Test
	void aTargetWithoutInstanceHasNone() {
		run((context, gates) -> {
			for (int i = 0; i < 20; i++) {
				assertThat(failure(() -> gates.pass(RpcStatus.UNAVAILABLE)).getCause()).isNull();
			}
			assertThat(CALLS).hasValue(20);
		});
	}

	@Test
	void anOpenCircuitRefusesCallsOfEachKind() {
		run((context, gates) -> {
			failure(() -> gates.pass(RpcStatus.UNAVAILABLE));
			failure(() -> gates.passLater(RpcStatus.UNAVAILABLE).get(20, TimeUnit.SECONDS));
			failure(() -> gates.passReactive(RpcStatus.UNAVAILABLE).block(Duration.ofSeconds(20)));
			failure(() -> gates.pass(RpcStatus.INTERNAL));
			assertThat(breaker(context).getState()).isEqualTo(CircuitBreaker.State.OPEN);
			List.of(failure(() -> gates.pass(RpcStatus.OK)),
					failure(() -> gates.passLater(RpcStatus.OK).get(20, TimeUnit.SECONDS)),
					failure(() -> gates.passReactive(RpcStatus.OK).block(Duration.ofSeconds(20))))
				.forEach((refused) -> {
					assertThat(refused.status()).isEqualTo(RpcStatus.UNAVAILABLE);
					assertThat(refused.getCause()).isInstanceOf(CallNotPermittedException.class);
					assertThat(refused.isBeforeExecution()).isTrue();
				});
			assertThat(CALLS).hasValue(4);
		}, BREAKER + "sliding-window-size=4", BREAKER + "minimum-number-of-calls=4",
				BREAKER + "wait-duration-in-open-state=1h");
	}

	@Test
	void statusesThatTheCallCausedAreSuccesses() {
		run((context, gates) -> {
			for (int i = 0; i < 10; i++) {
				assertThat(failure(() -> gates.pass(RpcStatus.NOT_FOUND)).status()).isEqualTo(RpcStatus.NOT_FOUND);
			}
			assertThat(breaker(context).getState()).isEqualTo(CircuitBreaker.State.CLOSED);
			assertThat(breaker(context).getMetrics().getNumberOfSuccessfulCalls()).isEqualTo(4);
			CompletableFuture<String> held = gates.hold();
			awaitTrue(() -> !HELD.isEmpty());
			held.cancel(true);
			assertThat(breaker(context).getMetrics().getNumberOfFailedCalls()).isZero();
		}, BREAKER + "sliding-window-size=4", BREAKER + "minimum-number-of-calls=4");
	}

	@Test
	void eachAttemptCountsAndAnOpenCircuitEndsTheRetries() {
		run((context, gates) -> {
			assertThat(failure(() -> gates.pass(RpcStatus.UNAVAILABLE)).getCause())
				.isInstanceOf(CallNotPermittedException.class);
			assertThat(CALLS).hasValue(2);
			assertThat(breaker(context).getMetrics().getNumberOfNotPermittedCalls()).isEqualTo(1);
		}, BREAKER + "sliding-window-size=2", BREAKER + "minimum-number-of-calls=2",
				BREAKER + "wait-duration-in-open-state=1h", "rdma.rpc.client.gates.retry.max-retries=9",
				"rdma.rpc.client.gates.retry.delay=1ms");
	}

	@Test
	void aFullBulkheadRefusesCallsUntilOneHasEnded() {
		run((context, gates) -> {
			CompletableFuture<String> held = gates.hold();
			awaitTrue(() -> !HELD.isEmpty());
			RpcException refused = failure(() -> gates.pass(RpcStatus.OK));
			assertThat(refused.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(refused.getCause()).isInstanceOf(BulkheadFullException.class);
			StepVerifier.create(gates.passReactive(RpcStatus.OK)).expectError(RpcException.class).verify();
			HELD.get(0).complete("held");
			assertThat(held).succeedsWithin(Duration.ofSeconds(20));
			// whoever waits for a future may go on before the bulkhead hears of its end
			awaitTrue(() -> room(context) == 1);
			assertThat(gates.pass(RpcStatus.OK)).isEqualTo("passed");
			CompletableFuture<String> canceled = gates.hold();
			awaitTrue(() -> HELD.size() == 2);
			canceled.cancel(true);
			assertThat(gates.pass(RpcStatus.OK)).isEqualTo("passed");
		}, "resilience4j.bulkhead.instances.gates.max-concurrent-calls=1");
	}

	@Test
	void aRateLimiterRefusesWhatIsTooMuch() {
		run((context, gates) -> {
			assertThat(gates.pass(RpcStatus.OK)).isEqualTo("passed");
			StepVerifier.create(gates.passReactive(RpcStatus.OK)).expectNext("passed").verifyComplete();
			RpcException refused = failure(() -> gates.passLater(RpcStatus.OK).get(20, TimeUnit.SECONDS));
			assertThat(refused.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(refused.getCause()).isInstanceOf(RequestNotPermitted.class);
			assertThat(CALLS).hasValue(2);
		}, "resilience4j.ratelimiter.instances.gates.limit-for-period=2",
				"resilience4j.ratelimiter.instances.gates.limit-refresh-period=1h",
				"resilience4j.ratelimiter.instances.gates.timeout-duration=0s");
	}

	@Test
	void noCallWaitsForARateLimiterBeyondItsDeadline() {
		run((context, gates) -> {
			assertThat(gates.pass(RpcStatus.OK)).isEqualTo("passed");
			Gates hurried = CallOptions.deadline(Duration.ofSeconds(20)).on(gates);
			List.of(failure(() -> hurried.pass(RpcStatus.OK)),
					failure(() -> hurried.passLater(RpcStatus.OK).get(20, TimeUnit.SECONDS)))
				.forEach((refused) -> {
					assertThat(refused.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
					assertThat(refused.getCause()).isInstanceOf(RequestNotPermitted.class);
				});
			assertThat(limiter(context).getMetrics().getAvailablePermissions()).as("left to others").isZero();
			assertCancelled(gates);
			assertThat(CALLS).hasValue(1);
		}, LIMITER + "limit-for-period=1", LIMITER + "limit-refresh-period=1h", LIMITER + "timeout-duration=2h");
	}

	@Test
	void aCallThatIsPermittedWithinItsDeadlineWaits() {
		run((context, gates) -> {
			Gates patient = CallOptions.deadline(Duration.ofHours(1)).on(gates);
			for (int i = 0; i < 5; i++) {
				assertThat(patient.pass(RpcStatus.OK)).isEqualTo("passed");
			}
		}, LIMITER + "limit-for-period=1", LIMITER + "limit-refresh-period=50ms", LIMITER + "timeout-duration=2h");
	}

	@Test
	void noCallWaitsForABulkheadBeyondItsDeadline() {
		run((context, gates) -> {
			CompletableFuture<String> held = gates.hold();
			awaitTrue(() -> !HELD.isEmpty());
			RpcException refused = failure(
					() -> CallOptions.deadline(Duration.ofSeconds(20)).on(gates).pass(RpcStatus.OK));
			assertThat(refused.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(refused.getCause()).isInstanceOf(BulkheadFullException.class);
			assertCancelled(gates);
			HELD.get(0).complete("held");
			assertThat(held).succeedsWithin(Duration.ofSeconds(20));
			assertThat(CALLS).hasValue(0);
		}, "resilience4j.bulkhead.instances.gates.max-concurrent-calls=1",
				"resilience4j.bulkhead.instances.gates.max-wait-duration=1h");
	}

	/** A call that waits ends when its thread is interrupted, like any other. */
	private static void assertCancelled(Gates gates) {
		Gates patient = CallOptions.deadline(Duration.ofDays(1)).on(gates);
		List.<ThrowingCallable>of(() -> patient.pass(RpcStatus.OK), () -> patient.passLater(RpcStatus.OK).getNow(""))
			.forEach((call) -> {
				Thread.currentThread().interrupt();
				RpcException cancelled = failure(call);
				assertThat(Thread.interrupted()).isTrue();
				assertThat(cancelled.status()).isEqualTo(RpcStatus.CANCELLED);
			});
	}

	private static RateLimiter limiter(ApplicationContext context) {
		return context.getBean(RateLimiterRegistry.class).rateLimiter("gates");
	}

	private static int room(ApplicationContext context) {
		return context.getBean(BulkheadRegistry.class).bulkhead("gates").getMetrics().getAvailableConcurrentCalls();
	}

	private static CircuitBreaker breaker(ApplicationContext context) {
		return context.getBean(CircuitBreakerRegistry.class).circuitBreaker("gates");
	}

	private static void run(Check check, String... properties) {
		CALLS.set(0);
		HELD.clear();
		List<String> arguments = new ArrayList<>(List.of("--rdma.rpc.server.address=127.0.0.1",
				"--rdma.rpc.server.port=0", "--rdma.rpc.client.default.port=0",
				"--rdma.rpc.memory.leak-detection=paranoid", "--spring.jmx.enabled=false"));
		List.of(properties).forEach((property) -> arguments.add("--" + property));
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.run(arguments.toArray(String[]::new))) {
			RdmaClients clients = context.getBean(RdmaClients.class);
			check.check(context, clients.proxy("gates", Gates.class));
			awaitTrue(() -> context.getBean(RpcServer.class).activeCalls() == 0
					&& clients.client("gates").metrics().outstandingCalls() == 0);
		}
	}

	private static RpcException failure(ThrowingCallable call) {
		RpcException found = RpcException.in(catchThrowable(call));
		assertThat(found).isNotNull();
		return found;
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

		void check(ApplicationContext context, Gates gates);

	}

	/** A service that ends as it is told to. */
	public interface Gates {

		@RdmaMethod(idempotent = true)
		String pass(RpcStatus status);

		CompletableFuture<String> passLater(RpcStatus status);

		Mono<String> passReactive(RpcStatus status);

		CompletableFuture<String> hold();

	}

	@RdmaService
	static class GateService implements Gates {

		@Override
		public String pass(RpcStatus status) {
			CALLS.incrementAndGet();
			if (status != RpcStatus.OK) {
				throw new RpcException(status, "closed");
			}
			return "passed";
		}

		@Override
		public CompletableFuture<String> passLater(RpcStatus status) {
			return CompletableFuture.completedFuture(pass(status));
		}

		@Override
		public Mono<String> passReactive(RpcStatus status) {
			return Mono.fromCallable(() -> pass(status));
		}

		@Override
		public CompletableFuture<String> hold() {
			CompletableFuture<String> held = new CompletableFuture<>();
			HELD.add(held);
			return held;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		GateService gateService() {
			return new GateService();
		}

	}

}
