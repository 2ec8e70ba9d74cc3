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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClientCustomizer;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaConnectionDetails;
import dev.rdmarpc.boot.scanned.ScannedService;
import dev.rdmarpc.boot.scanned.below.DeeperService;
import dev.rdmarpc.codec.UnsupportedTypeException;
import dev.rdmarpc.rpc.ConnectionState;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcClientOptions;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
class RdmaClientAutoConfigurationTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create();

	@Test
	void importedClientIsAnOrdinaryBean() {
		this.runner.withUserConfiguration(OneImport.class).run((context) -> {
			assertThat(context).hasSingleBean(Greeter.class).hasBean("greetings.greeter");
			assertThat(context.getType("greetings.greeter")).isEqualTo(Greeter.class);
			assertThat(context.getBean(RdmaClients.class).client("greetings").state()).isEqualTo(ConnectionState.IDLE);
			assertThat(context.getBean(Greeter.class))
				.hasToString("client of " + Greeter.class.getName() + " at greetings");
		});
	}

	@Test
	void misspeltTargetIsWarnedOf(CapturedOutput output) {
		this.runner.withUserConfiguration(OneImport.class)
			.withPropertyValues("rdma.rpc.client.greetnigs.port=9999", "rdma.rpc.client.others.port=9999")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).containsPattern("WARN.*'rdma.rpc.client.greetnigs' has properties, but no client of "
						+ "'greetnigs' is imported. Did you mean 'greetings', which is imported and has no properties\\?")
					.containsPattern(
							"INFO.*'rdma.rpc.client.others' has properties, but no client of 'others' is imported");
			});
	}

	@Test
	void misspeltTargetBesideItsPropertiesIsWarnedOf(CapturedOutput output) {
		this.runner.withUserConfiguration(OneImport.class)
			.withPropertyValues("rdma.rpc.client.greeting.host=otherhost", "rdma.rpc.client.greetings.deadline=2s")
			.run((context) -> assertThat(output).containsPattern(
					"WARN.*no client of 'greeting' is imported. Did you mean 'greetings', which is imported\\?"));
	}

	@Test
	void misspeltServicesAreWarnedOf(CapturedOutput output) {
		this.runner.withUserConfiguration(OneImport.class)
			.withPropertyValues("rdma.rpc.client.greetings.methods.Greetre.greet.deadline=1s",
					"rdma.rpc.client.default.methods.greter.greet.deadline=2s",
					"rdma.rpc.client.greetings.methods.Others.call.deadline=3s",
					"rdma.rpc.client.greetings.methods.greeter.greet.deadline=4s")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output)
					.containsPattern(
							"WARN.*'rdma.rpc.client.greetings.methods.Greetre' has properties, but no client of "
									+ "such a service is imported. Did you mean 'Greeter'\\?")
					.containsPattern("WARN.*'rdma.rpc.client.default.methods.greter' has properties.*'Greeter'\\?")
					.containsPattern(
							"INFO.*'rdma.rpc.client.greetings.methods.Others' has properties, but no client of "
									+ "such a service is imported")
					.doesNotContain("methods.greeter'");
			});
	}

	@Test
	void targetsThatAreRightAreNotWarnedOf(CapturedOutput output) {
		this.runner.withUserConfiguration(OneImport.class)
			.withPropertyValues("rdma.rpc.client.greetings.port=9999")
			.run((context) -> assertThat(output).contains("Calls to 'greetings' go to localhost:9999")
				.doesNotContain("is imported")
				.doesNotContain("the default:"));
	}

	@Test
	void callWithoutServerIsUnavailable() {
		this.runner.withUserConfiguration(OneImport.class)
			.run((context) -> assertThatExceptionOfType(RpcException.class)
				.isThrownBy(() -> context.getBean(Greeter.class).greet("world"))
				.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.UNAVAILABLE))
				.withMessageContaining("the server of this application is not running"));
	}

	/** Though the transport was not needed before they had been made. */
	@Test
	void beansMakeCallsUntilTheyAreDestroyed() {
		List<String> answers = new ArrayList<>();
		this.runner.withUserConfiguration(GreeterService.class).run((server) -> {
			int port = server.getBean(RpcServer.class).port();
			RdmaContextRunner.create()
				.withPropertyValues("rdma.rpc.client.greetings.host=127.0.0.1",
						"rdma.rpc.client.greetings.port=" + port)
				.withBean("answers", List.class, () -> answers)
				.withBean(Leaving.class)
				.run((context) -> answers.add(context.getBean(Leaving.class).greet("here")));
		});
		assertThat(answers).containsExactly("Hello here", "Hello gone");
	}

	@Test
	void clientsOfOneTypeAreToldApartByTheirTargets() {
		this.runner.withUserConfiguration(GreeterService.class, TwoTargets.class).run((context) -> {
			assertThat(context.getBeanNamesForType(Greeter.class)).containsExactlyInAnyOrder("greeterService",
					"one.greeter", "two.greeter");
			assertThatExceptionOfType(NoUniqueBeanDefinitionException.class)
				.isThrownBy(() -> context.getBean(Greeter.class));
			assertThat(BeanFactoryAnnotationUtils.qualifiedBeanOfType(context.getBeanFactory(), Greeter.class, "two"))
				.isSameAs(context.getBean("two.greeter"));
			assertThat(context.getBean("one.greeter", Greeter.class).greet("a")).isEqualTo("Hello a");
			assertThat(context.getBean("two.greeter", Greeter.class).greet("b")).isEqualTo("Hello b");
			assertThat(context.getBean(RdmaClients.class).clients()).containsOnlyKeys("one", "two");
		});
	}

	@Test
	void anotherViewOfAServiceHasItsName() {
		this.runner.withUserConfiguration(GreeterService.class, AsyncView.class).run((context) -> {
			CompletableFuture<String> greeting = context.getBean(AsyncGreeter.class).greet("later");
			assertThat(greeting).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("Hello later");
		});
	}

	@Test
	void packagesAreScannedForServiceInterfaces() {
		this.runner.withUserConfiguration(Scan.class).run((context) -> {
			assertThat(context.getBeanNamesForType(ScannedService.class)).containsExactly("scanned.scannedService");
			assertThat(context.getBeanNamesForType(DeeperService.class)).containsExactly("scanned.deeperService");
			assertThat(context.getBeanNamesForType(Object.class)).filteredOn((name) -> name.startsWith("scanned."))
				.hasSize(2);
		});
	}

	@Test
	void targetMayBeAPlaceholder() {
		this.runner.withUserConfiguration(Placeholder.class)
			.withPropertyValues("the.target=resolved")
			.run((context) -> assertThat(context).hasBean("resolved.greeter"));
	}

	@Test
	void sameImportTwiceIsOneBean() {
		this.runner.withUserConfiguration(OneImport.class, SameImport.class)
			.run((context) -> assertThat(context).hasSingleBean(Greeter.class));
	}

	@Test
	void customizersKnowTheTarget() {
		List<String> targets = new ArrayList<>();
		this.runner.withUserConfiguration(TwoTargets.class)
			.withBean(RdmaClientCustomizer.class, () -> (target, client) -> targets.add(target))
			.run((context) -> assertThat(targets).containsExactlyInAnyOrder("one", "two"));
	}

	@Test
	void customizersStartFromProperties() {
		List<RpcClientOptions> seen = new ArrayList<>();
		RdmaClientCustomizer first = (target, client) -> client.options((set) -> {
			seen.add(set);
			return set.withConnectTimeout(Duration.ofSeconds(3));
		});
		RdmaClientCustomizer second = (target, client) -> client.options((set) -> {
			seen.add(set);
			return set;
		});
		this.runner.withUserConfiguration(OneImport.class)
			.withPropertyValues("rdma.rpc.client.greetings.deadline=7s")
			.withBean("first", RdmaClientCustomizer.class, () -> first)
			.withBean("second", RdmaClientCustomizer.class, () -> second)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(seen).extracting(RpcClientOptions::defaultDeadline)
					.containsExactly(Duration.ofSeconds(7), Duration.ofSeconds(7));
				assertThat(seen).extracting(RpcClientOptions::connectTimeout)
					.containsExactly(RpcClientOptions.DEFAULTS.connectTimeout(), Duration.ofSeconds(3));
			});
	}

	@Test
	void ownConnectionDetailsTakeTheirPlace() {
		this.runner.withUserConfiguration(GreeterService.class, OneImport.class)
			.withPropertyValues("rdma.rpc.client.greetings.port=1")
			.withBean("ownDetails", RdmaConnectionDetails.class,
					() -> (target) -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 1))
			.run((context) -> assertThat(context).hasSingleBean(RdmaConnectionDetails.class).hasBean("ownDetails"));
		this.runner.withUserConfiguration(GreeterService.class, OneImport.class, DiscoveredDetails.class)
			.withPropertyValues("rdma.rpc.client.greetings.port=1")
			.run((context) -> assertThat(context.getBean("greetings.greeter", Greeter.class).greet("world"))
				.isEqualTo("Hello world"));
	}

	@Test
	void ownClientsTakeTheirPlace() {
		RdmaClients own = new RdmaClients() {

			@Override
			public RpcClient client(String target) {
				throw new UnsupportedOperationException(target);
			}

			@Override
			public Map<String, RpcClient> clients() {
				return Map.of();
			}

		};
		this.runner.withBean("ownClients", RdmaClients.class, () -> own)
			.run((context) -> assertThat(context).hasSingleBean(RdmaClients.class).hasBean("ownClients"));
	}

	@Test
	void requiredTargetIsConnectedAtStart() {
		this.runner.withUserConfiguration(GreeterService.class)
			.withPropertyValues("rdma.rpc.client.needed.required=true", "rdma.rpc.client.other.deadline=1s")
			.run((context) -> {
				RdmaClients clients = context.getBean(RdmaClients.class);
				assertThat(clients.clients()).containsOnlyKeys("needed", "other");
				assertThat(clients.client("needed").state()).isIn(ConnectionState.CONNECTING, ConnectionState.READY);
				assertThat(clients.client("other").state()).isEqualTo(ConnectionState.IDLE);
			});
	}

	@Test
	void importWithoutTypesFails() {
		this.runner.withUserConfiguration(NoTypes.class)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("names neither types nor base packages"));
	}

	@Test
	void importOfEmptyPackageFails() {
		this.runner.withUserConfiguration(EmptyPackage.class)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("finds no service interface in dev.rdmarpc.nothing"));
	}

	@Test
	void importOfClassFails() {
		this.runner.withUserConfiguration(ClassImport.class)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("(expected: an interface)"));
	}

	@Test
	void serviceNameForSeveralTypesFails() {
		this.runner.withUserConfiguration(NameForTwo.class)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("2 types (expected: one)"));
	}

	@Test
	void unsupportedTypeFailsAtStart() {
		this.runner.withUserConfiguration(UnsupportedImport.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(UnsupportedTypeException.class));
	}

	@Test
	void wrongValueForATargetThatIsNotImportedFailsToo() {
		this.runner.withPropertyValues("rdma.rpc.client.unused.port=-1")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("rdma.rpc.client.unused.port"));
	}

	/** {@link Greeter} with futures. */
	public interface AsyncGreeter {

		CompletableFuture<String> greet(String name);

	}

	/** Cannot be called. */
	public interface Unsupported {

		Thread thread();

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings", types = Greeter.class)
	static class OneImport {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings", value = Greeter.class)
	static class SameImport {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "one", types = Greeter.class)
	@ImportRdmaClients(target = "two", types = Greeter.class)
	static class TwoTargets {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings", types = AsyncGreeter.class, serviceName = "dev.rdmarpc.boot.Greeter")
	static class AsyncView {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "scanned", basePackages = "dev.rdmarpc.boot.scanned")
	static class Scan {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "${the.target}", types = Greeter.class)
	static class Placeholder {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings")
	static class NoTypes {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings", basePackages = "dev.rdmarpc.nothing")
	static class EmptyPackage {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings", types = GreeterService.class)
	static class ClassImport {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings", types = { Greeter.class, AsyncGreeter.class }, serviceName = "x")
	static class NameForTwo {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings", types = Unsupported.class)
	static class UnsupportedImport {

	}

	@Configuration(proxyBeanMethods = false)
	static class DiscoveredDetails implements RdmaConnectionDetails {

		private final Environment environment;

		DiscoveredDetails(Environment environment) {
			this.environment = environment;
		}

		@Override
		public InetSocketAddress address(String target) {
			return new InetSocketAddress(InetAddress.getLoopbackAddress(),
					this.environment.getRequiredProperty("local.rdma.port", Integer.class));
		}

	}

	/** Says goodbye. */
	record Leaving(RdmaClients clients, List<String> answers) implements DisposableBean {

		String greet(String whom) {
			return this.clients.proxy("greetings", Greeter.class).greet(whom);
		}

		@Override
		public void destroy() {
			this.answers.add(greet("gone"));
		}

	}

}
