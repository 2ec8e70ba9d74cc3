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

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

/**
 * A process whose direct memory or heap runs out again and again while it calls and
 * serves, and that says afterwards what has come of it.
 */
public final class ExhaustedProcess {

	static final String HEAP = "heap";

	static final String DIRECT = "direct";

	static final String GOOD = "all is well";

	private static final long NANOS = TimeUnit.SECONDS.toNanos(4);

	private static final int CALLERS = 3;

	private static final int WARM_UP_CALLS = 20;

	private volatile long end;

	private final AtomicLong exhausted = new AtomicLong();

	private final AtomicLong succeeded = new AtomicLong();

	private final AtomicLong failed = new AtomicLong();

	private final ConcurrentLinkedQueue<CompletableFuture<String>> futures = new ConcurrentLinkedQueue<>();

	private final boolean heap;

	private final IntFunction<Object> taker;

	private ExhaustedProcess(boolean heap) {
		this.heap = heap;
		this.taker = heap ? byte[]::new : ByteBuffer::allocateDirect;
	}

	@SuppressWarnings("SystemOut")
	public static void main(String[] arguments) throws Exception {
		System.out.println(new ExhaustedProcess(arguments[0].equals(HEAP)).run());
	}

	private String run() throws Exception {
		MemoryOptions options = MemoryOptions.DEFAULTS.withMaxBytes(12L << 20).withInitialBytes(2L << 20);
		try (RegisteredMemory serverMemory = RegisteredMemory.create(options);
				RegisteredMemory clientMemory = RegisteredMemory.create(options)) {
			TransportOptions transport = TransportOptions.DEFAULTS
				.withProvider(TestEnvironment.provider(TransportOptions.DEFAULTS.provider()), "");
			String outcome;
			RpcServer server;
			try (RdmaTransport serverTransport = RdmaTransport.open(transport, serverMemory);
					RdmaTransport clientTransport = RdmaTransport.open(transport, clientMemory)) {
				server = RpcServer.builder()
					.transport(serverTransport)
					.options(RpcFixture.serverOptions(0).withDrainTimeout(Duration.ofSeconds(5)))
					.service(Echo.class, new EchoService())
					.build()
					.start();
				RpcClient client = RpcClient.builder()
					.transport(clientTransport)
					.target(TestEnvironment.host(), server.port())
					.options(RpcClientOptions.DEFAULTS.withBackoff(Duration.ofMillis(10), Duration.ofMillis(100)))
					.build();
				Echo echo = CallOptions.deadline(Duration.ofSeconds(5)).on(client.proxy(Echo.class));
				warmUp(CallOptions.deadline(Duration.ofMinutes(1)).withWaitForReady().on(client.proxy(Echo.class)));
				outcome = exhaust(echo);
				outcome += recover(CallOptions.deadline(Duration.ofSeconds(30)).on(echo));
				outcome += clientTransport.problems().isEmpty() ? "" : " client: " + clientTransport.problems();
				outcome += serverTransport.problems().isEmpty() ? "" : " server: " + serverTransport.problems();
				client.close();
				server.close();
			}
			if (!this.heap) {
				outcome += (server.activeCalls() == 0) ? "" : " active calls: " + server.activeCalls();
				outcome += outstanding("client", clientMemory) + outstanding("server", serverMemory);
			}
			return (outcome.isEmpty() ? GOOD : "bad:" + outcome) + " (out of memory " + this.exhausted + " times, "
					+ this.succeeded + " calls succeeded, " + this.failed + " failed)";
		}
	}

	/** A class whose initializer runs out of memory is lost for the process. */
	private void warmUp(Echo echo) {
		for (int i = 0; i < WARM_UP_CALLS; i++) {
			callOnce(echo);
			echo.bytes(new byte[100_000]);
			RpcFixture.failureOf(() -> echo.fail("before"));
			RpcFixture.failureOf(() -> CallOptions.deadline(Duration.ofNanos(1)).on(echo).echo("late"));
		}
	}

	private static String outstanding(String side, RegisteredMemory memory) {
		long bytes = memory.metrics().allocatedBytes();
		return (bytes == 0) ? "" : " " + side + " memory outstanding: " + bytes;
	}

	private String exhaust(Echo echo) throws InterruptedException {
		this.end = System.nanoTime() + NANOS;
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < CALLERS; i++) {
			threads.add(start("caller-" + i, () -> callOnce(echo)));
		}
		start("hoarder", this::hoardOnce).join();
		String outcome = "";
		for (Thread thread : threads) {
			thread.join(TimeUnit.SECONDS.toMillis(60));
			if (thread.isAlive()) {
				outcome += " " + thread.getName() + " hangs at " + List.of(thread.getStackTrace());
			}
		}
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
		while (!this.futures.isEmpty() && System.nanoTime() - deadline < 0) {
			this.futures.removeIf(CompletableFuture::isDone);
			LockSupport.parkNanos(1_000_000);
		}
		return outcome
				+ ((this.heap || this.futures.isEmpty()) ? "" : " futures never completed: " + this.futures.size());
	}

	private Thread start(String name, Runnable step) {
		Thread thread = new Thread(() -> {
			while (System.nanoTime() - this.end < 0) {
				try {
					step.run();
				}
				catch (Throwable ex) {
					this.failed.incrementAndGet();
				}
			}
		}, name);
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	private void callOnce(Echo echo) {
		String text = "during";
		CompletableFuture<String> future = echo.echoAsync(text);
		this.futures.add(future);
		boolean good = echo.echo(text).equals(text) && echo.echoOnExecutor(text).equals(text)
				&& echo.bytes(new byte[50_000]).length == 50_000;
		(good ? this.succeeded : this.failed).incrementAndGet();
		this.futures.removeIf(CompletableFuture::isDone);
	}

	/** Takes all there is, keeps it for a moment, and gives it back. */
	@SuppressWarnings("ModifiedButNotUsed") // keeping is its use
	private void hoardOnce() {
		List<Object> hoard = new ArrayList<>(100_000);
		int bytes = 1 << 20;
		while (bytes >= 16) {
			try {
				hoard.add(this.taker.apply(bytes));
			}
			catch (OutOfMemoryError ex) {
				this.exhausted.incrementAndGet();
				bytes /= 16;
			}
		}
		LockSupport.parkNanos(20_000_000);
		hoard.clear();
		LockSupport.parkNanos(20_000_000);
	}

	private String recover(Echo echo) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
		Throwable last = null;
		for (int good = 0; good < 200;) {
			try {
				boolean right = echo.echo("after").equals("after") && echo.bytes(new byte[100_000]).length == 100_000;
				good = right ? good + 1 : 0;
			}
			catch (RpcException ex) {
				last = ex;
				good = 0;
				LockSupport.parkNanos(10_000_000);
			}
			if (System.nanoTime() - deadline > 0) {
				return " no calls afterwards: " + last;
			}
		}
		return "";
	}

}
