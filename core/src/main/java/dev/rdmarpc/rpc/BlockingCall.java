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
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.PendingCall;

/**
 * A call for whose reply a thread waits, which also decodes it. Reused by its thread:
 * each use ends only after the transport has reported reply or failure, so a late report
 * cannot reach the next one.
 *
 * <p>
 * Implementation notes. The waiting thread writes the fields before it submits the
 * request; the loop's driver writes the outcome and then {@code done}, volatile; the
 * waiting thread reads the outcome after seeing {@code done}. The driver only notes down
 * what has arrived or why nothing has, for which it needs no memory. A thread that has
 * given up waiting says so before it looks for a reply a last time, and the driver looks
 * whether it was given up after it has stored one: whoever takes the reply's memory first
 * releases it.
 */
final class BlockingCall implements PendingCall {

	private static final ThreadLocal<@Nullable BlockingCall> IDLE = new ThreadLocal<>();

	private final Thread owner = Thread.currentThread();

	private @Nullable MethodDescriptor method;

	private @Nullable ChannelLoop loop;

	private int requestId;

	private int status;

	private int metadataBytes;

	private @Nullable ByteBuffer reply;

	private final AtomicReference<@Nullable RegisteredBuffer> memory = new AtomicReference<>();

	private @Nullable CallFailure unanswered;

	private String detail = "";

	private long heldBackNanos;

	private boolean sent;

	private boolean abandoned;

	private volatile boolean left;

	private volatile boolean done;

	/** Takes the current thread's idle call, or makes one. */
	static BlockingCall take(MethodDescriptor method, ChannelLoop loop) {
		BlockingCall call = IDLE.get();
		if (call == null) {
			call = new BlockingCall();
		}
		else {
			IDLE.set(null);
		}
		call.method = method;
		call.loop = loop;
		call.done = false;
		return call;
	}

	/**
	 * Takes the outcome and gives the object back for the thread's next call. A failure
	 * is thrown with the stack of this thread.
	 * @param replyMetadata filled with what came with the reply
	 */
	@Nullable Object finish(@Nullable CallMetadata replyMetadata) {
		MethodDescriptor called = method();
		ChannelLoop from = Objects.requireNonNull(this.loop);
		CallFailure why = this.unanswered;
		String sentence = this.detail;
		int code = this.status;
		ByteBuffer message = this.reply;
		RegisteredBuffer arrived = this.memory.getAndSet(null);
		int length = this.metadataBytes;
		boolean withoutReply = this.sent;
		giveBack();
		if (withoutReply) {
			return null;
		}
		if (why != null || arrived == null || message == null) {
			throw Replies.failure(called, (why != null) ? why : CallFailure.MALFORMED_REPLY, sentence).thrownHere();
		}
		try {
			Replies.fill(replyMetadata, message, length);
			return decode(called, from, code, message, length, arrived);
		}
		catch (RpcException ex) {
			throw ex.thrownHere();
		}
		finally {
			arrived.release();
		}
	}

	private static @Nullable Object decode(MethodDescriptor method, ChannelLoop loop, int status, ByteBuffer message,
			int metadataBytes, RegisteredBuffer memory) {
		ReceivedMemory received = Replies.received();
		int bytes = message.remaining();
		Object result = Replies.decode(method, status, message, metadataBytes, memory, received);
		loop.metrics().decoded(bytes, received.sharedBytes());
		ReceivedMemory parts = Replies.takeParts(received);
		if (parts != null) {
			parts.handOver();
		}
		return result;
	}

	/**
	 * The waiting thread asks for the end of the call. Its reply may come first, so that
	 * the loop comes to what was asked when the call is over: the object is not used
	 * again.
	 */
	void abandoned() {
		this.abandoned = true;
	}

	/** The waiting thread does not even wait for that end. */
	void leave() {
		this.left = true;
		dropReply();
	}

	private void dropReply() {
		RegisteredBuffer unread = this.memory.getAndSet(null);
		if (unread != null) {
			unread.release();
		}
	}

	/** Gives the object back without looking at the outcome. */
	void giveBack() {
		this.reply = null;
		this.unanswered = null;
		this.detail = "";
		this.sent = false;
		this.status = 0;
		this.metadataBytes = 0;
		this.heldBackNanos = 0;
		this.method = null;
		this.loop = null;
		if (!this.abandoned) {
			IDLE.set(this);
		}
	}

	/** Why there was no reply, or {@code null} if there was one; once it is done. */
	@Nullable CallFailure unanswered() {
		return this.unanswered;
	}

	/** Whether there was a reply; once it is done. */
	boolean isAnswered() {
		return this.unanswered == null && !this.sent;
	}

	/** The status of the reply, if there was one; once it is done. */
	int status() {
		return this.status;
	}

	/** Passes on how long the request has waited, if it has; once it is done. */
	void tellWait(@Nullable CallObservation observation) {
		if (this.heldBackNanos > 0 && observation != null) {
			observation.requestHeldBack(this.heldBackNanos);
		}
	}

	@Override
	public void onHeldBack(long nanos) {
		this.heldBackNanos = nanos;
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
		this.status = arrived.status();
		this.metadataBytes = arrived.metadataBytes();
		this.reply = arrived.message();
		this.memory.set(arrived.take());
		end();
		if (this.left) {
			dropReply();
		}
	}

	@Override
	public boolean isOneWay() {
		return method().oneWay();
	}

	@Override
	public void onSent() {
		this.sent = true;
		end();
	}

	@Override
	public void onFailure(CallFailure why, String sentence) {
		this.detail = sentence;
		this.unanswered = why;
		end();
	}

	private void end() {
		ChannelLoop waking = this.loop;
		this.done = true;
		if (waking != null) {
			waking.wake(this.owner);
		}
	}

	private MethodDescriptor method() {
		MethodDescriptor current = this.method;
		if (current == null) {
			throw new IllegalStateException("call reported after its end");
		}
		return current;
	}

	@Override
	public boolean isBlocking() {
		return true;
	}

	@Override
	public boolean isDone() {
		return this.done;
	}

}
