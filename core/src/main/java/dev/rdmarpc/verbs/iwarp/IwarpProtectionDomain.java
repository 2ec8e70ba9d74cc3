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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.iwarp.rdmap.IwarpMemoryRegion;
import dev.rdmarpc.verbs.support.LimitChecks;
import dev.rdmarpc.verbs.support.Registration;

/**
 * A protection domain of user-space iWARP: owns its regions, receive queues and queue
 * pairs.
 */
final class IwarpProtectionDomain implements ProtectionDomain {

	private final IwarpDevice device;

	private final Set<IwarpMemoryRegion> regions = ConcurrentHashMap.newKeySet();

	private final Set<IwarpSharedReceiveQueue> receiveQueues = ConcurrentHashMap.newKeySet();

	private final Set<IwarpQueuePair> queuePairs = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean closed = new AtomicBoolean();

	IwarpProtectionDomain(IwarpDevice device) {
		this.device = device;
	}

	@Override
	public IwarpDevice device() {
		return this.device;
	}

	@Override
	public MemoryRegion registerMemory(ByteBuffer memory, Set<AccessFlag> access) {
		return register(memory, access, null);
	}

	@Override
	public MemoryRegion registerMemory(ByteBuffer memory, Set<AccessFlag> access, QueuePair peer) {
		IwarpQueuePair own = this.device.own(peer);
		if (own.protectionDomain() != this) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT, peer + " is not of this protection domain");
		}
		return register(memory, access, own);
	}

	private MemoryRegion register(ByteBuffer memory, Set<AccessFlag> access, @Nullable IwarpQueuePair borrower) {
		checkOpen();
		Registration asked = Registration.of(memory, access);
		IwarpMemoryRegion region = this.device.stags()
			.add((stag, base) -> new IwarpMemoryRegion(this, asked, borrower, stag, base, this::deregister));
		this.regions.add(region);
		return region;
	}

	/**
	 * Ends a region; no step that saw it valid is under way when this returns, whoever
	 * has ended it.
	 */
	private void deregister(IwarpMemoryRegion region) {
		region.invalidate();
		if (this.regions.remove(region)) {
			this.device.stags().remove(region);
		}
		this.device.awaitReactorSteps();
	}

	@Override
	public SharedReceiveQueue createSharedReceiveQueue(int depth, int maxSegments) {
		checkOpen();
		LimitChecks.checkReceiveQueue(this.device.limits(), depth, maxSegments);
		IwarpSharedReceiveQueue queue = new IwarpSharedReceiveQueue(this, depth, maxSegments);
		this.receiveQueues.add(queue);
		return queue;
	}

	@Override
	public QueuePair createQueuePair(QueuePairOptions options) {
		checkOpen();
		if (!(options.completionQueue() instanceof IwarpCompletionQueue completionQueue)
				|| completionQueue.device() != this.device) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT,
					"completion queue is not of device " + this.device.name());
		}
		IwarpSharedReceiveQueue shared = own(options.sharedReceiveQueue());
		LimitChecks.checkQueuePair(this.device.limits(), options);
		int number = this.device.queuePairNumbers().claim();
		boolean complete = false;
		IwarpQueuePair queuePair = null;
		try {
			queuePair = new IwarpQueuePair(this, completionQueue, shared, options, number);
			this.queuePairs.add(queuePair);
			completionQueue.attach(queuePair.lifecycle());
			complete = true;
		}
		finally {
			if (!complete) {
				if (queuePair != null) {
					this.queuePairs.remove(queuePair);
				}
				this.device.queuePairNumbers().release(number);
			}
		}
		if (shared != null) {
			shared.addUser();
		}
		return queuePair;
	}

	private @Nullable IwarpSharedReceiveQueue own(@Nullable SharedReceiveQueue queue) {
		if (queue == null) {
			return null;
		}
		if (queue instanceof IwarpSharedReceiveQueue own && own.protectionDomain() == this) {
			return own;
		}
		throw new VerbsException(VerbsError.INVALID_ARGUMENT, "shared receive queue is not of this protection domain");
	}

	void removed(IwarpQueuePair queuePair) {
		this.queuePairs.remove(queuePair);
		this.device.queuePairNumbers().release(queuePair.number());
	}

	void removed(IwarpSharedReceiveQueue queue) {
		this.receiveQueues.remove(queue);
	}

	private void checkOpen() {
		if (this.closed.get()) {
			throw new VerbsException(VerbsError.CLOSED, "protection domain is closed");
		}
	}

	@Override
	public void close() {
		if (!this.closed.compareAndSet(false, true)) {
			return;
		}
		new ArrayList<>(this.queuePairs).forEach(IwarpQueuePair::close);
		new ArrayList<>(this.receiveQueues).forEach(IwarpSharedReceiveQueue::close);
		new ArrayList<>(this.regions).forEach(IwarpMemoryRegion::close);
		this.device.removed(this);
	}

}
