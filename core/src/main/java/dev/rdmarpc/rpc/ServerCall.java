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
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.CodecException;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MessageTooLargeException;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.codec.ValuesTooLargeException;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.LinkableTask;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.StreamSender;
import dev.rdmarpc.transport.UserTask;

/**
 * One call being served: from the request's arrival until its reply is handed to the
 * channel. Pooled.
 *
 * <p>
 * Implementation notes. The loop's driver fills the object and hands it to the thread
 * that runs the handler (by executor, or itself). That thread, or whoever completes the
 * handler's future, sends the reply; {@link #finish} is reached exactly once, and whoever
 * reaches it does not touch the object again. Only cancellation comes from elsewhere: it
 * sets a volatile flag and interrupts the {@linkplain InterruptibleRun run}, so that no
 * later user of the thread is interrupted, or cancels the handler's future, which is
 * noted under the object's lock. The session drops a call from its table, as driver,
 * before the call is pooled, so a cancellation never meets the next use. A handler never
 * sees this object, which it might keep, but a {@link CallContext}, made under the lock
 * that cancelling takes.
 */
final class ServerCall extends QueuedWork implements UserTask, ServedCall {

	private final ServerCalls calls;

	private final MessageSegments segments = new MessageSegments();

	private final ReceivedMemory received = ReceivedMemory.lent();

	private @Nullable ServerSession session;

	private @Nullable RpcChannel channel;

	private @Nullable ExportedMethod method;

	private @Nullable RegisteredBuffer message;

	private @Nullable ByteBuffer view;

	private CallMetadata metadata = CallMetadata.NONE;

	private @Nullable CallObservation observation;

	private final Ending ending = new Ending();

	private @Nullable OutgoingMessage reply;

	private int requestId;

	private int requestBytes;

	private int argumentCount;

	private long deadlineNanos;

	private boolean oneWay;

	private boolean forExecutor;

	private boolean withdrawn;

	private final HandlerRun handlerRun = new HandlerRun();

	private volatile boolean cancelled;

	private final InterruptibleRun run = new InterruptibleRun();

	private @Nullable CompletionStage<?> pending;

	private volatile @Nullable CallContext context;

	private @Nullable CallStreams streams;

	ServerCall(ServerCalls calls) {
		this.calls = calls;
	}

	@Override
	public long deadlineNanos() {
		return this.deadlineNanos;
	}

	@Override
	public boolean isOn(List<ChannelLoop> loops) {
		return this.handlerRun.isOnLoop() && loops.contains(channel().loop());
	}

	/** The size of its request; driver. */
	int requestBytes() {
		return this.requestBytes;
	}

	/** A request has arrived; driver. */
	void begin(ServerSession owner, RpcChannel from, ExportedMethod exported, IncomingMessage request) {
		this.session = owner;
		this.channel = from;
		this.method = exported;
		this.requestId = request.requestId();
		this.requestBytes = request.messageBytes();
		this.argumentCount = request.argumentCount();
		this.oneWay = request.oneWay();
		this.cancelled = false;
		long remaining = request.remainingNanos();
		this.deadlineNanos = (remaining == 0) ? Long.MAX_VALUE : from.loop().nowNanos() + remaining;
		this.dueNanos = this.deadlineNanos;
		this.metadata = (request.metadataBytes() > 0) ? CallMetadata.decode(request.metadata()) : CallMetadata.NONE;
		this.view = request.message();
		this.received.expect(request.takeArriving());
		this.streams = CallStreams.of(owner, this, exported, request);
		this.message = request.take();
	}

	/** The stream that replies, or {@code null} if one message does. */
	@Nullable StreamSender streamSender() {
		return (this.streams != null) ? this.streams.sender() : null;
	}

	/** The stream that follows the request, or {@code null}. */
	@Nullable StreamReceiver streamReceiver() {
		return (this.streams != null) ? this.streams.receiver() : null;
	}

	/** Whether the object can be used for another call. */
	boolean isReusable() {
		return this.streams == null;
	}

	private @Nullable ServedStream begunStream() {
		return (this.streams != null) ? this.streams.begunReplies() : null;
	}

	/** What the handler, in whose thread this is, may know of the call. */
	@Override
	public synchronized CallContext context() {
		CallContext known = this.context;
		if (known == null) {
			ServerSession owner = this.session;
			known = new CallContext(method(), channel().remoteAddress(), (owner != null) ? owner.principal() : null,
					this.deadlineNanos, this.cancelled, this.metadata,
					new CallMetadata(channel().maxSendMetadataBytes()));
			this.context = known;
		}
		return known;
	}

	/**
	 * What the handler gives the reply, in the thread that runs it or completes its
	 * future.
	 */
	private byte[] replyMetadata() {
		CallContext seen = this.context;
		return (seen != null) ? seen.replyMetadata().encode() : RequestTemplate.NO_METADATA;
	}

	/**
	 * Has the call served after the turn; driver.
	 * @param onExecutor whether the loop's thread only hands it over
	 */
	void serve(boolean onExecutor) {
		this.forExecutor = onExecutor;
		channel().loop().afterTurn(this);
	}

	/** The loop's thread is held up: an executor's takes the call. */
	@Override
	public void runElsewhere() {
		if (begins()) {
			if (!this.forExecutor) {
				this.calls.on(channel().loop()).declined();
			}
			required(this.session).enqueue(this);
		}
	}

	/** Begins, or ends if its caller has lost interest; tells whether it goes on. */
	private boolean begins() {
		if (this.withdrawn) {
			drop();
			return false;
		}
		if (this.calls.observers().isEmpty()) {
			return true;
		}
		try {
			this.observation = RpcObservedCall.start(this.calls.observers(), channel(), method(),
					required(this.session).peer(channel()), this.metadata);
			return true;
		}
		catch (Throwable ex) {
			fail(ex);
			return false;
		}
	}

	/** On the thread of the loop, after its turn. */
	@Override
	public void run() {
		if (!begins()) {
			return;
		}
		if (this.forExecutor) {
			required(this.session).enqueue(this);
		}
		else {
			run(true);
		}
	}

	@Override
	void runInTurn() {
		if (!CallStreams.goOn(this.streams)) {
			run(false);
		}
	}

	/** Runs the handler and replies, now or when the handler's future is complete. */
	private void run(boolean loop) {
		String unread = this.calls.unread(channel());
		if (unread != null) {
			reject(unread);
			return;
		}
		ExportedMethod exported = required(this.method);
		this.handlerRun.begin(exported.pace(), loop ? channel().loop() : null);
		Object result;
		try {
			result = runHandler(exported);
		}
		catch (Throwable ex) {
			fail(ex);
			return;
		}
		ServedStream served = (this.streams != null) ? this.streams.replies() : null;
		if (served != null) {
			this.handlerRun.end(channel().loop());
			served.serve(result, loop);
		}
		else if (exported.descriptor().asynchronous()) {
			this.handlerRun.end(channel().loop());
			replyWith((CompletionStage<?>) Objects.requireNonNull(result, "invoke lets no null pass"));
		}
		else {
			reply(result);
		}
	}

	private @Nullable Object runHandler(ExportedMethod exported) throws Throwable {
		this.run.begin();
		@Nullable Object @Nullable [] slot = null;
		ServedCall outer = null;
		CallObservation.Scope scope = null;
		try {
			slot = ServedCall.slot();
			outer = ServedCall.replace(slot, this);
			CallObservation watched = this.observation;
			scope = (watched != null) ? watched.openScope() : null;
			return invoke(exported);
		}
		finally {
			try {
				if (scope != null) {
					scope.close();
				}
			}
			finally {
				if (slot != null) {
					ServedCall.replace(slot, outer);
				}
				this.run.end(this.handlerRun.isOnLoop());
				if (this.cancelled) {
					Thread.interrupted();
				}
			}
		}
	}

	private void replyWith(CompletionStage<?> promised) {
		StageOutcome promise;
		try {
			promise = new StageOutcome(this);
		}
		catch (Throwable ex) {
			fail(ex);
			return;
		}
		try {
			cancelWith(promised);
			promised.whenComplete(promise);
		}
		catch (Throwable ex) {
			promise.accept(null, ex);
		}
	}

	private @Nullable Object invoke(ExportedMethod exported) throws Throwable {
		if (this.cancelled) {
			throw new RpcException(RpcStatus.CANCELLED, "cancelled before it began");
		}
		if (this.deadlineNanos != Long.MAX_VALUE && this.handlerRun.isAfter(this.deadlineNanos, channel().loop())) {
			throw new RpcException(RpcStatus.DEADLINE_EXCEEDED, "the deadline passed before the handler began");
		}
		MessageFormat format = exported.descriptor().arguments(this.argumentCount);
		Object arguments;
		try {
			this.received.begin(required(this.message));
			ByteBuffer encoded = required(this.view);
			int messageBytes = encoded.remaining();
			arguments = exported.decode(format, encoded, this.received);
			channel().loop().metrics().decoded(messageBytes, this.received.sharedBytes());
		}
		catch (ValuesTooLargeException ex) {
			throw new RpcException(RpcStatus.RESOURCE_EXHAUSTED, "arguments cannot be decoded: " + ex.getMessage());
		}
		catch (CodecException ex) {
			throw new RpcException(RpcStatus.INVALID_ARGUMENT, "arguments cannot be decoded: " + ex.getMessage());
		}
		RequestMessages messages = (this.streams != null) ? this.streams.messages() : null;
		return exported.invoke(format,
				(messages != null) ? exported.descriptor().withStream(arguments, messages) : arguments);
	}

	/** From here on cancelling the call cancels the handler's future. */
	private void cancelWith(CompletionStage<?> stage) {
		synchronized (this) {
			this.pending = stage;
		}
		if (this.cancelled) {
			new StageCancellation(stage).run();
		}
	}

	@SuppressWarnings("NullAway") // the format is one of nullable values
	void reply(@Nullable Object result) {
		if (this.oneWay) {
			finish(null, RpcStatus.OK, null);
			return;
		}
		RpcChannel target = required(this.channel);
		MethodDescriptor descriptor = required(this.method).descriptor();
		OutgoingMessage reply;
		try {
			this.segments.maxBytes(target.maxSendBytes());
			if (!descriptor.streaming()) {
				descriptor.result().encode(result, this.segments);
			}
			reply = target.prepareReply(this.requestId, RpcStatus.OK.code(), replyMetadata(), this.segments);
		}
		catch (MessageTooLargeException | MemoryExhaustedException ex) {
			fail(this.calls.tooLarge(target, "reply: ", ex));
			return;
		}
		catch (Throwable ex) {
			fail("result cannot be encoded: ", ex);
			return;
		}
		finish(reply, RpcStatus.OK, null);
	}

	void fail(Throwable failure) {
		fail("", failure);
	}

	/** Without memory to say why, the caller is told that there was none. */
	void fail(String unencoded, Throwable failure) {
		OutgoingMessage said = null;
		RpcStatus status = RpcStatus.UNKNOWN;
		try {
			FailureReply told = report(unencoded, failure);
			status = told.status();
			said = this.oneWay ? null : this.calls.prepareFailure(channel(), this.requestId, status, told.detail(),
					told.metadata(this, replyMetadata()), this.segments);
		}
		catch (Throwable ex) {
			// that the call ends is more important than that it was said why
			status = RpcStatus.UNKNOWN;
			said = this.oneWay ? null : this.calls.prepareUntold(channel(), this.requestId, ex, this.segments);
		}
		finish(said, status, failure);
	}

	FailureReply report(String unencoded, Throwable failure) {
		HandlerFailures.Listener heard = HandlerFailures.Listener.of(this.cancelled, this.oneWay);
		return required(this.method).failures().report(unencoded, channel(), this.observation, failure, heard);
	}

	/** Ends the call, once; does not throw and needs no memory. */
	private void finish(@Nullable OutgoingMessage reply, RpcStatus status, @Nullable Throwable failure) {
		try {
			try {
				this.segments.clear();
			}
			finally {
				releaseArguments();
			}
		}
		catch (Throwable ex) {
			HandlerFailures.releasedTooOften(method(), ex);
		}
		CallObservation watched = this.observation;
		this.observation = null;
		RpcObservedCall.end(watched, status, failure);
		this.reply = reply;
		ChannelLoop loop = channel().loop();
		this.handlerRun.end(loop);
		loop.executeSurely(this.ending);
	}

	/**
	 * Gives back what the arguments hold, which the handler may have retained, and what
	 * the handler has given up.
	 */
	private void releaseArguments() {
		RegisteredBuffer arrived = required(this.message);
		this.message = null;
		this.view = null;
		try {
			this.received.release();
		}
		catch (IllegalStateException ex) {
			HandlerFailures.releasedTooOften(method(), ex);
		}
		finally {
			try {
				if (this.context != null) {
					endContext();
				}
			}
			finally {
				arrived.release();
			}
		}
	}

	private void endContext() {
		CallContext seen;
		synchronized (this) {
			seen = this.context;
			this.context = null;
		}
		if (seen != null) {
			seen.end();
		}
	}

	/** Hands the reply over, after the stream, and lets go of the call; driver. */
	private void end() {
		if (this.streams != null && !this.streams.end(this.ending)) {
			return;
		}
		OutgoingMessage prepared = this.reply;
		this.reply = null;
		required(this.session).ended(this, prepared);
	}

	@Override
	void reject(String why) {
		ServedStream begun = begunStream();
		Throwable failure;
		try {
			failure = RpcException.madeElsewhere(RpcStatus.RESOURCE_EXHAUSTED, why, null, null);
			if (begun == null) {
				context().replyMetadata().putReserved(Replies.REFUSED_KEY, "");
			}
		}
		catch (Throwable ex) {
			failure = ex;
		}
		if (begun != null) {
			begun.fail(failure);
			begun.finishWork(false);
		}
		else {
			fail(failure);
		}
	}

	/** Any thread that holds the call. */
	@Override
	boolean isCancelled() {
		return this.cancelled;
	}

	@Override
	void notEnqueued() {
		if (!CallStreams.goOn(this.streams)) {
			drop();
		}
	}

	/** Ends a call that was canceled before it began; not the driver. */
	void drop() {
		finish(null, RpcStatus.CANCELLED, null);
	}

	/** The caller has lost interest before the call began; driver. */
	void withdraw() {
		ServedStream begun = begunStream();
		this.withdrawn = begun == null;
		channel().loop().afterTurn((begun != null) ? begun : this);
	}

	/** The caller has lost interest; driver. */
	void cancel() {
		CompletionStage<?> stage;
		this.cancelled = true;
		synchronized (this) {
			stage = this.pending;
			CallContext seen = this.context;
			if (seen != null) {
				seen.cancel();
			}
		}
		this.run.interrupt();
		if (this.streams != null) {
			this.streams.cancel();
		}
		if (stage != null) {
			StageCancellation.afterTurn(channel().loop(), stage);
		}
	}

	/** The id to reply to. */
	int requestId() {
		return this.requestId;
	}

	/** The channel it came from. */
	RpcChannel channel() {
		return required(this.channel);
	}

	/** It could not begin: gives back what it has of its request; driver. */
	void notBegun() {
		this.received.release();
	}

	/** Forgets everything before it is pooled. */
	void reset() {
		this.context = null;
		this.session = null;
		this.channel = null;
		this.method = null;
		this.pending = null;
		this.metadata = CallMetadata.NONE;
		this.withdrawn = false;
	}

	private MethodDescriptor method() {
		return required(this.method).descriptor();
	}

	/** What its end leaves to the driver, once at a time. */
	private final class Ending extends LinkableTask {

		@Override
		public void run() {
			end();
		}

	}

}
