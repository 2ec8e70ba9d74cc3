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
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.support.Children;
import dev.rdmarpc.verbs.support.EngineReceiveQueue;
import dev.rdmarpc.verbs.support.LimitChecks;
import dev.rdmarpc.verbs.support.OpenState;
import dev.rdmarpc.verbs.support.RegisteredMemory;
import dev.rdmarpc.verbs.support.Registration;

/**
 * A protection domain of user-space iWARP: owns its regions, receive queues and queue
 * pairs.
 */
final class IwarpProtectionDomain implements ProtectionDomain {

	private final IwarpDevice device;

	private final OpenState state = new OpenState("protection domain");

	private final Children<RegisteredMemory> regions = new Children<>(this.state, RegisteredMemory::close);

	private final Children<EngineReceiveQueue> receiveQueues = new Children<>(this.state, EngineReceiveQueue::close);

	private final Children<IwarpQueuePair> queuePairs = new Children<>(this.state, IwarpQueuePair::close);

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
		this.state.check();
		Registration asked = Registration.of(memory, access);
		return this.regions.add(this.device.stags()
			.add((stag, base) -> new RegisteredMemory(this, asked, borrower, stag, base, this::deregister)));
	}

	/**
	 * Ends a region; no step that saw it valid is under way when this returns, whoever
	 * has ended it.
	 */
	private void deregister(RegisteredMemory region) {
		region.invalidate();
		if (this.regions.remove(region)) {
			this.device.stags().remove(region);
		}
		this.device.awaitReactorSteps();
	}

	@Override
	public SharedReceiveQueue createSharedReceiveQueue(int depth, int maxSegments) {
		this.state.check();
		LimitChecks.checkReceiveQueue(this.device.limits(), depth, maxSegments);
		return this.receiveQueues.add(new EngineReceiveQueue(this, depth, maxSegments, this.receiveQueues::remove));
	}

	@Override
	public QueuePair createQueuePair(QueuePairOptions options) {
		this.state.check();
		if (!(options.completionQueue() instanceof IwarpCompletionQueue completionQueue)
				|| completionQueue.device() != this.device) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT,
					"completion queue is not of device " + this.device.name());
		}
		EngineReceiveQueue shared = own(options.sharedReceiveQueue());
		LimitChecks.checkQueuePair(this.device.limits(), options);
		int number = this.device.queuePairNumbers().claim();
		IwarpQueuePair queuePair;
		try {
			queuePair = new IwarpQueuePair(this, completionQueue, shared, options, number);
			completionQueue.attach(queuePair.lifecycle());
		}
		catch (Throwable ex) {
			this.device.queuePairNumbers().release(number);
			throw ex;
		}
		if (shared != null) {
			shared.addUser();
		}
		return this.queuePairs.add(queuePair);
	}

	private @Nullable EngineReceiveQueue own(@Nullable SharedReceiveQueue queue) {
		if (queue == null) {
			return null;
		}
		if (queue instanceof EngineReceiveQueue own && own.domain() == this) {
			return own;
		}
		throw new VerbsException(VerbsError.INVALID_ARGUMENT, "shared receive queue is not of this protection domain");
	}

	void removed(IwarpQueuePair queuePair) {
		this.queuePairs.remove(queuePair);
		this.device.queuePairNumbers().release(queuePair.number());
	}

	@Override
	public void close() {
		if (this.state.tryClose()) {
			this.queuePairs.closeAll();
			this.receiveQueues.closeAll();
			this.regions.closeAll();
			this.device.removed(this);
		}
	}

}
