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

import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MessageTooLargeException;
import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.transport.LinkableTask;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamSender;
import dev.rdmarpc.transport.UserTask;

/**
 * The subscriber that takes the messages of a publisher of this side into a stream: asks
 * for what the peer has granted, and encodes and sends what comes.
 *
 * <p>
 * Implementation notes. The publisher's {@code request} and {@code cancel} are called by
 * one thread at a time: each wish adds to {@code work}, and whoever raises it from 0
 * fulfills wishes until all are accounted for. The driver leaves that to the time after
 * its turn, or to another thread. Whoever sets {@code over} has ended the messages, and
 * says so; what the publisher still sends is refused by the {@link StreamSender}. The
 * rest of a large wish waits for another time after a turn; the work is not accounted for
 * until then.
 */
abstract class PublishedMessages extends LinkableTask
		implements Flow.Subscriber<Object>, StreamSender.Listener, UserTask {

	/**
	 * How many messages a publisher is asked for at once, and how many on the loop's
	 * thread before they are posted: the peer works on them meanwhile.
	 */
	private static final int MOST_AT_ONCE = 128;

	/** For how long another thread asks without a turn of the loop. */
	private static final long RUN_NANOS = 50_000;

	private final MessageFormat format;

	private final MessageSegments segments = new MessageSegments();

	private final AtomicInteger work = new AtomicInteger();

	private final AtomicLong wanted = new AtomicLong();

	/** How many messages the publisher was asked for; whoever does the work. */
	private final AtomicLong asked = new AtomicLong();

	private final AtomicBoolean over = new AtomicBoolean();

	private final Runnable resumption = this::resume;

	/** How many messages came; whoever publishes. */
	private long published;

	private volatile boolean subscribed;

	private volatile boolean stopped;

	private volatile Flow.@Nullable Subscription subscription;

	/** Whether the subscription was canceled; whoever does the work. */
	private boolean unsubscribed;

	PublishedMessages(MessageFormat format) {
		this.format = format;
	}

	/** Where the messages go. */
	abstract StreamSender sender();

	abstract RpcChannel channel();

	/** The publisher has ended the messages, which nothing else has. */
	abstract void completed();

	/** The publisher has failed. */
	abstract void failed(Throwable failure);

	/** A message cannot be sent. */
	abstract void unsendable(RpcStatus status, String before, Throwable failure);

	/** Nobody wants the messages any more, which the publisher knows. */
	abstract void dropped();

	/** What the publisher has thrown when its end was due. */
	abstract void report(Throwable failure);

	/** Subscribes; not the driver. */
	final void subscribeTo(Flow.Publisher<?> source) {
		this.subscribed = true;
		try {
			source.subscribe(this);
		}
		catch (Throwable ex) {
			fail(ex);
		}
		work();
	}

	/** Whether the publisher may be asked. */
	final boolean isSubscribed() {
		return this.subscribed;
	}

	/** Whether nobody wants the messages any more. */
	final boolean isStopped() {
		return this.stopped;
	}

	@Override
	public final void onWanted(int messages) {
		this.wanted.addAndGet(messages);
		if (this.subscribed) {
			workAfterTurn();
		}
	}

	/** Nobody wants the messages any more; driver. */
	void stop() {
		this.stopped = true;
		if (this.subscription instanceof IteratedMessages iterated) {
			// the thread that is to cancel may be the one that waits for the next message
			iterated.interrupt();
		}
		if (this.subscribed) {
			workAfterTurn();
		}
	}

	private void workAfterTurn() {
		if (this.work.getAndIncrement() == 0) {
			channel().loop().afterTurn(this);
		}
	}

	private void work() {
		if (this.work.getAndIncrement() == 0) {
			finishWork(false);
		}
	}

	/**
	 * Asks the publisher, or cancels the subscription.
	 * @param loop whether on the thread of the loop
	 * @return how many messages came meanwhile, at least 1
	 */
	final int finishWork(boolean loop) {
		long before = this.published;
		for (int done = this.work.get(); done != 0; done = this.work.addAndGet(-done)) {
			Flow.Subscription source = this.subscription;
			if (this.stopped) {
				stop(source);
			}
			else if (source != null && !ask(source, loop)) {
				break;
			}
		}
		return (int) Math.max(1, this.published - before);
	}

	private void resume() {
		channel().loop().afterTurn(this);
	}

	/**
	 * How many messages came, as far as the current thread knows: all, if it publishes.
	 */
	final long published() {
		return this.published;
	}

	private void stop(Flow.@Nullable Subscription source) {
		try {
			if (source != null && !this.unsubscribed) {
				this.unsubscribed = true;
				source.cancel();
			}
		}
		catch (Throwable ex) {
			report(ex);
		}
		if (this.over.compareAndSet(false, true)) {
			dropped();
		}
	}

	/** Returns whether that is all for now. */
	private boolean ask(Flow.Subscription source, boolean loop) {
		long messages = this.wanted.getAndSet(0);
		if (messages == 0) {
			return true;
		}
		long start = System.nanoTime();
		try {
			for (long left = messages; left > 0 && !this.over.get();) {
				long some = Math.min(left, MOST_AT_ONCE);
				left -= some;
				this.asked.setRelease(this.asked.getPlain() + some);
				if (some == 1) {
					request(source, 1, loop);
				}
				else {
					channel().loop().gather(() -> request(source, some, loop));
				}
				boolean pauses = left > 0 && !this.over.get()
						&& (channel().loop().isOwnThread() || System.nanoTime() - start > RUN_NANOS);
				if (pauses) {
					this.wanted.addAndGet(left);
					channel().loop().execute(this.resumption);
					return false;
				}
			}
		}
		catch (Throwable ex) {
			fail(ex);
		}
		return true;
	}

	/** Asks the publisher for more messages. */
	void request(Flow.Subscription source, long messages, boolean loop) {
		source.request(messages);
	}

	@Override
	public final void onSubscribe(Flow.Subscription source) {
		Objects.requireNonNull(source, "subscription");
		if (this.subscription != null) {
			source.cancel();
			return;
		}
		this.subscription = source;
		work();
	}

	@Override
	public final void onNext(Object item) {
		Objects.requireNonNull(item, "message of a stream");
		if (this.over.get()) {
			return;
		}
		this.published++;
		if (this.published > this.asked.getAcquire()) {
			fail(new HandlerFailures.Mistake("more messages were published than requested"));
			return;
		}
		try {
			send(item);
		}
		catch (MessageTooLargeException | MemoryExhaustedException ex) {
			fail(tooLarge("message of the stream: ", ex));
		}
		catch (Throwable ex) {
			if (end()) {
				unsendable((ex instanceof UnencodableValueException) ? RpcStatus.INVALID_ARGUMENT : RpcStatus.INTERNAL,
						"message of the stream cannot be encoded: ", ex);
			}
			cancelSource();
		}
	}

	private void send(Object item) {
		RpcChannel target = channel();
		OutgoingMessage alone = null;
		try {
			this.segments.maxBytes(target.maxSendBytes());
			this.format.encode(item, this.segments);
			if (!target.loop().isGathering() || !sender().tryGather(this.segments)) {
				alone = sender().prepare(this.segments);
			}
		}
		finally {
			this.segments.clear();
		}
		if (alone != null) {
			alone.submit();
		}
	}

	@Override
	public final void onError(Throwable failure) {
		Objects.requireNonNull(failure, "failure of a stream");
		if (end()) {
			failed(failure);
		}
	}

	@Override
	public final void onComplete() {
		if (end()) {
			completed();
		}
	}

	/** The failure of a stream with a message that is too large or has no memory. */
	Throwable tooLarge(String before, RuntimeException failure) {
		return HandlerFailures.tooLarge(before, failure);
	}

	/** The messages end here, if they have not before. */
	final boolean end() {
		return this.over.compareAndSet(false, true);
	}

	/** The messages end because something has failed, and the publisher is told. */
	final void fail(Throwable failure) {
		if (end()) {
			failed(failure);
		}
		cancelSource();
	}

	private void cancelSource() {
		this.stopped = true;
		work();
	}

}
