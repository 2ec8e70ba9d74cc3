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

package dev.rdmarpc.boot;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@SpringBootTest(properties = { "rdma.rpc.server.port=0", "rdma.rpc.server.address=127.0.0.1",
		"rdma.rpc.client.default.port=0", "rdma.rpc.memory.leak-detection=paranoid" })
class RdmaCallsTests {

	@Autowired
	@Qualifier("greetings")
	private Greeter greeter;

	@Autowired
	private GreeterService service;

	@Test
	void blockingCall() {
		assertThat(this.greeter.greet("world")).isEqualTo("Hello world");
	}

	@Test
	void futureCall() throws Exception {
		assertThat(this.greeter.greetLater("world").get(10, TimeUnit.SECONDS)).isEqualTo("Later world");
	}

	@Test
	void futuresOutstandingTogether() {
		CompletableFuture<?>[] calls = new CompletableFuture<?>[200];
		for (int i = 0; i < calls.length; i++) {
			String name = "n" + i;
			calls[i] = this.greeter.greetLater(name)
				.thenAccept((greeting) -> assertThat(greeting).isEqualTo("Later " + name));
		}
		assertThat(CompletableFuture.allOf(calls)).succeedsWithin(Duration.ofSeconds(20));
	}

	@Test
	void largeMessage() {
		byte[] bytes = new byte[3 << 20];
		bytes[0] = 1;
		assertThat(this.greeter.reverse(bytes)).hasSize(bytes.length).endsWith(1);
	}

	@Test
	void exceptionOfHandlerHasStatus() {
		assertThatExceptionOfType(RpcException.class).isThrownBy(() -> this.greeter.fail("no such thing"))
			.satisfies((ex) -> {
				assertThat(ex.status()).isEqualTo(RpcStatus.NOT_FOUND);
				assertThat(ex.detail()).isEqualTo("no such thing");
				assertThat(ex.service()).isEqualTo(Greeter.class.getName());
				assertThat(ex.method()).isEqualTo("fail");
			});
	}

	@Test
	void otherExceptionOfHandlerIsUnknown() {
		assertThatExceptionOfType(RpcException.class).isThrownBy(() -> this.greeter.fail(""))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.UNKNOWN))
			.withMessageContaining("the handler failed, reference ");
	}

	@Test
	void deadlineEndsCall() {
		Greeter impatient = CallOptions.deadline(Duration.ofMillis(50)).on(this.greeter);
		assertThatExceptionOfType(RpcException.class).isThrownBy(() -> impatient.await("never"))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED));
		assertThat(this.service.latch("never").getCount()).isEqualTo(1);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(GreeterService.class)
	@ImportRdmaClients(target = "greetings", types = Greeter.class)
	static class Application {

	}

}
