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
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.rdmarpc.boot.GreeterService;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.PollingMode;
import dev.rdmarpc.transport.PollingOptions;
import dev.rdmarpc.transport.PrincipalLimits;
import dev.rdmarpc.transport.ProviderSelection;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.SchedulerOptions;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.VerbsProvider;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class RdmaTransportAutoConfigurationTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create();

	@ParameterizedTest
	@CsvSource({ "4KB, 8KB, 131072B", "1MB, 1MB, 16777216B" })
	void memoryHasRoomForOneConnection(String max, String frame, String expected) {
		RdmaContextRunner.create()
			.withPropertyValues("rdma.rpc.memory.initial=0B", "rdma.rpc.memory.max=" + max,
					"rdma.rpc.queue-pairs.frame-size=" + frame)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class, (invalid) -> {
					assertThat(invalid.getName()).isEqualTo("rdma.rpc.memory.max");
					assertThat(invalid.getReason()).contains("at least " + expected,
							"'rdma.rpc.queue-pairs.frame-size'");
				}));
	}

	@Test
	void memoryThatJavaDoesNotGiveIsWarnedOf(CapturedOutput output) {
		RdmaContextRunner.create()
			.withUserConfiguration(GreeterService.class)
			.withPropertyValues("rdma.rpc.memory.max=1TB", "rdma.rpc.memory.initial=1MB")
			.run((context) -> {
				long most = context.getBean(RegisteredMemory.class).options().maxBytes();
				assertThat(most).isLessThan(1L << 40);
				assertThat(output).containsPattern("WARN.*'rdma.rpc.memory.max' is 1099511627776B.*" + most + "B");
				assertThat(PropertyMapping.peers(context.getBean(RdmaRpcProperties.class)).principal())
					.as("limits are of what there is")
					.isEqualTo(PrincipalLimits.DEFAULTS);
			});
	}

	@Test
	void messagesForWhichThereIsNoMemoryAreWarnedOf(CapturedOutput output) {
		ApplicationContextRunner serving = RdmaContextRunner.create().withUserConfiguration(GreeterService.class);
		serving.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("has no room");
		serving
			.withPropertyValues("rdma.rpc.memory.max=8MB", "rdma.rpc.memory.initial=1MB",
					"rdma.rpc.server.max-message-size=64MB")
			.run((context) -> assertThat(output)
				.containsPattern("WARN.*'rdma.rpc.server.max-message-size' is 67108864B.*'rdma.rpc.memory.max'"));
	}

	@Test
	void sharedMemoryThatCannotBeUsedIsWarnedOf(@TempDir Path directory, CapturedOutput output) throws IOException {
		Path file = Files.writeString(directory.resolve("file"), "");
		ApplicationContextRunner wanting = RdmaContextRunner.create()
			.withPropertyValues("rdma.rpc.shm.directory=" + file);
		wanting.withPropertyValues("rdma.rpc.provider=iwarp").run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("rdma.rpc.shm");
		wanting.withPropertyValues("rdma.rpc.provider=auto")
			.run((context) -> assertThat(output)
				.containsPattern("WARN.*'rdma.rpc.shm.directory' is set, but shared memory cannot be used: .*" + file));
	}

	@Test
	void bestProviderIsOpenedByDefault() {
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(RdmaTransport.class).doesNotHaveBean(RpcServer.class);
			ProviderSelection selection = context.getBean(RdmaTransport.class).selection();
			assertThat(selection.provider()).isSameAs(context.getBean(IwarpProvider.class));
			assertThat(selection.reason()).startsWith("best available");
			assertThat(context.getBean(MessageCodec.class)).isInstanceOf(FlatBuffersCodec.class);
		});
	}

	@Test
	void propertiesBecomeOptions() {
		this.runner
			.withPropertyValues("rdma.rpc.provider=iwarp", "rdma.rpc.device=iwarp0", "rdma.rpc.memory.max=32MB",
					"rdma.rpc.memory.thread-cache=64KB", "rdma.rpc.memory.allocation-timeout=7ms",
					"rdma.rpc.memory.registration-cache=3MB", "rdma.rpc.memory.retention=3s",
					"rdma.rpc.queue-pairs.max-receives=1000", "rdma.rpc.queue-pairs.send-depth=100",
					"rdma.rpc.queue-pairs.read-depth=3", "rdma.rpc.scheduler.min-slice=8KB",
					"rdma.rpc.scheduler.max-slice=16KB", "rdma.rpc.scheduler.min-window=32KB",
					"rdma.rpc.scheduler.max-window=1MB", "rdma.rpc.polling.mode=event", "rdma.rpc.polling.spin-max=9us")
			.run((context) -> {
				RdmaTransport transport = context.getBean(RdmaTransport.class);
				assertThat(transport.options())
					.isEqualTo(new TransportOptions("iwarp", "iwarp0", new PollingOptions(PollingMode.EVENT, 9_000),
							1000, 100, 3)
						.withScheduler(new SchedulerOptions(8 << 10, 16 << 10, 32 << 10, 1 << 20)));
				assertThat(transport.memory().options()).isEqualTo(new MemoryOptions(1 << 20, 32 << 20, 1 << 20,
						64 << 10, Duration.ofMillis(7), LeakDetection.PARANOID, 3 << 20, Duration.ofSeconds(3)));
				assertThat(transport.selection().reason()).startsWith("asked for by name");
			});
	}

	@Test
	void closingTheContextClosesTheMemory() {
		RegisteredMemory[] memory = new RegisteredMemory[1];
		this.runner.run((context) -> memory[0] = context.getBean(RegisteredMemory.class));
		assertThat(memory[0].metrics().registeredBytes()).isZero();
		assertThat(memory[0].metrics().outstanding()).isZero();
	}

	@Test
	void ownBeansTakeTheirPlace() {
		this.runner.withUserConfiguration(OwnBeans.class).run((context) -> {
			assertThat(context).hasSingleBean(RegisteredMemory.class)
				.hasSingleBean(MessageCodec.class)
				.hasSingleBean(IwarpProvider.class);
			assertThat(context).hasBean("ownMemory").hasBean("ownCodec").hasBean("ownProvider");
			assertThat(context.getBean(RdmaTransport.class).memory()).isSameAs(context.getBean("ownMemory"));
			assertThat(context.getBean(ProviderSelection.class).provider()).isSameAs(context.getBean("ownProvider"));
		});
	}

	@Test
	void providerBeanIsRankedWithOthers() {
		this.runner.withUserConfiguration(MissingAdapter.class).run((context) -> {
			ProviderSelection selection = context.getBean(ProviderSelection.class);
			assertThat(selection.provider().name()).isEqualTo("iwarp");
			assertThat(selection.candidates()).extracting(ProviderSelection.Candidate::name)
				.startsWith("adapter")
				.contains("iwarp");
			assertThat(selection.reason()).contains("not adapter: no adapter in this test");
		});
	}

	@Test
	void providerThatIsNotAvailableFailsWithItsReason() {
		this.runner.withUserConfiguration(MissingAdapter.class)
			.withPropertyValues("rdma.rpc.provider=adapter")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(VerbsException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(VerbsError.UNAVAILABLE))
				.hasMessageContaining("no adapter in this test"));
	}

	@Test
	void deviceThatIsNotThereFails() {
		this.runner.withUserConfiguration(GreeterService.class)
			.withPropertyValues("rdma.rpc.device=mlx5_0")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(VerbsException.class,
						(ex) -> assertThat(ex.error()).isEqualTo(VerbsError.NO_SUCH_DEVICE)));
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnBeans {

		@Bean
		RegisteredMemory ownMemory() {
			return RegisteredMemory.create(MemoryOptions.DEFAULTS.withInitialBytes(1 << 20));
		}

		@Bean
		MessageCodec ownCodec() {
			return new FlatBuffersCodec();
		}

		@Bean
		IwarpProvider ownProvider() {
			return new IwarpProvider();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MissingAdapter {

		@Bean
		VerbsProvider adapterProvider() {
			return new VerbsProvider() {

				@Override
				public String name() {
					return "adapter";
				}

				@Override
				public int preference() {
					return 300;
				}

				@Override
				public ProviderAvailability availability() {
					return ProviderAvailability.unavailable("no adapter in this test");
				}

				@Override
				public List<String> deviceNames() {
					return List.of();
				}

				@Override
				public VerbsDevice openDevice(@Nullable String name) {
					throw new VerbsException(VerbsError.UNAVAILABLE, "no adapter in this test");
				}

			};
		}

	}

}
