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
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairFault.Origin;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkStatus;

/**
 * What connects a queue pair: the connection manager's id and the adapter's queue pair
 * behind it, from the attempt to the end.
 *
 * <p>
 * Threading: what concerns the id happens on the connection thread; the rest is guarded
 * by the lock of the completion queue.
 */
final class QueuePairConnection implements IdHandler {

	private static final Logger logger = LoggerFactory.getLogger(QueuePairConnection.class);

	/** How long a peer may take to accept what was posted before a disconnect. */
	private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(5);

	/** How often somebody looks how the drain goes, even if nobody polls. */
	private static final long DRAIN_TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	/** How long an adapter may take to flush, or to say why it did. */
	private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** So much every adapter takes within a request, without fetching it later. */
	private static final int INLINE_BYTES = 32;

	private final DisniQueuePair queuePair;

	private final ConnectionVerbs.QueuePairSize size;

	private ConnectionVerbs.@Nullable AdapterQueuePair adapterQueuePair;

	private ConnectionVerbs.@Nullable AdapterQueuePair orphan;

	private @Nullable Runnable attemptAbandoned;

	private @Nullable Runnable ended;

	private long id;

	private int generation;

	private boolean unanswered;

	private boolean drained;

	private boolean suspected;

	QueuePairConnection(DisniQueuePair queuePair, QueuePairOptions options, DisniReceiveSource receives,
			AdapterAttributes attributes) {
		this.queuePair = queuePair;
		int sends = options.sendQueueDepth();
		if (attributes.oneSegmentPerRead()) {
			sends = Math.min(attributes.maxQueueDepth(), sends * options.maxSendSegments());
		}
		this.size = new ConnectionVerbs.QueuePairSize(sends, receives.depth(), options.maxSendSegments(),
				receives.maxSegments(), INLINE_BYTES);
	}

	ConnectionVerbs.QueuePairSize size() {
		return this.size;
	}

	int generation() {
		return this.generation;
	}

	private DisniConnectionThread thread() {
		return this.queuePair.domain().connections();
	}

	/**
	 * Claims the queue pair for an attempt.
	 * @param abandoned run on the connection thread if the queue pair is closed or
	 * disconnected before the attempt has ended
	 */
	void begin(Runnable abandoned) {
		this.queuePair.completionQueue().lock();
		try {
			QueuePairState current = this.queuePair.state();
			if (current == QueuePairState.CLOSED) {
				throw new VerbsException(VerbsError.CLOSED, this.queuePair + " is closed");
			}
			if (current != QueuePairState.INITIALIZED) {
				throw new VerbsException(VerbsError.INVALID_STATE,
						this.queuePair + " cannot be connected, its state is " + current);
			}
			this.queuePair.state(QueuePairState.CONNECTING);
			this.attemptAbandoned = abandoned;
		}
		finally {
			this.queuePair.completionQueue().unlock();
		}
	}

	/**
	 * Gives the queue pair what the adapter needs. On the connection thread.
	 * @return false if the attempt was abandoned
	 */
	boolean open(long newId) throws IOException {
		this.queuePair.completionQueue().lock();
		try {
			if (this.queuePair.state() != QueuePairState.CONNECTING) {
				return false;
			}
			DisniReceiveSource receives = this.queuePair.receives();
			DisniCompletionQueue completions = this.queuePair.completionQueue();
			ConnectionVerbs.AdapterQueuePair opened = thread().verbs()
				.createQueuePair(newId, this.queuePair.domain().adapterDomain().domain(),
						completions.adapterQueue().queue(), receives.adapterQueue(), this.size);
			this.adapterQueuePair = opened;
			this.generation = thread().nextGeneration();
			completions.connect(opened.number(), this.queuePair);
			this.queuePair.sends().open(SendBatch.prepare(opened.verbs(), this.size.sendSegments()), this.generation);
			receives.open(opened.verbs(), this.generation);
			return true;
		}
		finally {
			this.queuePair.completionQueue().unlock();
		}
	}

	/**
	 * From here on the peer may be asked: an iWARP adapter does not let go of its queue
	 * pair before there is an answer, or none in time. On the connection thread.
	 */
	void asking() {
		this.queuePair.completionQueue().lock();
		try {
			this.unanswered = this.adapterQueuePair != null
					&& this.queuePair.domain().adapterDomain().attributes().iwarp();
		}
		finally {
			this.queuePair.completionQueue().unlock();
		}
	}

	/**
	 * The attempt has failed: the queue pair is as it was before.
	 * @param answered whether there was an answer
	 * @return what is to be destroyed with the id once there is an answer, or
	 * {@code null} if nothing needs to wait for that
	 */
	ConnectionVerbs.@Nullable AdapterQueuePair attemptFailed(boolean answered) {
		this.queuePair.completionQueue().lock();
		try {
			this.attemptAbandoned = null;
			this.unanswered &= !answered;
			destroyAdapterQueuePair();
			this.unanswered = false;
			if (this.queuePair.state() == QueuePairState.CONNECTING) {
				this.queuePair.state(QueuePairState.INITIALIZED);
			}
			this.queuePair.completionQueue().releaseEarly(this.queuePair);
			ConnectionVerbs.AdapterQueuePair left = this.orphan;
			this.orphan = null;
			this.queuePair.completionQueue().addEnded(this.queuePair);
			return left;
		}
		finally {
			this.queuePair.completionQueue().unlock();
		}
	}

	/**
	 * The attempt has succeeded. On the connection thread.
	 * @param whenEnded run once when the connection is over
	 * @return false if the attempt was abandoned
	 */
	boolean established(long newId, @Nullable Runnable whenEnded) {
		this.queuePair.completionQueue().lock();
		try {
			if (this.queuePair.state() != QueuePairState.CONNECTING) {
				return false;
			}
			this.attemptAbandoned = null;
			this.unanswered = false;
			this.id = newId;
			this.ended = whenEnded;
			thread().handle(newId, this);
			this.queuePair.state(QueuePairState.READY_TO_SEND);
			this.queuePair.completionQueue().releaseEarly(this.queuePair);
			return true;
		}
		finally {
			this.queuePair.completionQueue().unlock();
		}
	}

	@Override
	public void onEvent(ConnectionEvent event) {
		switch (event.type()) {
			case DISCONNECTED -> {
				this.queuePair.completionQueue().drain();
				this.queuePair
					.fail(new QueuePairFault(WorkStatus.FLUSHED, Origin.DISCONNECT, "disconnected by the peer"));
			}
			case DEVICE_REMOVAL -> this.queuePair
				.fail(new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL, "the adapter was removed"));
			default -> logger.debug("{}: {}", this.queuePair, event);
		}
	}

	/** Begins the orderly end; the caller holds the lock. */
	void drain() {
		long deadline = System.nanoTime() + DRAIN_NANOS;
		thread().execute(() -> watchDrain(deadline));
	}

	private void watchDrain(long deadline) {
		this.queuePair.completionQueue().drain();
		if (this.queuePair.state() != QueuePairState.DRAINING || finishDrain()) {
			return;
		}
		if (System.nanoTime() - deadline < 0) {
			thread().schedule(DRAIN_TICK_NANOS, () -> watchDrain(deadline));
		}
		else {
			this.queuePair.fail(new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL,
					"peer did not take what was posted before the disconnect in time"));
		}
	}

	private boolean finishDrain() {
		this.queuePair.completionQueue().lock();
		try {
			if (this.queuePair.sends().atAdapter() > 0) {
				return false;
			}
			this.drained = true;
		}
		finally {
			this.queuePair.completionQueue().unlock();
		}
		disconnect();
		this.queuePair.fail(new QueuePairFault(WorkStatus.FLUSHED, Origin.DISCONNECT, "disconnected by this side"));
		return true;
	}

	private void disconnect() {
		if (this.id == 0) {
			return;
		}
		try {
			thread().verbs().disconnect(this.id);
		}
		catch (IOException ex) {
			logger.debug("{} was disconnected already", this.queuePair, ex);
		}
	}

	/** A request has ended; the caller holds the lock. */
	void progressed(WorkStatus status) {
		QueuePairState state = this.queuePair.state();
		if (state == QueuePairState.DRAINING && this.queuePair.sends().atAdapter() == 0 && !this.drained) {
			thread().execute(() -> watchDrain(System.nanoTime()));
			this.drained = true;
		}
		if (status == WorkStatus.FLUSHED && state != QueuePairState.ERROR && !this.suspected) {
			this.suspected = true;
			thread().execute(() -> thread().schedule(FLUSH_NANOS, () -> this.queuePair
				.fail(new QueuePairFault(WorkStatus.CONNECTION_LOST, Origin.LOCAL, "adapter lost the connection"))));
		}
	}

	/** The queue pair goes to error; the caller holds the lock. */
	void failed(QueuePairFault cause) {
		this.queuePair.completionQueue().releaseEarly(this.queuePair);
		Runnable attempt = this.attemptAbandoned;
		if (attempt != null) {
			this.attemptAbandoned = null;
			thread().execute(attempt);
		}
		if (this.adapterQueuePair == null) {
			return;
		}
		boolean graceful = this.drained && cause.origin() == Origin.DISCONNECT;
		if (!graceful) {
			try {
				this.queuePair.domain().adapterDomain().verbs().fail(this.adapterQueuePair.verbs());
			}
			catch (IOException ex) {
				logger.debug("{} was in error already", this.queuePair, ex);
			}
			thread().execute(this::disconnect);
		}
		if (!graceful && this.queuePair.receives().isBorrowed()) {
			thread().execute(this::seeToFlush);
		}
		else {
			thread().execute(() -> thread().schedule(FLUSH_NANOS, this::seeToFlush));
		}
		runEnded();
	}

	private void runEnded() {
		Runnable whenEnded = this.ended;
		if (whenEnded != null) {
			this.ended = null;
			thread().execute(whenEnded);
		}
	}

	/** What the adapter does not flush is flushed for it. */
	private void seeToFlush() {
		DisniCompletionQueue completions = this.queuePair.completionQueue();
		completions.drain();
		completions.lock();
		try {
			if (this.queuePair.state() == QueuePairState.ERROR && this.adapterQueuePair != null
					&& !this.queuePair.isFlushed()) {
				logger.debug("{} is flushed by force", this.queuePair);
				destroyAdapterQueuePair();
				completions.addEnded(this.queuePair);
			}
		}
		finally {
			completions.unlock();
		}
	}

	/** Ends everything at once; the caller holds the lock. */
	void abandon() {
		Runnable attempt = this.attemptAbandoned;
		if (attempt != null) {
			this.attemptAbandoned = null;
			thread().execute(attempt);
		}
		destroyAdapterQueuePair();
		if (this.id != 0) {
			long last = this.id;
			this.id = 0;
			thread().execute(() -> thread().closeId(last));
		}
		runEnded();
		this.queuePair.completionQueue().addEnded(this.queuePair);
	}

	private void destroyAdapterQueuePair() {
		ConnectionVerbs.AdapterQueuePair open = this.adapterQueuePair;
		if (open != null) {
			this.adapterQueuePair = null;
			try {
				if (this.unanswered) {
					this.orphan = open;
					this.queuePair.domain().adapterDomain().verbs().fail(open.verbs());
				}
				else {
					thread().verbs().destroyQueuePair(open);
				}
			}
			catch (IOException ex) {
				logger.debug("{} was destroyed already", this.queuePair, ex);
			}
			this.queuePair.completionQueue().disconnect(open.number(), this.queuePair);
			this.queuePair.sends().close();
			this.queuePair.receives().abandoned();
		}
	}

}
