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

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.LinkedTask;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.UserTask;
import dev.rdmarpc.verbs.VerbsException;

/**
 * A call whose caller holds a future. When its reply or failure has arrived it is
 * completed after the loop's turn, by a thread that does not drive; dependent stages that
 * do not name an executor run there, see {@link Continuations}.
 *
 * <p>
 * However else it is completed, by cancelling it, by a time-out or with a value, the call
 * ends here and at the peer. What depends on it is an ordinary {@link CompletableFuture}:
 * completing that leaves the call alone.
 *
 * <p>
 * Implementation notes. The caller may change arguments as soon as there is a future,
 * unless they are of types that cannot change, or in registered memory, which is lent to
 * the call. A call that is sent later or again keeps what they were encoded to. Fields
 * are written before the request is submitted, or by the driver until it hands the call
 * over, or by the thread that runs it then, which may submit it again. Completing and
 * starting race with each other: the one completes and then reads the channel, the other
 * writes the channel and then asks, when it sends, whether the call is done, so that one
 * of them sees the other.
 */
class CallFuture extends CallerStage implements DeferredCall, Continuation, UserTask {

	static final @Nullable Object[] NO_ARGUMENTS = new Object[0];

	/** In place of what a call was made with, when that was not kept. */
	private static final Object NOT_KEPT = new Object();

	private final CallTerms terms;

	private final MethodDescriptor method;

	private final long deadlineNanos;

	/** The arguments, or what they were encoded to, or {@link #NOT_KEPT}. */
	private Object content;

	private volatile @Nullable RpcChannel channel;

	/** Written and read by drivers. */
	private int requestId;

	private byte attempts = 1;

	/** As wide as on the wire, like the next one. */
	private byte status;

	private char metadataBytes;

	/** The ByteBuffer of the reply, or the CallFailure that there is in its place. */
	private @Nullable Object outcome;

	/**
	 * The RegisteredBuffer that the reply lies in, or what is to say of the failure; a
	 * Future before it is submitted, if it waits for a channel.
	 */
	private @Nullable Object backing;

	private @Nullable LinkedTask linked;

	/**
	 * Creates a call.
	 * @param content the arguments, or what they were encoded to
	 */
	CallFuture(CallTerms terms, MethodDescriptor method, Object content, long deadlineNanos) {
		this.terms = terms;
		this.method = method;
		this.content = content;
		this.deadlineNanos = deadlineNanos;
	}

	@Override
	public MethodDescriptor method() {
		return this.method;
	}

	@Override
	public CallOptions options() {
		return this.terms.options();
	}

	@Override
	public long key() {
		return this.terms.key();
	}

	@Override
	public long deadlineNanos() {
		return this.deadlineNanos;
	}

	@Override
	public byte[] metadata() {
		return this.terms.metadata();
	}

	/** Encodes what the call was made with, whatever became of it since. */
	@Override
	public void encode(MessageSegments out, int mostKeptBytes) {
		Object before = this.content;
		if (before instanceof byte[] encoded) {
			out.addBytes(ByteBuffer.wrap(encoded));
			return;
		}
		this.method.arguments().encode(before, out);
		if (!this.method.stableArguments()) {
			boolean kept = this.method.idempotent() && out.totalBytes() <= mostKeptBytes;
			this.content = kept ? bytes(out) : NOT_KEPT;
		}
	}

	/** Encodes what is sent later. */
	void encodeEarly(MessageSegments workspace) {
		if (!(this.content instanceof byte[]) && !this.method.stableArguments()) {
			this.method.arguments().encode(this.content, workspace);
			this.content = bytes(workspace);
		}
	}

	private static byte[] bytes(MessageSegments message) {
		byte[] bytes = new byte[message.totalBytes()];
		message.copyTo(ByteBuffer.wrap(bytes));
		return bytes;
	}

	@Override
	public void startsOn(RpcChannel open) {
		this.channel = open;
		this.terms.sentOver(open);
	}

	@Override
	public void onHeldBack(long nanos) {
		this.terms.heldBack(nanos);
	}

	@Override
	public void onStarted(int id) {
		this.requestId = id;
	}

	@Override
	public int requestId() {
		return this.requestId;
	}

	@Override
	public void onReply(IncomingMessage arrived) {
		this.status = (byte) arrived.status();
		this.metadataBytes = (char) arrived.metadataBytes();
		this.outcome = arrived.message();
		this.backing = arrived.take();
		loop().afterTurn(this);
	}

	@Override
	public void onFailure(CallFailure why, String detail) {
		this.outcome = why;
		this.backing = detail;
		loop().afterTurn(this);
	}

	@Override
	public void failLater() {
		this.outcome = CallFailure.RESOURCE_EXHAUSTED;
		postpone();
	}

	/** Where the transport is closed, and the client had no loop yet, it is told that. */
	private void postpone() {
		try {
			calls().postpone(this);
		}
		catch (VerbsException ex) {
			completeExceptionally(ex);
		}
	}

	private ChannelLoop loop() {
		RpcChannel submittedOn = this.channel;
		return (submittedOn != null) ? submittedOn.loop() : calls().loops().any();
	}

	private ClientCalls calls() {
		return this.terms.calls();
	}

	/** Completes the call, and runs what depends on it; not while driving. */
	@Override
	public void run() {
		if (isAwaited()) {
			ChannelLoop loop = loop();
			calls().loops().continuations(loop).run(loop, this);
		}
		else {
			finish();
		}
	}

	/** Whether completing it runs users' code. */
	boolean isAwaited() {
		return getNumberOfDependents() > 0;
	}

	/** Where it was submitted last, or {@code null} if it was not yet. */
	@Nullable RpcChannel channel() {
		return this.channel;
	}

	@Override
	public void runElsewhere() {
		calls().loops().runElsewhere(this::finish);
	}

	/** Completes the call; what depends on it runs here. */
	@Override
	public int finish() {
		CallFailure why = (this.outcome instanceof CallFailure failure) ? failure : null;
		try {
			if (why != null) {
				end(why, (this.backing instanceof String detail) ? detail : "");
			}
			else {
				deliver();
			}
		}
		catch (Throwable ex) {
			if (!isDone()) {
				this.outcome = (why != null) ? why : CallFailure.RESOURCE_EXHAUSTED;
				postpone();
			}
		}
		return 1;
	}

	private void deliver() {
		ChannelLoop loop = loop();
		if (!(this.backing instanceof RegisteredBuffer arrived) || !(this.outcome instanceof ByteBuffer message)) {
			return;
		}
		calls().answered(this.channel, this.status & 0xFF);
		ReceivedMemory received = Replies.received();
		int bytes = message.remaining();
		Object value;
		try {
			Replies.fill(options().replyMetadata(), message, this.metadataBytes);
			value = Replies.decode(this.method, this.status & 0xFF, message, this.metadataBytes, arrived, received);
			loop.metrics().decoded(bytes, received.sharedBytes());
		}
		catch (RpcException ex) {
			fail(ex);
			return;
		}
		finally {
			this.backing = null;
			this.outcome = null;
			arrived.release();
		}
		complete(value, Replies.takeParts(received));
	}

	private void complete(@Nullable Object value, @Nullable ReceivedMemory parts) {
		boolean delivered = false;
		try {
			this.terms.ended(RpcStatus.OK, null);
		}
		finally {
			try {
				delivered = complete(value, null, this.terms.context());
			}
			finally {
				if (parts != null && delivered) {
					parts.handOver();
				}
				else if (parts != null) {
					parts.release();
				}
			}
		}
	}

	/** Completes the future; what depends on it has the context. */
	private boolean complete(@Nullable Object value, @Nullable Throwable failure, @Nullable CarriedContext context) {
		ContextPropagation.Scope scope = (context != null) ? context.open() : null;
		try {
			return ended(value, failure);
		}
		finally {
			if (scope != null) {
				scope.close();
			}
		}
	}

	/**
	 * The call has a result, or has failed.
	 * @return whether anybody gets it
	 */
	boolean ended(@Nullable Object value, @Nullable Throwable failure) {
		return (failure != null) ? failWith(failure) : succeed(value);
	}

	@Override
	public @Nullable LinkedTask linked() {
		return this.linked;
	}

	@Override
	public void linked(@Nullable LinkedTask task) {
		this.linked = task;
	}

	private void end(CallFailure why, String sentence) {
		if (mayBeRepeated() && !isDone() && RetryPolicy.isAllowed(why, this.method, this.attempts)) {
			this.attempts++;
			this.outcome = null;
			this.backing = null;
			calls().repeat(this);
		}
		else {
			fail(Replies.failure(this.method, why, sentence));
		}
	}

	/** Whether it can be made again as it was. */
	boolean mayBeRepeated() {
		return isRepeatable();
	}

	private boolean isRepeatable() {
		return this.content != NOT_KEPT;
	}

	@Override
	public void onNotSent(OutgoingMessage request, String detail) {
		byte[] sent = isRepeatable() ? null : request.content();
		if (sent != null) {
			this.content = sent;
		}
		onFailure(CallFailure.NOT_SENT, detail);
	}

	/** Fails the call, also before it was submitted. */
	@Override
	public void fail(RpcException failure) {
		RpcException kept = failure.elsewhere(this.method);
		this.terms.ended(kept.status(), kept);
		complete(null, kept.forCaller(), this.terms.context());
	}

	/** Who gives up and who waits see each other, or one of them does. */
	@Override
	public void waitsWith(Future<?> wait) {
		this.backing = wait;
		VarHandle.fullFence();
		if (isDone()) {
			wait.cancel(false);
		}
	}

	@Override
	void givenUp() {
		this.terms.ended(RpcStatus.CANCELLED, null);
		VarHandle.fullFence();
		if (this.backing instanceof Future<?> wait) {
			wait.cancel(false);
		}
		RpcChannel running = this.channel;
		if (running != null) {
			running.abandon(this, CallFailure.CANCELLED, "ended by the caller");
		}
	}

}
