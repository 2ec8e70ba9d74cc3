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

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.iwarp.rdmap.PeerAccess;
import dev.rdmarpc.verbs.iwarp.rdmap.SendQueue;
import dev.rdmarpc.verbs.support.CheckedQueuePair;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;
import dev.rdmarpc.verbs.support.WorkQueue;
import dev.rdmarpc.verbs.support.WorkReporter;

/**
 * A queue pair of user-space iWARP: its queues, its state, and while connected a
 * {@link Connection}.
 *
 * <p>
 * Implementation notes. Posting touches only the rings and the volatile state. A post
 * that finds the state {@code ERROR} after it has written to the ring sees to the flush
 * itself; the transition to {@code ERROR} sets the state before it flushes, so one of the
 * two sees the entry. How many receives the peer may take has been allowed by any thread
 * in sum, and is compared with those taken, which like everything else are guarded by the
 * reactor's lock.
 */
final class IwarpQueuePair extends CheckedQueuePair implements ReceiveSource {

	private final IwarpProtectionDomain protectionDomain;

	private final Reactor reactor;

	private final AtomicBoolean released = new AtomicBoolean();

	private final SendQueue sendQueue;

	private final @Nullable WorkQueue receives;

	private final @Nullable IwarpSharedReceiveQueue sharedReceives;

	private final AtomicLong receivesAllowed = new AtomicLong();

	private volatile boolean receivesLimited;

	/** Since they are limited. */
	private long receivesTaken;

	private final ConnectionLifecycle lifecycle;

	IwarpQueuePair(IwarpProtectionDomain protectionDomain, IwarpCompletionQueue completionQueue,
			@Nullable IwarpSharedReceiveQueue sharedReceives, QueuePairOptions options, int number) {
		super(number, options);
		this.protectionDomain = protectionDomain;
		this.reactor = completionQueue.engine();
		this.sendQueue = new SendQueue(new WorkQueue(options.sendQueueDepth(), options.maxSendSegments()));
		this.sharedReceives = sharedReceives;
		this.receives = (sharedReceives != null) ? null
				: new WorkQueue(options.receiveQueueDepth(), options.maxReceiveSegments());
		WorkReporter reporter = new WorkReporter(this, completionQueue, this.sendQueue, this.receives);
		this.lifecycle = new ConnectionLifecycle(new PeerAccess(device().stags(), protectionDomain, this),
				completionQueue, this.sendQueue, this, reporter, device().connectionThread(), device().options());
	}

	@Override
	public QueuePairState state() {
		return this.lifecycle.state();
	}

	@Override
	public @Nullable QueuePairFault fault() {
		return this.lifecycle.fault();
	}

	IwarpProtectionDomain protectionDomain() {
		return this.protectionDomain;
	}

	IwarpDevice device() {
		return this.protectionDomain.device();
	}

	ConnectionLifecycle lifecycle() {
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
			this.reactor.runScheduledIfUnlocked();
		}
	}

	@Override
	public void ringDoorbell() {
		this.reactor.runScheduledIfUnlocked();
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

	/** Does not end early, even without memory: nobody could do the rest later. */
	private void release() {
		if (this.sharedReceives != null) {
			this.sharedReceives.removeUser();
		}
		this.protectionDomain.removed(this);
		device().connectionThread().abandon(this);
	}

}
