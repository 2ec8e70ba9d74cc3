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

import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkOpcode;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.support.CheckedQueuePair;
import dev.rdmarpc.verbs.support.LimitChecks;
import dev.rdmarpc.verbs.support.ListenerCall;

/**
 * A queue pair. While it is connected or about to be, there is one of an adapter behind
 * it, because the connection manager wants to know the route first; receives that were
 * posted before are handed over then.
 *
 * <p>
 * Implementation notes. State and fault are read without a lock, everything else is
 * guarded by the lock of the completion queue. In the error state nothing is handed to
 * the adapter any more: what is posted then, and what the adapter never had, is flushed
 * here, as soon as the adapter has reported all that it had.
 */
final class DisniQueuePair extends CheckedQueuePair {

	private static final RateLimitedLogger sinkFailures = new RateLimitedLogger(
			LoggerFactory.getLogger(DisniQueuePair.class));

	private static final RateLimitedLogger completionFailures = new RateLimitedLogger(
			LoggerFactory.getLogger(DisniQueuePair.class));

	private static final QueuePairFault NOT_COMPLETED = new QueuePairFault(WorkStatus.LOCAL_OPERATION_ERROR,
			QueuePairFault.Origin.LOCAL, "a completion could not be taken");

	private final DisniProtectionDomain domain;

	private final DisniCompletionQueue completionQueue;

	private final DisniSendQueue sends;

	private final DisniReceiveSource receives;

	private final SegmentList segments;

	private final CompletionReporter reporter = this::ended;

	private final ListenerCall listenerCall;

	private final QueuePairConnection connection;

	private volatile QueuePairState state = QueuePairState.INITIALIZED;

	private volatile @Nullable QueuePairFault fault;

	private boolean undelivered;

	DisniQueuePair(DisniProtectionDomain domain, DisniCompletionQueue completionQueue, DisniReceiveSource receives,
			QueuePairOptions options, int number) {
		super(number, options);
		this.domain = domain;
		this.completionQueue = completionQueue;
		this.receives = receives;
		AdapterAttributes attributes = domain.adapterDomain().attributes();
		this.connection = new QueuePairConnection(this, options, receives, attributes);
		this.sends = new DisniSendQueue(this.reporter, options.sendQueueDepth(), this.connection.size().sends(),
				attributes.oneSegmentPerRead(), this.connection.size().inlineBytes());
		this.segments = new SegmentList(Math.max(options.maxSendSegments(), options.maxReceiveSegments()));
		this.listenerCall = completionQueue.newListenerCall(this);
	}

	/** The queue pair as one of the device. */
	static DisniQueuePair of(VerbsDevice device, QueuePair queuePair) {
		if (queuePair instanceof DisniQueuePair own && own.domain.device() == device) {
			return own;
		}
		throw new VerbsException(VerbsError.INVALID_ARGUMENT, queuePair + " is not of device " + device.name());
	}

	@Override
	public QueuePairState state() {
		return this.state;
	}

	@Override
	public @Nullable QueuePairFault fault() {
		return this.fault;
	}

	DisniProtectionDomain domain() {
		return this.domain;
	}

	DisniCompletionQueue completionQueue() {
		return this.completionQueue;
	}

	QueuePairConnection connection() {
		return this.connection;
	}

	DisniSendQueue sends() {
		return this.sends;
	}

	DisniReceiveSource receives() {
		return this.receives;
	}

	/** What its work requests are marked with as long as it is connected. */
	int generation() {
		return this.connection.generation();
	}

	@Override
	public PostResult postSend(WorkRequest request) {
		checkSend(request);
		LimitChecks.checkSegments(request, options().maxSendSegments());
		this.completionQueue.lock();
		try {
			QueuePairState current = checkConnected();
			if (this.sends.isFull()) {
				return PostResult.QUEUE_FULL;
			}
			if (current != QueuePairState.READY_TO_SEND || this.sends.doom() != null) {
				this.sends.enter(request, WorkStatus.FLUSHED);
				this.completionQueue.addEnded(this);
				return PostResult.POSTED;
			}
			return post(request);
		}
		finally {
			this.completionQueue.unlock();
		}
	}

	private PostResult post(WorkRequest request) {
		WorkStatus verdict = this.segments.take(request, this.domain.adapterDomain());
		if (verdict != null) {
			return doom(request, verdict);
		}
		if (!this.sends.hasRoomFor(request, this.segments)) {
			return PostResult.QUEUE_FULL;
		}
		try {
			this.segments.openSinks();
		}
		catch (IOException ex) {
			sinkFailures.log(Level.WARN, "{}: a Read's sink of {} bytes cannot be registered (is the limit of locked "
					+ "memory too low?): {}", this, request.totalBytes(), ex.getMessage());
			return doom(request, WorkStatus.LOCAL_OPERATION_ERROR);
		}
		try {
			this.sends.enter(request, this.segments);
			if (!this.undelivered) {
				this.undelivered = true;
				this.completionQueue.addUndelivered(this);
			}
		}
		catch (IOException ex) {
			refusedByAdapter(ex);
		}
		return PostResult.POSTED;
	}

	/** Takes a request that cannot be executed: it ends the connection in its turn. */
	private PostResult doom(WorkRequest request, WorkStatus verdict) {
		this.sends.enter(request, verdict);
		deliver();
		failIfDoomed();
		return PostResult.POSTED;
	}

	/** Hands over what was posted; the caller holds the lock. */
	void deliver() {
		if (this.undelivered) {
			this.undelivered = false;
			this.completionQueue.removeUndelivered(this);
			try {
				this.sends.post();
			}
			catch (IOException ex) {
				refusedByAdapter(ex);
			}
		}
	}

	/** How much of a batch was taken is not known, so nothing more may happen. */
	private void refusedByAdapter(IOException ex) {
		QueuePairFault cause = new QueuePairFault(WorkStatus.LOCAL_OPERATION_ERROR, QueuePairFault.Origin.LOCAL,
				"adapter refused a request: " + ex.getMessage());
		fail(cause);
		this.connection.abandon();
	}

	private void failIfDoomed() {
		WorkStatus doom = this.sends.doom();
		if (doom != null && this.sends.atAdapter() == 0) {
			fail(new QueuePairFault(doom, QueuePairFault.Origin.LOCAL, "work request cannot be executed: " + doom));
		}
	}

	@Override
	public PostResult postReceive(WorkRequest request) {
		checkReceive(request);
		LimitChecks.checkSegments(request, options().maxReceiveSegments());
		OwnReceives own = (OwnReceives) this.receives;
		this.completionQueue.lock();
		try {
			QueuePairState current = checkOpen();
			if (own.isFull()) {
				return PostResult.QUEUE_FULL;
			}
			WorkStatus verdict = this.segments.take(request, this.domain.adapterDomain());
			own.post(request, this.segments, verdict != null, current != QueuePairState.ERROR);
			if (current == QueuePairState.ERROR) {
				this.completionQueue.addEnded(this);
			}
			return PostResult.POSTED;
		}
		catch (IOException ex) {
			refusedByAdapter(ex);
			return PostResult.POSTED;
		}
		finally {
			this.completionQueue.unlock();
		}
	}

	@Override
	public void allowReceives(int count) {
		this.receives.allow(count);
	}

	/** Takes a completion from the adapter; the caller holds the lock. */
	void completed(CompletionBatch batch, int index) {
		long id = batch.id(index);
		AdapterStatus status = AdapterStatus.of(batch.status(index));
		WorkStatus outcome;
		if (WorkId.isShared(id) || WorkId.isReceive(id)) {
			outcome = this.receives.completed(this.reporter, WorkId.slot(id), status.ofReceive(),
					batch.byteLength(index), batch.invalidatedKey(index));
		}
		else {
			outcome = status.ofSend(this.domain.adapterDomain().attributes().siw());
			if (this.sends.complete(WorkId.slot(id), outcome)) {
				failIfDoomed();
			}
		}
		if (outcome != WorkStatus.SUCCESS && outcome != WorkStatus.FLUSHED) {
			fail(new QueuePairFault(outcome, AdapterStatus.originOf(outcome),
					"adapter reported " + status + " (vendor error " + batch.vendorError(index) + ")"));
		}
		this.connection.progressed(outcome);
		this.completionQueue.addEnded(this);
	}

	/** Ends the connection after a completion could not be taken. Throws nothing. */
	void notCompleted(Throwable ex) {
		completionFailures.log(Level.ERROR, "{}: a completion could not be taken", this, ex);
		try {
			fail(NOT_COMPLETED);
		}
		catch (Throwable again) {
			completionFailures.log(Level.ERROR, "{} could not be ended in an orderly way", this, again);
		}
	}

	private void ended(long id, WorkStatus status, WorkOpcode opcode, long bytes, int invalidatedKey) {
		this.completionQueue.report(id, status, opcode, bytes, invalidatedKey, this);
	}

	/**
	 * Whether something ends without the adapter, and it is its turn; the caller holds
	 * the lock.
	 */
	boolean hasEnded() {
		return this.state == QueuePairState.ERROR && (this.sends.hasEnded() || this.receives.hasEnded());
	}

	/** Whether the adapter has reported all that it had; the caller holds the lock. */
	boolean isFlushed() {
		return this.sends.atAdapter() == 0 && this.receives.isFlushed();
	}

	/** Reports what ends without the adapter; the caller holds the lock. */
	void reportEnded() {
		if (this.state == QueuePairState.ERROR) {
			this.sends.reportEnded();
			this.receives.reportEnded(this.reporter);
		}
	}

	/** Changes the state; the caller holds the lock. */
	void state(QueuePairState next) {
		this.state = next;
	}

	/** Goes to the error state, once; nothing more is handed to the adapter. */
	void fail(QueuePairFault cause) {
		this.completionQueue.lock();
		try {
			QueuePairState current = this.state;
			if (current == QueuePairState.ERROR || current == QueuePairState.CLOSED) {
				return;
			}
			this.fault = cause;
			this.state = QueuePairState.ERROR;
			this.sends.forgetBatch();
			this.undelivered = false;
			this.completionQueue.removeUndelivered(this);
			try {
				this.connection.failed(cause);
				this.receives.failed();
			}
			finally {
				announceEnd(current);
			}
		}
		finally {
			this.completionQueue.unlock();
		}
	}

	private void announceEnd(QueuePairState before) {
		try {
			if (before == QueuePairState.READY_TO_SEND || before == QueuePairState.DRAINING) {
				this.completionQueue.addListenerCall(this.listenerCall);
			}
		}
		finally {
			this.completionQueue.addEnded(this);
		}
	}

	@Override
	public void ringDoorbell() {
		this.completionQueue.lock();
		try {
			deliver();
		}
		finally {
			this.completionQueue.unlock();
		}
	}

	@Override
	public void disconnect() {
		this.completionQueue.lock();
		try {
			deliver();
			if (this.state == QueuePairState.READY_TO_SEND) {
				this.state = QueuePairState.DRAINING;
				this.connection.drain();
			}
			else if (this.state == QueuePairState.INITIALIZED || this.state == QueuePairState.CONNECTING) {
				fail(new QueuePairFault(WorkStatus.FLUSHED, QueuePairFault.Origin.DISCONNECT,
						"disconnected before the connection was established"));
			}
		}
		finally {
			this.completionQueue.unlock();
		}
	}

	/** The completion queue closes: nothing is reported any more. */
	void completionQueueClosed() {
		fail(new QueuePairFault(WorkStatus.FLUSHED, QueuePairFault.Origin.LOCAL, "completion queue was closed"));
		this.connection.abandon();
	}

	@Override
	public void close() {
		this.completionQueue.lock();
		try {
			if (this.state == QueuePairState.CLOSED) {
				return;
			}
			this.completionQueue.drain();
			this.state = QueuePairState.CLOSED;
			this.connection.abandon();
			this.sends.clear();
			this.receives.close();
			this.completionQueue.detach(this);
			this.listenerCall.awaitEnd();
		}
		finally {
			this.completionQueue.unlock();
		}
		this.domain.removed(this);
	}

}
