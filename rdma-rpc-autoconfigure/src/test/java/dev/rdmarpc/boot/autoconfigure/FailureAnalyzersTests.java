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
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Flow;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.core.type.filter.AssignableTypeFilter;

import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaService;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** What somebody reads whose application does not start. */
@ExtendWith(OutputCaptureExtension.class)
class FailureAnalyzersTests {

	@Test
	void everyAnalyzerIsRegistered() {
		ClassPathScanningCandidateComponentProvider scanner = new ClassPathScanningCandidateComponentProvider(false);
		scanner.addIncludeFilter(new AssignableTypeFilter(FailureAnalyzer.class));
		Set<String> analyzers = new HashSet<>();
		scanner.findCandidateComponents("dev.rdmarpc").forEach((found) -> analyzers.add(found.getBeanClassName()));
		assertThat(analyzers).hasSizeGreaterThan(5);
		assertThat(SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, ArgumentResolver.of(BeanFactory.class, new DefaultListableBeanFactory()),
					FailureHandler.handleMessage((message, failure) -> {
						// those of Spring Boot that want something else
					})))
			.extracting((analyzer) -> analyzer.getClass().getName())
			.containsAll(analyzers);
	}

	@Test
	void portInUse(CapturedOutput output) throws Exception {
		try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			int port = taken.getLocalPort();
			run(Map.of("rdma.rpc.server.port", port));
			assertThat(failure(output)).isEqualTo("""
					Description:

					The RDMA server cannot listen on port %d of 127.0.0.1: the port is already in use.

					Action:

					Identify and stop the process that is listening on port %d, or give this application another port \
					with 'rdma.rpc.server.port'. Use 0 for a port of the system's choice.
					""".replace("%d", String.valueOf(port)));
		}
	}

	@Test
	void addressOfAnotherHost(CapturedOutput output) {
		run(Map.of("rdma.rpc.server.address", "192.0.2.1"));
		assertThat(failure(output)).contains("cannot listen on 192.0.2.1: it is not an address of this host")
			.contains("Check 'rdma.rpc.server.address'");
	}

	@Test
	void providerThatIsNotAvailable(CapturedOutput output) {
		run(Map.of("rdma.rpc.provider", "adapter"), RdmaTransportAutoConfigurationTests.MissingAdapter.class);
		assertThat(failure(output)).matches(
				"""
						Description:

						Verbs provider 'adapter' is not available: adapter is not available \\(no adapter in this test\\); \
						iwarp is available \\(iWARP in user space over TCP needs no adapter\\); shm is .*\\.

						Action:

						Provide what is missing \\('dev.rdmarpc:rdma-rpc-disni' has the provider of RDMA adapters\\), ask for another \
						provider with 'rdma.rpc.provider' or 'rdma.rpc.providers', or leave the choice to 'auto'\\.
						""");
	}

	@ParameterizedTest
	@ValueSource(strings = { "iwrap", "disni" })
	void providerThatIsNotOnTheClassPath(String name, CapturedOutput output) {
		run(Map.of("rdma.rpc.provider", name));
		assertThat(failure(output))
			.contains("There is no verbs provider '" + name + "' on the class path. Of those that are, ")
			.contains("iwarp is available (")
			.contains("'dev.rdmarpc:rdma-rpc-disni' has the provider of RDMA adapters")
			.contains("ask for another provider with 'rdma.rpc.provider'");
	}

	@ParameterizedTest
	@CsvSource({ "client.prices.hsot, client.prices.host", "client.prices.deadlin, client.prices.deadline",
			"client.prices.queue-pairs.maks, client.prices.queue-pairs.max", "server.prot, server.port",
			"client.prices.retry.max-retrys, client.prices.retry.max-retries", "memory.maxx, memory.max",
			"clients.prices.port, client.prices.port" })
	void propertyThatDoesNotExist(String written, String meant, CapturedOutput output) {
		run(Map.of("rdma.rpc." + written, "1"));
		assertThat(failure(output)).contains("There is no property 'rdma.rpc." + written + "'")
			.contains("Did you mean 'rdma.rpc." + meant + "'?")
			.contains("Correct or remove it.");
	}

	@ParameterizedTest
	@ValueSource(strings = { "client.prices.deadline", "client.prices.required", "memory.initial", "memory.extent",
			"server.slow-call-threshold", "server.keep-alive" })
	void propertyThatIsEmpty(String name, CapturedOutput output) {
		run(Map.of("rdma.rpc." + name, ""));
		assertThat(failure(output)).contains("Property 'rdma.rpc." + name + "' (from ")
			.contains(
					" has the value '', which sets nothing. Expected: a value; without the property its default applies.")
			.doesNotContain("Did you mean");
	}

	@Test
	void propertyLikeNoOther(CapturedOutput output) {
		run(Map.of("rdma.rpc.something.entirely.different", "1"));
		assertThat(failure(output)).contains("There is no property 'rdma.rpc.something.entirely.different'")
			.doesNotContain("Did you mean");
	}

	@Test
	void deviceThatIsNotThere(CapturedOutput output) {
		run(Map.of("rdma.rpc.device", "mlx5_0"));
		assertThat(failure(output)).contains("no device mlx5_0 (expected: iwarp0)").contains("'rdma.rpc.device'");
	}

	@ParameterizedTest
	@ValueSource(classes = { UnsupportedService.class, UnsupportedClient.class })
	void typeThatNoMessageCanCarry(Class<?> source, CapturedOutput output) {
		run(Map.of(), source);
		assertThat(failure(output))
			.contains("Method 'count' of service '" + Unsupported.class.getName() + "' cannot be called remotely: "
					+ "threads[].value has the type java.lang.Thread, which no message can carry: use a record")
			.contains("Change the type in the interface of the service");
	}

	@Test
	void serviceWithoutInterface(CapturedOutput output) {
		run(Map.of(), NoInterface.class);
		assertThat(failure(output)).contains(NoInterface.class.getName() + " implements no interface to serve.")
			.contains("Let the class implement the interface that its callers know: one with methods");
	}

	@Test
	void twoBeansServedAsOne(CapturedOutput output) {
		run(Map.of(), SecondGreeter.class);
		assertThat(failure(output))
			.contains("The beans 'failureAnalyzersTests.SecondGreeter' and 'dev.rdmarpc.boot.GreeterService' are both "
					+ "served as 'dev.rdmarpc.boot.Greeter'.")
			.contains("@RdmaService(name = …)");
	}

	@Test
	void methodWithTwoStreams(CapturedOutput output) {
		run(Map.of(), TwoStreams.class);
		assertThat(failure(output))
			.contains("/merge takes two streams of messages (expected: at most one parameter of ")
			.contains("Make them one stream, or two methods.");
	}

	@Test
	void severalInterfacesToServe(CapturedOutput output) {
		run(Map.of(), SeveralInterfaces.class);
		assertThat(failure(output)).contains("implements several interfaces: ")
			.contains(
					"Name those to serve in @RdmaService(interfaces = …), or annotate them with @RdmaService themselves.");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					pricez | Did you mean 'prices'? A client has its target as qualifier: @Qualifier("archive") or @Qualifier("prices").
					orders | A client has its target as qualifier: @Qualifier("archive") or @Qualifier("prices"). Import one for 'orders'
					""")
	void qualifierThatNoClientHas(String qualifier, String action, CapturedOutput output) {
		run(Map.of(), TwoClients.class, qualifier.equals("pricez") ? Misspelt.class : Unknown.class);
		assertThat(failure(output)).contains("Parameter 0 of constructor in ")
			.contains("required a single client of " + Prices.class.getName() + " with the qualifier '" + qualifier
					+ "', which could not be found. There are clients for 'archive', 'prices'.")
			.contains(action);
	}

	@Test
	void clientsWithoutQualifier(CapturedOutput output) {
		run(Map.of(), TwoClients.class, Unqualified.class);
		assertThat(failure(output))
			.contains("required a single client of " + Prices.class.getName() + ", but there are 2")
			.contains("\t- prices.failureAnalyzersTests.Prices: the client for 'prices'")
			.contains("A client has its target as qualifier: @Qualifier(\"archive\") or @Qualifier(\"prices\").");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					Overloaded  | has two methods named 'find'. | Tell them apart with @RdmaMethod(name = …).
					NoMethods   | has no methods to call.       | Declare abstract methods, or name another interface.
					NoTypes     | names neither types nor base packages. | Name the interfaces of the services
					EmptyPackage | finds no service interface in no.such.package. | Correct the package.
					NoInterfaceType | names java.lang.String (expected: an interface). | Name the interface that client and server share.
					Placeholder | Could not resolve placeholder 'no.such.property' | Set the property, or give the placeholder a default
					""")
	void importThatCannotBeMade(String source, String problem, String action, CapturedOutput output) throws Exception {
		run(Map.of(), Class.forName(FailureAnalyzersTests.class.getName() + "$" + source + "Import"));
		assertThat(failure(output)).contains(problem).contains(action);
	}

	@Test
	void memoryThatTheProcessDoesNotHave(CapturedOutput output) {
		run(Map.of("rdma.rpc.memory.max", "2GB", "rdma.rpc.memory.initial", "2GB", "rdma.rpc.memory.extent", "1GB"));
		assertThat(failure(output)).contains("Registered memory cannot be had: no direct memory")
			.contains("-XX:MaxDirectMemorySize")
			.contains("lower 'rdma.rpc.memory.initial' and 'rdma.rpc.memory.max'");
	}

	/** All that there is, of which the pool has some. */
	@Test
	void loopsWithoutMemory(CapturedOutput output) {
		run(Map.of("rdma.rpc.provider", "iwarp", "rdma.rpc.iwarp.staging", "1GB"));
		assertThat(failure(output)).contains("A loop has no memory: no direct memory for 1073741824 bytes")
			.contains("lower 'rdma.rpc.iwarp.staging'")
			.contains("'rdma.rpc.server.loops'");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			rdma.rpc.server.port            | 70000        | Expected: from 0 to 65535.
			rdma.rpc.client.orders.deadline | -1s          | Expected: not negative, at most 365 days.
			rdma.rpc.memory.max             | 5000B        | Expected: a positive multiple of 4096B.
			rdma.rpc.server.port            | http         | Expected: a whole number.
			rdma.rpc.client.orders.port     | http         | Expected: a whole number.
			rdma.rpc.server.enabled         | perhaps      | Expected: true or false.
			rdma.rpc.server.drain-timeout   | soon         | Expected: a duration such as 50us, 100ms, 2s or 1m.
			rdma.rpc.memory.max             | lots         | Expected: a size such as 512B, 8KB, 16MB or 1GB.
			rdma.rpc.server.address         | no such host | Expected: an address or the name of a host.
			rdma.rpc.polling.mode           | sometimes    | ADAPTIVE
			rdma.rpc.iwarp.crc              | perhaps      | REQUIRED
			rdma.rpc.memory.leak-detection  | perhaps      | PARANOID
			""")
	void valueThatMakesNoSense(String name, String value, String expected, CapturedOutput output) {
		run(Map.of(name, value));
		assertThat(failure(output)).contains(name).contains(value).contains("commandLineArgs").contains(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "server.tokens.reports", "client.prices.token", "client.default.token" })
	void tokenThatIsTooLong(String name, CapturedOutput output) {
		run(Map.of("rdma.rpc." + name, "secret".repeat(200)), TwoClients.class);
		assertThat(failure(output)).contains("'rdma.rpc." + name + "' has a value, which is not shown")
			.contains("1024 bytes.")
			.contains("Correct the value of 'rdma.rpc." + name + "'.");
		assertThat(output).doesNotContain("secret");
	}

	/** The analysis, which must be there, and without a stack trace. */
	private static String failure(CapturedOutput output) {
		String begin = "APPLICATION FAILED TO START\n***************************\n\n";
		assertThat(output.getOut()).containsOnlyOnce(begin).doesNotContain("\tat dev.rdmarpc");
		return output.getOut().substring(output.getOut().indexOf(begin) + begin.length()).stripTrailing() + "\n";
	}

	private static void run(Map<String, Object> properties, Class<?>... sources) {
		Map<String, Object> all = new LinkedHashMap<>(Map.of("rdma.rpc.server.address", "127.0.0.1",
				"rdma.rpc.server.port", 0, "rdma.rpc.memory.initial", "1MB", "spring.jmx.enabled", false));
		all.putAll(properties);
		String[] arguments = all.entrySet()
			.stream()
			.map((entry) -> "--" + entry.getKey() + "=" + entry.getValue())
			.toArray(String[]::new);
		SpringApplicationBuilder application = new SpringApplicationBuilder(Application.class).sources(sources)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false);
		assertThatException().isThrownBy(() -> application.run(arguments).close());
	}

	/** Cannot be called. */
	public interface Unsupported {

		int count(Map<String, Thread> threads);

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(GreeterService.class)
	static class Application {

	}

	@RdmaService
	static class UnsupportedService implements Unsupported {

		@Override
		public int count(Map<String, Thread> threads) {
			return threads.size();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings", types = Unsupported.class)
	static class UnsupportedClient {

	}

	/** A service. */
	public interface Prices {

		int find(String article);

	}

	/** Another one. */
	public interface Stocks {

		int count(String article);

	}

	/** Cannot be called. */
	public interface Overloaded {

		int find(String article);

		int find(int article);

	}

	/** Has nothing to call. */
	public interface NoMethods {

	}

	@RdmaService
	static class TwoStreams implements Merging {

		@Override
		public void merge(Flow.Publisher<String> some, Flow.Publisher<String> others) {
		}

	}

	interface Merging {

		void merge(Flow.Publisher<String> some, Flow.Publisher<String> others);

	}

	@RdmaService
	static class SeveralInterfaces implements Prices, Stocks {

		@Override
		public int find(String article) {
			return 0;
		}

		@Override
		public int count(String article) {
			return 0;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "prices", types = Prices.class)
	@ImportRdmaClients(target = "archive", types = Prices.class)
	static class TwoClients {

	}

	static class Misspelt {

		Misspelt(@Qualifier("pricez") Prices prices) {
		}

	}

	static class Unknown {

		Unknown(@Qualifier("orders") Prices prices) {
		}

	}

	static class Unqualified {

		Unqualified(Prices client) {
		}

	}

	@ImportRdmaClients(target = "any", types = Overloaded.class)
	static class OverloadedImport {

	}

	@ImportRdmaClients(target = "any", types = NoMethods.class)
	static class NoMethodsImport {

	}

	@ImportRdmaClients(target = "any")
	static class NoTypesImport {

	}

	@ImportRdmaClients(target = "any", basePackages = "no.such.package")
	static class EmptyPackageImport {

	}

	@ImportRdmaClients(target = "any", types = String.class)
	static class NoInterfaceTypeImport {

	}

	@ImportRdmaClients(target = "${no.such.property}", types = Prices.class)
	static class PlaceholderImport {

	}

	@RdmaService
	static class NoInterface {

	}

	@RdmaService
	static class SecondGreeter extends GreeterService {

	}

}
