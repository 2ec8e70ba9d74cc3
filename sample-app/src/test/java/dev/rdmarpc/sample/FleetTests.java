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

package dev.rdmarpc.sample;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.sample.store.FeatureStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The store in several processes, one of which is killed while it is called, and one of
 * which is added: no call that may be repeated fails.
 */
class FleetTests {

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private static final int THREADS = 4;

	@TempDir
	private Path directory;

	private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

	private final AtomicLong successes = new AtomicLong();

	private volatile boolean stopped;

	@Test
	void killedAndAddedServersFailNoCallThatMayBeRepeated() throws Exception {
		try (ServerProcess first = start(1, 0); ServerProcess second = start(2, 0); ServerProcess third = start(3, 0)) {
			int later = freePort();
			List<Integer> ports = List.of(first.port(), second.port(), third.port(), later);
			try (ConfigurableApplicationContext context = startClient(ports)) {
				FeatureStore store = context.getBean(FeatureStore.class);
				RpcClient client = context.getBean(RdmaClients.class).client("features");
				client.connect();
				await("three servers", () -> open(client) == 3);
				IntStream.range(0, 100).forEach((i) -> store.put("key-" + i, new float[] { i }));
				IntStream.range(0, 100).forEach((i) -> assertThat(store.get("key-" + i)).as("key %d", i).isPresent());
				List<Thread> load = startLoad(store);
				awaitSuccesses();
				second.kill();
				await("the loss of the second server", () -> open(client) == 2);
				awaitSuccesses();
				try (ServerProcess fourth = start(4, later)) {
					assertThat(fourth.port()).isEqualTo(later);
					await("the fourth server", () -> open(client) == 3);
					awaitSuccesses();
					first.kill();
					third.kill();
					await("the loss of all others", () -> open(client) == 1);
					awaitSuccesses();
					this.stopped = true;
					for (Thread thread : load) {
						thread.join(PATIENCE.toMillis());
						assertThat(thread.isAlive()).as(thread.getName() + " still runs").isFalse();
					}
					assertThat(this.failures).isEmpty();
				}
			}
			finally {
				this.stopped = true;
			}
		}
	}

	private ServerProcess start(int number, int port) throws Exception {
		return ServerProcess.start(this.directory.resolve("server" + number + ".log"), port);
	}

	private static int freePort() throws Exception {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	private static ConfigurableApplicationContext startClient(List<Integer> ports) {
		String addresses = ports.stream().map((port) -> "localhost:" + port).collect(Collectors.joining(","));
		return new SpringApplicationBuilder(SampleApplication.class).profiles("fleet")
			.run("--server.port=0", "--rdma.rpc.client.features.addresses=" + addresses,
					"--rdma.rpc.client.features.deadline=30s", "--rdma.rpc.memory.leak-detection=paranoid");
	}

	private static long open(RpcClient client) {
		return client.addresses().stream().filter((address) -> address.queuePairs() > 0).count();
	}

	private List<Thread> startLoad(FeatureStore store) {
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			int number = i;
			Thread thread = new Thread(() -> {
				for (int call = number; !this.stopped; call++) {
					try {
						String key = "key-" + call % 100;
						store.get(key);
						store.getAsync(key).join();
						this.successes.incrementAndGet();
					}
					catch (RuntimeException ex) {
						this.failures.add(ex);
					}
				}
			}, "load-" + i);
			threads.add(thread);
			thread.start();
		}
		return threads;
	}

	private void awaitSuccesses() {
		long before = this.successes.get();
		await("calls", () -> this.successes.get() > before + 500);
	}

	private static void await(String what, BooleanSupplier condition) {
		long deadline = System.nanoTime() + PATIENCE.toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime()).as("waiting for: " + what).isLessThan(deadline);
			Thread.onSpinWait();
		}
	}

}
