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
import java.util.ArrayList;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.support.LimitChecks;
import dev.rdmarpc.verbs.support.QueuePairNumbers;

/**
 * An opened adapter. Its context is the connection manager's, one for the whole process;
 * everything allocated on it is this device's own.
 */
final class DisniDevice implements VerbsDevice {

	/** More completions than were asked for, because all requests report. */
	private static final int COMPLETION_RESERVE = 2;

	private final Adapter adapter;

	private final AdapterVerbs verbs;

	private final DeviceLimits limits;

	private final ConnectionThread connections;

	private final Set<DisniProtectionDomain> domains = ConcurrentHashMap.newKeySet();

	private final Set<DisniCompletionQueue> completionQueues = ConcurrentHashMap.newKeySet();

	private final Set<DisniListener> listeners = ConcurrentHashMap.newKeySet();

	private final Map<Integer, SharedReceives> sharedReceives = new ConcurrentHashMap<>();

	private final QueuePairNumbers queuePairNumbers;

	private final AtomicInteger nextGeneration = new AtomicInteger(1);

	private final AtomicInteger nextSharedReceives = new AtomicInteger(1);

	private final AtomicBoolean closed = new AtomicBoolean();

	private final LongAdder readSinks = new LongAdder();

	private final ExecutorService aside;

	private DisniDevice(Adapter adapter, AdapterVerbs verbs, ConnectionVerbs connectionVerbs) {
		this.adapter = adapter;
		this.verbs = verbs;
		this.limits = adapter.attributes().toLimits();
		this.queuePairNumbers = new QueuePairNumbers(this.limits.maxQueuePairs());
		this.connections = new ConnectionThread(adapter.name(), connectionVerbs);
		this.aside = Executors.newCachedThreadPool((task) -> {
			Thread thread = new Thread(task, "rdma-rpc-" + adapter.name() + "-aside");
			thread.setDaemon(true);
			return thread;
		});
	}

	/** Opens an adapter. */
	static DisniDevice open(Adapter adapter, AdapterVerbs verbs) {
		SiwPlaceholder.keepFor(adapter);
		try {
			DisniDevice device = new DisniDevice(adapter, verbs, verbs.openConnections());
			device.connections.start();
			return device;
		}
		catch (IOException ex) {
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
		return !this.closed.get() && this.connections.isRunning();
	}

	@Override
	public long readSinks() {
		return this.readSinks.sum();
	}

	Adapter adapter() {
		return this.adapter;
	}

	AdapterAttributes attributes() {
		return this.adapter.attributes();
	}

	AdapterVerbs verbs() {
		return this.verbs;
	}

	QueuePairNumbers queuePairNumbers() {
		return this.queuePairNumbers;
	}

	ConnectionThread connections() {
		return this.connections;
	}

	/**
	 * InfiniBand fills private data up to a fixed size, so trailing zeros are not told.
	 */
	byte[] privateDataOf(ConnectionEvent event) {
		return attributes().iwarp() ? event.privateData() : event.unpaddedPrivateData();
	}

	@Override
	public ProtectionDomain allocateProtectionDomain() {
		checkOpen();
		try {
			DisniProtectionDomain domain = new DisniProtectionDomain(this,
					new AdapterDomain(this.verbs, this.adapter, this::deliverBatches, this.readSinks));
			this.domains.add(domain);
			return domain;
		}
		catch (IOException ex) {
			throw AdapterVerbs.failure("no protection domain", ex);
		}
	}

	@Override
	public CompletionQueue createCompletionQueue(int capacity) {
		checkOpen();
		LimitChecks.checkCompletionQueue(this.limits, capacity);
		try {
			DisniCompletionQueue queue = new DisniCompletionQueue(this,
					AdapterCompletionQueue.create(this.verbs, this.adapter, capacity * COMPLETION_RESERVE));
			this.completionQueues.add(queue);
			return queue;
		}
		catch (IOException ex) {
			throw AdapterVerbs.failure("no completion queue of " + capacity, ex);
		}
	}

	@Override
	public ConnectionListener listen(InetSocketAddress address, ListenOptions options,
			ConnectionRequestHandler handler) {
		checkOpen();
		DisniListener listener = DisniListener.open(this, address, options, handler);
		this.listeners.add(listener);
		return listener;
	}

	@Override
	public CompletableFuture<ConnectionInfo> connect(QueuePair queuePair, InetSocketAddress remote,
			ConnectOptions options) {
		checkOpen();
		DisniQueuePair own = own(queuePair);
		LimitChecks.checkReadDepths(this.limits, options);
		return ConnectAttempt.start(this, own, remote, options);
	}

	/** The queue pair as one of this device. */
	DisniQueuePair own(QueuePair queuePair) {
		if (queuePair instanceof DisniQueuePair own && own.device() == this) {
			return own;
		}
		throw new VerbsException(VerbsError.INVALID_ARGUMENT, queuePair + " is not of device " + name());
	}

	/**
	 * Runs what may wait for connections: at once, but not on the connection thread,
	 * without which there would be none.
	 */
	void runAside(Runnable task) {
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

	/** What the work requests of a new connection are marked with. */
	int nextGeneration() {
		return this.nextGeneration.getAndIncrement() & WorkId.MASK;
	}

	/** What the receives of a new shared receive queue are marked with. */
	int nextSharedNumber() {
		return this.nextSharedReceives.getAndIncrement() & WorkId.MASK;
	}

	void addShared(SharedReceives receives) {
		this.sharedReceives.put(receives.number(), receives);
	}

	void removeShared(SharedReceives receives) {
		this.sharedReceives.remove(receives.number());
	}

	/** A shared receive was taken by a queue pair that has gone. */
	void forgetShared(int number, int slot) {
		SharedReceives receives = this.sharedReceives.get(number);
		if (receives != null) {
			receives.forget(slot);
		}
	}

	void removed(DisniProtectionDomain domain) {
		this.domains.remove(domain);
	}

	void removed(DisniCompletionQueue queue) {
		this.completionQueues.remove(queue);
	}

	void removed(DisniListener listener) {
		this.listeners.remove(listener);
	}

	private void checkOpen() {
		if (this.closed.get()) {
			throw new VerbsException(VerbsError.CLOSED, "device " + name() + " is closed");
		}
	}

	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true)) {
			new ArrayList<>(this.listeners).forEach(DisniListener::close);
			this.domains.forEach(DisniProtectionDomain::closeQueuePairs);
			this.connections.shutDown();
			this.aside.shutdown();
			new ArrayList<>(this.domains).forEach(DisniProtectionDomain::close);
			new ArrayList<>(this.completionQueues).forEach(DisniCompletionQueue::close);
		}
	}

}
