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

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * A completion queue in user space: completions, the notification, and the engine that
 * makes them. All state is guarded by the engine's lock.
 *
 * @param <E> type of the engine
 */
public abstract class EngineCompletionQueue<E extends ProgressEngine<?>>
		implements CompletionQueue, WorkReporter.Completions {

	private final VerbsDevice device;

	private final CompletionRing ring;

	private final E engine;

	private final Set<QueuePairLifecycle<?>> attached = new HashSet<>();

	private Notification armed = Notification.NONE;

	private boolean fired;

	private boolean wakeUp;

	private boolean closed;

	private boolean invalidated;

	/** Whether the last poll moved bytes. */
	private volatile boolean moving;

	/** Creates a queue that owns its engine. */
	protected EngineCompletionQueue(VerbsDevice device, E engine) {
		this.device = device;
		this.ring = engine.completions();
		this.engine = engine;
	}

	/** The device it was created on. */
	public final VerbsDevice device() {
		return this.device;
	}

	/** The engine that makes its completions. */
	public final E engine() {
		return this.engine;
	}

	/**
	 * Returns when no step of any engine of the device is under way that was at the call;
	 * the caller holds no lock.
	 */
	protected abstract void awaitSteps();

	/** Tells the device that the queue is closed. */
	protected abstract void closed();

	@Override
	public final int poll(WorkCompletion[] completions) {
		int count;
		boolean revoked;
		this.engine.lock();
		try {
			checkOpen();
			this.engine.step(this.ring.size() < Math.max(1, completions.length));
			this.moving = this.engine.takeMoved();
			count = this.ring.drainTo(completions);
			revoked = this.invalidated;
			this.invalidated = false;
		}
		finally {
			this.engine.unlockAndNotify();
		}
		if (revoked) {
			awaitSteps();
		}
		return count;
	}

	@Override
	public final boolean isMoving() {
		return this.moving;
	}

	@Override
	public final void requestNotification(boolean solicitedOnly) {
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
	public final boolean await(long timeoutNanos) {
		long start = System.nanoTime();
		while (true) {
			long remaining = Math.max(0, timeoutNanos) - (System.nanoTime() - start);
			this.engine.lock();
			try {
				checkOpen();
				this.engine.stepBeforeAwait();
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
	public final void wakeUp() {
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
	public final long copiedBytes() {
		this.engine.lock();
		try {
			return this.engine.copiedBytes();
		}
		finally {
			this.engine.unlock();
		}
	}

	@Override
	public final boolean hasRoom() {
		return this.ring.hasRoom();
	}

	@Override
	public final void add(long id, WorkStatus status, WorkOpcode opcode, long byteLength, int invalidatedKey,
			boolean solicited, CompletionSource source) {
		this.ring.add(id, status, opcode, byteLength, invalidatedKey, source);
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
	public final void attach(QueuePairLifecycle<?> lifecycle) {
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
	 * @param source of its completions
	 * @param keepReceives whether completions of its receives stay
	 */
	final void detach(QueuePairLifecycle<?> lifecycle, CompletionSource source, boolean keepReceives) {
		this.attached.remove(lifecycle);
		this.ring.purge(source, keepReceives);
	}

	private void checkOpen() {
		if (this.closed) {
			throw new VerbsException(VerbsError.CLOSED, "completion queue is closed");
		}
	}

	@Override
	public final void close() {
		this.engine.lock();
		try {
			if (this.closed) {
				return;
			}
			this.closed = true;
			for (QueuePairLifecycle<?> lifecycle : new ArrayList<>(this.attached)) {
				lifecycle.completionQueueClosed();
			}
		}
		finally {
			this.engine.unlockAndNotify();
		}
		this.engine.close();
		closed();
	}

	/** Which completions fire the notification. */
	private enum Notification {

		NONE, ANY, SOLICITED

	}

}
