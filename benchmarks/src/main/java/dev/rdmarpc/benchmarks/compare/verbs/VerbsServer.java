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

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ListenOptions;
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

/**
 * Answers messages on one thread, which spins over the completion queue while there are
 * connections and sleeps on it while there are none.
 */
final class VerbsServer implements PeerServer, Runnable {

	private static final int BATCH = 64;

	private final VerbsDevice device = new IwarpProvider().openDevice(null);

	private final ProtectionDomain domain = this.device.allocateProtectionDomain();

	private final CompletionQueue completions = this.device.createCompletionQueue(4096);

	private final AtomicInteger connections = new AtomicInteger();

	private final ConnectionListener listener;

	private final Thread thread = new Thread(this, "verbs-server");

	private volatile boolean closed;

	private VerbsServer() {
		this.listener = this.device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
				ListenOptions.DEFAULTS, this::accept);
	}

	static VerbsServer start() {
		VerbsServer server = new VerbsServer();
		server.thread.setDaemon(true);
		server.thread.start();
		return server;
	}

	private void accept(ConnectionRequest request) {
		this.connections.incrementAndGet();
		Connection connection = new Connection(ConnectionPlan.decode(request.privateData()));
		CompletableFuture<ConnectionInfo> unused = request.accept(connection.queuePair, ConnectOptions.DEFAULTS)
			.whenComplete((info, failure) -> {
				if (failure != null) {
					connection.close();
				}
			});
		this.completions.wakeUp();
	}

	@Override
	public int port() {
		return this.listener.localAddress().getPort();
	}

	@Override
	public void close() throws IOException {
		this.closed = true;
		this.completions.wakeUp();
		try {
			this.thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new InterruptedIOException();
		}
		this.device.close();
	}

	@Override
	public void run() {
		WorkCompletion[] batch = new WorkCompletion[BATCH];
		for (int i = 0; i < BATCH; i++) {
			batch[i] = new WorkCompletion();
		}
		while (!this.closed) {
			if (this.connections.get() == 0) {
				this.completions.requestNotification(false);
				if (this.completions.poll(batch) == 0 && this.connections.get() == 0) {
					this.completions.await(TimeUnit.SECONDS.toNanos(1));
				}
				continue;
			}
			int count = this.completions.poll(batch);
			for (int i = 0; i < count; i++) {
				((Connection) batch[i].queuePair().listener()).complete(batch[i]);
			}
			if (count == 0) {
				Thread.onSpinWait();
			}
		}
	}

	/** One queue pair with one buffer per slot, in which a request becomes its reply. */
	private final class Connection implements QueuePairListener {

		private final ConnectionPlan plan;

		private final MemoryRegion region;

		private final QueuePair queuePair;

		private final WorkRequest request = new WorkRequest(1);

		private final AtomicBoolean open = new AtomicBoolean(true);

		Connection(ConnectionPlan plan) {
			this.plan = plan;
			int slots = plan.outstanding();
			this.region = VerbsServer.this.domain.registerMemory(ByteBuffer.allocateDirect(slots * plan.requestBytes()),
					EnumSet.of(AccessFlag.LOCAL_WRITE));
			this.queuePair = VerbsServer.this.domain
				.createQueuePair(new QueuePairOptions(VerbsServer.this.completions, null, slots, slots, 1, 1, this));
			for (int slot = 0; slot < slots; slot++) {
				receive(slot);
			}
		}

		private void receive(int slot) {
			this.queuePair.postReceive(this.request.receive(slot)
				.addSegment(this.region, slot * this.plan.requestBytes(), this.plan.requestBytes()));
		}

		private void complete(WorkCompletion completion) {
			if (!completion.isSuccess()) {
				return;
			}
			int slot = (int) completion.id();
			if (completion.opcode() == WorkOpcode.RECEIVE) {
				this.queuePair.postSend(this.request.send(slot)
					.addSegment(this.region, slot * this.plan.requestBytes(), this.plan.replyBytes()));
			}
			else {
				receive(slot);
			}
		}

		@Override
		public void onDisconnected(QueuePair ended, QueuePairFault fault) {
			close();
		}

		private void close() {
			if (this.open.getAndSet(false)) {
				this.queuePair.close();
				this.region.close();
				VerbsServer.this.connections.decrementAndGet();
			}
		}

	}

}
