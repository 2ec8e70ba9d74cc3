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

package dev.rdmarpc.benchmarks.compare.verbs;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import dev.rdmarpc.benchmarks.compare.LatencyRecorder;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.Workload;
import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

/** Makes calls over all its queue pairs on the calling thread, spinning. */
final class VerbsClient implements PeerClient {

	private static final int BATCH = 64;

	private final VerbsDevice device = new IwarpProvider().openDevice(null);

	private final ProtectionDomain domain = this.device.allocateProtectionDomain();

	private final CompletionQueue completions = this.device.createCompletionQueue(4096);

	private final WorkCompletion[] batch = new WorkCompletion[BATCH];

	private final List<Connection> connections = new ArrayList<>();

	private LatencyRecorder latencies = (nanos) -> {
	};

	private long now;

	private long deadline;

	private long calls;

	private int outstanding;

	private VerbsClient() {
		for (int i = 0; i < BATCH; i++) {
			this.batch[i] = new WorkCompletion();
		}
	}

	static VerbsClient connect(InetSocketAddress server, Workload workload) throws Exception {
		VerbsClient client = new VerbsClient();
		ConnectionPlan plan = ConnectionPlan.of(workload);
		for (int i = 0; i < workload.connections(); i++) {
			Connection connection = client.new Connection(plan);
			client.device.connect(connection.queuePair, server, ConnectOptions.DEFAULTS.withPrivateData(plan.encode()))
				.get();
			client.connections.add(connection);
		}
		return client;
	}

	@Override
	public long run(long durationNanos, LatencyRecorder recorder) {
		this.latencies = recorder;
		this.calls = 0;
		this.now = System.nanoTime();
		this.deadline = this.now + durationNanos;
		for (Connection connection : this.connections) {
			for (int slot = 0; slot < connection.plan.outstanding(); slot++) {
				connection.call(slot);
				this.outstanding++;
			}
		}
		while (this.outstanding > 0) {
			int count = this.completions.poll(this.batch);
			if (count == 0) {
				Thread.onSpinWait();
				continue;
			}
			this.now = System.nanoTime();
			for (int i = 0; i < count; i++) {
				((Connection) this.batch[i].queuePair().listener()).complete(this.batch[i]);
			}
		}
		return this.calls;
	}

	@Override
	public void close() {
		this.device.close();
	}

	/** One queue pair; a reply lands in any of its receive buffers and names its slot. */
	private final class Connection implements QueuePairListener {

		private final ConnectionPlan plan;

		private final MemoryRegion requests;

		private final MemoryRegion replies;

		private final QueuePair queuePair;

		private final WorkRequest request = new WorkRequest(2);

		private final long[] started;

		Connection(ConnectionPlan plan) {
			this.plan = plan;
			int slots = plan.outstanding();
			this.started = new long[slots];
			this.requests = register(slots * Integer.BYTES + plan.requestBytes());
			this.replies = register(slots * plan.replyBytes());
			this.queuePair = VerbsClient.this.domain.createQueuePair(
					new QueuePairOptions(VerbsClient.this.completions, null, 2 * slots, slots, 2, 1, this));
			for (int slot = 0; slot < slots; slot++) {
				this.requests.memory().putInt(slot * Integer.BYTES, slot);
				receive(slot);
			}
		}

		private MemoryRegion register(int bytes) {
			return VerbsClient.this.domain.registerMemory(ByteBuffer.allocateDirect(bytes),
					EnumSet.of(AccessFlag.LOCAL_WRITE));
		}

		private void receive(int buffer) {
			this.queuePair.postReceive(this.request.receive(buffer)
				.addSegment(this.replies, buffer * this.plan.replyBytes(), this.plan.replyBytes()));
		}

		private void call(int slot) {
			int payload = this.plan.requestBytes() - Integer.BYTES;
			this.started[slot] = VerbsClient.this.now;
			this.queuePair.postSend(this.request.send(slot)
				.addSegment(this.requests, slot * Integer.BYTES, Integer.BYTES)
				.addSegment(this.requests, this.plan.outstanding() * Integer.BYTES, payload));
		}

		private void complete(WorkCompletion completion) {
			if (!completion.isSuccess()) {
				throw new IllegalStateException("completed with " + completion);
			}
			if (completion.opcode() != WorkOpcode.RECEIVE) {
				return;
			}
			if (completion.byteLength() != this.plan.replyBytes()) {
				throw new IllegalStateException("reply of the wrong size");
			}
			int buffer = (int) completion.id();
			int slot = this.replies.memory().getInt(buffer * this.plan.replyBytes());
			receive(buffer);
			VerbsClient.this.latencies.record(VerbsClient.this.now - this.started[slot]);
			VerbsClient.this.calls++;
			if (VerbsClient.this.now - VerbsClient.this.deadline < 0) {
				call(slot);
			}
			else {
				VerbsClient.this.outstanding--;
			}
		}

		@Override
		public void onDisconnected(QueuePair ended, QueuePairFault fault) {
			// a run that waits for replies is told by the completions that are flushed
		}

	}

}
