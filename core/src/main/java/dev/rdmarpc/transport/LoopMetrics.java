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

package dev.rdmarpc.transport;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of a loop, written by its driver and readable from any thread; a reader may
 * see slightly old values.
 */
public final class LoopMetrics {

	private static final VarHandle COMPLETIONS = handle("completions");

	private static final VarHandle POLLS = handle("polls");

	private static final VarHandle AWAITS = handle("awaits");

	private static final VarHandle AWAIT_NANOS = handle("awaitNanos");

	private static final VarHandle EMPTY_POLLS = handle("emptyPolls");

	private static final VarHandle PAID_SPINS = handle("paidSpins");

	private static final VarHandle WAKE_UPS = handle("wakeUps");

	private static final VarHandle SPIN_NANOS = handle("spinNanos");

	private static final VarHandle TAKE_OVERS = handle("takeOvers");

	private static final VarHandle SENT_BYTES = handle("sentBytes");

	private static final VarHandle RECEIVED_BYTES = handle("receivedBytes");

	private static final VarHandle READ_BYTES = handle("readBytes");

	private static final VarHandle FRAMES_SENT = handle("framesSent");

	private static final VarHandle BUNDLED_FRAMES = handle("bundledFrames");

	private static final VarHandle FRAMES_RECEIVED = handle("framesReceived");

	private static final VarHandle CREDIT_FRAMES = handle("creditFrames");

	/** What only grows, and has the driver for its only writer. */
	private static final VarHandle[] GROWING = { COMPLETIONS, POLLS, AWAITS, AWAIT_NANOS, EMPTY_POLLS, PAID_SPINS,
			WAKE_UPS, TAKE_OVERS, SENT_BYTES, RECEIVED_BYTES, READ_BYTES, FRAMES_SENT, BUNDLED_FRAMES, FRAMES_RECEIVED,
			CREDIT_FRAMES };

	private long completions;

	private long polls;

	private long awaits;

	private long awaitNanos;

	private long emptyPolls;

	private long paidSpins;

	private long wakeUps;

	@SuppressWarnings("UnusedVariable") // through SPIN_NANOS
	private long spinNanos;

	private long takeOvers;

	private long sentBytes;

	private long receivedBytes;

	private long readBytes;

	private long framesSent;

	private long bundledFrames;

	private long framesReceived;

	private long creditFrames;

	private volatile long receivePosts;

	private volatile long receivesPosted;

	private volatile long receivesPromised;

	private volatile long receiveMemoryBytes;

	private volatile long receivesReplaced;

	private final LoopCounter copiedBytes = new LoopCounter();

	private final LongAdder yields = new LongAdder();

	private final ClassMetrics classes = new ClassMetrics();

	LoopMetrics() {
	}

	private static VarHandle handle(String name) {
		try {
			return MethodHandles.lookup().findVarHandle(LoopMetrics.class, name, long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	/** Adds what a loop that has ended has counted; one thread at a time. */
	@SuppressWarnings("NonAtomicVolatileUpdate") // by one thread at a time
	void include(LoopMetrics ended) {
		for (VarHandle count : GROWING) {
			count.setOpaque(this, (long) count.getOpaque(this) + (long) count.getOpaque(ended));
		}
		this.receivePosts = this.receivePosts + ended.receivePosts;
		this.receivesReplaced = this.receivesReplaced + ended.receivesReplaced;
		this.copiedBytes.add(ended.copiedBytes.sum());
		this.yields.add(ended.yields.sum());
		this.classes.include(ended.classes);
	}

	void polled(int count) {
		COMPLETIONS.setOpaque(this, this.completions + count);
		POLLS.setOpaque(this, this.polls + 1);
	}

	void polledInVain() {
		EMPTY_POLLS.setOpaque(this, this.emptyPolls + 1);
	}

	/** What was waited for has come while the loop polled. */
	void spinPaid() {
		PAID_SPINS.setOpaque(this, this.paidSpins + 1);
	}

	/** A thread that polled has let another one run. Any thread. */
	void yielded() {
		this.yields.increment();
	}

	/** For how long the loop polls from here on. */
	void spinBudget(long nanos) {
		SPIN_NANOS.setOpaque(this, nanos);
	}

	/** By the awaiter, of which there is one at a time. */
	void awaited(long nanos, long mostNanos) {
		if (nanos < mostNanos) {
			WAKE_UPS.setOpaque(this, this.wakeUps + 1);
		}
		AWAITS.setOpaque(this, this.awaits + 1);
		AWAIT_NANOS.setOpaque(this, this.awaitNanos + nanos);
	}

	/** Says which thread is the loop's from now on. */
	void ownedBy(Thread thread) {
		this.copiedBytes.ownedBy(thread);
	}

	/** Another thread has become the loop's; by that thread. */
	void takenOver() {
		TAKE_OVERS.setOpaque(this, this.takeOvers + 1);
	}

	void sent(int bytes) {
		SENT_BYTES.setOpaque(this, this.sentBytes + bytes);
		FRAMES_SENT.setOpaque(this, this.framesSent + 1);
	}

	/** Several frames have been sent together, one of which counts already. */
	void bundled(int frames, int bytes) {
		copied(bytes);
		BUNDLED_FRAMES.setOpaque(this, this.bundledFrames + frames);
		FRAMES_SENT.setOpaque(this, this.framesSent + frames - 1);
	}

	/** Another frame has arrived together with one that counts already. */
	void anotherReceived() {
		FRAMES_RECEIVED.setOpaque(this, this.framesReceived + 1);
	}

	void received(long bytes) {
		RECEIVED_BYTES.setOpaque(this, this.receivedBytes + bytes);
		FRAMES_RECEIVED.setOpaque(this, this.framesReceived + 1);
	}

	void read(long bytes) {
		READ_BYTES.setOpaque(this, this.readBytes + bytes);
	}

	/** A frame that carries nothing but credits is being sent. */
	void creditFrame() {
		CREDIT_FRAMES.setOpaque(this, this.creditFrames + 1);
	}

	/** How the receives are; said at every tick. */
	void receives(ReceivePool pool) {
		this.receivePosts = pool.posts();
		this.receivesPosted = pool.posted();
		this.receivesPromised = pool.promised();
		this.receiveMemoryBytes = pool.memoryBytes();
		this.receivesReplaced = pool.replaced();
	}

	/** A message of a class could not be posted at once. */
	void queued(int priority) {
		this.classes.queued(priority);
	}

	/** A message of a class that could not be posted at once is posted now. */
	void waited(int priority, long nanos) {
		this.classes.waited(priority, nanos);
	}

	/** A large message of a class is fetched in another slice. */
	void sliced(int priority) {
		this.classes.sliced(priority);
	}

	/** Something more urgent has gone before what waits in a class. */
	void overtaken(int priority) {
		this.classes.overtaken(priority);
	}

	/** What was ordered by priority. */
	public ClassMetrics classes() {
		return this.classes;
	}

	/** Any thread. */
	void copied(long bytes) {
		if (bytes > 0) {
			this.copiedBytes.add(bytes);
		}
	}

	/**
	 * What was decoded from a message without being a view of it. Any thread.
	 * @param messageBytes length of the message
	 * @param sharedBytes how much of it the values refer to where it is
	 */
	public void decoded(int messageBytes, long sharedBytes) {
		copied(messageBytes - sharedBytes);
	}

	/** Work completions taken. */
	public long completions() {
		return (long) COMPLETIONS.getOpaque(this);
	}

	/** Polls that found something; completions per poll say how well batching works. */
	public long polls() {
		return (long) POLLS.getOpaque(this);
	}

	/** Polls that found nothing. */
	public long emptyPolls() {
		return (long) EMPTY_POLLS.getOpaque(this);
	}

	/** Times that what was waited for came while the loop polled. */
	public long paidSpins() {
		return (long) PAID_SPINS.getOpaque(this);
	}

	/** Times that another thread ran while the loop polled and offered its processor. */
	public long yields() {
		return this.yields.sum();
	}

	/** Sleeps that ended before their time, by an event or by another thread. */
	public long wakeUps() {
		return (long) WAKE_UPS.getOpaque(this);
	}

	/** How long the loop polls in vain before it sleeps, at present, in nanoseconds. */
	public long spinNanos() {
		return (long) SPIN_NANOS.getOpaque(this);
	}

	/** Times somebody went to wait for an event. */
	public long awaits() {
		return (long) AWAITS.getOpaque(this);
	}

	/** Time spent waiting for events, in nanoseconds. */
	public long awaitNanos() {
		return (long) AWAIT_NANOS.getOpaque(this);
	}

	/** How often another thread went on with the loop because users' code held it up. */
	public long takeOvers() {
		return (long) TAKE_OVERS.getOpaque(this);
	}

	/** Frame bytes sent. */
	public long sentBytes() {
		return (long) SENT_BYTES.getOpaque(this);
	}

	/** Frame bytes received. */
	public long receivedBytes() {
		return (long) RECEIVED_BYTES.getOpaque(this);
	}

	/**
	 * Message bytes copied above the provider: to frames or to memory that the peer
	 * reads, from frames to the whole, and from the received memory to Java objects. What
	 * a codec writes first is not copied.
	 */
	public long copiedBytes() {
		return this.copiedBytes.sum();
	}

	/** Message bytes fetched by Reads from the peers' memory. */
	public long readBytes() {
		return (long) READ_BYTES.getOpaque(this);
	}

	/** Frames sent. */
	public long framesSent() {
		return (long) FRAMES_SENT.getOpaque(this);
	}

	/** Frames sent together with others in one Send. */
	public long bundledFrames() {
		return (long) BUNDLED_FRAMES.getOpaque(this);
	}

	/** Frames received. */
	public long framesReceived() {
		return (long) FRAMES_RECEIVED.getOpaque(this);
	}

	/** Frames sent that carry nothing but credits, because nothing else went that way. */
	public long creditFrames() {
		return (long) CREDIT_FRAMES.getOpaque(this);
	}

	/** Calls that posted receives, each of them any number; as of the last tick. */
	public long receivePosts() {
		return this.receivePosts;
	}

	/** Receives in the shared receive queue; as of the last tick. */
	public long receivesPosted() {
		return this.receivesPosted;
	}

	/**
	 * Receives promised to peers: their credits and those of handshakes; as of the last
	 * tick.
	 */
	public long receivesPromised() {
		return this.receivesPromised;
	}

	/**
	 * Memory of posted receives and of those kept ready to be posted, in bytes; as of the
	 * last tick.
	 */
	public long receiveMemoryBytes() {
		return this.receiveMemoryBytes;
	}

	/**
	 * Receives replaced because their buffer went with the message; as of the last tick.
	 */
	public long receivesReplaced() {
		return this.receivesReplaced;
	}

}
