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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.PendingCall;
import dev.rdmarpc.transport.RpcChannel;

/**
 * A call whose caller holds a future. Completed by the loop's driver, on whose thread
 * dependent stages run that do not name an executor. Cancelling it cancels the call.
 */
final class CallFuture extends CompletableFuture<@Nullable Object> implements PendingCall {

	private final MethodDescriptor method;

	private final AtomicReference<@Nullable CallObservation> observation;

	private volatile @Nullable RpcChannel channel;

	private volatile int requestId;

	private @Nullable Runnable repetition;

	private int attempts = 1;

	CallFuture(MethodDescriptor method, @Nullable CallObservation observation) {
		this.method = method;
		this.observation = new AtomicReference<>(observation);
	}

	/** How to make the call again. Set before it is started. */
	void repeatedBy(Runnable another) {
		this.repetition = another;
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
		ended(RpcStatus.OK, null);
		boolean delivered = complete(value);
		if (parts != null && delivered) {
			parts.handOver();
		}
		else if (parts != null) {
			parts.release();
		}
	}

	@Override
	public void onFailure(CallFailure why, String detail) {
		Runnable again = this.repetition;
		if (again != null && !isDone() && Repetition.isAllowed(why, this.method, this.attempts)) {
			this.attempts++;
			again.run();
			return;
		}
		fail(Replies.failure(this.method, why, detail));
	}

	/** Fails the call, also before it was submitted. */
	void fail(RpcException failure) {
		ended(failure.status(), failure);
		completeExceptionally(failure);
	}

	private void ended(RpcStatus status, @Nullable Throwable failure) {
		CallObservation watched = this.observation.getAndSet(null);
		if (watched != null) {
			watched.callEnded(status, failure);
		}
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		boolean cancelled = super.cancel(mayInterruptIfRunning);
		RpcChannel running = this.channel;
		if (cancelled) {
			ended(RpcStatus.CANCELLED, null);
		}
		if (cancelled && running != null) {
			running.abandon(this, CallFailure.CANCELLED, "cancelled by the caller");
		}
		return cancelled;
	}

	@Override
	public <U> CompletableFuture<U> newIncompleteFuture() {
		return new CompletableFuture<>();
	}

}
