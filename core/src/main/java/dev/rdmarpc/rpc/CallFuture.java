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
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.LinkedTask;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.PendingCall;
import dev.rdmarpc.transport.RpcChannel;

/**
 * A call whose caller holds a future. Completed by the loop's driver, on whose thread
 * dependent stages run that do not name an executor.
 *
 * <p>
 * However else it is completed, by cancelling it, by a time-out or with a value, the call
 * ends here and at the peer. What depends on it is an ordinary {@link CompletableFuture}:
 * completing that leaves the call alone.
 *
 * <p>
 * Implementation notes. The caller may change arguments as soon as there is a future,
 * unless they are of types that cannot change, or in registered memory, which is lent to
 * the call. A call that is sent later or again keeps what they were encoded to. Both
 * fields are written before the request is submitted, or by the driver. Completing and
 * starting race with each other: the one completes and then reads the channel, the other
 * writes the channel and then asks, when it sends, whether the call is done, so that one
 * of them sees the other.
 */
final class CallFuture extends CallStage<@Nullable Object> implements PendingCall, LinkedTask {

	static final @Nullable Object[] NO_ARGUMENTS = new Object[0];

	private final ClientCalls calls;

	private final MethodDescriptor method;

	private final CallOptions options;

	private final long deadlineNanos;

	private final byte[] metadata;

	private final AtomicReference<@Nullable CallObservation> observation;

	private @Nullable Object[] arguments;

	private byte @Nullable [] encoded;

	private boolean repeatable = true;

	private volatile @Nullable RpcChannel channel;

	private volatile int requestId;

	private int attempts = 1;

	private CallFailure postponedFailure = CallFailure.RESOURCE_EXHAUSTED;

	private String postponedDetail = "";

	private @Nullable LinkedTask before;

	CallFuture(ClientCalls calls, MethodDescriptor method, @Nullable Object[] arguments, CallOptions options,
			long deadlineNanos, @Nullable CallObservation observation, byte[] metadata) {
		this.calls = calls;
		this.method = method;
		this.arguments = arguments;
		this.options = options;
		this.deadlineNanos = deadlineNanos;
		this.observation = new AtomicReference<>(observation);
		this.metadata = metadata;
	}

	MethodDescriptor method() {
		return this.method;
	}

	CallOptions options() {
		return this.options;
	}

	long deadlineNanos() {
		return this.deadlineNanos;
	}

	byte[] metadata() {
		return this.metadata;
	}

	/** Encodes what the call was made with, whatever became of it since. */
	void encode(MessageSegments out, int mostKeptBytes) {
		byte[] before = this.encoded;
		if (before != null) {
			out.addBytes(ByteBuffer.wrap(before));
			return;
		}
		this.method.arguments().encode(this.arguments, out);
		if (!this.method.stableArguments()) {
			this.arguments = NO_ARGUMENTS;
			this.repeatable = this.method.idempotent() && out.totalBytes() <= mostKeptBytes;
			if (this.repeatable) {
				keep(out);
			}
		}
	}

	/** Encodes what is sent later. */
	void encodeEarly(MessageSegments workspace) {
		if (this.encoded == null && !this.method.stableArguments()) {
			this.method.arguments().encode(this.arguments, workspace);
			this.arguments = NO_ARGUMENTS;
			keep(workspace);
		}
	}

	private void keep(MessageSegments message) {
		byte[] bytes = new byte[message.totalBytes()];
		message.copyTo(ByteBuffer.wrap(bytes));
		this.encoded = bytes;
	}

	/** The call is about to be submitted on a channel. */
	void startsOn(RpcChannel open) {
		this.channel = open;
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
	public void onReply(IncomingMessage reply) {
		ReceivedMemory received = Replies.received();
		Object value;
		try {
			value = Replies.decode(this.method, reply, received);
			Objects.requireNonNull(this.channel).loop().metrics().decoded(reply.messageBytes(), received.sharedBytes());
		}
		catch (RpcException ex) {
			fail(ex);
			return;
		}
		ReceivedMemory parts = Replies.takeParts(received);
		boolean delivered = false;
		try {
			ended(RpcStatus.OK, null);
		}
		finally {
			try {
				delivered = super.complete(value);
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

	@Override
	public void onFailure(CallFailure why, String detail) {
		try {
			end(why, detail);
		}
		catch (Throwable ex) {
			this.postponedFailure = why;
			this.postponedDetail = detail;
			this.calls.postpone(this);
		}
	}

	/** Tells again what there was no memory to tell. */
	@Override
	public void run() {
		onFailure(this.postponedFailure, this.postponedDetail);
	}

	@Override
	public @Nullable LinkedTask before() {
		return this.before;
	}

	@Override
	public void before(@Nullable LinkedTask task) {
		this.before = task;
	}

	private void end(CallFailure why, String detail) {
		if (this.repeatable && !isDone() && RetryPolicy.isAllowed(why, this.method, this.attempts)) {
			this.attempts++;
			this.calls.repeat(this);
		}
		else {
			fail(Replies.failure(this.method, why, detail));
		}
	}

	@Override
	public void onNotSent(OutgoingMessage request, String detail) {
		if (!this.repeatable) {
			this.encoded = request.content();
			this.repeatable = this.encoded != null;
		}
		onFailure(CallFailure.NOT_SENT, detail);
	}

	/** Fails the call, also before it was submitted. */
	void fail(RpcException failure) {
		RpcException kept = failure.elsewhere(this.method);
		ended(kept.status(), kept);
		super.completeExceptionally(kept);
	}

	private void ended(RpcStatus status, @Nullable Throwable failure) {
		CallObservation watched = this.observation.getAndSet(null);
		if (watched != null) {
			watched.callEnded(status, failure);
		}
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		return giveUpIf(super.cancel(mayInterruptIfRunning));
	}

	@Override
	public boolean complete(@Nullable Object value) {
		return giveUpIf(super.complete(value));
	}

	@Override
	public boolean completeExceptionally(Throwable failure) {
		return giveUpIf(super.completeExceptionally(failure));
	}

	@Override
	public CompletableFuture<@Nullable Object> completeAsync(Supplier<? extends @Nullable Object> supplier,
			Executor executor) {
		executor.execute(() -> {
			try {
				complete(supplier.get());
			}
			catch (Throwable ex) {
				completeExceptionally(ex);
			}
		});
		return this;
	}

	@Override
	public void obtrudeValue(@Nullable Object value) {
		boolean early = !isDone();
		super.obtrudeValue(value);
		giveUpIf(early);
	}

	@Override
	public void obtrudeException(Throwable failure) {
		boolean early = !isDone();
		super.obtrudeException(failure);
		giveUpIf(early);
	}

	private boolean giveUpIf(boolean completed) {
		if (completed) {
			ended(RpcStatus.CANCELLED, null);
			RpcChannel running = this.channel;
			if (running != null) {
				running.abandon(this, CallFailure.CANCELLED, "ended by the caller");
			}
		}
		return completed;
	}

}
