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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.support.ListenerCall;

/**
 * A completion queue of an adapter, and what its queue pairs report without the adapter.
 *
 * <p>
 * Implementation notes. One lock guards the queue and all its queue pairs: a loop that
 * drives both takes it without contention. Completions are written into the caller's
 * records while it polls, otherwise, and when the adapter brings more than were asked
 * for, into a buffer that the next poll empties first. Listeners are called when the lock
 * has been released, by whoever releases it.
 */
final class DisniCompletionQueue implements CompletionQueue {

	private static final RateLimitedLogger pollFailures = new RateLimitedLogger(
			LoggerFactory.getLogger(DisniCompletionQueue.class));

	private static final WorkCompletion[] NOBODY = new WorkCompletion[0];

	private final VerbsDevice device;

	private final ReentrantLock lock = new ReentrantLock();

	private final AdapterCompletionQueue adapterQueue;

	private final QueuePairTable<DisniQueuePair> connected = new QueuePairTable<>();

	private final Set<DisniQueuePair> queuePairs = new HashSet<>();

	private final List<DisniQueuePair> undelivered = new ArrayList<>();

	private final List<DisniQueuePair> ended = new ArrayList<>();

	private final Queue<ListenerCall> listenerCalls = new ConcurrentLinkedQueue<>();

	private final CompletionBuffer buffer = new CompletionBuffer();

	/**
	 * What came before the connection manager said that the connection is established: a
	 * fast peer's first message may. Its receiver could not answer yet.
	 */
	private final CompletionBuffer early = new CompletionBuffer();

	private final CompletionSignal signal;

	private final Executor aside;

	private final SharedReceivesTable sharedReceives;

	private final Consumer<DisniCompletionQueue> whenClosed;

	private WorkCompletion[] target = NOBODY;

	private int filled;

	private boolean closed;

	/**
	 * Creates the queue.
	 * @param aside runs what may wait for connections
	 * @param whenClosed run once
	 */
	DisniCompletionQueue(VerbsDevice device, AdapterCompletionQueue adapterQueue, Executor aside,
			SharedReceivesTable sharedReceives, Consumer<DisniCompletionQueue> whenClosed) {
		this.device = device;
		this.aside = aside;
		this.sharedReceives = sharedReceives;
		this.whenClosed = whenClosed;
		this.adapterQueue = adapterQueue;
		this.signal = new CompletionSignal(adapterQueue);
	}

	VerbsDevice device() {
		return this.device;
	}

	AdapterCompletionQueue adapterQueue() {
		return this.adapterQueue;
	}

	void lock() {
		this.lock.lock();
	}

	void unlock() {
		this.lock.unlock();
		if (!this.listenerCalls.isEmpty() && !this.lock.isHeldByCurrentThread()) {
			this.aside.execute(this::callListeners);
		}
	}

	private void callListeners() {
		ListenerCall call = this.listenerCalls.poll();
		while (call != null) {
			call.make();
			call = this.listenerCalls.poll();
		}
	}

	ListenerCall newListenerCall(DisniQueuePair queuePair) {
		return new ListenerCall(queuePair, this.lock);
	}

	/** Adds a queue pair; the caller holds the lock. */
	void attach(DisniQueuePair queuePair) {
		if (this.closed) {
			throw closed();
		}
		this.queuePairs.add(queuePair);
	}

	/**
	 * Removes a queue pair and what it has not reported yet; the caller holds the lock.
	 */
	void detach(DisniQueuePair queuePair) {
		this.queuePairs.remove(queuePair);
		this.undelivered.remove(queuePair);
		this.ended.remove(queuePair);
		this.buffer.remove(queuePair);
		this.early.remove(queuePair);
	}

	/**
	 * Has the next polls report what came while a queue pair was being connected; the
	 * caller holds the lock.
	 */
	void releaseEarly(DisniQueuePair queuePair) {
		if (!this.early.isEmpty() && this.early.moveTo(this.buffer, queuePair)) {
			this.signal.fire();
		}
	}

	/** Expects completions under a number; the caller holds the lock. */
	void connect(int number, DisniQueuePair queuePair) {
		this.connected.put(number, queuePair);
	}

	/** Expects them no more; the caller holds the lock. */
	void disconnect(int number, DisniQueuePair queuePair) {
		this.connected.remove(number, queuePair);
	}

	/** Has a batch delivered by the next poll; the caller holds the lock. */
	void addUndelivered(DisniQueuePair queuePair) {
		this.undelivered.add(queuePair);
	}

	/**
	 * Has the next poll report what a queue pair ends without the adapter; the caller
	 * holds the lock.
	 */
	void addEnded(DisniQueuePair queuePair) {
		if (!this.closed && queuePair.hasEnded()) {
			if (!this.ended.contains(queuePair)) {
				this.ended.add(queuePair);
			}
			this.signal.fire();
		}
	}

	/** Has a listener called as soon as the lock is free. */
	void addListenerCall(ListenerCall call) {
		this.listenerCalls.add(call);
	}

	/** Reports one completion; the caller holds the lock. */
	void report(long id, WorkStatus status, WorkOpcode opcode, long bytes, int invalidatedKey,
			DisniQueuePair queuePair) {
		next(queuePair).set(id, status, opcode, bytes, invalidatedKey, queuePair);
	}

	private WorkCompletion next(DisniQueuePair queuePair) {
		if (queuePair.state() == QueuePairState.CONNECTING) {
			return this.early.append();
		}
		return (this.filled < this.target.length) ? this.target[this.filled++] : this.buffer.append();
	}

	@Override
	public int poll(WorkCompletion[] completions) {
		lock();
		try {
			if (this.closed) {
				throw closed();
			}
			this.target = completions;
			this.filled = 0;
			while (this.filled < completions.length && !this.buffer.isEmpty()) {
				this.buffer.take(completions[this.filled++]);
			}
			deliver();
			int taken = CompletionBatch.CAPACITY;
			while (this.filled < completions.length && taken == CompletionBatch.CAPACITY) {
				taken = takeFromAdapter();
			}
			reportEnded();
			return this.filled;
		}
		catch (Throwable ex) {
			if (this.filled == 0) {
				throw ex;
			}
			pollFailures.log(Level.WARN, "Only {} completions could be taken", this.filled, ex);
			return this.filled;
		}
		finally {
			this.target = NOBODY;
			this.filled = 0;
			unlock();
		}
	}

	/**
	 * Takes everything from the adapter into the buffer, as far as that is possible: what
	 * ends a connection does not depend on it.
	 */
	void drain() {
		lock();
		try {
			if (!this.closed) {
				deliver();
				int taken = CompletionBatch.CAPACITY;
				while (taken == CompletionBatch.CAPACITY) {
					taken = takeFromAdapter();
				}
			}
		}
		catch (Throwable ex) {
			pollFailures.log(Level.WARN, "{}: not all completions could be taken", this.device.name(), ex);
		}
		finally {
			unlock();
		}
	}

	/** Hands over what queue pairs have posted; from any thread. */
	void deliverBatches() {
		lock();
		try {
			deliver();
		}
		finally {
			unlock();
		}
	}

	private void deliver() {
		while (!this.undelivered.isEmpty()) {
			this.undelivered.get(this.undelivered.size() - 1).deliver();
		}
	}

	/** Notes that a queue pair has delivered its batch; the caller holds the lock. */
	void removeUndelivered(DisniQueuePair queuePair) {
		this.undelivered.remove(queuePair);
	}

	private void reportEnded() {
		for (int i = this.ended.size() - 1; i >= 0; i--) {
			this.ended.get(i).reportEnded();
			this.ended.remove(i);
		}
	}

	private int takeFromAdapter() {
		// before anything is taken, because there may be no heap for it
		this.buffer.reserve(CompletionBatch.CAPACITY);
		this.early.reserve(CompletionBatch.CAPACITY);
		CompletionBatch batch = this.adapterQueue.batch();
		int count;
		try {
			count = batch.poll();
		}
		catch (IOException ex) {
			throw new VerbsException(VerbsError.DEVICE_ERROR, "polling failed: " + ex.getMessage(), ex);
		}
		for (int i = 0; i < count; i++) {
			long id = batch.id(i);
			DisniQueuePair queuePair = this.connected.get(batch.queuePairNumber(i));
			if (queuePair != null && (WorkId.isShared(id) || WorkId.owner(id) == queuePair.generation())) {
				try {
					queuePair.completed(batch, i);
				}
				catch (Throwable ex) {
					queuePair.notCompleted(ex);
				}
			}
			else if (WorkId.isShared(id)) {
				this.sharedReceives.forget(WorkId.owner(id), WorkId.slot(id));
			}
		}
		return count;
	}

	@Override
	public void requestNotification(boolean solicitedOnly) {
		lock();
		try {
			if (this.closed) {
				throw closed();
			}
			this.signal.arm(solicitedOnly);
		}
		finally {
			unlock();
		}
	}

	@Override
	public boolean await(long timeoutNanos) {
		Boolean fired = this.signal.await(timeoutNanos);
		if (fired == null) {
			throw closed();
		}
		return fired;
	}

	@Override
	public void wakeUp() {
		this.signal.wakeUp();
	}

	private static VerbsException closed() {
		return new VerbsException(VerbsError.CLOSED, "completion queue is closed");
	}

	@Override
	public void close() {
		lock();
		try {
			if (this.closed) {
				return;
			}
			this.closed = true;
			new ArrayList<>(this.queuePairs).forEach(DisniQueuePair::completionQueueClosed);
			this.undelivered.clear();
			this.ended.clear();
			this.buffer.clear();
			this.early.clear();
		}
		finally {
			unlock();
		}
		this.signal.close();
		this.adapterQueue.close();
		this.whenClosed.accept(this);
	}

}
