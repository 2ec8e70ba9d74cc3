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
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.support.Children;
import dev.rdmarpc.verbs.support.LimitChecks;
import dev.rdmarpc.verbs.support.OpenState;
import dev.rdmarpc.verbs.support.QueuePairNumbers;
import dev.rdmarpc.verbs.support.Registration;

/** A protection domain of an adapter. */
final class DisniProtectionDomain implements ProtectionDomain {

	private final VerbsDevice device;

	private final AdapterDomain adapterDomain;

	private final DisniConnectionThread connections;

	private final QueuePairNumbers queuePairNumbers;

	private final SharedReceivesTable sharedReceives;

	private final Consumer<DisniProtectionDomain> whenClosed;

	private final OpenState state = new OpenState("protection domain");

	private final Children<SharedReceives> receiveQueues = new Children<>(this.state, SharedReceives::close);

	private final Children<DisniQueuePair> queuePairs = new Children<>(this.state, DisniQueuePair::close);

	private final AtomicBoolean closed = new AtomicBoolean();

	DisniProtectionDomain(VerbsDevice device, AdapterDomain adapterDomain, DisniConnectionThread connections,
			QueuePairNumbers queuePairNumbers, SharedReceivesTable sharedReceives,
			Consumer<DisniProtectionDomain> whenClosed) {
		this.device = device;
		this.adapterDomain = adapterDomain;
		this.connections = connections;
		this.queuePairNumbers = queuePairNumbers;
		this.sharedReceives = sharedReceives;
		this.whenClosed = whenClosed;
	}

	@Override
	public VerbsDevice device() {
		return this.device;
	}

	DisniConnectionThread connections() {
		return this.connections;
	}

	AdapterDomain adapterDomain() {
		return this.adapterDomain;
	}

	@Override
	public MemoryRegion registerMemory(ByteBuffer memory, Set<AccessFlag> access) {
		this.state.check();
		Registration asked = Registration.of(memory, access);
		try {
			return this.adapterDomain.register(asked);
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.LIMIT_EXCEEDED, asked.lengthBytes()
					+ " bytes cannot be registered (is the limit of locked memory too low?): " + ex.getMessage(), ex);
		}
	}

	/** What an adapter registers is open to all peers of the domain. */
	@Override
	public MemoryRegion registerMemory(ByteBuffer memory, Set<AccessFlag> access, QueuePair peer) {
		if (DisniQueuePair.of(this.device, peer).domain() != this) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT, peer + " is not of this protection domain");
		}
		return registerMemory(memory, access);
	}

	@Override
	public SharedReceiveQueue createSharedReceiveQueue(int depth, int maxSegments) {
		this.state.check();
		LimitChecks.checkReceiveQueue(this.device.limits(), depth, maxSegments);
		try {
			int number = this.sharedReceives.nextNumber();
			SharedReceives queue = this.adapterDomain.attributes().sharedReceiveQueue()
					? new AdapterSharedReceives(this.adapterDomain, depth, maxSegments, number, this::removed)
					: new EmulatedSharedReceives(this.adapterDomain, depth, maxSegments, number, this::removed);
			this.sharedReceives.add(queue);
			return this.receiveQueues.add(queue);
		}
		catch (IOException ex) {
			throw AdapterVerbs.failure("no shared receive queue of " + depth, ex);
		}
	}

	@Override
	public QueuePair createQueuePair(QueuePairOptions options) {
		this.state.check();
		if (!(options.completionQueue() instanceof DisniCompletionQueue completionQueue)
				|| completionQueue.device() != this.device) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT,
					"completion queue is not of device " + this.device.name());
		}
		SharedReceives shared = own(options.sharedReceiveQueue());
		LimitChecks.checkQueuePair(this.device.limits(), options);
		DisniReceiveSource receives = (shared != null) ? shared.newSource()
				: new OwnReceives(this.adapterDomain, options.receiveQueueDepth(), options.maxReceiveSegments());
		DisniQueuePair queuePair = new DisniQueuePair(this, completionQueue, receives, options,
				this.queuePairNumbers.claim());
		attach(queuePair, completionQueue);
		if (shared != null) {
			shared.addUser();
		}
		return this.queuePairs.add(queuePair);
	}

	private void attach(DisniQueuePair queuePair, DisniCompletionQueue completionQueue) {
		completionQueue.lock();
		try {
			completionQueue.attach(queuePair);
		}
		catch (VerbsException ex) {
			this.queuePairNumbers.release(queuePair.number());
			throw ex;
		}
		finally {
			completionQueue.unlock();
		}
	}

	private @Nullable SharedReceives own(@Nullable SharedReceiveQueue queue) {
		if (queue == null) {
			return null;
		}
		if (queue instanceof SharedReceives own && own.domain() == this.adapterDomain) {
			return own;
		}
		throw new VerbsException(VerbsError.INVALID_ARGUMENT, "shared receive queue is not of this protection domain");
	}

	void removed(DisniQueuePair queuePair) {
		this.queuePairs.remove(queuePair);
		this.queuePairNumbers.release(queuePair.number());
	}

	private void removed(SharedReceives queue) {
		this.receiveQueues.remove(queue);
		this.sharedReceives.remove(queue);
	}

	/** Closes the queue pairs; there will be no more. */
	void closeQueuePairs() {
		this.state.tryClose();
		this.queuePairs.closeAll();
	}

	@Override
	public void close() {
		closeQueuePairs();
		if (!this.closed.compareAndSet(false, true)) {
			return;
		}
		this.receiveQueues.closeAll();
		this.adapterDomain.close();
		this.whenClosed.accept(this);
	}

}
