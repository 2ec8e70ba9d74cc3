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

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import dev.rdmarpc.memory.MemoryMetrics;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;
import dev.rdmarpc.sample.store.FeatureStore;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The client of the sample lives through the sudden death of the process that serves it.
 */
class TwoProcessTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** Silence would be noticed only then. */
	private static final Duration KEEP_ALIVE = Duration.ofNanos(ChannelOptions.DEFAULTS.keepAliveNanos());

	/** Several ticks of an idle loop. */
	private static final Duration SETTLED = Duration.ofMillis(300);

	private static final int THREADS = 4;

	@TempDir
	private Path directory;

	private final Queue<Failure> failures = new ConcurrentLinkedQueue<>();

	private final AtomicLong successes = new AtomicLong();

	private final List<Thread> threads = new ArrayList<>();

	private volatile boolean stopped;

	@Test
	void callsFailAtOnceWhenTheServerIsKilledAndSucceedWhenItIsBack() throws Exception {
		int port;
		try (ServerProcess server = ServerProcess.start(this.directory.resolve("first.log"), 0)) {
			port = server.port();
			try (ConfigurableApplicationContext context = startClient(port)) {
				RegisteredMemory pool = context.getBean(RegisteredMemory.class);
				MemoryMetrics memory = pool.metrics();
				FeatureStore store = context.getBean(FeatureStore.class);
				CallOptions.deadline(Duration.ofMinutes(1))
					.withWaitForReady()
					.on(store)
					.put("first", new float[] { 1 });
				RdmaTransport transport = context.getBean(RdmaTransport.class);
				long idle = settled(() -> withoutReceives(memory, transport));
				RegisteredBuffer blob = pool.allocate(1 << 20);
				startLoad(store, blob);
				await("load", () -> this.successes.get() > 500);
				assertThat(this.failures).isEmpty();

				server.kill();
				long killed = System.nanoTime();
				await("every caller has noticed", () -> firstFailures().size() == THREADS);
				assertThat(firstFailures()).allSatisfy((failure) -> {
					assertThat(failure.status()).as(failure.message()).isEqualTo(RpcStatus.UNAVAILABLE);
					assertThat(Duration.ofNanos(failure.nanos() - killed)).isLessThan(KEEP_ALIVE);
				});

				try (ServerProcess restarted = ServerProcess.start(this.directory.resolve("second.log"), port)) {
					assertThat(restarted.port()).isEqualTo(port);
					long before = this.successes.get();
					await("recovery", () -> this.successes.get() > before + 500);
					stopLoad();
					assertThat(this.failures).allSatisfy((failure) -> assertThat(failure.status()).as(failure.message())
						.isEqualTo(RpcStatus.UNAVAILABLE));
					blob.release();
					await("everything has come back", () -> withoutReceives(memory, transport) == idle);
				}
			}
			finally {
				stopLoad();
			}
		}
	}

	/** Buffers in use; how many receives are posted follows the load, and its past. */
	private static long withoutReceives(MemoryMetrics memory, RdmaTransport transport) {
		int frameBytes = ChannelOptions.DEFAULTS.frameBytes();
		return memory.outstanding() - transport.loops()
			.stream()
			.mapToLong((loop) -> loop.metrics().receiveMemoryBytes() / frameBytes)
			.sum();
	}

	/** A value that is the same for longer than a loop takes to report its receives. */
	private static long settled(LongSupplier value) {
		AtomicLong seen = new AtomicLong();
		AtomicLong since = new AtomicLong(System.nanoTime());
		await("nothing under way but posted receives", () -> {
			long now = value.getAsLong();
			if (seen.getAndSet(now) != now) {
				since.set(System.nanoTime());
			}
			return System.nanoTime() - since.get() > SETTLED.toNanos();
		});
		return seen.get();
	}

	private ConfigurableApplicationContext startClient(int port) {
		return new SpringApplicationBuilder(SampleApplication.class).profiles("client")
			.run("--server.port=0", "--rdma.rpc.client.features.port=" + port, "--rdma.rpc.provider=iwarp",
					"--rdma.rpc.client.features.deadline=30s", "--rdma.rpc.client.features.restart-timeout=0",
					"--rdma.rpc.memory.leak-detection=paranoid");
	}

	/** Small and large calls, so that the server dies amid messages of many frames. */
	private void startLoad(FeatureStore store, RegisteredBuffer blob) {
		for (int i = 0; i < THREADS; i++) {
			int number = i;
			Thread thread = new Thread(() -> {
				for (int call = 0; !this.stopped; call++) {
					call(store, number, call, blob);
				}
			}, "load-" + i);
			this.threads.add(thread);
			thread.start();
		}
	}

	private void call(FeatureStore store, int number, int call, RegisteredBuffer blob) {
		String key = "key-" + number;
		try {
			switch (call % 10) {
				case 0 -> store.putBlob(key, blob);
				case 1 -> store.getBlob(key).ifPresent(RegisteredBuffer::release);
				case 2 -> store.put(key, new float[] { call });
				default -> store.get(key);
			}
			this.successes.incrementAndGet();
		}
		catch (RpcException ex) {
			this.failures.add(new Failure(number, System.nanoTime(), ex.status(), ex.getMessage()));
			// no use in failing a million times a second
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
		}
	}

	private List<Failure> firstFailures() {
		List<Failure> first = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			int number = i;
			this.failures.stream().filter((failure) -> failure.thread() == number).findFirst().ifPresent(first::add);
		}
		return first;
	}

	private void stopLoad() throws InterruptedException {
		this.stopped = true;
		for (Thread thread : this.threads) {
			thread.join(PATIENCE.toMillis());
			assertThat(thread.isAlive()).as(thread.getName() + " still runs").isFalse();
		}
	}

	private static void await(String what, BooleanSupplier condition) {
		long deadline = System.nanoTime() + PATIENCE.toNanos();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime()).as("waiting for: " + what).isLessThan(deadline);
			Thread.onSpinWait();
		}
	}

	private record Failure(int thread, long nanos, RpcStatus status, String message) {
	}

}
