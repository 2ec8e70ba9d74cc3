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

package dev.rdmarpc.benchmarks.compare.aeron;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.FragmentAssembler;
import io.aeron.Subscription;
import io.aeron.logbuffer.BufferClaim;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.benchmarks.compare.LatencyRecorder;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.Workload;

/** Makes calls over all its connections on the calling thread, spinning over them. */
final class AeronClient implements PeerClient {

	private static final int FRAGMENTS = 64;

	private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(10);

	private final Aeron aeron;

	private final List<Connection> connections = new ArrayList<>();

	private AeronClient(Aeron aeron) {
		this.aeron = aeron;
	}

	static AeronClient connect(Path directory, Workload workload) {
		AeronClient client = new AeronClient(
				Aeron.connect(new Aeron.Context().aeronDirectoryName(directory.toString())));
		try {
			for (int i = 0; i < workload.connections(); i++) {
				client.connections.add(new Connection(client.aeron, workload));
			}
			return client;
		}
		catch (Throwable ex) {
			client.close();
			throw ex;
		}
	}

	@Override
	public long run(long durationNanos, LatencyRecorder latencies) {
		Connection[] polled = this.connections.toArray(Connection[]::new);
		long started = System.nanoTime();
		for (Connection connection : polled) {
			connection.begin(started, started + durationNanos, latencies);
		}
		int outstanding;
		do {
			outstanding = 0;
			for (Connection connection : polled) {
				connection.poll();
				outstanding += connection.outstanding;
			}
		}
		while (outstanding > 0);
		long calls = 0;
		for (Connection connection : polled) {
			calls += connection.calls;
		}
		return calls;
	}

	@Override
	public void close() {
		this.aeron.close();
	}

	/** A stream of requests, and one of replies. */
	private static final class Connection {

		private final Workload workload;

		private final ExclusivePublication requests;

		private final Subscription replies;

		private final BufferClaim claim = new BufferClaim();

		private final UnsafeBuffer request;

		private final long[] started;

		private final FragmentAssembler whole = new FragmentAssembler(
				(buffer, at, length, header) -> complete(buffer, at, length));

		private @Nullable LatencyRecorder latencies;

		private long deadline;

		private int outstanding;

		private long calls;

		Connection(Aeron aeron, Workload workload) {
			this.workload = workload;
			this.started = new long[workload.outstanding()];
			this.request = new UnsafeBuffer(new byte[AeronMessage.SIZE + workload.payloadBytes()]);
			int stream = ThreadLocalRandom.current().nextInt(AeronMessage.REQUESTS + 1, Integer.MAX_VALUE);
			this.replies = aeron.addSubscription(AeronMessage.CHANNEL, stream);
			this.requests = aeron.addExclusivePublication(AeronMessage.CHANNEL, AeronMessage.REQUESTS);
			await("the server", this.requests::isConnected);
			AeronMessage.header(this.request, 0, 0, AeronMessage.HELLO, stream);
			AeronMessage.send(this.requests, this.claim, this.request, 0, AeronMessage.SIZE);
			await("its replies", this.replies::isConnected);
			AeronMessage.header(this.request, 0, workload.payloadBytes(),
					workload.isEcho() ? AeronMessage.ECHO : AeronMessage.UPLOAD, 0);
		}

		private static void await(String what, BooleanSupplier there) {
			long until = System.nanoTime() + CONNECT_NANOS;
			while (!there.getAsBoolean()) {
				if (System.nanoTime() - until > 0) {
					throw new IllegalStateException(what + " cannot be reached");
				}
				Thread.onSpinWait();
			}
		}

		private void begin(long now, long newDeadline, LatencyRecorder recorder) {
			this.latencies = recorder;
			this.deadline = newDeadline;
			this.calls = 0;
			for (int slot = 0; slot < this.started.length; slot++) {
				this.outstanding++;
				request(slot, now);
			}
		}

		private void request(int slot, long now) {
			this.started[slot] = now;
			this.request.putInt(AeronMessage.SLOT_OFFSET, slot);
			AeronMessage.send(this.requests, this.claim, this.request, 0, this.request.capacity());
		}

		private void poll() {
			if (this.replies.poll(this.whole, FRAGMENTS) == 0) {
				Thread.onSpinWait();
			}
		}

		private void complete(DirectBuffer buffer, int at, int length) {
			int replyBytes = this.workload.replyBytes();
			if (length != AeronMessage.SIZE + replyBytes
					|| buffer.getInt(at + AeronMessage.BYTES_OFFSET) != replyBytes) {
				throw new IllegalStateException("reply of the wrong size");
			}
			int slot = buffer.getInt(at + AeronMessage.SLOT_OFFSET);
			long now = System.nanoTime();
			Objects.requireNonNull(this.latencies).record(now - this.started[slot]);
			this.calls++;
			if (now - this.deadline < 0) {
				request(slot, now);
			}
			else {
				this.outstanding--;
			}
		}

	}

}
