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

package dev.rdmarpc.boot.test.registry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.context.refresh.ContextRefresher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;

/** Spring Cloud's own refresh of an application whose file of properties is edited. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ExtendWith(OutputCaptureExtension.class)
class ContextRefresherTests {

	@TempDir
	Path directory;

	@Test
	void refreshAppliesWhatCanChange(CapturedOutput output) throws IOException {
		write("rdma.rpc.client.default.deadline=6s");
		RegisteredMemory memory;
		try (ConfigurableApplicationContext context = start()) {
			memory = context.getBean(RegisteredMemory.class);
			RpcClient client = context.getBean(RdmaClients.class).client("namer");
			Namer namer = client.proxy(Namer.class);
			assertThat(namer.name()).isEqualTo("one");
			assertThat(client.defaultDeadline()).isEqualTo(Duration.ofSeconds(6));
			write("rdma.rpc.client.default.deadline=3s", "rdma.rpc.server.max-concurrent-calls=55",
					"rdma.rpc.client.namer.max-calls=7");
			assertThat(refresh(context)).contains("rdma.rpc.client.default.deadline");
			assertThat(client.defaultDeadline()).isEqualTo(Duration.ofSeconds(3));
			assertThat(context.getBean(RpcServer.class).options().maxConcurrentCalls()).isEqualTo(55);
			assertThat(output).contains("started again: rdma.rpc.client.namer.max-calls");
			write("rdma.rpc.client.default.deadline=-1s", "rdma.rpc.server.max-concurrent-calls=66");
			refresh(context);
			assertThat(output)
				.contains("'rdma.rpc.client.default.deadline' is 'PT-1S'. Expected: not negative, at most 365 days.");
			write("rdma.rpc.client.default.deadline=soon", "rdma.rpc.server.max-concurrent-calls=66");
			refresh(context);
			assertThat(output).contains("'rdma.rpc.client.default.deadline' is 'soon'. Expected: Duration.");
			write("rdma.rpc.client.default.dedline=1s", "rdma.rpc.server.max-concurrent-calls=66");
			refresh(context);
			assertThat(output).contains("there is no property 'rdma.rpc.client.default.dedline'");
			assertThat(client.defaultDeadline()).isEqualTo(Duration.ofSeconds(3));
			assertThat(context.getBean(RpcServer.class).options().maxConcurrentCalls()).isEqualTo(55);
			write("my.deadline=2s", "rdma.rpc.client.default.deadline=${my.deadline}");
			refresh(context);
			assertThat(client.defaultDeadline()).isEqualTo(Duration.ofSeconds(2));
			write("my.deadline=4s", "rdma.rpc.client.default.deadline=${my.deadline}");
			assertThat(refresh(context)).contains("my.deadline");
			assertThat(client.defaultDeadline()).isEqualTo(Duration.ofSeconds(4));
			assertThat(namer.name()).isEqualTo("one");
		}
		assertThat(memory.metrics().outstanding()).isZero();
	}

	private static Iterable<String> refresh(ConfigurableApplicationContext context) {
		return context.getBean(ContextRefresher.class).refresh();
	}

	private void write(String... lines) throws IOException {
		Files.write(this.directory.resolve("application.properties"), List.of(lines));
	}

	private ConfigurableApplicationContext start() {
		return new SpringApplicationBuilder(Naming.class, OneName.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.registerShutdownHook(false)
			.run("--spring.config.location=file:" + this.directory + "/", "--rdma.rpc.server.address=127.0.0.1",
					"--rdma.rpc.server.port=0", "--rdma.rpc.client.default.port=0",
					"--rdma.rpc.memory.leak-detection=paranoid");
	}

	/** Says its name. */
	public interface Namer {

		String name();

	}

	@RdmaService
	static class OneName implements Namer {

		@Override
		public String name() {
			return "one";
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Naming {

	}

}
