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

package dev.rdmarpc.boot.guide;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The code of the guide does in two applications what the guide says. */
class GuideTests {

	@Test
	void basketKnowsPricesOfAnotherApplication() {
		try (ConfigurableApplicationContext server = run(ServerApplication.class);
				ConfigurableApplicationContext client = run(ClientApplication.class,
						"rdma.rpc.client.prices.host=127.0.0.1",
						"rdma.rpc.client.prices.port=" + server.getBean(RpcServer.class).port())) {
			Basket basket = client.getBean(Basket.class);
			assertThat(basket.priceOf("pear")).isEqualTo(new BigDecimal("0.40"));
			assertThat(basket.priceOf("pineapple")).isZero();
			assertThat(client.getBeansOfType(Prices.class)).containsOnlyKeys("prices.prices");
			assertThat(client.getBean(Prices.class).findAll(List.of("pear", "pineapple")))
				.succeedsWithin(Duration.ofSeconds(20))
				.satisfies((found) -> assertThat(found).extracting(Price::article).containsExactly("pear"));
			RegisteredMemory memory = server.getBean(RegisteredMemory.class);
			assertThat(SpringApplication.exit(server)).isZero();
			assertThat(memory.metrics().outstanding()).isZero();
			assertThat(basket.priceInTime("pear")).isZero();
		}
	}

	@Test
	void customizersAndConnectionDetailsTakePart() {
		try (ConfigurableApplicationContext context = run(CustomizedApplication.class)) {
			RdmaClients clients = context.getBean(RdmaClients.class);
			assertThat(context.getBean(Basket.class).priceOf("pear")).isPositive();
			assertThat(clients.client("prices").proxy("prices.v1", Prices.class).find("pear")).isPresent();
			assertThat(context.getBean(MeterRegistry.class).get("calls").timers())
				.extracting((timer) -> timer.getId().getTag("service"))
				.containsExactlyInAnyOrder("prices.v1", Prices.class.getName());
		}
	}

	@Test
	void tenantsAreChecked() {
		try (ConfigurableApplicationContext context = run(InterceptedApplication.class, "rdma.rpc.client.prices.port=0",
				"tenant=west")) {
			assertThatExceptionOfType(RpcException.class)
				.isThrownBy(() -> context.getBean(Basket.class).priceOf("pear"))
				.satisfies((ex) -> assertThat(ex.detail()).isEqualTo("unknown tenant"))
				.extracting(RpcException::status)
				.isEqualTo(RpcStatus.PERMISSION_DENIED);
			assertThat(context.getBean(PriceAudit.class).failures()).containsExactly("find[pear]: PERMISSION_DENIED");
		}
	}

	@Test
	void interceptorsTakePart() {
		try (ConfigurableApplicationContext context = run(InterceptedApplication.class, "rdma.rpc.client.prices.port=0",
				"rdma.rpc.client.prices.restart-timeout=0")) {
			assertThat(context.getBean(Basket.class).priceOf("pear")).isPositive();
			assertThat(context.getBean(PriceAudit.class).failures()).isEmpty();
			context.getBean(RpcServer.class).close();
			assertThatExceptionOfType(RpcException.class)
				.isThrownBy(() -> context.getBean(Basket.class).priceOf("pear"))
				.extracting(RpcException::status)
				.isEqualTo(RpcStatus.UNAVAILABLE);
			assertThat(context.getBean(PriceAudit.class).failures()).containsExactly("find[pear]: UNAVAILABLE");
		}
	}

	@Test
	void detailsOfFailuresArrive() {
		try (ConfigurableApplicationContext context = run(SoldOutApplication.class, "rdma.rpc.client.prices.port=0")) {
			assertThat(context.getBean(Basket.class).suggestionsFor("apple")).containsExactly("pear", "quince");
		}
	}

	@Test
	void greeterAnswersAsItsGrpcOriginalDoes() {
		try (ConfigurableApplicationContext context = run(GreeterApplication.class, "rdma.rpc.client.greeter.port=0")) {
			Greeter greeter = context.getBean("greeter.greeter", Greeter.class);
			assertThat(greeter.greet(new Greeter.GreetRequest("world", 1)).text()).isEqualTo("Hello world");
			try (Stream<Greeter.Greeting> greetings = greeter.greetManyTimes(new Greeter.GreetRequest("all", 3))) {
				assertThat(greetings).extracting(Greeter.Greeting::text)
					.containsExactly("Hello all", "Hello all", "Hello all");
			}
			assertThatExceptionOfType(RpcException.class)
				.isThrownBy(() -> greeter.greet(new Greeter.GreetRequest("", 1)))
				.satisfies((ex) -> assertThat(ex.detail()).isEqualTo("nobody to greet"))
				.extracting(RpcException::status)
				.isEqualTo(RpcStatus.INVALID_ARGUMENT);
		}
	}

	private static ConfigurableApplicationContext run(Class<?> application, String... properties) {
		List<String> arguments = new ArrayList<>(List.of("--rdma.rpc.server.address=127.0.0.1",
				"--rdma.rpc.server.port=0", "--rdma.rpc.memory.leak-detection=paranoid", "--spring.jmx.enabled=false"));
		for (String property : properties) {
			arguments.add("--" + property);
		}
		return new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.run(arguments.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(PriceTable.class)
	static class ServerApplication {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ PriceClients.class, Basket.class })
	static class ClientApplication {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ PriceTable.class, PriceClients.class, Basket.class, TransportConfiguration.class, Announcer.class,
			Directory.class })
	static class CustomizedApplication {

		@Bean
		MeterRegistry meterRegistry() {
			return new SimpleMeterRegistry();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ PriceTable.class, PriceClients.class, Basket.class, PriceInterceptors.class, PriceAudit.class,
			TenantGuard.class })
	static class InterceptedApplication {

		@Bean
		Tenant tenant(@Value("${tenant:north}") String name) {
			return new Tenant(name);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ PriceProblems.class, PriceClients.class, Basket.class, SoldOut.class })
	static class SoldOutApplication {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ GreeterService.class, GreeterProblems.class, GreeterClient.class })
	static class GreeterApplication {

	}

	@RdmaService
	static class SoldOut implements Prices {

		@Override
		public Optional<Price> find(String article) {
			throw new NoSuchElementException(article);
		}

		@Override
		public CompletableFuture<List<Price>> findAll(List<String> articles) {
			return CompletableFuture.completedFuture(List.of());
		}

	}

}
