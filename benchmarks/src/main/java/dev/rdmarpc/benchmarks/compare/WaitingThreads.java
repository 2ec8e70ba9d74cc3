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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * The threads of {@link Mode#WAITING}: each makes one call when the client is connected,
 * and is answered when the client is closed. A run only lets time pass; as many calls as
 * there are threads count for it.
 */
public final class WaitingThreads implements PeerClient {

	private static final long RELEASE_SECONDS = 10;

	private final BlockingLoop.BlockingCall release;

	private final int threads;

	private final Closeable connection;

	private final CountDownLatch ended;

	private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

	/**
	 * Starts the threads.
	 * @param hold a call that is not answered before {@code release} is called
	 * @param release has all such calls answered that the server has by now
	 * @param threads the number of threads
	 * @param connection closed with the client
	 */
	public WaitingThreads(BlockingLoop.BlockingCall hold, BlockingLoop.BlockingCall release, int threads,
			Closeable connection) {
		this.release = release;
		this.threads = threads;
		this.connection = connection;
		this.ended = new CountDownLatch(threads);
		for (int i = 0; i < threads; i++) {
			Thread thread = new Thread(() -> hold(hold), "waiting-" + i);
			thread.setDaemon(true);
			thread.start();
		}
	}

	private void hold(BlockingLoop.BlockingCall hold) {
		try {
			hold.call();
		}
		catch (Exception ex) {
			this.failure.compareAndSet(null, ex);
		}
		finally {
			this.ended.countDown();
		}
	}

	@Override
	public long run(long durationNanos, LatencyRecorder latencies) throws Exception {
		if (this.ended.await(durationNanos, TimeUnit.NANOSECONDS) || this.ended.getCount() < this.threads) {
			throw new IllegalStateException((this.threads - this.ended.getCount()) + " of " + this.threads
					+ " calls ended before they were released", this.failure.get());
		}
		return this.threads;
	}

	/** Releases until all have ended: some calls may not have been there before. */
	@Override
	public void close() throws IOException {
		try (this.connection) {
			long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RELEASE_SECONDS);
			do {
				this.release.call();
			}
			while (!this.ended.await(20, TimeUnit.MILLISECONDS) && System.nanoTime() - deadline < 0);
			if (this.ended.getCount() > 0 || this.failure.get() != null) {
				throw new IOException(this.ended.getCount() + " calls were never answered", this.failure.get());
			}
		}
		catch (IOException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IOException("cannot release the calls", ex);
		}
	}

}
