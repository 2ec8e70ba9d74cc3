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

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MessageTooLargeException;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.LinkableTask;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamSender;
import dev.rdmarpc.transport.UserTask;

/**
 * The stream that a call is served with: subscribes to the publisher that the handler has
 * returned, asks it for what the caller has granted, and encodes and sends what comes.
 *
 * <p>
 * Implementation notes. The publisher's {@code request} and {@code cancel} are called by
 * one thread at a time: each wish adds to {@code work}, and whoever raises it from 0
 * fulfills wishes until all are accounted for. The driver leaves that to the time after
 * its turn, or to the executor, like the handler itself. Whoever sets {@code over} ends
 * the call, and nothing of it is touched after that; what the publisher still sends is
 * refused by the {@link StreamSender}, which the driver closes. The call's object is not
 * used again, since it may be waiting for the executor when it ends.
 */
final class ServedStream extends LinkableTask
		implements Flow.Subscriber<Object>, StreamSender.Listener, UserTask, ServedCall {

	private final ServerSession session;

	private final ServerCall call;

	private final RpcChannel channel;

	private final ExportedMethod method;

	private final CallContext context;

	private final StreamSender sender;

	private final MessageSegments segments = new MessageSegments();

	private final HandlerRun run = new HandlerRun();

	private final AtomicInteger work = new AtomicInteger();

	private final AtomicLong wanted = new AtomicLong();

	/** Messages that the publisher was asked for and has not published. */
	private final AtomicLong expected = new AtomicLong();

	private final AtomicBoolean over = new AtomicBoolean();

	private volatile boolean subscribed;

	private volatile boolean stopped;

	private volatile Flow.@Nullable Subscription subscription;

	/** Whether the subscription was canceled; whoever does the work. */
	private boolean unsubscribed;

	/** The driver. */
	ServedStream(ServerSession session, ServerCall call, ExportedMethod method, IncomingMessage request) {
		this.session = session;
		this.call = call;
		this.channel = call.channel();
		this.method = method;
		this.context = call.context();
		this.sender = this.channel.streams().replySender(request.requestId(), request.demand(), this);
		this.sender.begin();
	}

	StreamSender sender() {
		return this.sender;
	}

	@Override
	public RpcContext context() {
		return this.context;
	}

	@Override
	public long deadlineNanos() {
		return this.context.deadlineNanos();
	}

	/** The handler has returned; its thread. */
	void serve(@Nullable Object publisher) {
		if (!(publisher instanceof Flow.Publisher<?> source)) {
			fail(new HandlerFailures.Mistake("the handler returned no publisher"));
			return;
		}
		this.subscribed = true;
		ServedCall outer = ServedCall.current(this);
		try {
			source.subscribe(this);
		}
		catch (Throwable ex) {
			fail(ex);
		}
		finally {
			ServedCall.current(outer);
		}
		work();
	}

	/** Whether the handler has returned, and the publisher may be asked. */
	boolean isSubscribed() {
		return this.subscribed;
	}

	@Override
	public void onWanted(int messages) {
		this.wanted.addAndGet(messages);
		if (this.subscribed) {
			workAfterTurn();
		}
	}

	/** The caller has lost interest; driver. */
	void cancel() {
		this.stopped = true;
		this.sender.close();
		if (this.subscribed) {
			workAfterTurn();
		}
	}

	private void workAfterTurn() {
		if (this.work.getAndIncrement() == 0) {
			this.channel.loop().afterTurn(this);
		}
	}

	/** On the thread of the loop, after its turn. */
	@Override
	public void run() {
		if (this.stopped || this.method.mayRunOnLoop(System.nanoTime())) {
			finishWork(true);
		}
		else {
			this.session.enqueue(this.call, false);
		}
	}

	/** The loop's thread is held up: an executor's asks the publisher. */
	@Override
	public void runElsewhere() {
		this.session.enqueue(this.call, true);
	}

	private void work() {
		if (this.work.getAndIncrement() == 0) {
			finishWork(false);
		}
	}

	/** Asks the publisher, or cancels the subscription. */
	void finishWork(boolean loop) {
		for (int done = this.work.get(); done != 0; done = this.work.addAndGet(-done)) {
			Flow.Subscription source = this.subscription;
			if (this.stopped) {
				stop(source);
			}
			else if (source != null) {
				ask(source, loop);
			}
		}
	}

	private void stop(Flow.@Nullable Subscription source) {
		try {
			if (source != null && !this.unsubscribed) {
				this.unsubscribed = true;
				source.cancel();
			}
		}
		catch (Throwable ex) {
			this.call.report("", ex);
		}
		if (this.over.compareAndSet(false, true)) {
			this.call.drop();
		}
	}

	private void ask(Flow.Subscription source, boolean loop) {
		long messages = this.wanted.getAndSet(0);
		if (messages == 0) {
			return;
		}
		this.expected.addAndGet(messages);
		this.run.begin(this.method.pace(), loop);
		ServedCall outer = ServedCall.current(this);
		try {
			source.request(messages);
		}
		catch (Throwable ex) {
			fail(ex);
		}
		finally {
			ServedCall.current(outer);
			this.run.end();
		}
	}

	@Override
	public void onSubscribe(Flow.Subscription source) {
		Objects.requireNonNull(source, "subscription");
		if (this.subscription != null) {
			source.cancel();
			return;
		}
		this.subscription = source;
		work();
	}

	@Override
	public void onNext(Object item) {
		Objects.requireNonNull(item, "message of a stream");
		if (this.over.get()) {
			return;
		}
		if (this.expected.decrementAndGet() < 0) {
			fail(new HandlerFailures.Mistake("more messages were published than requested"));
			return;
		}
		try {
			encode(item).submit();
		}
		catch (MessageTooLargeException | MemoryExhaustedException ex) {
			fail(HandlerFailures.tooLarge("message of the stream: ", ex));
		}
		catch (Throwable ex) {
			fail("message of the stream cannot be encoded: ", ex);
		}
	}

	private OutgoingMessage encode(Object item) {
		try {
			this.segments.maxBytes(this.channel.maxSendBytes());
			this.method.descriptor().result().encode(item, this.segments);
			return this.sender.prepare(this.segments);
		}
		finally {
			this.segments.clear();
		}
	}

	@Override
	public void onError(Throwable failure) {
		Objects.requireNonNull(failure, "failure of a stream");
		if (this.over.compareAndSet(false, true)) {
			this.call.fail(failure);
		}
	}

	@Override
	public void onComplete() {
		if (this.over.compareAndSet(false, true)) {
			this.call.reply(null);
		}
	}

	/** The executor has no thread to ask the publisher. */
	void reject(Throwable failure) {
		if (this.over.compareAndSet(false, true)) {
			this.call.fail(failure);
		}
		this.stopped = true;
		finishWork(false);
	}

	private void fail(Throwable failure) {
		if (this.over.compareAndSet(false, true)) {
			this.call.fail(failure);
		}
		this.stopped = true;
		work();
	}

	private void fail(String unencoded, Throwable failure) {
		if (this.over.compareAndSet(false, true)) {
			this.call.fail(unencoded, failure);
		}
		this.stopped = true;
		work();
	}

}
