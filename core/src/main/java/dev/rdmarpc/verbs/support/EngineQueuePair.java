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

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * A queue pair in user space: its queues, and its state, which is that of its
 * {@link QueuePairLifecycle}.
 *
 * <p>
 * Implementation notes. Posting touches only the queues and the volatile state. A post
 * that finds the state {@code ERROR} after it has written to the queue sees to the flush
 * itself; the transition to {@code ERROR} sets the state before it flushes, so one of the
 * two sees the entry. How many receives the peer may take has been allowed by any thread
 * in sum, and is compared with those taken, which like everything else are guarded by the
 * engine's lock.
 */
public abstract class EngineQueuePair extends CheckedQueuePair implements ReceiveSource {

	private final ProgressEngine<?> engine;

	private final WorkQueue sends;

	private final @Nullable WorkQueue receives;

	private final @Nullable EngineReceiveQueue sharedReceives;

	private final AtomicBoolean released = new AtomicBoolean();

	private final AtomicLong receivesAllowed = new AtomicLong();

	private volatile boolean receivesLimited;

	/** Since they are limited. */
	private long receivesTaken;

	/**
	 * Creates a queue pair.
	 * @param sends where its requests are posted
	 * @param sharedReceives where it takes its receives from, or {@code null} if it has a
	 * queue of its own
	 */
	protected EngineQueuePair(int number, QueuePairOptions options, ProgressEngine<?> engine, WorkQueue sends,
			@Nullable EngineReceiveQueue sharedReceives) {
		super(number, options);
		this.engine = engine;
		this.sends = sends;
		this.sharedReceives = sharedReceives;
		this.receives = (sharedReceives != null) ? null
				: WorkQueue.growing(options.receiveQueueDepth(), options.maxReceiveSegments());
	}

	/** Creates what reports its ended work. */
	protected final WorkReporter newReporter(WorkReporter.Completions completions, PostedSends posted) {
		return new WorkReporter(this, completions, posted, this.receives);
	}

	/** The domain it was created in. */
	public abstract ProtectionDomain domain();

	/** Its state, and its connection while it has one. */
	public abstract QueuePairLifecycle<?> lifecycle();

	/** Ends an attempt to connect it, if there is one. */
	protected abstract void abandonAttempt();

	/** Tells its domain that it is closed; called once. */
	protected abstract void closed();

	@Override
	public final QueuePairState state() {
		return lifecycle().state();
	}

	@Override
	public final @Nullable QueuePairFault fault() {
		return lifecycle().fault();
	}

	@Override
	public final int maxReceiveSegments() {
		return (this.sharedReceives != null) ? this.sharedReceives.maxSegments() : options().maxReceiveSegments();
	}

	@Override
	public final void allowReceives(int count) {
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
	public final boolean tryTakeReceive(PostedReceive receive) {
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
	public final PostResult postSend(WorkRequest request) {
		checkSend(request);
		checkConnected();
		PostResult result = this.sends.post(request);
		if (result == PostResult.POSTED) {
			lifecycle().schedule();
			flushIfInError();
		}
		return result;
	}

	@Override
	public final PostResult postReceive(WorkRequest request) {
		checkReceive(request);
		checkOpen();
		PostResult result = Objects.requireNonNull(this.receives).post(request);
		if (result == PostResult.POSTED) {
			flushIfInError();
		}
		return result;
	}

	private void flushIfInError() {
		if (state() == QueuePairState.ERROR) {
			lifecycle().schedule();
			this.engine.runScheduledIfUnlocked();
		}
	}

	@Override
	public final void ringDoorbell() {
		this.engine.runScheduledIfUnlocked();
	}

	@Override
	public final void disconnect() {
		lifecycle().disconnect();
		abandonAttempt();
	}

	/** Does not end early, even without memory: nobody could do the rest later. */
	@Override
	public final void close() {
		try {
			lifecycle().close();
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
		closed();
		abandonAttempt();
	}

}
