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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The closed loop of {@link Mode#THREADS}: one {@link BlockingLoop} per thread. */
public final class BlockingThreads implements PeerClient {

	private final BlockingLoop loop;

	private final int threads;

	private final ExecutorService executor;

	/**
	 * Creates the loops.
	 * @param call makes one call and checks its reply, by any thread
	 * @param threads the number of threads
	 * @param connection closed with the loops
	 */
	public BlockingThreads(BlockingLoop.BlockingCall call, int threads, Closeable connection) {
		this.loop = new BlockingLoop(call, connection);
		this.threads = threads;
		this.executor = Executors.newFixedThreadPool(threads);
	}

	@Override
	public long run(long durationNanos, LatencyRecorder latencies) throws Exception {
		List<Future<Long>> runs = new ArrayList<>();
		for (int i = 0; i < this.threads; i++) {
			runs.add(this.executor.submit(() -> this.loop.run(durationNanos, latencies)));
		}
		long calls = 0;
		for (Future<Long> run : runs) {
			try {
				calls += run.get();
			}
			catch (ExecutionException ex) {
				throw new IllegalStateException("a call failed: " + ex.getCause(), ex.getCause());
			}
		}
		return calls;
	}

	@Override
	public void close() throws IOException {
		this.executor.shutdown();
		this.loop.close();
	}

}
