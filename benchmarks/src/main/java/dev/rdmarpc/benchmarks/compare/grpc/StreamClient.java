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

package dev.rdmarpc.benchmarks.compare.grpc;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;

import dev.rdmarpc.benchmarks.compare.LatencyRecorder;
import dev.rdmarpc.benchmarks.compare.PeerCalls;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.grpc.PayloadsGrpc.PayloadsStub;

/**
 * Sends payloads on one stream whenever that is ready, for as long as a run lasts, and
 * counts what comes back.
 */
record StreamClient(PayloadsStub stub, byte[] payload, PeerCalls connection) implements PeerClient {

	private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(30);

	@Override
	public long run(long durationNanos, LatencyRecorder latencies) throws Exception {
		Exchange exchange = new Exchange(this.payload, System.nanoTime() + durationNanos);
		this.stub.echoAll(exchange);
		return exchange.ended.get(durationNanos + GRACE_NANOS, TimeUnit.NANOSECONDS);
	}

	@Override
	public void close() throws IOException {
		this.connection.close();
	}

	private static final class Exchange implements ClientResponseObserver<byte[], byte[]> {

		/** How many messages are sent between two looks at the clock. */
		private static final int BATCH = 64;

		final CompletableFuture<Long> ended = new CompletableFuture<>();

		private final byte[] payload;

		private final long deadline;

		private long count;

		private boolean completed;

		Exchange(byte[] payload, long deadline) {
			this.payload = payload;
			this.deadline = deadline;
		}

		@Override
		public void beforeStart(ClientCallStreamObserver<byte[]> requests) {
			requests.setOnReadyHandler(() -> send(requests));
		}

		private void send(ClientCallStreamObserver<byte[]> requests) {
			while (!this.completed && requests.isReady()) {
				for (int i = 0; i < BATCH && requests.isReady(); i++) {
					requests.onNext(this.payload);
				}
				if (System.nanoTime() - this.deadline >= 0) {
					this.completed = true;
					requests.onCompleted();
				}
			}
		}

		@Override
		public void onNext(byte[] reply) {
			if (reply.length != this.payload.length) {
				throw new IllegalStateException("reply of " + reply.length + " bytes");
			}
			this.count++;
		}

		@Override
		public void onError(Throwable cause) {
			this.ended.completeExceptionally(cause);
		}

		@Override
		public void onCompleted() {
			this.ended.complete(this.count);
		}

	}

}
