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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.ListeningRail;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;

/** Several providers at once, by properties. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RailPropertiesTests {

	private static final String BOTH = "rdma.rpc.providers=shm,iwarp";

	@TempDir
	Path directory;

	private ApplicationContextRunner runner = new ApplicationContextRunner();

	@BeforeEach
	void meetInADirectoryOfItsOwn() {
		this.runner = RdmaContextRunner.create()
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class))
			.withBean(WaveService.class)
			.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withPropertyValues("rdma.rpc.shm.directory=" + this.directory.resolve("meeting"));
	}

	@Test
	void aServerListensOnBothAndAClientTakesTheFirst() {
		run(this.runner.withPropertyValues(BOTH), (context) -> {
			RdmaTransport transport = context.getBean(RdmaTransport.class);
			assertThat(transport.rails()).extracting(Rail::name).containsExactly("shm", "iwarp");
			assertThat(context.getBean(RpcServer.class).rails()).allMatch(ListeningRail::isListening)
				.extracting(ListeningRail::name)
				.containsExactlyInAnyOrder("shm", "iwarp");
			assertThat(railOf(context, "near")).isEqualTo("shm");
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			assertThat(meters.get("rdma.queue.pairs.open").tag("rail", "shm").gauge().value()).isEqualTo(2);
			assertThat(meters.get("rdma.queue.pairs.open").tag("rail", "iwarp").gauge().value()).isZero();
		});
	}

	/** What somebody gets who declares nothing. */
	@Test
	void byDefaultAServerListensOnAllThatThereAreAndPeersOnOneHostShareMemory() {
		run(this.runner, (context) -> {
			assertThat(context.getBean(RdmaTransport.class).rails()).extracting(Rail::name)
				.startsWith("shm")
				.contains("iwarp");
			assertThat(context.getBean(RpcServer.class).rails()).filteredOn(ListeningRail::isListening)
				.extracting(ListeningRail::name)
				.contains("shm", "iwarp");
			assertThat(railOf(context, "near")).isEqualTo("shm");
		});
	}

	/** Nobody has asked for it, so the others do without it. */
	@Test
	void byDefaultADirectoryThatOthersMayEnterIsDoneWithout() throws Exception {
		Files.createDirectory(this.directory.resolve("meeting"),
				PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
		run(this.runner, (context) -> {
			assertThat(context.getBean(RdmaTransport.class).rails()).extracting(Rail::name).doesNotContain("shm");
			assertThat(railOf(context, "near")).isEqualTo("iwarp");
		});
	}

	@Test
	void aSingleProviderIsUsedAlone() {
		run(this.runner.withPropertyValues("rdma.rpc.provider=iwarp"), (context) -> {
			assertThat(context.getBean(RdmaTransport.class).rails()).extracting(Rail::name).containsExactly("iwarp");
			assertThat(railOf(context, "near")).isEqualTo("iwarp");
		});
	}

	@Test
	void aTargetIsRestrictedToSomeOfThem() {
		run(this.runner.withPropertyValues(BOTH, "rdma.rpc.client.far.providers=iwarp"), (context) -> {
			assertThat(railOf(context, "far")).isEqualTo("iwarp");
			assertThat(railOf(context, "near")).isEqualTo("shm");
		});
	}

	@ParameterizedTest
	@CsvSource({ "'shm,adapter',auto,There is no verbs provider 'adapter'", "'iwarp,iwarp',auto,rdma.rpc.providers",
			"'auto,iwarp',auto,rdma.rpc.providers", "'shm,iwarp',iwarp,rdma.rpc.providers" })
	void impossibleProvidersEndTheStart(String providers, String provider, String expected) {
		this.runner.withPropertyValues("rdma.rpc.providers=" + providers, "rdma.rpc.provider=" + provider)
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining(expected));
	}

	@Test
	void aTargetCannotHaveProvidersThatAreNotInUse() {
		this.runner.withPropertyValues("rdma.rpc.provider=iwarp", "rdma.rpc.client.far.providers=shm")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("rdma.rpc.client.far.providers")
				.hasMessageContaining("[iwarp]"));
	}

	/**
	 * The memory lies in files of the directory then, as long as the application runs.
	 */
	@Test
	void theMemoryIsSharedWithProcessesThatAreTrusted() throws Exception {
		run(this.runner.withPropertyValues("rdma.rpc.shm.trust=same-user"), (context) -> {
			assertThat(railOf(context, "near")).isEqualTo("shm");
			assertThat(filesOfMemory()).isNotEmpty();
		});
		assertThat(filesOfMemory()).isEmpty();
		run(this.runner, (context) -> {
			assertThat(railOf(context, "near")).isEqualTo("shm");
			assertThat(filesOfMemory()).isEmpty();
		});
	}

	private List<Path> filesOfMemory() throws IOException {
		try (Stream<Path> files = Files.list(this.directory.resolve("meeting"))) {
			return files.filter((file) -> file.getFileName().toString().startsWith("m-")).toList();
		}
	}

	@Test
	void whoIsTrustedIsChecked() {
		this.runner.withPropertyValues("rdma.rpc.shm.trust=everybody")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("rdma.rpc.shm.trust")
				.hasStackTraceContaining("everybody"));
	}

	private static String railOf(AssertableApplicationContext context, String target) {
		RdmaClients clients = context.getBean(RdmaClients.class);
		assertThat(clients.proxy(target, Wave.class).wave()).isEqualTo("hello");
		return String.valueOf(clients.client(target).queuePairs().get(0).rail());
	}

	private static void run(ApplicationContextRunner runner, ContextConsumer<AssertableApplicationContext> test) {
		AtomicReference<RegisteredMemory> memory = new AtomicReference<>();
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			memory.set(context.getBean(RegisteredMemory.class));
			test.accept(context);
		});
		assertThat(memory.get().metrics().outstanding()).isZero();
	}

	/** Says hello. */
	public interface Wave {

		String wave();

	}

	@RdmaService
	static class WaveService implements Wave {

		@Override
		public String wave() {
			return "hello";
		}

	}

}
