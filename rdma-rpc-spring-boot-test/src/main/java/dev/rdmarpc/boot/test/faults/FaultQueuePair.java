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

import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * A queue pair that can be cut. The real one behind it then disconnects, by which the
 * device flushes what is posted, and what arrives meanwhile is taken for flushed, too.
 */
final class FaultQueuePair implements QueuePair {

	private static final QueuePairFault CUT = new QueuePairFault(WorkStatus.CONNECTION_LOST,
			QueuePairFault.Origin.LOCAL, "a fault of this test has cut the connection");

	private final QueuePair real;

	private final QueuePairListener listener;

	private final FaultCompletionQueue completions;

	private final boolean sharesReceives;

	private volatile @Nullable TargetFaults target;

	private final AtomicBoolean cut = new AtomicBoolean();

	private volatile boolean closed;

	private FaultQueuePair(QueuePair real, QueuePairOptions options, FaultCompletionQueue completions) {
		this.real = real;
		this.listener = options.listener();
		this.completions = completions;
		this.sharesReceives = options.sharedReceiveQueue() != null;
	}

	static FaultQueuePair create(ProtectionDomain domain, QueuePairOptions options, FaultCompletionQueue completions) {
		Outer outer = new Outer(options.listener());
		QueuePair real = domain.createQueuePair(
				new QueuePairOptions(completions.real(), options.sharedReceiveQueue(), options.sendQueueDepth(),
						options.receiveQueueDepth(), options.maxSendSegments(), options.maxReceiveSegments(), outer));
		FaultQueuePair made = new FaultQueuePair(real, options, completions);
		outer.queuePair = made;
		return made;
	}

	/** A queue pair as one with faults. */
	static FaultQueuePair of(QueuePair queuePair) {
		if (queuePair instanceof FaultQueuePair own) {
			return own;
		}
		throw new VerbsException(VerbsError.INVALID_ARGUMENT, queuePair + " is of another device");
	}

	/** The one with faults that a real one is behind. */
	static FaultQueuePair before(QueuePair real) {
		FaultQueuePair outer = ((Outer) real.listener()).queuePair;
		if (outer == null) {
			throw new IllegalStateException(real + " has completed work before it was created");
		}
		return outer;
	}

	QueuePair real() {
		return this.real;
	}

	void connectTo(TargetFaults faults) {
		this.target = faults;
		faults.add(this);
	}

	/** Whose faults it has, or {@code null} if it has none. */
	@Nullable TargetFaults target() {
		return this.target;
	}

	/** Cuts the connection, now. Any thread. */
	void cut() {
		TargetFaults faults = this.target;
		if (faults != null && this.real.state() == QueuePairState.READY_TO_SEND
				&& this.cut.compareAndSet(false, true)) {
			faults.counted();
			this.real.disconnect();
		}
	}

	boolean isCut() {
		return this.cut.get();
	}

	/** Whether nothing of it may be held back any more. */
	boolean isOver() {
		return this.closed || this.real.state() == QueuePairState.ERROR;
	}

	boolean isClosed() {
		return this.closed;
	}

	boolean sharesReceives() {
		return this.sharesReceives;
	}

	@Override
	public int number() {
		return this.real.number();
	}

	@Override
	public QueuePairListener listener() {
		return this.listener;
	}

	@Override
	public QueuePairState state() {
		return this.real.state();
	}

	@Override
	public @Nullable QueuePairFault fault() {
		QueuePairFault own = this.real.fault();
		return (own != null && isCut()) ? CUT : own;
	}

	@Override
	public PostResult postSend(WorkRequest request) {
		return this.real.postSend(request);
	}

	@Override
	public PostResult postReceive(WorkRequest request) {
		return this.real.postReceive(request);
	}

	@Override
	public void favorLatency(boolean favored) {
		this.real.favorLatency(favored);
	}

	@Override
	public void allowReceives(int count) {
		this.real.allowReceives(count);
	}

	@Override
	public void ringDoorbell() {
		this.real.ringDoorbell();
	}

	@Override
	public void disconnect() {
		this.real.disconnect();
	}

	@Override
	public void close() {
		this.real.close();
		this.closed = true;
		TargetFaults faults = this.target;
		if (faults != null) {
			faults.remove(this);
			this.completions.closed(this);
		}
	}

	@Override
	public String toString() {
		return this.real.toString();
	}

	/** Listens to the real one, and leads from it to the one before it. */
	private static final class Outer implements QueuePairListener {

		private final QueuePairListener listener;

		private volatile @Nullable FaultQueuePair queuePair;

		Outer(QueuePairListener listener) {
			this.listener = listener;
		}

		@Override
		public void onDisconnected(QueuePair real, QueuePairFault fault) {
			FaultQueuePair outer = before(real);
			this.listener.onDisconnected(outer, outer.isCut() ? CUT : fault);
		}

	}

}
