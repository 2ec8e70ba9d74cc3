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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * The closed loop of the asynchronous modes: each of a fixed number of slots starts its
 * next call from the callback that answered the one before, on whatever thread the peer
 * runs callbacks.
 *
 * <p>
 * Implementation notes: a slot has one call at a time, so its fields need no more than
 * the happens-before edge that every peer gives between starting a call and its callback.
 * A callback may run inside the start of its own call; {@link Slot#turn} tells whether
 * start or callback comes last, and the last one goes on. So the stack does not grow, and
 * a slot is never in two calls.
 */
public final class CallbackLoop implements PeerClient {

	private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(30);

	private final List<Closeable> connections = new ArrayList<>();

	private final List<Slot> slots = new ArrayList<>();

	private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

	private volatile CountDownLatch running = new CountDownLatch(0);

	private LatencyRecorder latencies = (nanos) -> {
	};

	private long deadline;

	/**
	 * Adds a connection; not while running.
	 * @param caller makes the calls
	 * @param outstanding the number of calls to keep outstanding
	 * @param connection closed with the loop
	 */
	public void add(AsyncCaller caller, int outstanding, Closeable connection) {
		this.connections.add(connection);
		for (int i = 0; i < outstanding; i++) {
			this.slots.add(new Slot(caller));
		}
	}

	@Override
	public long run(long durationNanos, LatencyRecorder recorder) throws Exception {
		this.latencies = recorder;
		this.deadline = System.nanoTime() + durationNanos;
		CountDownLatch latch = new CountDownLatch(this.slots.size());
		this.running = latch;
		for (Slot slot : this.slots) {
			slot.calls = 0;
			slot.begin();
		}
		if (!latch.await(durationNanos + GRACE_NANOS, TimeUnit.NANOSECONDS)) {
			throw new TimeoutException(latch.getCount() + " calls never answered");
		}
		Throwable cause = this.failure.getAndSet(null);
		if (cause != null) {
			throw new IllegalStateException("a call failed: " + cause, cause);
		}
		return this.slots.stream().mapToLong((slot) -> slot.calls).sum();
	}

	@Override
	public void close() throws IOException {
		for (Closeable connection : this.connections) {
			connection.close();
		}
	}

	/** Makes the asynchronous calls of one connection. */
	@FunctionalInterface
	public interface AsyncCaller {

		/**
		 * Prepares what a slot needs for its calls.
		 * @param slot told of each reply
		 * @return starts one call, without waiting for its reply
		 */
		Runnable prepare(Slot slot);

	}

	/** One of the outstanding calls. */
	public final class Slot {

		private final AtomicInteger turn = new AtomicInteger();

		private final Runnable start;

		private long started;

		private long calls;

		Slot(AsyncCaller caller) {
			this.start = caller.prepare(this);
		}

		/** Tells that the slot's call is answered; by any thread, once per call. */
		public void succeed() {
			long answered = System.nanoTime();
			CallbackLoop.this.latencies.record(answered - this.started);
			this.calls++;
			if (this.turn.getAndIncrement() == 1) {
				proceed(answered);
			}
		}

		/** Tells that the slot's call failed, which ends the slot's part in the run. */
		public void fail(Throwable cause) {
			CallbackLoop.this.failure.compareAndSet(null, cause);
			CallbackLoop.this.running.countDown();
		}

		private void begin() {
			proceed(System.nanoTime());
		}

		private void proceed(long now) {
			long at = now;
			do {
				if (at - CallbackLoop.this.deadline >= 0) {
					CallbackLoop.this.running.countDown();
					return;
				}
				this.started = at;
				this.turn.set(0);
				try {
					this.start.run();
				}
				catch (RuntimeException ex) {
					fail(ex);
					return;
				}
				if (this.turn.getAndIncrement() == 0) {
					return;
				}
				at = System.nanoTime();
			}
			while (true);
		}

	}

}
