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

package dev.rdmarpc.boot.connection;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

import dev.rdmarpc.boot.Greeter;
import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaConnectionDetails;
import dev.rdmarpc.boot.RdmaTargetConnectionDetails;
import dev.rdmarpc.boot.autoconfigure.RdmaContextRunner;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Beans that say where one target is. */
@ExtendWith(OutputCaptureExtension.class)
class TargetConnectionDetailsTests {

	private final ApplicationContextRunner runner = RdmaContextRunner.create()
		.withUserConfiguration(TwoTargets.class)
		.withPropertyValues("rdma.rpc.client.greetings.port=1", "rdma.rpc.client.greetings.deadline=41s",
				"rdma.rpc.client.farewells.port=1");

	private static InetSocketAddress at(int port) {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
	}

	private static RdmaTargetConnectionDetails details(String target, int port) {
		return RdmaTargetConnectionDetails.of(target, () -> at(port));
	}

	@Test
	void eachTargetIsWhereItsBeanSays(CapturedOutput output) {
		RunningServers.run((one, two) -> this.runner
			.withBean("first", RdmaTargetConnectionDetails.class, () -> details("greetings", one))
			.withBean("second", RdmaTargetConnectionDetails.class, () -> details("farewells", two))
			.run((context) -> {
				assertThat(context.getBean("greetings.greeter", Greeter.class).greet("x")).isEqualTo("one");
				assertThat(context.getBean("farewells.greeter", Greeter.class).greet("x")).isEqualTo("two");
				assertThat(context.getBean(RdmaClients.class).client("greetings").defaultDeadline())
					.as("other properties remain in force")
					.isEqualTo(Duration.ofSeconds(41));
			}));
		assertThat(output).contains("Calls to 'greetings' go where connection details of 'greetings' says");
	}

	@Test
	void otherTargetsAreWhereTheBeanForAllSays() {
		RunningServers.run((one, two) -> this.runner
			.withBean("first", RdmaTargetConnectionDetails.class, () -> details("greetings", one))
			.withBean("all", RdmaConnectionDetails.class, () -> (target) -> at(two))
			.run((context) -> {
				assertThat(context.getBean("greetings.greeter", Greeter.class).greet("x")).isEqualTo("one");
				assertThat(context.getBean("farewells.greeter", Greeter.class).greet("x")).isEqualTo("two");
			}));
	}

	@Test
	void severalOfOneTargetAreItsAddresses() {
		RunningServers.run((one, two) -> RdmaContextRunner.create()
			.withUserConfiguration(TwoTargets.class)
			.withPropertyValues("rdma.rpc.client.greetings.addresses=127.0.0.1:1")
			.withBean("first", RdmaTargetConnectionDetails.class, () -> details("greetings", one))
			.withBean("second", RdmaTargetConnectionDetails.class, () -> details("greetings", two))
			.run((context) -> {
				Greeter greeter = context.getBean("greetings.greeter", Greeter.class);
				TreeSet<String> names = new TreeSet<>();
				RpcClient client = context.getBean(RdmaClients.class).client("greetings");
				while (names.size() < 2) {
					names.add(greeter.greet("x"));
				}
				assertThat(names).containsExactly("one", "two");
				assertThat(client.addresses()).hasSize(2);
			}));
	}

	@Test
	void anUnknownAddressFailsTheAttemptWithItsReason() {
		this.runner.withPropertyValues("rdma.rpc.client.greetings.connect-timeout=1s")
			.withBean(RdmaTargetConnectionDetails.class, () -> RdmaTargetConnectionDetails.of("greetings", () -> {
				throw new IllegalStateException("it has not been started");
			}))
			.run((context) -> assertThatExceptionOfType(RpcException.class)
				.isThrownBy(() -> context.getBean("greetings.greeter", Greeter.class).greet("x"))
				.withMessageContaining("it has not been started"));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportRdmaClients(target = "greetings", types = Greeter.class)
	@ImportRdmaClients(target = "farewells", types = Greeter.class)
	static class TwoTargets {

	}

}
