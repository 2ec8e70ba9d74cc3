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

package dev.rdmarpc.benchmarks.compare.rdma;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.benchmarks.compare.LatencyRecorder;
import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.PeerCalls;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.Workload;

/**
 * Sends payloads on one stream for as long as a run lasts, and counts what comes back.
 */
final class StreamClient implements PeerClient {

	private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(30);

	private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final StreamedPayloads payloads;

	private final byte[] payload;

	private final PeerCalls connection;

	private final @Nullable SlowStream beside;

	StreamClient(StreamedPayloads payloads, Workload workload, byte[] payload, PeerCalls connection) {
		this.payloads = payloads;
		this.payload = payload;
		this.connection = connection;
		this.beside = (workload.mode() == Mode.BESIDE) ? new SlowStream(payloads, payload) : null;
	}

	@Override
	public long run(long durationNanos, LatencyRecorder latencies) throws Exception {
		long deadline = System.nanoTime() + durationNanos;
		Counter counter = new Counter(this.payload.length);
		this.payloads.echo((subscriber) -> subscriber.onSubscribe(new Source(subscriber, this.payload, deadline)))
			.subscribe(counter);
		long count = counter.ended.get(durationNanos + GRACE_NANOS, TimeUnit.NANOSECONDS);
		SlowStream slow = this.beside;
		if (slow != null && slow.ended.isDone()) {
			throw new IllegalStateException("the slow stream has ended: " + slow.ended);
		}
		return count;
	}

	@Override
	public void close() throws IOException {
		SlowStream slow = this.beside;
		if (slow != null) {
			slow.close();
		}
		this.connection.close();
	}

	/** Publishes the payload whenever it is asked for, until the end. */
	private static final class Source implements Flow.Subscription {

		private final Flow.Subscriber<? super byte[]> subscriber;

		private final byte[] payload;

		private final long deadline;

		private final AtomicLong requested = new AtomicLong();

		private boolean ended;

		Source(Flow.Subscriber<? super byte[]> subscriber, byte[] payload, long deadline) {
			this.subscriber = subscriber;
			this.payload = payload;
			this.deadline = deadline;
		}

		@Override
		public void request(long messages) {
			if (this.requested.getAndAdd(messages) > 0) {
				return;
			}
			long more = messages;
			do {
				boolean over = System.nanoTime() - this.deadline >= 0;
				for (long i = 0; i < more && !over && !this.ended; i++) {
					this.subscriber.onNext(this.payload);
				}
				if (over && !this.ended) {
					this.ended = true;
					this.subscriber.onComplete();
				}
				more = this.requested.addAndGet(-more);
			}
			while (more > 0);
		}

		@Override
		public void cancel() {
			this.ended = true;
		}

	}

	/** Counts what comes. */
	private static class Counter implements Flow.Subscriber<byte[]> {

		final CompletableFuture<Long> ended = new CompletableFuture<>();

		private final int bytes;

		private long count;

		Counter(int bytes) {
			this.bytes = bytes;
		}

		@Override
		public void onSubscribe(Flow.Subscription subscription) {
			subscription.request(Long.MAX_VALUE);
		}

		@Override
		public void onNext(byte[] reply) {
			PayloadCalls.check(this.bytes, reply.length);
			this.count++;
		}

		@Override
		public void onError(Throwable failure) {
			this.ended.completeExceptionally(failure);
		}

		@Override
		public void onComplete() {
			this.ended.complete(this.count);
		}

	}

	/**
	 * A stream whose producer never ends, and whose consumer takes a message a second.
	 */
	private static final class SlowStream extends Counter {

		private final Thread consumer = new Thread(this::consume, "slow-consumer");

		private volatile boolean closed;

		private volatile Flow.@Nullable Subscription subscription;

		SlowStream(StreamedPayloads payloads, byte[] payload) {
			super(payload.length);
			payloads
				.echo((subscriber) -> subscriber
					.onSubscribe(new Source(subscriber, payload, System.nanoTime() + Long.MAX_VALUE / 2)))
				.subscribe(this);
			this.consumer.setDaemon(true);
			this.consumer.start();
		}

		@Override
		public void onSubscribe(Flow.Subscription given) {
			this.subscription = given;
		}

		private void consume() {
			while (!this.closed) {
				Flow.Subscription given = this.subscription;
				if (given != null) {
					given.request(1);
				}
				LockSupport.parkNanos(SLOW_NANOS);
			}
		}

		void close() {
			this.closed = true;
			LockSupport.unpark(this.consumer);
			Flow.Subscription given = this.subscription;
			if (given != null) {
				given.cancel();
			}
		}

	}

}
