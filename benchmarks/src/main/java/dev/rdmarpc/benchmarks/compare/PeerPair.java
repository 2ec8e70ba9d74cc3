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

package dev.rdmarpc.benchmarks.compare;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * The server and the client process of one peer, forked when first needed and again after
 * a failure.
 *
 * <p>
 * Used by one thread, except for {@link #kill()}.
 */
final class PeerPair implements AutoCloseable {

	private static final long ANSWER_SECONDS = 45;

	private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

	private static final long SETTLE_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

	/** So many looks in a row that saw nobody run. */
	private static final int SETTLED_LOOKS = 4;

	private final String peer;

	private final Launch launch;

	private final Path logs;

	private volatile @Nullable ForkedProcess server;

	private volatile @Nullable ForkedProcess client;

	private int port;

	private ProcessUsage usageAfterSlice = new ProcessUsage(0, 0, 0);

	private long nanosAfterSlice;

	private ProcessThreads threadsAfterSlice = new ProcessThreads(Map.of());

	private double busiestIdle;

	private String busiestIdleThreads = "";

	PeerPair(String peer, Launch launch, Path logs) {
		this.peer = peer;
		this.launch = launch;
		this.logs = logs;
	}

	/** The name of the peer. */
	String peer() {
		return this.peer;
	}

	/** Whether it can do what a workload asks for. */
	boolean supports(Workload workload) {
		return Peers.named(Launch.plainName(this.peer)).supports(workload.mode());
	}

	/**
	 * The largest share of one processor that both processes used together between two
	 * slices of their own.
	 */
	double busiestIdle() {
		return this.busiestIdle;
	}

	/** The threads that used it, in parentheses, where that is known. */
	String busiestIdleThreads() {
		return this.busiestIdleThreads;
	}

	/**
	 * Measures one slice.
	 * @param workload what to do
	 * @param warmUpMillis how long before anything is counted
	 * @param measureMillis how long to count
	 * @throws PeerFailure if it fails; the processes are gone then
	 */
	Slice measure(Workload workload, long warmUpMillis, long measureMillis) {
		try {
			ForkedProcess serving = server();
			ForkedProcess calling = client();
			noteIdle(serving, calling);
			calling.ask(ANSWER_SECONDS,
					"connect " + this.port + " " + workload.mode().name() + " " + workload.payloadBytes());
			calling.ask(ANSWER_SECONDS + warmUpMillis / 1000, "run " + warmUpMillis);
			ProcessUsage before = serving.usage();
			Slice slice = Slice.parse(calling.ask(ANSWER_SECONDS + measureMillis / 1000, "run " + measureMillis));
			ProcessUsage used = serving.usage().since(before);
			calling.ask(ANSWER_SECONDS, "disconnect");
			settle(serving, calling);
			this.usageAfterSlice = serving.usage().plus(calling.usage());
			this.threadsAfterSlice = ProcessThreads.of(serving.id(), calling.id());
			this.nanosAfterSlice = System.nanoTime();
			return slice.plus(used);
		}
		catch (PeerFailure ex) {
			close();
			throw ex;
		}
	}

	/** How long both processes have compiled so far, in milliseconds. */
	long compiledMillis() {
		return server().compiledMillis() + client().compiledMillis();
	}

	private void noteIdle(ForkedProcess serving, ForkedProcess calling) {
		long nanos = System.nanoTime() - this.nanosAfterSlice;
		if (this.nanosAfterSlice != 0 && nanos > 1_000_000_000L) {
			ProcessUsage idle = serving.usage().plus(calling.usage()).since(this.usageAfterSlice);
			double share = (double) idle.cpuNanos() / nanos;
			if (share > this.busiestIdle) {
				this.busiestIdle = share;
				this.busiestIdleThreads = ProcessThreads.of(serving.id(), calling.id())
					.busiestSince(this.threadsAfterSlice, nanos);
			}
		}
	}

	/**
	 * Waits until the processes have ended what they do after a slice, such as compiling,
	 * and leave the processors to the next peer; for a while.
	 */
	private static void settle(ForkedProcess serving, ForkedProcess calling) {
		long deadline = System.nanoTime() + SETTLE_NANOS;
		int still = 0;
		while (still < SETTLED_LOOKS && System.nanoTime() - deadline < 0) {
			LockSupport.parkNanos(SETTLE_INTERVAL_NANOS);
			still = ProcessThreads.of(serving.id(), calling.id()).isRunning() ? 0 : still + 1;
		}
	}

	private ForkedProcess server() {
		ForkedProcess running = this.server;
		if (running == null) {
			running = fork("server");
			this.server = running;
			this.port = Integer.parseInt(running.greeting());
		}
		return running;
	}

	private ForkedProcess client() {
		ForkedProcess running = this.client;
		if (running == null) {
			running = fork("client");
			this.client = running;
			running.greeting();
		}
		return running;
	}

	private ForkedProcess fork(String role) {
		try {
			return ForkedProcess.start(role, this.peer, this.launch, this.logs);
		}
		catch (IOException ex) {
			throw new PeerFailure("cannot fork: " + ex);
		}
	}

	/** Ends both processes. */
	@Override
	public void close() {
		ForkedProcess calling = this.client;
		this.client = null;
		if (calling != null) {
			calling.close();
		}
		ForkedProcess serving = this.server;
		this.server = null;
		if (serving != null) {
			serving.close();
		}
		this.nanosAfterSlice = 0;
	}

	/** Ends both processes by force, from a shutdown hook. */
	void kill() {
		ForkedProcess calling = this.client;
		if (calling != null) {
			calling.kill();
		}
		ForkedProcess serving = this.server;
		if (serving != null) {
			serving.kill();
		}
	}

}
