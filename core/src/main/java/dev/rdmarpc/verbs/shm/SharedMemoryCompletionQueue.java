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

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.support.CompletionRing;
import dev.rdmarpc.verbs.support.WorkReporter;

/**
 * A completion queue of shared memory: completions, the notification, and the engine that
 * makes them. All state is guarded by the engine's lock.
 *
 * <p>
 * Implementation notes. A thread that awaits has every connection ask its peer to be
 * woken, and after that looks once more for something to do; only then it blocks. A peer
 * publishes before it looks whether it has to wake anybody. On both sides a full fence
 * lies between the two, so one of them sees the other. A peer that wakes takes the
 * request away and writes one byte to the socket, on which the selector of this side
 * returns, or does not block at all.
 */
final class SharedMemoryCompletionQueue implements CompletionQueue, WorkReporter.Completions {

	private final SharedMemoryDevice device;

	private final CompletionRing ring;

	private final Engine engine;

	private final Set<Lifecycle> attached = new HashSet<>();

	private Notification armed = Notification.NONE;

	private boolean fired;

	private boolean wakeUp;

	private boolean closed;

	private boolean invalidated;

	/** Whether the last poll moved bytes. */
	private volatile boolean moving;

	SharedMemoryCompletionQueue(SharedMemoryDevice device, int capacity) {
		this.device = device;
		this.ring = new CompletionRing(capacity);
		this.engine = new Engine(this.ring);
	}

	SharedMemoryDevice device() {
		return this.device;
	}

	Engine engine() {
		return this.engine;
	}

	@Override
	public int poll(WorkCompletion[] completions) {
		int count;
		boolean revoked;
		this.engine.lock();
		try {
			checkOpen();
			move(completions.length);
			this.moving = this.engine.takeMoved();
			count = this.ring.drainTo(completions);
			revoked = this.invalidated;
			this.invalidated = false;
		}
		finally {
			this.engine.unlockAndNotify();
		}
		if (revoked) {
			this.device.awaitSteps();
		}
		return count;
	}

	private void move(int wanted) {
		try {
			this.engine.runScheduled();
			if (this.ring.size() < Math.max(1, wanted)) {
				this.engine.runBacklog();
				this.engine.advance();
			}
		}
		catch (InternalError ex) {
			if (!this.engine.tryEndCut()) {
				throw ex;
			}
		}
	}

	private void moveAll() {
		try {
			this.engine.runScheduled();
			this.engine.runBacklog();
			this.engine.advanceAll();
		}
		catch (InternalError ex) {
			if (!this.engine.tryEndCut()) {
				throw ex;
			}
		}
	}

	@Override
	public boolean isMoving() {
		return this.moving;
	}

	@Override
	public void requestNotification(boolean solicitedOnly) {
		this.engine.lock();
		try {
			checkOpen();
			this.armed = solicitedOnly ? Notification.SOLICITED : Notification.ANY;
			this.fired = false;
		}
		finally {
			this.engine.unlock();
		}
	}

	@Override
	public boolean await(long timeoutNanos) {
		long start = System.nanoTime();
		while (true) {
			long remaining = Math.max(0, timeoutNanos) - (System.nanoTime() - start);
			this.engine.lock();
			try {
				checkOpen();
				moveAll();
				if (this.fired || this.wakeUp) {
					boolean result = this.fired;
					this.fired = false;
					this.wakeUp = false;
					return result;
				}
				if (remaining <= 0 || Thread.currentThread().isInterrupted()) {
					return false;
				}
				if (!this.ring.hasRoom()) {
					return true;
				}
				if (!this.engine.tryFallAsleep()) {
					continue;
				}
				remaining = this.engine.until(remaining);
				this.engine.beginSelect();
			}
			finally {
				this.engine.unlockAndNotify();
			}
			select(remaining);
		}
	}

	private void select(long remaining) {
		try {
			this.engine.select(remaining);
		}
		finally {
			this.engine.lock();
			try {
				this.engine.endSelect();
			}
			finally {
				this.engine.unlockAndNotify();
			}
		}
	}

	@Override
	public void wakeUp() {
		this.engine.lock();
		try {
			this.wakeUp = true;
			this.engine.wakeUpIfSelecting();
		}
		finally {
			this.engine.unlock();
		}
	}

	/** Payload bytes copied for the connections of this queue. */
	long copiedBytes() {
		return this.engine.copiedBytes();
	}

	/** Memory mapped for the connections of this queue. */
	long mappedBytes() {
		return this.engine.mappedBytes();
	}

	@Override
	public boolean hasRoom() {
		return this.engine.hasRoom();
	}

	@Override
	public void add(long id, WorkStatus status, WorkOpcode opcode, long byteLength, int invalidatedKey,
			boolean solicited, QueuePair queuePair) {
		this.ring.add(id, status, opcode, byteLength, invalidatedKey, queuePair);
		if (invalidatedKey != 0) {
			this.invalidated = true;
		}
		boolean matches = switch (this.armed) {
			case NONE -> false;
			case ANY -> true;
			case SOLICITED -> solicited || status != WorkStatus.SUCCESS;
		};
		if (matches) {
			this.armed = Notification.NONE;
			this.fired = true;
			this.engine.wakeUpIfSelecting();
		}
	}

	/** Attaches a queue pair that is being created. */
	void attach(Lifecycle lifecycle) {
		this.engine.lock();
		try {
			checkOpen();
			this.attached.add(lifecycle);
		}
		finally {
			this.engine.unlock();
		}
	}

	/**
	 * Detaches a queue pair that is being closed; the caller holds the lock.
	 * @param keepReceives whether completions of its receives stay
	 */
	void detach(Lifecycle lifecycle, boolean keepReceives) {
		this.attached.remove(lifecycle);
		this.ring.purge(lifecycle.queuePair(), keepReceives);
	}

	private void checkOpen() {
		if (this.closed) {
			throw new VerbsException(VerbsError.CLOSED, "completion queue is closed");
		}
	}

	@Override
	public void close() {
		this.engine.lock();
		try {
			if (this.closed) {
				return;
			}
			this.closed = true;
			new ArrayList<>(this.attached).forEach(Lifecycle::completionQueueClosed);
		}
		finally {
			this.engine.unlockAndNotify();
		}
		this.engine.close();
		this.device.removed(this);
	}

	/** Which completions fire the notification. */
	private enum Notification {

		NONE, ANY, SOLICITED

	}

}
