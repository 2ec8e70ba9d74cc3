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

package dev.rdmarpc.verbs.shm;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

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
import dev.rdmarpc.verbs.shm.ring.Grantee;
import dev.rdmarpc.verbs.shm.ring.RegionTable;
import dev.rdmarpc.verbs.support.Children;
import dev.rdmarpc.verbs.support.LimitChecks;
import dev.rdmarpc.verbs.support.OpenState;
import dev.rdmarpc.verbs.support.PostedSends;
import dev.rdmarpc.verbs.support.QueuePairNumbers;

/**
 * The device of shared memory: region table, connection thread, and all that was created
 * on it.
 */
final class SharedMemoryDevice implements VerbsDevice {

	private static final int MAX_COMPLETION_QUEUE_ENTRIES = 1 << 20;

	private static final int MAX_QUEUE_DEPTH = 1 << 18;

	private static final int MAX_SEGMENTS = 32;

	private final String name;

	private final SharedMemoryOptions options;

	private final Rendezvous rendezvous;

	private final DeviceLimits limits;

	private final SecureRandom random = new SecureRandom();

	/** What is shared with processes that are trusted, {@code null} if nothing is. */
	private final @Nullable TrustedMemory trusted;

	private final RegionTable regions;

	private final ConnectionThread connectionThread;

	private final OpenState state;

	private final Children<SharedMemoryListener> listeners;

	private final Children<SharedMemoryDomain> domains;

	private final Children<SharedMemoryCompletionQueue> completionQueues;

	private final QueuePairNumbers queuePairNumbers;

	/** By completion queues that are closed. */
	private final LongAdder copiedBefore = new LongAdder();

	SharedMemoryDevice(String name, SharedMemoryOptions options, Rendezvous rendezvous) {
		this.name = name;
		this.options = options;
		this.rendezvous = rendezvous;
		this.trusted = (options.trust() == SharedMemoryTrust.SAME_USER) ? TrustedMemory.open(rendezvous) : null;
		this.regions = new RegionTable(this.random, (this.trusted != null) ? this.trusted.table() : null);
		this.state = new OpenState("device " + name);
		this.listeners = new Children<>(this.state, SharedMemoryListener::close);
		this.domains = new Children<>(this.state, SharedMemoryDomain::close);
		this.completionQueues = new Children<>(this.state, SharedMemoryCompletionQueue::close);
		this.limits = new DeviceLimits(options.maxQueuePairs(), MAX_COMPLETION_QUEUE_ENTRIES, MAX_QUEUE_DEPTH,
				MAX_QUEUE_DEPTH, MAX_SEGMENTS, MAX_SEGMENTS, options.maxReadDepth(), PostedSends.MAX_MESSAGE_BYTES,
				true, true, true, false);
		this.queuePairNumbers = new QueuePairNumbers(options.maxQueuePairs());
		this.connectionThread = startThread();
	}

	private ConnectionThread startThread() {
		try {
			return new ConnectionThread(this.name);
		}
		catch (Throwable ex) {
			closeTrusted();
			throw ex;
		}
	}

	private void closeTrusted() {
		if (this.trusted != null) {
			this.trusted.close();
		}
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public DeviceLimits limits() {
		return this.limits;
	}

	@Override
	public long copiedBytes() {
		return this.copiedBefore.sum() + this.completionQueues.sum(SharedMemoryCompletionQueue::copiedBytes);
	}

	@Override
	public long stagingBytes() {
		return this.completionQueues.sum(SharedMemoryCompletionQueue::mappedBytes);
	}

	@Override
	public long maxStagingBytes() {
		return Connection.mappedBytes(this.options.ringBytes()) * this.options.maxQueuePairs();
	}

	@Override
	public boolean isRunning() {
		return this.state.isOpen() && !this.connectionThread.hasEnded();
	}

	@Override
	public boolean mayReach(InetSocketAddress remote) {
		return !remote.isUnresolved() && this.rendezvous.hasListener(remote.getPort())
				&& SharedMemoryListener.isHere(remote);
	}

	SharedMemoryOptions options() {
		return this.options;
	}

	Rendezvous rendezvous() {
		return this.rendezvous;
	}

	RegionTable regions() {
		return this.regions;
	}

	/** What is shared with processes that are trusted, {@code null} if nothing is. */
	@Nullable TrustedMemory trusted() {
		return this.trusted;
	}

	/** A number for a {@link Grantee}. */
	long newGrantNumber() {
		return this.random.nextLong() | 1;
	}

	QueuePairNumbers queuePairNumbers() {
		return this.queuePairNumbers;
	}

	ConnectionThread connectionThread() {
		return this.connectionThread;
	}

	@Override
	public ProtectionDomain allocateProtectionDomain() {
		this.state.check();
		return this.domains.add(new SharedMemoryDomain(this));
	}

	@Override
	public CompletionQueue createCompletionQueue(int capacity) {
		this.state.check();
		LimitChecks.checkCompletionQueue(this.limits, capacity);
		return this.completionQueues.add(new SharedMemoryCompletionQueue(this, capacity));
	}

	@Override
	public ConnectionListener listen(InetSocketAddress address, ListenOptions listenOptions,
			ConnectionRequestHandler handler) {
		this.state.check();
		LimitChecks.checkNoTls(this, listenOptions.tls());
		return this.listeners.add(SharedMemoryListener.open(this, address, listenOptions, handler));
	}

	@Override
	public CompletableFuture<ConnectionInfo> connect(QueuePair queuePair, InetSocketAddress remote,
			ConnectOptions connectOptions) {
		this.state.check();
		LimitChecks.checkNoTls(this, connectOptions.tls());
		return Initiator.start(this, claim(queuePair, connectOptions), remote, connectOptions);
	}

	/** Claims a queue pair for a connection attempt. */
	Lifecycle claim(QueuePair queuePair, ConnectOptions connectOptions) {
		Lifecycle lifecycle = own(queuePair).lifecycle();
		LimitChecks.checkReadDepths(this.limits, connectOptions);
		lifecycle.beginConnecting();
		return lifecycle;
	}

	/** The queue pair as one of this device. */
	SharedMemoryQueuePair own(QueuePair queuePair) {
		if (queuePair instanceof SharedMemoryQueuePair own && own.device() == this) {
			return own;
		}
		throw new VerbsException(VerbsError.INVALID_ARGUMENT, queuePair + " is not of device " + this.name);
	}

	/**
	 * Returns when every step of an engine that was under way at the call has ended. The
	 * caller holds no lock, or only that of its own engine.
	 */
	void awaitSteps() {
		this.completionQueues.forEach((queue) -> {
			queue.engine().lock();
			queue.engine().unlock();
		});
	}

	void removed(SharedMemoryListener listener) {
		this.listeners.remove(listener);
	}

	void removed(SharedMemoryDomain domain) {
		this.domains.remove(domain);
	}

	void removed(SharedMemoryCompletionQueue queue) {
		if (this.completionQueues.remove(queue)) {
			this.copiedBefore.add(queue.copiedBytes());
		}
	}

	@Override
	public void close() {
		if (this.state.tryClose()) {
			try {
				this.listeners.closeAll();
				this.connectionThread.stopAccepting();
				this.domains.closeAll();
				this.completionQueues.closeAll();
				this.connectionThread.shutDown();
			}
			finally {
				closeTrusted();
			}
		}
	}

}
