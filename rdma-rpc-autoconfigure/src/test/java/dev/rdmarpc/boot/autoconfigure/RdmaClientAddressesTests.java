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

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.balancing.DnsAddressResolver;
import dev.rdmarpc.balancing.LoadBalancing;
import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaAddressResolverFactory;
import dev.rdmarpc.boot.RdmaClientCustomizer;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaConnectionDetails;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.boot.health.RdmaHealthContributor;
import dev.rdmarpc.boot.metrics.RdmaClientMetrics;
import dev.rdmarpc.rpc.AddressHealth;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** Targets with several addresses. */
class RdmaClientAddressesTests {

	private static final String NOWHERE = "127.0.0.1:1";

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withUserConfiguration(OneImport.class)
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new);

	/** Runs two applications that serve, each with its own name. */
	private static void withServers(Consumer<List<InetSocketAddress>> test) {
		ApplicationContextRunner server = RdmaContextRunner.create().withUserConfiguration(Named.class);
		server.withPropertyValues("my.name=one")
			.run((one) -> server.withPropertyValues("my.name=two")
				.run((two) -> test
					.accept(List.of(one.getBean(RpcServer.class).address(), two.getBean(RpcServer.class).address()))));
	}

	private static String text(InetSocketAddress address) {
		return "127.0.0.1:" + address.getPort();
	}

	private static Set<String> names(AssertableApplicationContext context, int calls) {
		Set<String> names = new TreeSet<>();
		Greeter greeter = context.getBean(Greeter.class);
		for (int i = 0; i < calls; i++) {
			names.add(greeter.greet("x"));
		}
		return names;
	}

	private static void await(BooleanSupplier condition) {
		long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime()).as("waited for too long").isLessThan(deadline);
			Thread.onSpinWait();
		}
	}

	private static void awaitOpen(AssertableApplicationContext context, int count) {
		RpcClient client = context.getBean(RdmaClients.class).client("greetings");
		client.connect();
		await(() -> client.metrics().open() == count);
	}

	@Test
	void callsGoToAllAddressesThatAreListed() {
		withServers((servers) -> this.runner
			.withPropertyValues("rdma.rpc.client.greetings.addresses=" + text(servers.get(0)) + ", "
					+ text(servers.get(1)) + "," + NOWHERE)
			.run((context) -> {
				context.getBean(RdmaClientMetrics.class).bindTo(context.getBean(MeterRegistry.class));
				awaitOpen(context, 2);
				assertThat(names(context, 4)).containsExactly("one", "two");
				Health health = health(context);
				assertThat(health.getStatus()).isEqualTo(Status.UP);
				assertThat(health.getDetails().get("addresses").toString()).contains(text(servers.get(0)) + "=READY")
					.contains(NOWHERE + "=");
				assertThat(state(context, text(servers.get(1)))).isOne();
				assertThat(state(context, NOWHERE)).isZero();
			}));
	}

	private static Health health(AssertableApplicationContext context) {
		HealthIndicator indicator = (HealthIndicator) context.getBean(RdmaHealthContributor.class)
			.getContributor("client.greetings");
		return indicator.health(true);
	}

	private static double state(AssertableApplicationContext context, String address) {
		Gauge gauge = context.getBean(MeterRegistry.class)
			.find("rdma.client.address.state")
			.tags("target", "greetings", "address", address)
			.gauge();
		return (gauge != null) ? gauge.value() : -1;
	}

	@Test
	void nobodyAnywhereIsUnknownOrDown() {
		this.runner.withPropertyValues("rdma.rpc.client.greetings.addresses=127.0.0.1:1,127.0.0.1:2").run((context) -> {
			context.getBean(RdmaClients.class).client("greetings").connect();
			await(() -> health(context).getDetails().containsKey("lastFailure"));
			assertThat(health(context).getStatus()).isEqualTo(Status.UNKNOWN);
		});
		this.runner
			.withPropertyValues("rdma.rpc.client.greetings.addresses=127.0.0.1:1,127.0.0.1:2",
					"rdma.rpc.client.greetings.required=true")
			.run((context) -> await(() -> health(context).getStatus().equals(Status.DOWN)));
	}

	@Test
	void addressesOfTheTargetReplaceThoseOfAllTargets() {
		withServers((servers) -> {
			this.runner
				.withPropertyValues("rdma.rpc.client.greetings.host=127.0.0.1",
						"rdma.rpc.client.greetings.port=" + servers.get(1).getPort())
				.run((context) -> assertThat(names(context, 3)).containsExactly("two"));
			RdmaContextRunner.create()
				.withUserConfiguration(OneImport.class)
				.withPropertyValues("rdma.rpc.client.greetings.addresses[0]=" + text(servers.get(0)))
				.run((context) -> assertThat(names(context, 3)).containsExactly("one"));
		});
	}

	@Test
	void aNameIsLookedUp() {
		withServers((servers) -> this.runner
			.withPropertyValues("rdma.rpc.client.greetings.addresses=dns:///localhost:" + servers.get(0).getPort())
			.run((context) -> {
				assertThat(names(context, 3)).containsExactly("one");
				assertThat(context.getBean(RdmaClients.class).client("greetings").addresses())
					.extracting(AddressHealth::address)
					.contains(text(servers.get(0)));
			}));
	}

	@Test
	void metersFollowTheAddressesOfASchemeThatTheApplicationAdds() {
		AtomicReference<List<InetSocketAddress>> known = new AtomicReference<>();
		AtomicReference<Runnable> changed = new AtomicReference<>();
		withServers((servers) -> {
			known.set(servers.subList(0, 1));
			this.runner.withBean(RdmaAddressResolverFactory.class, () -> new Phonebook(known, changed))
				.withPropertyValues("rdma.rpc.client.greetings.addresses=phonebook:///greetings",
						"rdma.rpc.client.greetings.resolution-interval=7s")
				.run((context) -> {
					context.getBean(RdmaClientMetrics.class).bindTo(context.getBean(MeterRegistry.class));
					assertThat(names(context, 3)).containsExactly("one");
					assertThat(state(context, text(servers.get(0)))).isOne();
					assertThat(state(context, text(servers.get(1)))).as("not registered").isNegative();
					known.set(servers.subList(1, 2));
					changed.get().run();
					await(() -> state(context, text(servers.get(0))) < 0 && state(context, text(servers.get(1))) == 1);
					assertThat(names(context, 3)).containsExactly("two");
				});
		});
	}

	@Test
	void connectionDetailsMayHaveSeveral() {
		withServers((servers) -> this.runner.withBean(RdmaConnectionDetails.class, () -> new RdmaConnectionDetails() {

			@Override
			public InetSocketAddress address(String target) {
				throw new IllegalStateException("not asked");
			}

			@Override
			public AddressResolver resolver(String target) {
				return () -> servers;
			}

		}).run((context) -> {
			awaitOpen(context, 2);
			assertThat(names(context, 4)).containsExactly("one", "two");
		}));
	}

	@Test
	void customizersOfOneTargetLeaveOthersAlone() {
		List<RpcClient.Builder> seen = new ArrayList<>();
		this.runner.withBean("mine", RdmaClientCustomizer.class, () -> RdmaClientCustomizer.of("greetings", seen::add))
			.withBean("other", RdmaClientCustomizer.class, () -> RdmaClientCustomizer.of("greeting", seen::add))
			.run((context) -> assertThat(seen).hasSize(1));
	}

	@ParameterizedTest
	@ValueSource(strings = { "host=there", "port=7" })
	void addressesAndHostAreTooMuch(String more) {
		this.runner
			.withPropertyValues("rdma.rpc.client.greetings.addresses=a:1,b:2", "rdma.rpc.client.greetings." + more)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("rdma.rpc.client.greetings.addresses")
				.hasMessageContaining(
						"either addresses or host and port, but " + more.substring(0, more.indexOf('='))));
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';', value = { "addresses=a:1,b:99999; addresses; b:99999",
			"addresses=a b; addresses; host:port", "addresses=dns:///a:1,b:2; addresses; or one location",
			"addresses=dns:///a:b:c; addresses; dns:///name:port with a port",
			"addresses=eureka:///a; addresses; one of [dns]", "load-balancing=random; load-balancing; random",
			"resolution-interval=-1s; resolution-interval; not negative",
			"outlier-detection.consecutive-failures=-1; outlier-detection.consecutive-failures; at least 0",
			"outlier-detection.max-ejection-time=1s; outlier-detection.max-ejection-time; not less than base",
			"outlier-detection.base-ejection-time=0; outlier-detection.base-ejection-time; positive",
			"outlier-detection.max-ejection-percent=101; outlier-detection.max-ejection-percent; from 0 to 100" })
	void whatMakesNoSenseIsRefusedAtStart(String property, String name, String expected) {
		this.runner.withPropertyValues("rdma.rpc.client.greetings." + property).run((context) -> {
			Throwable cause = context.getStartupFailure();
			StringBuilder messages = new StringBuilder();
			for (; cause != null; cause = cause.getCause()) {
				messages.append(cause.getMessage());
			}
			assertThat(messages).contains("rdma.rpc.client.greetings." + name).contains(expected);
		});
	}

	@Test
	void settingsOfBalancingAreCombined() {
		RdmaContextRunner.create()
			.withPropertyValues("rdma.rpc.client.default.load-balancing=least-outstanding",
					"rdma.rpc.client.default.outlier-detection.base-ejection-time=10m",
					"rdma.rpc.client.own.load-balancing=consistent-hash", "rdma.rpc.client.own.addresses=[::1]:1,host",
					"rdma.rpc.client.own.resolution-interval=0")
			.run((context) -> {
				RdmaRpcProperties properties = context.getBean(RdmaRpcProperties.class);
				ClientAddresses own = ClientAddresses.of("own", properties);
				assertThat(own.loadBalancing()).isEqualTo(LoadBalancing.CONSISTENT_HASH);
				assertThat(own.fixed()).extracting(InetSocketAddress::getHostString, InetSocketAddress::getPort)
					.containsExactly(tuple("::1", 1), tuple("host", 7471));
				assertThat(own.resolutionInterval()).isZero();
				assertThat(own.outliers().maxEjectionTime()).isEqualTo(Duration.ofMinutes(10));
				ClientAddresses other = ClientAddresses.of("other", properties);
				assertThat(other.loadBalancing()).isEqualTo(LoadBalancing.LEAST_OUTSTANDING);
				assertThat(other.isGiven()).isFalse();
			});
	}

	@Test
	void theNameServiceIsThatOfTheSystem() {
		AddressResolver resolver = new DnsAddressResolverFactory().create("[::1]:7", Duration.ofSeconds(3));
		assertThat(resolver).isInstanceOf(DnsAddressResolver.class).hasToString("dns:///::1:7");
		assertThat(resolver.refreshInterval()).isEqualTo(Duration.ofSeconds(3));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings", types = Greeter.class)
	static class OneImport {

	}

	/** Says its name instead. */
	@RdmaService
	static class Named extends GreeterService {

		private final String name;

		Named(@Value("${my.name}") String name) {
			this.name = name;
		}

		@Override
		public String greet(String who) {
			return this.name;
		}

	}

	/** Addresses as the test says. */
	private record Phonebook(AtomicReference<List<InetSocketAddress>> known,
			AtomicReference<Runnable> changed) implements RdmaAddressResolverFactory {

		@Override
		public String scheme() {
			return "phonebook";
		}

		@Override
		public AddressResolver create(String location, Duration refreshInterval) {
			assertThat(location).isEqualTo("greetings");
			assertThat(refreshInterval).isEqualTo(Duration.ofSeconds(7));
			return new AddressResolver() {

				@Override
				public List<InetSocketAddress> resolve() {
					return Phonebook.this.known.get();
				}

				@Override
				public void onChange(Runnable told) {
					Phonebook.this.changed.set(told);
				}

			};
		}

	}

}
