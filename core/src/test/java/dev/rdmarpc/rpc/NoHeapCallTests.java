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

package dev.rdmarpc.rpc;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.NoHeap;
import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** A caller without a deadline, whose server has no memory to say how the call ended. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class NoHeapCallTests {

	@Test
	void callerIsToldOfAFailureThatThereIsNoMemoryToReport() throws Exception {
		TestEnvironment.assumeTcp();
		Process process = NoHeap.start(NoHeapServer.class);
		try (RpcFixture fixture = new RpcFixture();
				BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
			String line = lines.readLine();
			assertThat(line).startsWith(NoHeapServer.PORT);
			try (RpcClient client = RpcClient.builder()
				.transport(fixture.clientTransport)
				.target(TestEnvironment.host(), Integer.parseInt(line.substring(NoHeapServer.PORT.length())))
				.build()) {
				NoHeapServer.Greedy greedy = CallOptions.deadline(Duration.ofHours(1))
					.on(client.proxy(NoHeapServer.Greedy.class));
				for (int i = 0; i < 20; i++) {
					assertThat(RpcFixture.failureOf(() -> greedy.fail(false)).status()).isEqualTo(RpcStatus.UNKNOWN);
				}
				CompletableFuture<RpcException> outcome = new CompletableFuture<>();
				Thread caller = new Thread(() -> outcome.complete(RpcFixture.failureOf(() -> greedy.fail(true))));
				caller.setDaemon(true);
				caller.start();
				assertThat(outcome.get(60, TimeUnit.SECONDS)).isNotNull();
			}
		}
		finally {
			process.destroyForcibly();
		}
	}

}
