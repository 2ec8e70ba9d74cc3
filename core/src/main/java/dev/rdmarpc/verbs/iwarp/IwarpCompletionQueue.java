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

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.rdmap.StreamBuffers;
import dev.rdmarpc.verbs.support.CompletionRing;
import dev.rdmarpc.verbs.support.WorkReporter;

/**
 * A completion queue of user-space iWARP: completions, the notification, and the reactor
 * that makes them. All state is guarded by the reactor's lock.
 */
final class IwarpCompletionQueue implements CompletionQueue, WorkReporter.Completions {

	private final VerbsDevice device;

	private final Runnable barrier;

	private final Consumer<IwarpCompletionQueue> closing;

	private final CompletionRing ring;

	private final Reactor reactor;

	private final Set<ConnectionLifecycle> attached = new HashSet<>();

	private Notification armed = Notification.NONE;

	private boolean fired;

	private boolean wakeUp;

	private boolean closed;

	private boolean invalidated;

	/** Whether the last poll moved bytes. */
	private volatile boolean moving;

	/**
	 * Creates a completion queue.
	 * @param barrier returns when no step of any reactor is under way that was at the
	 * call
	 * @param closing told when the queue is closed
	 */
	IwarpCompletionQueue(VerbsDevice device, int capacity, IwarpOptions options, SecureRandom secureRandom,
			Runnable barrier, Consumer<IwarpCompletionQueue> closing) {
		this.device = device;
		this.barrier = barrier;
		this.closing = closing;
		this.ring = new CompletionRing(capacity);
		this.reactor = new Reactor(this.ring,
				new StreamBuffers(options.stagingBytes(), options.copyThresholdBytes(), options.directReceiveBytes()),
				secureRandom);
	}

	VerbsDevice device() {
		return this.device;
	}

	Reactor reactor() {
		return this.reactor;
	}

	@Override
	public int poll(WorkCompletion[] completions) {
		int count;
		boolean revoked;
		this.reactor.lock();
		try {
			checkOpen();
			this.reactor.runScheduled();
			if (this.ring.size() < Math.max(1, completions.length)) {
				this.reactor.runBacklog();
				this.reactor.advance();
			}
			this.moving = this.reactor.takeMoved();
			count = this.ring.drainTo(completions);
			revoked = this.invalidated;
			this.invalidated = false;
		}
		finally {
			this.reactor.unlockAndNotify();
		}
		if (revoked) {
			this.barrier.run();
		}
		return count;
	}

	@Override
	public boolean isMoving() {
		return this.moving;
	}

	@Override
	public void requestNotification(boolean solicitedOnly) {
		this.reactor.lock();
		try {
			checkOpen();
			this.armed = solicitedOnly ? Notification.SOLICITED : Notification.ANY;
			this.fired = false;
		}
		finally {
			this.reactor.unlock();
		}
	}

	@Override
	public boolean await(long timeoutNanos) {
		long start = System.nanoTime();
		while (true) {
			long remaining = Math.max(0, timeoutNanos) - (System.nanoTime() - start);
			this.reactor.lock();
			try {
				checkOpen();
				this.reactor.runScheduled();
				this.reactor.runBacklog();
				this.reactor.deadlines().check();
				this.reactor.leaveFailed();
				this.reactor.finishUpkeep();
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
				remaining = this.reactor.until(remaining);
				this.reactor.beginSelect();
			}
			finally {
				this.reactor.unlockAndNotify();
			}
			select(remaining);
		}
	}

	private void select(long remaining) {
		try {
			this.reactor.select(remaining);
		}
		finally {
			this.reactor.lock();
			try {
				this.reactor.endSelect();
				this.reactor.advanceReady();
			}
			finally {
				this.reactor.unlockAndNotify();
			}
		}
	}

	@Override
	public void wakeUp() {
		this.reactor.lock();
		try {
			this.wakeUp = true;
			if (this.reactor.isSelecting()) {
				this.reactor.wakeUp();
			}
		}
		finally {
			this.reactor.unlock();
		}
	}

	/** Payload bytes copied for the connections of this queue. */
	long copiedBytes() {
		this.reactor.lock();
		try {
			return this.reactor.buffers().copiedBytes();
		}
		finally {
			this.reactor.unlock();
		}
	}

	/** Memory in use for what peers have begun. */
	int stagingBytes() {
		return this.reactor.buffers().staging().usedBytes();
	}

	@Override
	public boolean hasRoom() {
		return this.ring.hasRoom();
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
			if (this.reactor.isSelecting()) {
				this.reactor.wakeUp();
			}
		}
	}

	/** Attaches a queue pair that is being created. */
	void attach(ConnectionLifecycle lifecycle) {
		this.reactor.lock();
		try {
			checkOpen();
			this.attached.add(lifecycle);
		}
		finally {
			this.reactor.unlock();
		}
	}

	/**
	 * Detaches a queue pair that is being closed; the caller holds the lock.
	 * @param keepReceives whether completions of its receives stay
	 */
	void detach(ConnectionLifecycle lifecycle, boolean keepReceives) {
		this.attached.remove(lifecycle);
		this.ring.purge(lifecycle.queuePair(), keepReceives);
	}

	private void checkOpen() {
		if (this.closed) {
			throw new VerbsException(VerbsError.CLOSED, "completion queue is closed");
		}
	}

	boolean isClosed() {
		this.reactor.lock();
		try {
			return this.closed;
		}
		finally {
			this.reactor.unlock();
		}
	}

	@Override
	public void close() {
		this.reactor.lock();
		try {
			if (this.closed) {
				return;
			}
			this.closed = true;
			new ArrayList<>(this.attached).forEach(ConnectionLifecycle::completionQueueClosed);
		}
		finally {
			this.reactor.unlockAndNotify();
		}
		this.reactor.close();
		this.closing.accept(this);
	}

	/** Which completions fire the notification. */
	private enum Notification {

		NONE, ANY, SOLICITED

	}

}
