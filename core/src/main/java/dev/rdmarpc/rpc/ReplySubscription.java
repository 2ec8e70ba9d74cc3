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
import java.util.concurrent.Flow;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.StreamSender;

/**
 * A call whose reply is a stream, and the subscription to it. What the subscriber is told
 * is told where what depends on a {@link CallFuture} runs. Messages of the caller may
 * follow the request.
 *
 * <p>
 * Implementation notes. A cancellation and the start of the call see each other as they
 * do in {@link CallFuture}.
 */
final class ReplySubscription extends MessageSubscription implements DeferredCall, Continuation {

	private final ClientCalls calls;

	private final byte[] arguments;

	private final CallOptions options;

	private final long key;

	private final StreamReceiver receiver;

	private final @Nullable FollowingMessages following;

	private long deadlineNanos = Long.MAX_VALUE;

	private byte[] metadata = {};

	private @Nullable CallObservation observation;

	private volatile @Nullable Future<?> wait;

	private volatile @Nullable RpcChannel channel;

	private volatile int requestId;

	private volatile @Nullable RpcException sendingFailure;

	private @Nullable RpcException failure;

	private @Nullable Arrived reply;

	private int status;

	private int metadataBytes;

	/**
	 * Creates a call.
	 * @param messages what follows the request, or {@code null}
	 * @param key by which a channel is found
	 */
	ReplySubscription(ClientCalls calls, MethodDescriptor method, byte[] arguments,
			Flow.@Nullable Publisher<?> messages, CallOptions options, long key) {
		super(method, method.result(), method.resultHoldsMemory());
		this.calls = calls;
		this.arguments = arguments;
		this.options = options;
		this.key = key;
		this.receiver = new StreamReceiver(calls.streamWindowBytes(), this);
		this.following = (messages != null)
				? new FollowingMessages(calls.loops(), method, messages, this::messagesFailed) : null;
	}

	/** Subscribes, and makes the call. */
	void start(Flow.Subscriber<? super Object> subscriber) {
		greet(subscriber);
		if (!isDone()) {
			this.calls.subscribe(this);
		}
	}

	/** What the call is made with is known. */
	void begins(long deadline, byte[] sent, @Nullable CallObservation watched) {
		this.deadlineNanos = deadline;
		this.metadata = sent;
		this.observation = watched;
	}

	@Override
	public MethodDescriptor method() {
		return descriptor();
	}

	@Override
	public CallOptions options() {
		return this.options;
	}

	@Override
	public long key() {
		return this.key;
	}

	@Override
	public long deadlineNanos() {
		return this.deadlineNanos;
	}

	@Override
	public byte[] metadata() {
		return this.metadata;
	}

	@Override
	public void encode(MessageSegments out, int mostKeptBytes) {
		out.addBytes(ByteBuffer.wrap(this.arguments));
	}

	@Override
	public void waitsWith(Future<?> waiting) {
		this.wait = waiting;
		if (isDone()) {
			waiting.cancel(false);
		}
	}

	@Override
	public void startsOn(RpcChannel open) {
		if (!open.streams().areKnown()) {
			throw RpcException.madeElsewhere(RpcStatus.UNIMPLEMENTED, "the server knows no streams", descriptor(),
					null);
		}
		if (this.following != null) {
			this.following.startsOn(open);
		}
		this.channel = open;
		CallObservation watched = this.observation;
		if (watched != null) {
			watched.requestSent(open);
		}
		open.streams().begin(this.receiver, takeDemand());
	}

	@Override
	public void submitted() {
		if (this.following != null) {
			this.following.begin();
		}
	}

	@Override
	public StreamReceiver streamReceiver() {
		return this.receiver;
	}

	@Override
	public @Nullable StreamSender streamSender() {
		return (this.following != null) ? this.following.sender() : null;
	}

	@Override
	public void onHeldBack(long nanos) {
		CallObservation watched = this.observation;
		if (watched != null) {
			watched.requestHeldBack(nanos);
		}
	}

	@Override
	public void onStarted(int id) {
		this.requestId = id;
		this.receiver.started(id);
		if (this.following != null) {
			this.following.sender().started(id);
		}
	}

	@Override
	public int requestId() {
		return this.requestId;
	}

	@Override
	public boolean isDone() {
		return hasEnded() || isCancelled();
	}

	@Override
	public void onReply(IncomingMessage last) {
		if (this.receiver.isArriving()) {
			onFailure(CallFailure.MALFORMED_REPLY, "the stream ended in the middle of a message");
			return;
		}
		this.status = last.status();
		this.metadataBytes = last.metadataBytes();
		ByteBuffer message = last.message();
		this.reply = new Arrived(last.take(), message, false, 0);
		end();
	}

	@Override
	public void onFailure(CallFailure why, String detail) {
		RpcException known = this.sendingFailure;
		this.failure = (known != null) ? known : Replies.failure(descriptor(), why, detail);
		end();
	}

	private void end() {
		if (this.following != null) {
			this.following.stop();
		}
		endAfterTurn();
	}

	/** The messages that follow the request have failed. */
	private void messagesFailed(RpcException why) {
		this.sendingFailure = why;
		RpcChannel running = this.channel;
		if (running != null) {
			running.abandon(this, CallFailure.CANCELLED, why.detail());
		}
	}

	@Override
	StreamReceiver receiver() {
		return this.receiver;
	}

	@Override
	ChannelLoop loop() {
		RpcChannel submittedOn = this.channel;
		return (submittedOn != null) ? submittedOn.loop() : this.calls.loops().any();
	}

	@Override
	boolean isStarted() {
		return this.channel != null;
	}

	/** On the thread of the loop, after its turn. */
	@Override
	public void run() {
		ChannelLoop loop = loop();
		this.calls.loops().continuations(loop).run(loop, this);
	}

	@Override
	public void runElsewhere() {
		this.calls.loops().runElsewhere(this::finish);
	}

	@Override
	public int finish() {
		return finishWork();
	}

	@Override
	public void fail(RpcException why) {
		this.failure = why.elsewhere(descriptor());
		endHere();
	}

	@Override
	public void failLater() {
		fail(RpcException.madeElsewhere(RpcStatus.RESOURCE_EXHAUSTED, "no memory to begin the call", descriptor(),
				null));
	}

	@Override
	void abandon() {
		Future<?> waiting = this.wait;
		if (waiting != null) {
			waiting.cancel(false);
		}
		RpcChannel running = this.channel;
		if (running != null) {
			running.abandon(this, CallFailure.CANCELLED, "cancelled by the subscriber");
		}
	}

	@Override
	MethodDescriptor called() {
		return descriptor();
	}

	@Override
	RpcStatus malformed() {
		return RpcStatus.INTERNAL;
	}

	@Override
	@Nullable RpcException outcome() {
		Arrived last = this.reply;
		this.reply = null;
		if (last == null) {
			return this.failure;
		}
		this.calls.answered(this.channel, this.status);
		try {
			Replies.fill(this.options.replyMetadata(), last.message(), this.metadataBytes);
			return (this.status != RpcStatus.OK.code())
					? Replies.failure(descriptor(), this.status, last.message(), this.metadataBytes) : null;
		}
		finally {
			last.memory().release();
		}
	}

	/** Gives back what the subscriber will not get. */
	@Override
	void closing(RpcStatus code, @Nullable Throwable why) {
		Arrived last = this.reply;
		this.reply = null;
		if (last != null) {
			last.memory().release();
		}
		CallObservation watched = this.observation;
		this.observation = null;
		if (watched != null) {
			watched.callEnded(code, why);
		}
	}

}
