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

package dev.rdmarpc.verbs.iwarp;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;

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
import dev.rdmarpc.verbs.iwarp.rdmap.StagTable;
import dev.rdmarpc.verbs.support.Children;
import dev.rdmarpc.verbs.support.LimitChecks;
import dev.rdmarpc.verbs.support.OpenState;
import dev.rdmarpc.verbs.support.PostedSends;
import dev.rdmarpc.verbs.support.QueuePairNumbers;

/**
 * The device of user-space iWARP: STag table, connection thread, and all that was created
 * on it.
 */
class IwarpDevice implements VerbsDevice {

	private static final int MAX_COMPLETION_QUEUE_ENTRIES = 1 << 20;

	private static final int MAX_QUEUE_DEPTH = 1 << 18;

	private static final int MAX_SEGMENTS = 32;

	private final String name;

	private final IwarpOptions options;

	private final DeviceLimits limits;

	private final SecureRandom secureRandom = new SecureRandom();

	private final StagTable stags = new StagTable(this.secureRandom);

	private final ConnectionThread connectionThread;

	private final OpenState state;

	private final Children<IwarpProtectionDomain> domains;

	private final Children<IwarpCompletionQueue> completionQueues;

	private final QueuePairNumbers queuePairNumbers;

	/** By completion queues that are closed. */
	private final LongAdder copiedBefore = new LongAdder();

	IwarpDevice(String name, IwarpOptions options) {
		this(name, options, UnaryOperator.identity());
	}

	/**
	 * Creates a device.
	 * @param layer makes the stream under MPA from that of TCP
	 */
	IwarpDevice(String name, IwarpOptions options, UnaryOperator<ByteStream> layer) {
		this.name = name;
		this.options = options;
		this.state = new OpenState("device " + name);
		this.domains = new Children<>(this.state, IwarpProtectionDomain::close);
		this.completionQueues = new Children<>(this.state, IwarpCompletionQueue::close);
		this.limits = new DeviceLimits(options.maxQueuePairs(), MAX_COMPLETION_QUEUE_ENTRIES, MAX_QUEUE_DEPTH,
				MAX_QUEUE_DEPTH, MAX_SEGMENTS, MAX_SEGMENTS, options.maxReadDepth(), PostedSends.MAX_MESSAGE_BYTES,
				true, true, true, false);
		this.queuePairNumbers = new QueuePairNumbers(options.maxQueuePairs());
		this.connectionThread = new ConnectionThread(name, options, layer);
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
		return this.copiedBefore.sum() + this.completionQueues.sum(IwarpCompletionQueue::copiedBytes);
	}

	@Override
	public long stagingBytes() {
		return this.completionQueues.max(IwarpCompletionQueue::stagingBytes);
	}

	@Override
	public long maxStagingBytes() {
		return this.options.stagingBytes();
	}

	@Override
	public boolean isRunning() {
		return this.state.isOpen() && !this.connectionThread.hasEnded();
	}

	@Override
	public boolean supportsTls() {
		return true;
	}

	IwarpOptions options() {
		return this.options;
	}

	StagTable stags() {
		return this.stags;
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
		return this.domains.add(new IwarpProtectionDomain(this));
	}

	@Override
	public CompletionQueue createCompletionQueue(int capacity) {
		this.state.check();
		LimitChecks.checkCompletionQueue(this.limits, capacity);
		return this.completionQueues.add(new IwarpCompletionQueue(this, capacity, this.options, this.secureRandom,
				this::awaitReactorSteps, this::removed));
	}

	@Override
	public ConnectionListener listen(InetSocketAddress address, ListenOptions listenOptions,
			ConnectionRequestHandler handler) {
		this.state.check();
		return IwarpListener.open(this.connectionThread, this.options, address, listenOptions, handler, this::claim);
	}

	@Override
	public CompletableFuture<ConnectionInfo> connect(QueuePair queuePair, InetSocketAddress remote,
			ConnectOptions connectOptions) {
		this.state.check();
		return MpaInitiator.start(claim(queuePair, connectOptions), remote, connectOptions, this.connectionThread,
				this.options);
	}

	/** Claims a queue pair for a connection attempt. */
	private ConnectionLifecycle claim(QueuePair queuePair, ConnectOptions connectOptions) {
		ConnectionLifecycle lifecycle = own(queuePair).lifecycle();
		LimitChecks.checkReadDepths(this.limits, connectOptions);
		lifecycle.beginConnecting();
		return lifecycle;
	}

	/** The queue pair as one of this device. */
	IwarpQueuePair own(QueuePair queuePair) {
		if (queuePair instanceof IwarpQueuePair own && own.device() == this) {
			return own;
		}
		throw new VerbsException(VerbsError.INVALID_ARGUMENT, queuePair + " is not of device " + this.name);
	}

	/**
	 * Returns when every step of a reactor that was under way at the call has ended. The
	 * caller holds no lock, or only that of its own reactor.
	 */
	void awaitReactorSteps() {
		this.completionQueues.forEach((queue) -> {
			queue.engine().lock();
			queue.engine().unlock();
		});
	}

	void removed(IwarpProtectionDomain domain) {
		this.domains.remove(domain);
	}

	private void removed(IwarpCompletionQueue queue) {
		if (this.completionQueues.remove(queue)) {
			this.copiedBefore.add(queue.copiedBytes());
		}
	}

	@Override
	public void close() {
		if (this.state.tryClose()) {
			this.connectionThread.stopAccepting();
			this.domains.closeAll();
			this.completionQueues.closeAll();
			this.connectionThread.shutDown();
		}
	}

}
