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

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

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
 * Peers that take all they can get, one kind after the other, beside a client that must
 * hardly notice. Memory stays within its bounds, and whoever runs the server sees which
 * address it was. {@code -Drdma.test.greed=true} has them take as much as they would in
 * earnest, over and over: 5,000 connections, a million cancels, 100,000 messages that are
 * offered or begun. {@code -Drdma.test.greed.limits=default} leaves the server the limits
 * of an address that it has by default, and {@code -Drdma.test.greed.kind} names one
 * kind.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcGreedyPeerTests {

	private static final boolean EVERYTHING = Boolean.getBoolean("rdma.test.greed");

	private static final boolean LIMITED = System.getProperty("rdma.test.greed.limits", "none").equals("default");

	private static final List<GreedyPeers.Kind> KINDS = GreedyPeers.Kind
		.named(System.getProperty("rdma.test.greed.kind"));

	private static final long PHASE_NANOS = Duration.ofMillis(EVERYTHING ? 1500 : 300).toNanos();

	private static final long PAUSE_NANOS = 200_000;

	/** Below it the time slices of a busy machine are measured. */
	private static final long LEAST_NANOS = EVERYTHING ? 1 : Duration.ofMillis(4).toNanos();

	/**
	 * How many times longer calls may take; in a build, less is measured than told apart.
	 */
	private static final int MOST_TIMES_LONGER = EVERYTHING ? 2 : 3;

	/** How often each kind is tried again where others have used the machine. */
	private static final int ATTEMPTS = 4;

	/** In earnest, how often each kind is measured in the end. */
	private static final int TIMES = 9;

	/** In earnest, how often each kind is done before, for the server's compilers. */
	private static final int PRIMING = Integer.getInteger("rdma.test.greed.priming", 15);

	/**
	 * Which of them is said last depends on which tick of the server sees which first.
	 */
	private static final String REASONS = "silent|others need the room|no receive buffers|Read|unfinished"
			+ "|does not go on with a message|did not arrive whole|granted nothing";

	private static final long MOST_HEAP_KIB = 192 << 10;

	@Test
	void whoTakesAllItCanGetIsSeenAndKeepsNobodyWaiting() throws Exception {
		TestEnvironment.assumeStrangersAreBorne();
		try (Server besieged = new Server();
				Server spared = new Server();
				Greedy greedy = new Greedy(besieged.port);
				RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				RdmaTransport transport = RdmaTransport
					.open(TransportOptions.DEFAULTS.withProvider(TestEnvironment.provider("iwarp"), ""), memory)) {
			try (RpcClient good = client(transport, besieged); RpcClient control = client(transport, spared)) {
				Calls calls = new Calls(town(good), town(control));
				calls.whileIt(() -> false, 2 * PHASE_NANOS);
				long[] before = besieged.holdings();
				for (GreedyPeers.Kind kind : KINDS) {
					take(kind, besieged, greedy, calls);
				}
				for (GreedyPeers.Kind kind : KINDS) {
					awaitSeen(kind, besieged, calls);
				}
				greedy.end();
				awaitBack(before, besieged, calls);
			}
			besieged.end();
			spared.end();
		}
	}

	/**
	 * Where others have used the machine meanwhile, it is tried again. In earnest, the
	 * median of several times counts, after others in which the server's compilers took a
	 * processor, too.
	 */
	private static void take(GreedyPeers.Kind kind, Server besieged, Greedy greedy, Calls calls) throws Exception {
		StringBuilder tries = new StringBuilder();
		if (!EVERYTHING) {
			double timesLonger = Double.MAX_VALUE;
			for (int i = 0; i < ATTEMPTS && timesLonger > MOST_TIMES_LONGER; i++) {
				timesLonger = takeOnce(kind, besieged, greedy, calls, tries);
			}
			assertThat(timesLonger).as("how many times longer calls take: %s", tries)
				.isLessThanOrEqualTo(MOST_TIMES_LONGER);
			return;
		}
		double first = takeOnce(kind, besieged, greedy, calls, tries);
		for (int i = 1; i < PRIMING; i++) {
			takeAgain(kind, besieged, greedy, calls, tries);
		}
		double[] then = new double[TIMES];
		for (int i = 0; i < then.length; i++) {
			then[i] = takeAgain(kind, besieged, greedy, calls, tries);
		}
		Arrays.sort(then);
		double median = then[then.length / 2];
		System.out.printf(Locale.ROOT,
				"%s: calls take %.2f times as long the first time, in the end %.2f (%.2f to %.2f)%n", kind, first,
				median, then[0], then[then.length - 1]);
		assertThat(median).as("how many times longer calls take: %s", tries).isLessThanOrEqualTo(MOST_TIMES_LONGER);
	}

	private static double takeAgain(GreedyPeers.Kind kind, Server besieged, Greedy greedy, Calls calls,
			StringBuilder tries) throws Exception {
		if (kind.leaves()) {
			greedy.command(GreedyPeers.LEAVE);
			greedy.awaitLine(GreedyPeers.LEFT);
			do {
				calls.whileIt(() -> false, PHASE_NANOS);
			}
			while (besieged.holdings()[6] > 1);
		}
		return takeOnce(kind, besieged, greedy, calls, tries);
	}

	/** Returns how many times longer calls took meanwhile. */
	private static double takeOnce(GreedyPeers.Kind kind, Server besieged, Greedy greedy, Calls calls,
			StringBuilder tries) throws Exception {
		long quiet = calls.whileIt(() -> false, PHASE_NANOS)[0];
		greedy.command(kind + " " + kind.count(EVERYTHING));
		long begin = System.nanoTime();
		long[] busy = calls.whileIt(greedy::isBusy, PHASE_NANOS);
		long millis = (System.nanoTime() - begin) / 1_000_000;
		String line = kind + " in " + millis + " ms (done, refused: " + greedy.awaitLine(GreedyPeers.DONE)
				+ "), p99 in us: quiet " + quiet / 1000 + ", besieged " + busy[0] / 1000 + ", spared " + busy[1] / 1000;
		System.out.println(line);
		tries.append(line).append('\n');
		long[] held = besieged.holdings();
		assertThat(held[0]).as("heap in KiB while it is held: %s", line).isLessThan(MOST_HEAP_KIB);
		if (!kind.isGivenUp()) {
			assertThat(besieged.seen()).as("who it is").contains(kind.address() + " cancels ");
		}
		return busy[0] / (double) Math.max(LEAST_NANOS, busy[1]);
	}

	private static void awaitSeen(GreedyPeers.Kind kind, Server besieged, Calls calls) throws Exception {
		if (!kind.isGivenUp() || (LIMITED && kind == GreedyPeers.Kind.CONNECTIONS)) {
			return;
		}
		Pattern expected = Pattern.compile(Pattern.quote(kind.address()) + " given up [0-9]+: [^;]*(" + REASONS + ")");
		long begin = System.nanoTime();
		String seen = besieged.seen();
		while (!expected.matcher(seen).find()) {
			assertThat(System.nanoTime() - begin).as("%s is seen; there was: %s", kind, seen)
				.isLessThan(TestEnvironment.patience(Duration.ofSeconds(30)).toNanos());
			calls.whileIt(() -> false, PHASE_NANOS / 3);
			seen = besieged.seen();
		}
	}

	private static void awaitBack(long[] before, Server besieged, Calls calls) throws Exception {
		long begin = System.nanoTime();
		long[] after = besieged.holdings();
		while (!isBack(before, after)) {
			assertThat(System.nanoTime() - begin)
				.as("held before %s, after %s (heap KiB, direct KiB, threads, descriptors, buffers, calls, channels)",
						Arrays.toString(before), Arrays.toString(after))
				.isLessThan(TestEnvironment.patience(Duration.ofSeconds(60)).toNanos());
			calls.whileIt(() -> false, PHASE_NANOS / 3);
			after = besieged.holdings();
		}
	}

	private static boolean isBack(long[] before, long[] after) {
		return after[0] <= before[0] + (32 << 10) && after[3] <= before[3] + 4 && after[4] <= before[4] + 64
				&& after[5] == 0 && after[6] == 1;
	}

	private static RpcClient client(RdmaTransport transport, Server server) {
		return RpcClient.builder().transport(transport).target(TestEnvironment.host(), server.port).build();
	}

	private static BesiegedServer.Town town(RpcClient client) {
		return CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(20)))
			.on(client.proxy(BesiegedServer.Town.class));
	}

	/** A server, which holds what its peers have it hold. */
	private static final class Server extends CommandedProcess {

		private final int port;

		Server() throws Exception {
			super(List.of(), BesiegedServer.class, "-Xmx256m", "11000", LIMITED ? "limited" : "");
			this.port = Integer.parseInt(awaitLine(BesiegedServer.READY));
		}

		long[] holdings() throws Exception {
			command("measure");
			return Arrays.stream(awaitLine(BesiegedServer.HOLDS).split(" ")).mapToLong(Long::parseLong).toArray();
		}

		String seen() throws Exception {
			command("peers");
			return awaitLine(BesiegedServer.SEEN);
		}

	}

	/** The greedy peers, which leave the processors to others. */
	private static final class Greedy extends CommandedProcess {

		Greedy(int port) throws Exception {
			super(whenIdle(), GreedyPeers.class, "-Xmx256m", String.valueOf(port));
			awaitLine(GreedyPeers.READY);
		}

		boolean isBusy() {
			return !hasLine();
		}

	}

	/**
	 * Calls of a besieged server and of one that is spared, by turns. Each is called
	 * first as often as the other, since the first call after a pause wakes threads up.
	 */
	private record Calls(BesiegedServer.Town besieged, BesiegedServer.Town spared) {

		/** Returns the 99th percentile of each in nanoseconds. */
		long[] whileIt(BooleanSupplier goesOn, long leastNanos) {
			List<Long> first = new ArrayList<>();
			List<Long> second = new ArrayList<>();
			long begin = System.nanoTime();
			boolean turned = false;
			while (System.nanoTime() - begin < leastNanos || goesOn.getAsBoolean()) {
				if (turned) {
					second.add(call(this.spared));
				}
				first.add(call(this.besieged));
				if (!turned) {
					second.add(call(this.spared));
				}
				turned = !turned;
				LockSupport.parkNanos(PAUSE_NANOS);
			}
			return new long[] { percentile(first), percentile(second) };
		}

		private static long call(BesiegedServer.Town town) {
			long start = System.nanoTime();
			assertThat(town.greet("me")).isEqualTo("Welcome, me");
			return System.nanoTime() - start;
		}

		private static long percentile(List<Long> taken) {
			taken.sort(null);
			return taken.get(taken.size() * 99 / 100);
		}

	}

}
