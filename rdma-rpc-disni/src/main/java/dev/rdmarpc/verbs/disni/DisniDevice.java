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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequestHandler;
import dev.rdmarpc.verbs.DeviceLimits;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.support.Children;
import dev.rdmarpc.verbs.support.LimitChecks;
import dev.rdmarpc.verbs.support.OpenState;
import dev.rdmarpc.verbs.support.QueuePairNumbers;

/**
 * An opened adapter. Its context is the connection manager's, one for the whole process;
 * everything allocated on it is this device's own.
 */
final class DisniDevice implements VerbsDevice {

	/** More completions than were asked for, because all requests report. */
	private static final int COMPLETION_RESERVE = 2;

	private final Adapter adapter;

	private final HeldAdapter held;

	private final AdapterVerbs verbs;

	private final DeviceLimits limits;

	private final DisniConnectionThread connections;

	private final OpenState state;

	private final Children<DisniProtectionDomain> domains;

	private final Children<DisniCompletionQueue> completionQueues;

	private final Children<DisniListener> listeners;

	private final SharedReceivesTable sharedReceives = new SharedReceivesTable();

	private final QueuePairNumbers queuePairNumbers;

	private final LongAdder readSinks = new LongAdder();

	private final ExecutorService aside;

	private DisniDevice(Adapter adapter, HeldAdapter held, AdapterVerbs verbs, ConnectionVerbs connectionVerbs) {
		this.adapter = adapter;
		this.held = held;
		this.verbs = verbs;
		this.state = new OpenState("device " + adapter.name());
		this.domains = new Children<>(this.state, DisniProtectionDomain::close);
		this.completionQueues = new Children<>(this.state, DisniCompletionQueue::close);
		this.listeners = new Children<>(this.state, DisniListener::close);
		this.limits = adapter.attributes().toLimits();
		this.queuePairNumbers = new QueuePairNumbers(this.limits.maxQueuePairs());
		this.connections = new DisniConnectionThread(adapter, connectionVerbs, held::removed);
		this.aside = Executors.newCachedThreadPool((task) -> {
			Thread thread = new Thread(task, "rdma-rpc-" + adapter.name() + "-aside");
			thread.setDaemon(true);
			return thread;
		});
	}

	/** Opens an adapter. */
	static DisniDevice open(Adapter adapter, AdapterVerbs verbs) {
		HeldAdapter held;
		try {
			held = HeldAdapter.open(adapter, verbs);
		}
		catch (IOException ex) {
			throw AdapterVerbs.failure(adapter.name() + " cannot be opened", ex);
		}
		try {
			DisniDevice device = new DisniDevice(adapter, held, verbs, verbs.openConnections());
			device.connections.start();
			return device;
		}
		catch (IOException ex) {
			held.close();
			throw AdapterVerbs.failure("no connection manager for " + adapter.name(), ex);
		}
	}

	@Override
	public String name() {
		return this.adapter.name();
	}

	@Override
	public DeviceLimits limits() {
		return this.limits;
	}

	@Override
	public boolean isRunning() {
		return this.state.isOpen() && this.connections.isRunning() && !this.held.isGone();
	}

	@Override
	public long readSinks() {
		return this.readSinks.sum();
	}

	@Override
	public ProtectionDomain allocateProtectionDomain() {
		this.state.check();
		try {
			return this.domains.add(new DisniProtectionDomain(this,
					new AdapterDomain(this.verbs, this.adapter, this::deliverBatches, this.readSinks), this.connections,
					this.queuePairNumbers, this.sharedReceives, this.domains::remove));
		}
		catch (IOException ex) {
			throw AdapterVerbs.failure("no protection domain", ex);
		}
	}

	@Override
	public CompletionQueue createCompletionQueue(int capacity) {
		this.state.check();
		LimitChecks.checkCompletionQueue(this.limits, capacity);
		try {
			return this.completionQueues.add(new DisniCompletionQueue(this,
					AdapterCompletionQueue.create(this.verbs, this.adapter, capacity * COMPLETION_RESERVE),
					this::runAside, this.sharedReceives, this.completionQueues::remove));
		}
		catch (IOException ex) {
			throw AdapterVerbs.failure("no completion queue of " + capacity, ex);
		}
	}

	@Override
	public ConnectionListener listen(InetSocketAddress address, ListenOptions options,
			ConnectionRequestHandler handler) {
		this.state.check();
		LimitChecks.checkNoTls(this, options.tls());
		return this.listeners
			.add(DisniListener.open(this, this.connections, address, options, handler, this.listeners::remove));
	}

	@Override
	public CompletableFuture<ConnectionInfo> connect(QueuePair queuePair, InetSocketAddress remote,
			ConnectOptions options) {
		this.state.check();
		DisniQueuePair own = DisniQueuePair.of(this, queuePair);
		LimitChecks.checkReadDepths(this.limits, options);
		LimitChecks.checkNoTls(this, options.tls());
		return ConnectAttempt.start(this.connections, own, remote, options);
	}

	/**
	 * Runs what may wait for connections: at once, but not on the connection thread,
	 * without which there would be none.
	 */
	private void runAside(Runnable task) {
		if (this.connections.isCurrent()) {
			try {
				this.aside.execute(task);
				return;
			}
			catch (RejectedExecutionException ex) {
				// closed: nobody waits for connections any more
			}
		}
		task.run();
	}

	private void deliverBatches() {
		this.completionQueues.forEach(DisniCompletionQueue::deliverBatches);
	}

	@Override
	public void close() {
		if (this.state.tryClose()) {
			List<Runnable> steps = List.of(this.listeners::closeAll,
					() -> this.domains.forEach(DisniProtectionDomain::closeQueuePairs), this.connections::shutDown,
					this.aside::shutdown, this.domains::closeAll, this.completionQueues::closeAll, this.held::close);
			runAll(steps.iterator());
		}
	}

	/** Runs one after the other, also after one that has failed. */
	private static void runAll(Iterator<Runnable> steps) {
		if (steps.hasNext()) {
			try {
				steps.next().run();
			}
			finally {
				runAll(steps);
			}
		}
	}

}
