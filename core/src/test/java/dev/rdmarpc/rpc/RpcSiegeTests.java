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

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many kinds of hostile peers at once, beside a client that notices nothing of them.
 * {@code -Drdma.test.siege.seconds} says for how long: 40 seconds where the environment
 * has {@code CI}, else 20 seconds. {@code -Drdma.test.siege.seed} repeats a run.
 */
@Timeout(value = 4, unit = TimeUnit.HOURS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcSiegeTests {

	private static final long SEED = Long.getLong("rdma.test.siege.seed", System.nanoTime());

	private static final Duration LENGTH = Duration
		.ofSeconds(Integer.getInteger("rdma.test.siege.seconds", (System.getenv("CI") != null) ? 40 : 20));

	private static final int PHASES = 10;

	private static final long PAUSE_NANOS = 500_000;

	/** The besiegers' pauses allow for ten times as many. */
	private static final long LEAST_STRIKES_PER_SECOND = 20;

	/** Below it the scheduler of a busy machine is measured. */
	private static final long LEAST_NANOS = Duration.ofMillis(1).toNanos();

	/** Where quiet calls take as long, others use the machine and nothing can be said. */
	private static final long NOISE_NANOS = Duration.ofMillis(10).toNanos();

	@Test
	void goodClientIsServedWhileHostilePeersCome() throws Exception {
		TestEnvironment.assumeStrangersAreBorne();
		try (ServerProcess besieged = new ServerProcess();
				ServerProcess spared = new ServerProcess();
				RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport
					.open(TransportOptions.DEFAULTS.withProvider(TestEnvironment.provider("iwarp"), ""), memory)) {
			try (RpcClient good = client(transport, besieged.port());
					RpcClient control = client(transport, spared.port());
					HostileProcess besiegers = new HostileProcess(besieged.port())) {
				besiege(besieged, besiegers, new GoodClient(good, new Random(SEED)),
						new GoodClient(control, new Random(SEED)));
				besiegers.end();
			}
			besieged.end();
			spared.end();
		}
	}

	/**
	 * Quiet and busy phases alternate. In both a server that nobody besieges is called
	 * too, which tells what the machine does at the time.
	 */
	private static void besiege(ServerProcess server, HostileProcess besiegers, GoodClient good, GoodClient control)
			throws Exception {
		callFor(Duration.ofSeconds(3), good, control);
		long[] before = server.holdings();
		List<Long> quiet = new ArrayList<>();
		List<Long> busy = new ArrayList<>();
		List<Long> spared = new ArrayList<>();
		Duration phase = LENGTH.dividedBy(PHASES);
		for (int i = 0; i < PHASES; i++) {
			boolean siege = i % 2 == 1;
			besiegers.active(siege);
			callFor(phase.dividedBy(4), good, control);
			callFor(phase.multipliedBy(3).dividedBy(4), good, control);
			(siege ? busy : quiet).add(good.percentile());
			if (siege) {
				spared.add(control.percentile());
			}
		}
		String[] done = besiegers.active(false);
		System.out.println("seed " + SEED + ": " + good.calls + " calls, " + done[0] + " strikes, " + done[1]
				+ " refused; p99 in us: quiet " + micros(quiet) + ", besieged " + micros(busy) + ", spared "
				+ micros(spared));
		assertThat(done).as("strikes, refusals, failure; seed %d", SEED).hasSize(2);
		assertThat(Long.parseLong(done[0])).as("strikes, refusals: %s; seed %d", List.of(done), SEED)
			.isGreaterThanOrEqualTo(LEAST_STRIKES_PER_SECOND * LENGTH.dividedBy(2).toSeconds());
		assertThat(Long.parseLong(done[1])).as("refusals; seed %d", SEED).isPositive();
		long[] after = server.holdings();
		long deadline = System.nanoTime() + TestEnvironment.patience(Duration.ofSeconds(60)).toNanos();
		while (!isBack(before, after) && System.nanoTime() - deadline < 0) {
			callFor(Duration.ofSeconds(1), good, control);
			after = server.holdings();
		}
		assertThat(isBack(before, after))
			.as("held before %s, after %s (heap KiB, direct KiB, threads, descriptors, buffers, calls, channels), seed %d",
					Arrays.toString(before), Arrays.toString(after), SEED)
			.isTrue();
		if (median(quiet) <= NOISE_NANOS) {
			assertThat(median(busy)).as("p99 besieged, at most three times the quiet one, in ns, seed %d", SEED)
				.isLessThanOrEqualTo(3 * Math.max(LEAST_NANOS, Math.max(median(quiet), median(spared))));
		}
	}

	private static void callFor(Duration time, GoodClient good, GoodClient control) {
		good.begin();
		control.begin();
		long begin = System.nanoTime();
		while (System.nanoTime() - begin < time.toNanos()) {
			good.call();
			control.call();
			LockSupport.parkNanos(PAUSE_NANOS);
		}
	}

	/**
	 * Whether all is as before, but for what a process that has worked keeps: some heap,
	 * some extents, receives kept ready. The other connection is the besiegers' own.
	 */
	private static boolean isBack(long[] before, long[] after) {
		return after[0] <= before[0] + (16 << 10) && after[1] <= before[1] + (16 << 10) && after[2] <= before[2] + 8
				&& after[3] <= before[3] + 4 && after[4] <= before[4] + 64 && after[5] == 0 && after[6] <= 2;
	}

	private static long median(List<Long> values) {
		return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
	}

	private static List<Long> micros(List<Long> nanos) {
		return nanos.stream().map((value) -> value / 1000).toList();
	}

	private static RpcClient client(RdmaTransport transport, int port) {
		return RpcClient.builder().transport(transport).target(TestEnvironment.host(), port).build();
	}

	/** A server, which holds what its peers have it hold. */
	private static final class ServerProcess extends CommandedProcess {

		private final int port;

		ServerProcess() throws IOException, InterruptedException {
			super(List.of(), BesiegedServer.class, "-Xmx256m");
			this.port = Integer.parseInt(awaitLine(BesiegedServer.READY));
		}

		int port() {
			return this.port;
		}

		long[] holdings() throws Exception {
			command("measure");
			return Arrays.stream(awaitLine(BesiegedServer.HOLDS).split(" ")).mapToLong(Long::parseLong).toArray();
		}

	}

	/** The hostile peers, which leave the processors to others. */
	private static final class HostileProcess extends CommandedProcess {

		HostileProcess(int port) throws IOException, InterruptedException {
			super(whenIdle(), Besiegers.class, "-Xmx256m", String.valueOf(port), String.valueOf(SEED));
			awaitLine(Besiegers.READY);
		}

		/** Returns strikes, refusals and what went wrong, if anything. */
		String[] active(boolean siege) throws Exception {
			command(siege ? "siege" : "rest");
			return awaitLine(Besiegers.DONE).trim().split(" ", 3);
		}

	}

	/** Calls one after the other and checks every answer. */
	private static final class GoodClient {

		private final BesiegedServer.Town town;

		private final Random random;

		private final List<Long> taken = new ArrayList<>();

		private long calls;

		GoodClient(RpcClient client, Random random) {
			this.town = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(20)))
				.on(client.proxy(BesiegedServer.Town.class));
			this.random = random;
		}

		void begin() {
			this.taken.clear();
		}

		void call() {
			String name = "call " + this.calls++;
			long start = System.nanoTime();
			String greeting = this.town.greet(name);
			this.taken.add(System.nanoTime() - start);
			assertThat(greeting).as("seed %d", SEED).isEqualTo("Welcome, " + name);
			if (this.calls % 16 == 0) {
				byte[] bytes = new byte[this.random.nextInt((this.calls % 256 == 0) ? 500_000 : 20_000)];
				this.random.nextBytes(bytes);
				assertThat(this.town.echo(bytes)).as("seed %d", SEED).isEqualTo(bytes);
			}
		}

		/** The 99th percentile of what short calls have taken. */
		long percentile() {
			this.taken.sort(null);
			return this.taken.get(this.taken.size() * 99 / 100);
		}

	}

}
