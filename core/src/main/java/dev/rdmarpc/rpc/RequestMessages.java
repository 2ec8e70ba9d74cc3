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
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamReceiver;

/**
 * The messages that follow a request: what the handler is given as their publisher, and
 * the subscription of the one subscriber. That is told where the handler itself would
 * run. When the call ends before the messages do, the subscriber gets an error.
 *
 * <p>
 * Implementation notes. The subscriber is greeted by whoever does the work, since the end
 * may be there already.
 */
final class RequestMessages extends MessageSubscription implements Flow.Publisher<Object>, ServedCall {

	private final ServerSession session;

	private final ExportedMethod method;

	private final RpcChannel channel;

	private final ChannelLoop loop;

	private final CallContext context;

	private final StreamReceiver receiver;

	/** Whether the handler waits for each message. */
	private final boolean waitedFor;

	private final AtomicBoolean taken = new AtomicBoolean();

	private final HandlerRun run = new HandlerRun();

	private final Turn turn = new Turn();

	private volatile Flow.@Nullable Subscriber<? super Object> newcomer;

	private volatile @Nullable RpcException failure;

	/** The driver. */
	RequestMessages(ServerSession session, ServerCall call, ExportedMethod method, int requestId) {
		super(method.descriptor(), method.descriptor().messages(), method.descriptor().messagesHoldMemory());
		this.session = session;
		this.method = method;
		this.channel = call.channel();
		this.loop = this.channel.loop();
		this.context = call.context();
		this.receiver = this.channel.streams().requestReceiver(requestId, this);
		this.waitedFor = method.descriptor().awaitsMessages();
		this.turn.priority = call.priority;
		this.turn.dueNanos = call.deadlineNanos();
	}

	@Override
	public void subscribe(Flow.@Nullable Subscriber<? super Object> subscriber) {
		Objects.requireNonNull(subscriber, "subscriber");
		if (this.taken.compareAndSet(false, true)) {
			this.newcomer = subscriber;
			workHere();
		}
		else {
			refuse(subscriber);
		}
	}

	private static void refuse(Flow.Subscriber<? super Object> subscriber) {
		subscriber.onSubscribe(NoSubscription.INSTANCE);
		subscriber.onError(new IllegalStateException("the messages of a call have one subscriber, and had it already"));
	}

	@Override
	void beginWork() {
		Flow.Subscriber<? super Object> coming = this.newcomer;
		if (coming != null) {
			this.newcomer = null;
			greet(coming);
		}
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
	StreamReceiver receiver() {
		return this.receiver;
	}

	@Override
	ChannelLoop loop() {
		return this.loop;
	}

	@Override
	boolean isStarted() {
		return true;
	}

	@Override
	void abandon() {
		this.loop.execute(this.receiver::cancel);
	}

	@Override
	@Nullable MethodDescriptor called() {
		return null;
	}

	@Override
	RpcStatus malformed() {
		return RpcStatus.INVALID_ARGUMENT;
	}

	@Override
	@Nullable RpcException outcome() {
		return this.failure;
	}

	@Override
	void closing(RpcStatus status, @Nullable Throwable why) {
		// the call ends by itself
	}

	@Override
	public void onEnd() {
		endAfterTurn();
	}

	@Override
	public void onLost(CallFailure why, String detail) {
		this.receiver.cancel();
		end(Replies.failure(null, why, detail));
	}

	@Override
	public void onLimit(String detail) {
		dropArrived();
		this.session.calls().limitedStream(this.channel, detail);
		onLost(CallFailure.RESOURCE_EXHAUSTED, detail);
	}

	/** The call has ended; driver. */
	void end(String why) {
		if (!hasEnded()) {
			end(RpcException.madeElsewhere(RpcStatus.CANCELLED, why, null, null));
		}
		this.receiver.close();
	}

	private void end(RpcException why) {
		this.failure = why;
		endAfterTurn();
	}

	/** On the thread of the loop, after its turn. */
	@Override
	public void run() {
		if (this.waitedFor || this.method.mayRunOnLoop(System.nanoTime())) {
			tell(true);
		}
		else {
			this.session.enqueue(this.turn);
		}
	}

	/**
	 * The loop's thread is held up: an executor's tells the subscriber. The executor may
	 * have no thread because they all wait for messages, so that those who wait are told
	 * here.
	 */
	@Override
	public void runElsewhere() {
		if (this.waitedFor) {
			tell(false);
		}
		else {
			this.session.enqueue(this.turn);
		}
	}

	@Override
	public boolean isOn(List<ChannelLoop> loops) {
		return this.run.isOnLoop() && loops.contains(this.loop);
	}

	private void tell(boolean onLoop) {
		this.run.begin(this.method.pace(), onLoop);
		ServedCall outer = ServedCall.current(this);
		int messages = 1;
		try {
			messages = finishWork();
		}
		finally {
			ServedCall.current(outer);
			this.run.end(messages);
		}
	}

	/** What waits for the executor. */
	private final class Turn extends QueuedWork {

		@Override
		public void run() {
			runInTurn();
		}

		@Override
		boolean isCancelled() {
			return false;
		}

		@Override
		void runInTurn() {
			tell(false);
		}

		@Override
		void reject(String why) {
			failHere(RpcException.madeElsewhere(RpcStatus.UNAVAILABLE, why, null, null));
		}

		@Override
		void notEnqueued() {
			finishWork();
		}

	}

}
