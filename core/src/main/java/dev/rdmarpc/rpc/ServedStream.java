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

import java.util.List;
import java.util.concurrent.Flow;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamSender;

/**
 * The stream that a call is served with: the messages of the publisher that the handler
 * has returned.
 *
 * <p>
 * Implementation notes. The publisher is asked where the handler itself would run. The
 * end of the messages ends the call, and nothing of it is touched after that. The call's
 * object is not used again, since it may be waiting for the executor when it ends.
 */
final class ServedStream extends PublishedMessages implements ServedCall {

	private final ServerSession session;

	private final ServerCall call;

	private final RpcChannel channel;

	private final ExportedMethod method;

	private final CallContext context;

	private final StreamSender sender;

	private final HandlerRun run = new HandlerRun();

	/** The loop's thread while it subscribes; only that thread finds itself there. */
	private @Nullable Thread subscribing;

	/** The driver. */
	ServedStream(ServerSession session, ServerCall call, ExportedMethod method, IncomingMessage request) {
		super(method.descriptor().result());
		this.session = session;
		this.call = call;
		this.channel = call.channel();
		this.method = method;
		this.context = call.context();
		this.sender = this.channel.streams().replySender(request.requestId(), request.demand(), this);
		this.sender.order(call.priority, call.deadlineNanos());
		this.sender.begin();
	}

	@Override
	StreamSender sender() {
		return this.sender;
	}

	@Override
	RpcChannel channel() {
		return this.channel;
	}

	@Override
	public RpcContext context() {
		return this.context;
	}

	@Override
	public long deadlineNanos() {
		return this.context.deadlineNanos();
	}

	@Override
	public boolean isOn(List<ChannelLoop> loops) {
		return (isSubscribing() || this.run.isOnLoop()) && loops.contains(this.channel.loop());
	}

	/** Whether this is the loop's thread, which goes on with what the handler began. */
	private boolean isSubscribing() {
		return this.subscribing == Thread.currentThread();
	}

	/**
	 * The handler has returned; its thread.
	 * @param loop whether that is, or was, the loop's
	 */
	void serve(@Nullable Object stream, boolean loop) {
		if (stream == null) {
			fail(new HandlerFailures.Mistake("the handler returned null (expected: a stream of messages)"));
			return;
		}
		ServedCall outer = ServedCall.current(this);
		this.subscribing = loop ? Thread.currentThread() : null;
		try {
			subscribeTo(published(stream));
		}
		finally {
			this.subscribing = null;
			ServedCall.current(outer);
		}
	}

	private Flow.Publisher<?> published(Object stream) {
		try {
			return this.method.descriptor().publishedResult(stream);
		}
		catch (Throwable ex) {
			return new FailedPublisher(ex);
		}
	}

	/** The caller has lost interest; driver. */
	void cancel() {
		this.sender.close();
		stop();
	}

	/** On the thread of the loop, after its turn. */
	@Override
	public void run() {
		if (isStopped() || this.method.mayRunOnLoop(System.nanoTime())) {
			finishWork(true);
		}
		else {
			this.session.enqueue(this.call);
		}
	}

	/** The loop's thread is held up: an executor's asks the publisher. */
	@Override
	public void runElsewhere() {
		this.session.enqueue(this.call);
	}

	@Override
	void request(Flow.Subscription source, long messages, boolean loop) {
		long before = published();
		this.run.begin(this.method.pace(), loop || isSubscribing());
		ServedCall outer = ServedCall.current(this);
		try {
			source.request(messages);
		}
		finally {
			ServedCall.current(outer);
			this.run.end((int) Math.max(1, published() - before));
		}
	}

	@Override
	void completed() {
		this.call.reply(null);
	}

	@Override
	void failed(Throwable failure) {
		this.call.fail(failure);
	}

	@Override
	Throwable tooLarge(String before, RuntimeException failure) {
		return this.session.calls().tooLarge(this.channel, before, failure);
	}

	@Override
	void unsendable(RpcStatus status, String before, Throwable failure) {
		this.call.fail(before, failure);
	}

	@Override
	void dropped() {
		this.call.drop();
	}

	@Override
	void report(Throwable failure) {
		this.call.report("", failure);
	}

}
