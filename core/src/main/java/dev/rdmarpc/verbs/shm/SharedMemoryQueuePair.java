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

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.shm.ring.PeerAccess;
import dev.rdmarpc.verbs.shm.ring.SendQueue;
import dev.rdmarpc.verbs.support.CheckedQueuePair;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;
import dev.rdmarpc.verbs.support.WorkQueue;
import dev.rdmarpc.verbs.support.WorkReporter;

/**
 * A queue pair of shared memory: its queues, its state, and while connected a
 * {@link Connection}.
 *
 * <p>
 * Implementation notes. Posting touches only the queues and the volatile state. A post
 * that finds the state {@code ERROR} after it has written to the queue sees to the flush
 * itself; the transition to {@code ERROR} sets the state before it flushes, so one of the
 * two sees the entry. How many receives the peer may take has been allowed by any thread
 * in sum, and is compared with those taken, which are guarded by the engine's lock.
 */
final class SharedMemoryQueuePair extends CheckedQueuePair implements ReceiveSource {

	private final SharedMemoryDomain domain;

	private final Engine engine;

	private final AtomicBoolean released = new AtomicBoolean();

	private final SendQueue sendQueue;

	private final @Nullable WorkQueue receives;

	private final @Nullable SharedMemoryReceiveQueue sharedReceives;

	private final AtomicLong receivesAllowed = new AtomicLong();

	private volatile boolean receivesLimited;

	/** Since they are limited. */
	private long receivesTaken;

	private final Lifecycle lifecycle;

	SharedMemoryQueuePair(SharedMemoryDomain domain, SharedMemoryCompletionQueue completionQueue,
			@Nullable SharedMemoryReceiveQueue sharedReceives, QueuePairOptions options, int number) {
		super(number, options);
		this.domain = domain;
		this.engine = completionQueue.engine();
		this.sendQueue = new SendQueue(new WorkQueue(options.sendQueueDepth(), options.maxSendSegments()));
		this.sharedReceives = sharedReceives;
		this.receives = (sharedReceives != null) ? null
				: new WorkQueue(options.receiveQueueDepth(), options.maxReceiveSegments());
		WorkReporter reporter = new WorkReporter(this, completionQueue, this.sendQueue, this.receives);
		this.lifecycle = new Lifecycle(new PeerAccess(device().regions(), domain, this), completionQueue,
				this.sendQueue, this, reporter, device().options().drainTimeout());
	}

	@Override
	public QueuePairState state() {
		return this.lifecycle.state();
	}

	@Override
	public @Nullable QueuePairFault fault() {
		return this.lifecycle.fault();
	}

	SharedMemoryDomain domain() {
		return this.domain;
	}

	SharedMemoryDevice device() {
		return this.domain.device();
	}

	Lifecycle lifecycle() {
		return this.lifecycle;
	}

	@Override
	public int maxReceiveSegments() {
		return (this.sharedReceives != null) ? this.sharedReceives.maxSegments() : options().maxReceiveSegments();
	}

	@Override
	public void allowReceives(int count) {
		if (count != 0) {
			this.receivesAllowed.getAndAdd(count);
		}
		if (!this.receivesLimited) {
			this.receivesLimited = true;
		}
	}

	private boolean mayTakeShared() {
		return !this.receivesLimited || this.receivesTaken++ < this.receivesAllowed.get();
	}

	@Override
	public boolean tryTakeReceive(PostedReceive receive) {
		if (this.sharedReceives != null) {
			return mayTakeShared() && this.sharedReceives.tryTake(receive);
		}
		WorkQueue own = this.receives;
		if (own == null || own.isEmpty()) {
			return false;
		}
		receive.take(own);
		return true;
	}

	@Override
	public PostResult postSend(WorkRequest request) {
		checkSend(request);
		checkConnected();
		PostResult result = this.sendQueue.queue().post(request);
		if (result == PostResult.POSTED) {
			this.lifecycle.schedule();
			flushIfInError();
		}
		return result;
	}

	@Override
	public PostResult postReceive(WorkRequest request) {
		checkReceive(request);
		checkOpen();
		PostResult result = Objects.requireNonNull(this.receives).post(request);
		if (result == PostResult.POSTED) {
			flushIfInError();
		}
		return result;
	}

	private void flushIfInError() {
		if (this.lifecycle.state() == QueuePairState.ERROR) {
			this.lifecycle.schedule();
			this.engine.runScheduledIfUnlocked();
		}
	}

	@Override
	public void ringDoorbell() {
		this.engine.runScheduledIfUnlocked();
	}

	@Override
	public void disconnect() {
		this.lifecycle.disconnect();
		device().connectionThread().abandon(this);
	}

	@Override
	public void close() {
		try {
			this.lifecycle.close();
		}
		finally {
			if (this.released.compareAndSet(false, true)) {
				release();
			}
		}
	}

	private void release() {
		if (this.sharedReceives != null) {
			this.sharedReceives.removeUser();
		}
		this.domain.removed(this);
		device().connectionThread().abandon(this);
	}

}
