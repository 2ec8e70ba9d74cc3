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
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import dev.rdmarpc.Await;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.DeliveryFile.Deliveries;
import dev.rdmarpc.rpc.DeliveryFile.Tally;
import dev.rdmarpc.transport.RailOptions;
import dev.rdmarpc.transport.RdmaTransport;

/**
 * A process that calls a {@link RailProcess} without a pause, for the laboratory. It is
 * told what to wait for by lines of its input, and answers each with a line:
 * {@code rail NAME} waits until it is connected over that rail and has made some calls
 * there, {@code end} counts.
 */
@SuppressWarnings("SystemOut")
public final class RailCaller {

	private static final int CALLERS = 2;

	private static final int CALLS = 50;

	private final long first;

	private final AtomicLong ids;

	private final AtomicInteger answers = new AtomicInteger();

	private final AtomicInteger failures = new AtomicInteger();

	private final RpcClient client;

	private volatile boolean stopping;

	private RailCaller(RpcClient client, long first) {
		this.client = client;
		this.first = first;
		this.ids = new AtomicLong(first);
	}

	/** Takes providers, an address, a port, and the number of the first call. */
	public static void main(String[] arguments) throws Exception {
		Path directory = Files.createTempDirectory("rdma");
		InetSocketAddress server = new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2]));
		try (RegisteredMemory memory = RailsFixture.newMemory();
				RdmaTransport transport = RailsFixture.open(directory, memory, List.of(arguments[0].split(",")));
				RpcClient client = RpcClient.builder()
					.transport(transport)
					.target("target", () -> server)
					.options(RpcClientOptions.DEFAULTS.withBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
						.withConnectTimeout(Duration.ofMinutes(2))
						.withRails(RailOptions.DEFAULTS.withTimes(Duration.ofSeconds(5), Duration.ofSeconds(1))))
					.build()) {
			new RailCaller(client, Long.parseLong(arguments[3])).run();
		}
		Files.delete(directory);
	}

	private void run() throws Exception {
		Deliveries deliveries = CallOptions.deadline(Duration.ofMinutes(2)).on(this.client.proxy(Deliveries.class));
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < CALLERS; i++) {
			Thread thread = new Thread(() -> call(deliveries), "caller");
			thread.start();
			threads.add(thread);
		}
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		System.out.println("ready");
		String line = input.readLine();
		while (line != null && line.startsWith("rail ")) {
			RailsFixture.awaitRail(this.client, line.substring("rail ".length()));
			int before = this.answers.get();
			Await.until(() -> this.answers.get() > before + CALLS);
			System.out.println("calls go over " + RailsFixture.railOf(this.client));
			line = input.readLine();
		}
		this.stopping = true;
		for (Thread thread : threads) {
			thread.join();
		}
		report(deliveries.tally(this.first, this.ids.get()));
	}

	private void call(Deliveries deliveries) {
		while (!this.stopping) {
			try {
				deliveries.deliver(this.ids.getAndIncrement());
				this.answers.incrementAndGet();
			}
			catch (RpcException ex) {
				System.out.println("failed: " + ex.getMessage());
				this.failures.incrementAndGet();
			}
		}
	}

	private void report(Tally delivered) {
		boolean good = delivered.again() == 0 && delivered.calls() >= this.answers.get()
				&& delivered.calls() <= this.answers.get() + this.failures.get() && this.failures.get() <= CALLERS;
		System.out.println((good ? "good: " : "BAD: ") + this.answers + " calls answered, " + this.failures
				+ " failed, " + delivered.calls() + " delivered, " + delivered.again() + " of them twice");
	}

}
