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

package dev.rdmarpc.boot.test.faults;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * A completion queue that holds completions back. Those of one queue pair stay in their
 * order, those of sends among them, and a queue pair in error holds none back: who sees
 * it in error gets all that it had with the next poll.
 *
 * <p>
 * Thread-safe, by a lock that is held while the real queue is polled.
 */
final class FaultCompletionQueue implements CompletionQueue {

	private final CompletionQueue real;

	private final RdmaFaults faults;

	private final Runnable wakeUp = this::wakeUp;

	private final ReentrantLock lock = new ReentrantLock();

	private final Deque<Held> held = new ArrayDeque<>();

	private final Map<FaultQueuePair, Long> lastDue = new HashMap<>();

	private WorkCompletion[] arrived = new WorkCompletion[0];

	FaultCompletionQueue(CompletionQueue real, RdmaFaults faults) {
		this.real = real;
		this.faults = faults;
		faults.addSleeper(this.wakeUp);
	}

	CompletionQueue real() {
		return this.real;
	}

	@Override
	public int poll(WorkCompletion[] completions) {
		this.lock.lock();
		try {
			int count = this.held.isEmpty() ? 0 : release(completions);
			return (count < completions.length) ? pollReal(completions, count) : count;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Lets go of what is due. */
	private int release(WorkCompletion[] completions) {
		long now = System.nanoTime();
		int count = 0;
		Set<FaultQueuePair> waiting = Collections.newSetFromMap(new IdentityHashMap<>());
		for (int i = this.held.size(); i > 0; i--) {
			Held first = this.held.remove();
			if (count < completions.length && !waiting.contains(first.queuePair) && first.isDue(now)) {
				first.writeTo(completions[count++]);
			}
			else {
				waiting.add(first.queuePair);
				this.held.add(first);
			}
		}
		this.lastDue.keySet().retainAll(waiting);
		return count;
	}

	private int pollReal(WorkCompletion[] completions, int from) {
		int room = completions.length - from;
		if (this.arrived.length != room) {
			this.arrived = new WorkCompletion[room];
			for (int i = 0; i < room; i++) {
				this.arrived[i] = new WorkCompletion();
			}
		}
		int polled = this.real.poll(this.arrived);
		int count = from;
		for (int i = 0; i < polled; i++) {
			Held one = arrive(this.arrived[i]);
			if (one.isWithdrawn()) {
				continue;
			}
			if (one.dueNanos == Held.AT_ONCE) {
				one.writeTo(completions[count++]);
			}
			else {
				this.held.add(one);
			}
		}
		return count;
	}

	private Held arrive(WorkCompletion completion) {
		FaultQueuePair queuePair = FaultQueuePair.before(completion.queuePair());
		TargetFaults target = queuePair.target();
		WorkStatus status = completion.status();
		long due = Held.AT_ONCE;
		if (target != null) {
			boolean inbound = completion.opcode() == WorkOpcode.RECEIVE || completion.opcode() == WorkOpcode.READ;
			if (inbound && completion.isSuccess() && isLost(queuePair, target, completion.opcode())) {
				status = WorkStatus.FLUSHED;
			}
			due = due(queuePair, target);
		}
		return new Held(completion.id(), status, completion.opcode(), completion.byteLength(),
				completion.invalidatedKey(), queuePair, due, (target != null) ? target.epoch() : 0);
	}

	private boolean isLost(FaultQueuePair queuePair, TargetFaults target, WorkOpcode opcode) {
		if (!queuePair.isCut() && opcode == WorkOpcode.RECEIVE && target.loses()) {
			queuePair.cut();
		}
		return queuePair.isCut();
	}

	/** When it is to be reported: never before what has arrived before it. */
	private long due(FaultQueuePair queuePair, TargetFaults target) {
		Long before = this.lastDue.get(queuePair);
		long delay = target.delayNanos();
		if (before == null && (queuePair.isOver() || (delay == 0 && !target.isStalled()))) {
			return Held.AT_ONCE;
		}
		long due = System.nanoTime() + delay;
		if (before != null) {
			due = Math.max(due, before);
		}
		this.lastDue.put(queuePair, due);
		return due;
	}

	/** In how many nanoseconds something is due, at most 0 if it is. */
	private long untilDue() {
		this.lock.lock();
		try {
			long now = System.nanoTime();
			long least = Long.MAX_VALUE;
			for (Held one : this.held) {
				least = Math.min(least, one.isDue(now) ? 0 : one.untilDue(now));
			}
			return least;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A queue pair has been closed: nothing of it is reported but shared receives. */
	void closed(FaultQueuePair queuePair) {
		this.lock.lock();
		try {
			this.held.removeIf((one) -> one.queuePair == queuePair && one.isWithdrawn());
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public boolean isMoving() {
		return this.real.isMoving();
	}

	@Override
	public void requestNotification(boolean solicitedOnly) {
		this.real.requestNotification(solicitedOnly);
	}

	@Override
	public boolean await(long timeoutNanos) {
		long due = untilDue();
		if (due <= 0) {
			return true;
		}
		return this.real.await(Math.min(timeoutNanos, due)) || (due <= timeoutNanos && untilDue() <= 0);
	}

	@Override
	public void wakeUp() {
		this.real.wakeUp();
	}

	@Override
	public void close() {
		this.faults.removeSleeper(this.wakeUp);
		this.real.close();
	}

	/** A completion that is not reported yet. */
	private record Held(long id, WorkStatus status, WorkOpcode opcode, long byteLength, int invalidatedKey,
			FaultQueuePair queuePair, long dueNanos, int epoch) {

		static final long AT_ONCE = Long.MIN_VALUE;

		/** Whether it may be reported. The fault it was held for may be over. */
		boolean isDue(long now) {
			TargetFaults target = this.queuePair.target();
			return target == null || this.queuePair.isOver() || target.epoch() != this.epoch
					|| (!target.isStalled() && this.dueNanos - now <= 0);
		}

		/** Whether its queue pair is closed, and it is not of the shared receives. */
		boolean isWithdrawn() {
			return this.queuePair.isClosed() && (this.opcode != WorkOpcode.RECEIVE || !this.queuePair.sharesReceives());
		}

		/** How long it takes to be due if nothing changes. */
		long untilDue(long now) {
			TargetFaults target = this.queuePair.target();
			return (target != null && target.isStalled()) ? Long.MAX_VALUE : this.dueNanos - now;
		}

		void writeTo(WorkCompletion completion) {
			completion.set(this.id, this.status, this.opcode, this.byteLength, this.invalidatedKey, this.queuePair);
		}

	}

}
