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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Calls from a proxy to a handler and back over user-space iWARP. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcCallTests {

	@Test
	void blockingCallReturnsTheResult() {
		try (RpcFixture fixture = new RpcFixture()) {
			assertThat(fixture.echo.echo("hello")).isEqualTo("hello");
			assertThat(fixture.echo.echoOnExecutor("again")).isEqualTo("again");
			assertThat(fixture.echo.add(40, 2)).isEqualTo(42);
			fixture.echo.touch();
			assertThat(fixture.service.touched).hasValue(1);
			assertThat(fixture.echo.move(new Echo.Point(1, 2.5, "p"), 4)).isEqualTo(new Echo.Point(5, 2.5, "p"));
		}
	}

	/** Which run where the client is, with what their interface inherits. */
	@Test
	void methodsWithABodyRunWhoeverSeesTheirInterface() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Polite.class, (name) -> "Hello " + name);
				RpcClient client = fixture.newClient(server)) {
			Polite polite = client.proxy(Polite.class);
			for (int i = 0; i < 2; i++) {
				assertThat(polite.greetTwice("Ada")).isEqualTo("Hello Ada, Hello Ada");
				assertThat(polite.nobody()).isEqualTo("Hello nobody");
			}
		}
	}

	@Test
	void manySequentialCallsReuseEverything() {
		try (RpcFixture fixture = new RpcFixture()) {
			int calls = TestEnvironment.rounds(20_000, 500);
			for (int i = 0; i < calls; i++) {
				assertThat(fixture.echo.echo("call " + i)).isEqualTo("call " + i);
			}
		}
	}

	@Test
	void futuresCompleteOutOfManyOutstandingCalls() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			List<CompletableFuture<String>> futures = new ArrayList<>();
			for (int i = 0; i < TestEnvironment.rounds(2000, 300); i++) {
				futures.add(fixture.echo.echoAsync("call " + i));
			}
			for (int i = 0; i < futures.size(); i++) {
				assertThat(futures.get(i).get(20, TimeUnit.SECONDS)).isEqualTo("call " + i);
			}
		}
	}

	@Test
	void callsGoOnAfterOtherConnectionsHaveGone() {
		try (RpcFixture fixture = new RpcFixture()) {
			for (int i = 0; i < 3; i++) {
				try (RpcClient other = fixture.newClient()) {
					assertThat(other.proxy(Echo.class).add(i, 1)).isEqualTo(i + 1);
				}
			}
			for (int i = 0; i < TestEnvironment.rounds(2000, 200); i++) {
				assertThat(fixture.echo.add(i, 1)).isEqualTo(i + 1);
			}
			byte[] large = new byte[4 << 20];
			assertThat(fixture.echo.bytes(large)).isEqualTo(large);
		}
	}

	@Test
	void messagesLargerThanAFrameArriveWhole() {
		long seed = Long.getLong("test.seed", System.nanoTime());
		Random random = new Random(seed);
		try (RpcFixture fixture = new RpcFixture()) {
			for (int size : new int[] { 0, 1, 8000, 8160, 8170, 8192, 20_000, 1 << 20, (4 << 20) + 3 }) {
				byte[] bytes = new byte[size];
				random.nextBytes(bytes);
				assertThat(Arrays.equals(fixture.echo.bytes(bytes), bytes)).as("seed %d size %d", seed, size).isTrue();
			}
		}
	}

	@Test
	void concurrentCallersShareTheConnection() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			List<CompletableFuture<Void>> callers = new ArrayList<>();
			for (int t = 0; t < 8; t++) {
				int thread = t;
				CompletableFuture<Void> done = new CompletableFuture<>();
				callers.add(done);
				new Thread(() -> {
					try {
						for (int i = 0; i < TestEnvironment.rounds(2000, 100); i++) {
							String text = thread + "/" + i;
							String reply = ((i & 1) == 0) ? fixture.echo.echo(text) : fixture.echo.echoOnExecutor(text);
							assertThat(reply).isEqualTo(text);
						}
						done.complete(null);
					}
					catch (Throwable ex) {
						done.completeExceptionally(ex);
					}
				}).start();
			}
			for (CompletableFuture<Void> caller : callers) {
				caller.get(50, TimeUnit.SECONDS);
			}
		}
	}

	@Test
	void failuresOfTheHandlerArriveWithStatusAndText() {
		try (RpcFixture fixture = new RpcFixture()) {
			assertThatExceptionOfType(RpcException.class).isThrownBy(() -> fixture.echo.fail("rpc"))
				.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.NOT_FOUND))
				.withMessage(Echo.class.getName() + "/fail NOT_FOUND: no such thing");
			assertThatExceptionOfType(RpcException.class).isThrownBy(() -> fixture.echo.fail("illegal"))
				.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.UNKNOWN))
				.withMessageContaining("the handler failed, reference ");
		}
	}

	/** Only this package sees it. */
	interface Brief {

		String greet(String name);

		default String nobody() {
			return greet("nobody");
		}

	}

	/** The same. */
	interface Polite extends Brief {

		default String greetTwice(String name) {
			return greet(name) + ", " + greet(name);
		}

	}

}
