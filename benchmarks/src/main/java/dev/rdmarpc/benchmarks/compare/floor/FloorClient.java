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

package dev.rdmarpc.benchmarks.compare.floor;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

import dev.rdmarpc.benchmarks.compare.Exchange;
import dev.rdmarpc.benchmarks.compare.LatencyRecorder;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.Workload;

/** Makes calls over all its connections on the calling thread, spinning over them. */
final class FloorClient implements PeerClient {

	private final List<Connection> connections;

	private FloorClient(List<Connection> connections) {
		this.connections = connections;
	}

	static FloorClient connect(Endpoint endpoint, int port, Workload workload) throws IOException {
		List<Connection> connections = new ArrayList<>();
		for (int i = 0; i < workload.connections(); i++) {
			SocketChannel channel = SocketChannel.open(endpoint.address(port));
			endpoint.prepare(channel);
			connections.add((workload.exchange() == Exchange.ECHO) ? new EchoConnection(channel, workload)
					: new UploadConnection(channel, workload));
		}
		return new FloorClient(connections);
	}

	@Override
	public long run(long durationNanos, LatencyRecorder latencies) throws IOException {
		Connection[] polled = this.connections.toArray(Connection[]::new);
		long started = System.nanoTime();
		long deadline = started + durationNanos;
		for (Connection connection : polled) {
			connection.begin(started, deadline);
		}
		int outstanding;
		do {
			outstanding = 0;
			for (Connection connection : polled) {
				connection.poll(latencies);
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
	public void close() throws IOException {
		for (Connection connection : this.connections) {
			connection.channel.close();
		}
	}

	/** The state of one connection; subclasses put requests on the wire. */
	abstract static class Connection {

		final SocketChannel channel;

		final Workload workload;

		private final ByteBuffer in = ByteBuffer.allocateDirect(256 * 1024);

		private final long[] started;

		private long deadline;

		private int outstanding;

		private long calls;

		Connection(SocketChannel channel, Workload workload) {
			this.channel = channel;
			this.workload = workload;
			this.started = new long[workload.outstanding()];
		}

		/** Queues the request of a slot; there is room for those of all slots. */
		abstract void enqueue(int slot);

		/** Writes as much of what is queued as the socket takes. */
		abstract void flush() throws IOException;

		private void begin(long now, long newDeadline) throws IOException {
			this.deadline = newDeadline;
			this.calls = 0;
			for (int slot = 0; slot < this.started.length; slot++) {
				this.started[slot] = now;
				this.outstanding++;
				enqueue(slot);
			}
			flush();
		}

		private void poll(LatencyRecorder latencies) throws IOException {
			int read = this.channel.read(this.in);
			if (read < 0) {
				throw new EOFException("server closed the connection");
			}
			if (read > 0) {
				complete(System.nanoTime(), latencies);
			}
			else {
				Thread.onSpinWait();
			}
			flush();
		}

		private void complete(long now, LatencyRecorder latencies) {
			int replyBytes = this.workload.replyBytes();
			int size = FrameHeader.SIZE + replyBytes;
			ByteBuffer buffer = this.in.flip();
			int at = 0;
			for (; buffer.limit() - at >= size; at += size) {
				if (buffer.getInt(at + FrameHeader.BYTES_OFFSET) != replyBytes) {
					throw new IllegalStateException("reply of the wrong size");
				}
				int slot = buffer.getInt(at + FrameHeader.SLOT_OFFSET);
				latencies.record(now - this.started[slot]);
				this.calls++;
				if (now - this.deadline < 0) {
					this.started[slot] = now;
					enqueue(slot);
				}
				else {
					this.outstanding--;
				}
			}
			buffer.position(at).compact();
		}

	}

	/** Copies small requests into one buffer, so that one write carries many. */
	private static final class EchoConnection extends Connection {

		private final ByteBuffer payload;

		private final ByteBuffer out;

		EchoConnection(SocketChannel channel, Workload workload) {
			super(channel, workload);
			this.payload = ByteBuffer.allocateDirect(workload.payloadBytes());
			this.out = ByteBuffer.allocateDirect(workload.outstanding() * (FrameHeader.SIZE + workload.payloadBytes()));
		}

		@Override
		void enqueue(int slot) {
			int bytes = this.payload.capacity();
			this.out.putInt(bytes).putInt(FrameHeader.ECHO).putInt(slot);
			this.out.put(this.out.position(), this.payload, 0, bytes);
			this.out.position(this.out.position() + bytes);
		}

		@Override
		void flush() throws IOException {
			if (this.out.position() > 0) {
				this.out.flip();
				this.channel.write(this.out);
				this.out.compact();
			}
		}

	}

	/** Gathers large requests from where they are, several in one write. */
	private static final class UploadConnection extends Connection {

		private static final int MOST_FRAMES_PER_WRITE = 8;

		private final ByteBuffer[] gather;

		private final int[] queue;

		private int queued;

		private int head;

		private int first;

		private int last;

		UploadConnection(SocketChannel channel, Workload workload) {
			super(channel, workload);
			this.queue = new int[workload.outstanding()];
			ByteBuffer payload = ByteBuffer.allocateDirect(workload.payloadBytes());
			this.gather = new ByteBuffer[2 * Math.min(MOST_FRAMES_PER_WRITE, workload.outstanding())];
			for (int i = 0; i < this.gather.length; i += 2) {
				this.gather[i] = ByteBuffer.allocateDirect(FrameHeader.SIZE);
				this.gather[i + 1] = payload.duplicate();
			}
		}

		@Override
		void enqueue(int slot) {
			this.queue[(this.head + this.queued++) % this.queue.length] = slot;
		}

		@Override
		void flush() throws IOException {
			if (this.first == this.last) {
				this.first = 0;
				this.last = 0;
				while (this.queued > 0 && this.last < this.gather.length) {
					this.gather[this.last].clear();
					this.gather[this.last].putInt(this.workload.payloadBytes())
						.putInt(FrameHeader.UPLOAD)
						.putInt(this.queue[this.head])
						.flip();
					this.gather[this.last + 1].clear();
					this.last += 2;
					this.head = (this.head + 1) % this.queue.length;
					this.queued--;
				}
			}
			if (this.first < this.last) {
				this.channel.write(this.gather, this.first, this.last - this.first);
				while (this.first < this.last && !this.gather[this.first].hasRemaining()) {
					this.first++;
				}
			}
		}

	}

}
