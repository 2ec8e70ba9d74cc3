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

package dev.rdmarpc.verbs.support;

import java.nio.ByteBuffer;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.MemoryOrigin;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * A protection domain in user space: owns its regions, receive queues and queue pairs.
 * Thread-safe.
 *
 * @param <Q> type of its queue pairs
 */
public abstract class EngineProtectionDomain<Q extends EngineQueuePair> implements ProtectionDomain {

	private final QueuePairNumbers numbers;

	private final OpenState state = new OpenState("protection domain");

	private final Children<RegisteredMemory> regions = new Children<>(this.state, RegisteredMemory::close);

	private final Children<EngineReceiveQueue> receiveQueues = new Children<>(this.state, EngineReceiveQueue::close);

	private final Children<Q> queuePairs = new Children<>(this.state, QueuePair::close);

	/** Creates a domain whose queue pairs get their numbers from those of the device. */
	protected EngineProtectionDomain(QueuePairNumbers numbers) {
		this.numbers = numbers;
	}

	/** The queue pair as one of the device. */
	protected abstract Q own(QueuePair queuePair);

	/** Gives a new region its key and base address. */
	protected abstract RegisteredMemory addRegion(RegionFactory factory);

	/**
	 * Ends the validity of a region for every step that begins from now on. Idempotent.
	 */
	protected void invalidate(RegisteredMemory region) {
		region.invalidate();
	}

	/** Takes the key of a region back. */
	protected abstract void removeRegion(RegisteredMemory region);

	/**
	 * Returns when no step of any engine of the device is under way that was at the call.
	 */
	protected abstract void awaitSteps();

	/** Makes a queue pair on a completion queue of the device. */
	protected abstract Q newQueuePair(EngineCompletionQueue<?> completionQueue, @Nullable EngineReceiveQueue shared,
			QueuePairOptions options, int number);

	/** Tells the device that the domain is closed. */
	protected abstract void closed();

	@Override
	public final MemoryRegion registerMemory(ByteBuffer memory, Set<AccessFlag> access) {
		return register(Registration.of(memory, access), null);
	}

	@Override
	public final MemoryRegion registerMemory(ByteBuffer memory, Set<AccessFlag> access, QueuePair peer) {
		return register(Registration.of(memory, access), ownOfDomain(peer));
	}

	@Override
	public final MemoryRegion registerProvided(ByteBuffer memory, Set<AccessFlag> access, MemoryOrigin origin) {
		return register(Registration.of(memory, access).of(origin, memory.position()), null);
	}

	@Override
	public final MemoryRegion registerWindow(MemoryRegion region, int offsetBytes, int lengthBytes,
			Set<AccessFlag> access, QueuePair peer) {
		if (!(region instanceof RegisteredMemory whole) || whole.protectionDomain() != this) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT, region + " is not of this protection domain");
		}
		ByteBuffer memory = whole.memory().duplicate().clear().limit(offsetBytes + lengthBytes).position(offsetBytes);
		return register(Registration.of(memory, access).of(whole.origin(), whole.originOffset() + offsetBytes),
				ownOfDomain(peer));
	}

	private Q ownOfDomain(QueuePair peer) {
		Q own = own(peer);
		if (own.domain() != this) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT, peer + " is not of this protection domain");
		}
		return own;
	}

	private MemoryRegion register(Registration asked, @Nullable QueuePair borrower) {
		this.state.check();
		return this.regions
			.add(addRegion((key, base) -> new RegisteredMemory(this, asked, borrower, key, base, this::deregister)));
	}

	/**
	 * Ends a region; no step that saw it valid is under way when this returns, whoever
	 * has ended it.
	 */
	private void deregister(RegisteredMemory region) {
		invalidate(region);
		if (this.regions.remove(region)) {
			removeRegion(region);
		}
		awaitSteps();
	}

	@Override
	public final SharedReceiveQueue createSharedReceiveQueue(int depth, int maxSegments) {
		this.state.check();
		LimitChecks.checkReceiveQueue(device().limits(), depth, maxSegments);
		return this.receiveQueues.add(new EngineReceiveQueue(this, depth, maxSegments, this.receiveQueues::remove));
	}

	@Override
	public final QueuePair createQueuePair(QueuePairOptions options) {
		this.state.check();
		if (!(options.completionQueue() instanceof EngineCompletionQueue<?> completionQueue)
				|| completionQueue.device() != device()) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT,
					"completion queue is not of device " + device().name());
		}
		EngineReceiveQueue shared = own(options.sharedReceiveQueue());
		LimitChecks.checkQueuePair(device().limits(), options);
		int number = this.numbers.claim();
		Q queuePair;
		try {
			queuePair = newQueuePair(completionQueue, shared, options, number);
			completionQueue.attach(queuePair.lifecycle());
		}
		catch (Throwable ex) {
			this.numbers.release(number);
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

	/** A queue pair is closed. */
	public final void removed(Q queuePair) {
		this.queuePairs.remove(queuePair);
		this.numbers.release(queuePair.number());
	}

	@Override
	public final void close() {
		if (this.state.tryClose()) {
			this.queuePairs.closeAll();
			this.receiveQueues.closeAll();
			this.regions.closeAll();
			closed();
		}
	}

	/** Makes a region for a key and base address. */
	@FunctionalInterface
	public interface RegionFactory {

		/** Creates the region. */
		RegisteredMemory create(int key, long base);

	}

}
