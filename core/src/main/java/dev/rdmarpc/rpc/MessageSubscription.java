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

package dev.rdmarpc.rpc;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.LinkableTask;
import dev.rdmarpc.transport.PackedMessages;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.UserTask;

/**
 * A subscription of this side's user to the messages of a stream. The subscriber's demand
 * is what the peer is granted; messages are decoded, and the subscriber is told, after
 * the loop's turn.
 *
 * <p>
 * Implementation notes. The driver leaves what has arrived in a queue, and what the
 * messages ended with in fields that it writes before {@code ended}. Each change adds to
 * {@code work}; whoever raises it from 0 tells the subscriber, or has that done, until
 * all of it is accounted for. So the subscriber is told by one thread at a time, which
 * sees what the one before it wrote. Demand is added first and then it is asked whether
 * it can be granted, while that becomes possible first and then the demand is taken: the
 * one or the other grants it. If the subscriber takes long on the loop's thread, the rest
 * waits for another time after a turn; the work is not accounted for until then. If
 * anything is thrown meanwhile, the loop has the work done at its next tick, and the
 * subscriber is told that.
 *
 * <p>
 * What has arrived belongs to whoever takes it from the queue, who gives its memory back
 * and says so. When the driver drops it, it says so before it takes the first one, and
 * whoever else takes one behind that finds it said: the subscriber is told none after one
 * that it was not told.
 */
abstract class MessageSubscription extends LinkableTask
		implements UserTask, Flow.Subscription, StreamReceiver.Listener {

	private static final Logger logger = LoggerFactory.getLogger(MessageSubscription.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	/** For how long a loop's thread tells of messages without a turn of the loop. */
	private static final long RUN_NANOS = 50_000;

	/**
	 * How often what was consumed is granted again: the peer sends meanwhile.
	 */
	private static final int GRANTS_PER_WINDOW = 4;

	private final MethodDescriptor method;

	private final MessageFormat format;

	/** Whether decoded messages may hold the memory they lie in. */
	private final boolean holdsMemory;

	private final Queue<Arrived> arrived = new ConcurrentLinkedQueue<>();

	private final AtomicInteger work = new AtomicInteger();

	private final AtomicLong demand = new AtomicLong();

	private final AtomicLong consumedBytes = new AtomicLong();

	private final AtomicBoolean granting = new AtomicBoolean();

	private final Runnable grant = this::grant;

	private final Runnable delivery = this::deliverAll;

	private final Runnable resumption = this::resume;

	/** Whoever does the work, from when it is subscribed until it was told the end. */
	private Flow.@Nullable Subscriber<? super Object> subscriber;

	/** What was delivered of a frame counts for; whoever does the work. */
	private int deliveredBytes;

	/** How many messages were delivered; whoever does the work. */
	private int delivered;

	/** Whether some are left for another time; whoever does the work. */
	private boolean paused;

	/** Whether the work was given up in the middle; whoever does it. */
	private boolean interrupted;

	private volatile boolean cancelled;

	/** Why the subscriber is told nothing but this from now on. */
	private volatile @Nullable RuntimeException reason;

	private volatile boolean ended;

	/** Whether what has arrived is not told any more. */
	private volatile boolean dropping;

	MessageSubscription(MethodDescriptor method, MessageFormat format, boolean holdsMemory) {
		this.method = method;
		this.format = format;
		this.holdsMemory = holdsMemory;
	}

	/** Where the messages come from. */
	abstract StreamReceiver receiver();

	abstract ChannelLoop loop();

	/** Whether the peer can be granted something. */
	abstract boolean isStarted();

	/** Messages are not wanted any more, which the peer is told. */
	abstract void abandon();

	/** Whose call has failed, or {@code null} if it is the one that is served. */
	abstract @Nullable MethodDescriptor called();

	/** What a message of the peer that cannot be decoded is. */
	abstract RpcStatus malformed();

	/**
	 * Nothing more comes.
	 * @return what the subscriber is told in place of a good end
	 */
	abstract @Nullable RpcException outcome();

	/** The subscriber is about to be told the end. */
	abstract void closing(RpcStatus status, @Nullable Throwable failure);

	/** Subscribes; before anything else, or as whoever does the work. */
	final void greet(Flow.Subscriber<? super Object> told) {
		this.subscriber = told;
		try {
			told.onSubscribe(this);
		}
		catch (Throwable ex) {
			misbehaved(ex);
		}
	}

	final MethodDescriptor descriptor() {
		return this.method;
	}

	final boolean isCancelled() {
		return this.cancelled;
	}

	final boolean hasEnded() {
		return this.ended;
	}

	/** What the subscriber wants and has not been granted yet. */
	final long takeDemand() {
		return this.demand.getAndSet(0);
	}

	@Override
	public final void onMessage(RegisteredBuffer memory, ByteBuffer message) {
		arrived(memory, message, false);
	}

	@Override
	public final void onPack(RegisteredBuffer memory, ByteBuffer pack) {
		arrived(memory, pack, true);
	}

	private void arrived(RegisteredBuffer memory, ByteBuffer message, boolean pack) {
		Arrived part;
		try {
			part = new Arrived(memory, message, pack, memory.length());
			this.arrived.add(part);
		}
		catch (Throwable ex) {
			int bytes = memory.length();
			memory.release();
			receiver().consumed(bytes);
			throw ex;
		}
		workAfterTurn();
	}

	/** Gives up what has arrived and was not told, so that the end is next; driver. */
	final void dropArrived() {
		this.dropping = true;
		for (Arrived part = this.arrived.poll(); part != null; part = this.arrived.poll()) {
			giveBack(part);
		}
	}

	private void giveBack(Arrived part) {
		try {
			part.memory().release();
		}
		finally {
			receiver().consumed(part.heldBytes());
		}
	}

	/** Nothing more comes; driver. */
	final void endAfterTurn() {
		receiver().close();
		this.ended = true;
		workAfterTurn();
	}

	/** Nothing comes at all. */
	final void endHere() {
		this.ended = true;
		workHere();
	}

	final void workAfterTurn() {
		if (this.work.getAndIncrement() == 0) {
			loop().afterTurn(this);
		}
	}

	final void workHere() {
		if (this.work.getAndIncrement() == 0) {
			finishWork();
		}
	}

	@Override
	public final void request(long messages) {
		if (messages <= 0) {
			this.reason = new IllegalArgumentException(
					"request for " + messages + " messages (expected: more than 0, Reactive Streams rule 3.9)");
			workHere();
			return;
		}
		this.demand.accumulateAndGet(messages, MessageSubscription::sum);
		if (isStarted()) {
			grantSoon();
		}
	}

	private static long sum(long first, long second) {
		long sum = first + second;
		return (sum < 0) ? Long.MAX_VALUE : sum;
	}

	private void grantSoon() {
		if (!this.ended && !this.cancelled && this.granting.compareAndSet(false, true)) {
			try {
				loop().execute(this.grant);
			}
			catch (Throwable ex) {
				this.granting.set(false);
				throw ex;
			}
		}
	}

	/** Grants what the subscriber wants and has consumed; driver. */
	private void grant() {
		this.granting.set(false);
		receiver().grant(takeDemand(), this.consumedBytes.getAndSet(0));
	}

	@Override
	public final void cancel() {
		giveUp();
		workHere();
	}

	final void giveUp() {
		this.cancelled = true;
		abandon();
	}

	/** Nobody can tell the subscriber what there is: it is told that; has its turn. */
	final void failHere(RpcException why) {
		this.reason = why;
		finishWork();
	}

	/** Looks for something to do before the subscriber is told; whoever does the work. */
	void beginWork() {
	}

	/**
	 * Tells the subscriber what there is; not while driving.
	 * @return of how many messages, at least 1
	 */
	final int finishWork() {
		int before = this.delivered;
		try {
			tellAll();
		}
		catch (Throwable ex) {
			// the work is not accounted for: nobody else begins with it
			this.interrupted = true;
			loop().executeAtTick(this);
		}
		return Math.max(1, this.delivered - before);
	}

	/** Something has failed that should not, perhaps for want of memory. */
	private void recover() {
		if (this.cancelled) {
			abandon();
		}
		else if (this.reason == null) {
			this.reason = RpcException.madeElsewhere(RpcStatus.RESOURCE_EXHAUSTED,
					"no memory to tell the subscriber of messages", called(), null);
		}
		this.interrupted = false;
	}

	private void tellAll() {
		if (this.interrupted) {
			recover();
		}
		for (int done = this.work.get(); done != 0; done = this.work.addAndGet(-done)) {
			boolean last = this.ended;
			beginWork();
			Flow.Subscriber<? super Object> told = this.subscriber;
			RuntimeException wrong = this.reason;
			if (told != null && !this.cancelled && wrong != null) {
				giveUpAndFail(told, RpcStatus.CANCELLED, wrong);
			}
			Arrived first = this.arrived.peek();
			if (first != null && first.pack()) {
				loop().gather(this.delivery);
			}
			else {
				deliverAll();
			}
			if (this.paused) {
				this.paused = false;
				loop().execute(this.resumption);
				break;
			}
			if (this.cancelled) {
				this.subscriber = null;
				closing(RpcStatus.CANCELLED, null);
			}
			else if (last && this.subscriber != null) {
				finish(this.subscriber);
			}
		}
	}

	private void resume() {
		loop().afterTurn(this);
	}

	private void deliverAll() {
		long start = System.nanoTime();
		for (Arrived part = this.arrived.poll(); part != null; part = this.arrived.poll()) {
			deliver(part);
			if (System.nanoTime() - start > RUN_NANOS && !this.arrived.isEmpty() && loop().isOwnThread()) {
				this.paused = true;
				return;
			}
		}
	}

	private void deliver(Arrived part) {
		ByteBuffer view = part.message();
		try {
			if (!part.pack()) {
				deliver(part.memory(), view, null);
				return;
			}
			ReceivedMemory received = ReceivedMemory.given();
			int end = view.limit();
			for (int at = view.position(); at < end; at = PackedMessages.after(view)) {
				PackedMessages.select(view.limit(end), at);
				deliver(part.memory(), view, received);
			}
		}
		finally {
			giveBack(part);
			consumed();
		}
	}

	/**
	 * Tells the subscriber a message, unless it has left.
	 * @param shared for all messages that lie in the memory, if there are others
	 */
	private void deliver(RegisteredBuffer memory, ByteBuffer message, @Nullable ReceivedMemory shared) {
		Flow.Subscriber<? super Object> told = this.subscriber;
		if (this.cancelled || this.dropping || told == null) {
			return;
		}
		this.delivered++;
		this.deliveredBytes += receiver().cost(message.remaining());
		Object value;
		try {
			value = (shared != null) ? decodeShared(memory, message, shared)
					: decode(memory, message, Replies.received());
		}
		catch (RpcException ex) {
			giveUpAndFail(told, ex.status(), ex);
			return;
		}
		try {
			told.onNext(value);
		}
		catch (Throwable ex) {
			misbehaved(ex);
		}
	}

	/** The subscriber has got what it was told, which is to be granted again. */
	private void consumed() {
		int bytes = this.deliveredBytes;
		this.deliveredBytes = 0;
		if (bytes > 0 && this.consumedBytes.addAndGet(bytes) >= receiver().windowBytes() / GRANTS_PER_WINDOW) {
			grantSoon();
		}
	}

	/**
	 * Decodes a message that shares its memory with others: from a copy, if there is
	 * memory for it, where values may hold the memory they lie in, so that each holds
	 * what was granted for it.
	 */
	private Object decodeShared(RegisteredBuffer memory, ByteBuffer message, ReceivedMemory received) {
		RegisteredBuffer copy = this.holdsMemory ? receiver().tryCopy(message) : null;
		if (copy == null) {
			return decode(memory, message, received);
		}
		try {
			return decode(copy, copy.buffer().limit(message.remaining()), received);
		}
		finally {
			copy.release();
		}
	}

	private Object decode(RegisteredBuffer memory, ByteBuffer message, ReceivedMemory received) {
		Object value = Replies.decode(called(), this.format, malformed(), message, memory, received);
		loop().metrics().decoded(message.remaining(), received.sharedBytes());
		received.handOver();
		if (value == null) {
			throw RpcException.madeElsewhere(malformed(), "the stream contains nothing in place of a message", called(),
					null);
		}
		return value;
	}

	/** The stream has ended, and all that came before that was delivered. */
	private void finish(Flow.Subscriber<? super Object> told) {
		RpcException why = outcome();
		if (why != null) {
			fail(told, why.status(), why.forCaller());
			return;
		}
		this.subscriber = null;
		closing(RpcStatus.OK, null);
		try {
			told.onComplete();
		}
		catch (Throwable ex) {
			misbehaved(ex);
		}
	}

	private void giveUpAndFail(Flow.Subscriber<? super Object> told, RpcStatus code, Throwable why) {
		try {
			giveUp();
		}
		finally {
			fail(told, code, why);
		}
	}

	private void fail(Flow.Subscriber<? super Object> told, RpcStatus code, Throwable why) {
		this.subscriber = null;
		closing(code, why);
		try {
			told.onError(why);
		}
		catch (Throwable ex) {
			misbehaved(ex);
		}
	}

	/** Rule 2.13 of Reactive Streams: a subscriber that throws has cancelled. */
	private void misbehaved(Throwable failure) {
		failures.log(Level.WARN, "A subscriber to {} failed, which cancels its subscription", this.method, failure);
		giveUp();
	}

	/**
	 * A message, or several in a {@link PackedMessages}, and the memory they lie in,
	 * which this owns.
	 *
	 * @param heldBytes what that counts for
	 */
	record Arrived(RegisteredBuffer memory, ByteBuffer message, boolean pack, int heldBytes) {

	}

}
