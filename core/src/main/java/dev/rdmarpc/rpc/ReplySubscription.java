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
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.LinkableTask;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.UserTask;

/**
 * A call whose reply is a stream, and the subscription to it. The subscriber's demand is
 * what the server is granted; messages are decoded, and the subscriber is told, after the
 * loop's turn, as what depends on a {@link CallFuture} is.
 *
 * <p>
 * Implementation notes. The driver leaves what has arrived in a queue, and what the call
 * ended with in fields that it writes before {@code ended}. Each change adds to
 * {@code work}; whoever raises it from 0 tells the subscriber, or has that done, until
 * all of it is accounted for. So the subscriber is told by one thread at a time, which
 * sees what the one before it wrote. Demand is added first and then the channel is looked
 * for, while the call is started by setting the channel first and then taking the demand:
 * the one or the other grants it. A cancellation and the start see each other likewise,
 * see {@link CallFuture}.
 */
final class ReplySubscription extends LinkableTask
		implements DeferredCall, Continuation, UserTask, Flow.Subscription, StreamReceiver.Listener {

	private static final Logger logger = LoggerFactory.getLogger(ReplySubscription.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private final ClientCalls calls;

	private final MethodDescriptor method;

	private final byte[] arguments;

	private final CallOptions options;

	private final StreamReceiver receiver;

	private final int grantBytes;

	private final Queue<Arrived> arrived = new ConcurrentLinkedQueue<>();

	private final AtomicInteger work = new AtomicInteger();

	private final AtomicLong demand = new AtomicLong();

	private final AtomicLong consumedBytes = new AtomicLong();

	private final AtomicBoolean granting = new AtomicBoolean();

	private final Runnable grant = this::grant;

	private Flow.@Nullable Subscriber<? super Object> subscriber;

	private long deadlineNanos = Long.MAX_VALUE;

	private byte[] metadata = {};

	private @Nullable CallObservation observation;

	private volatile @Nullable RpcChannel channel;

	private volatile int requestId;

	private volatile boolean cancelled;

	private volatile @Nullable IllegalArgumentException misuse;

	private volatile boolean ended;

	private @Nullable RpcException failure;

	private @Nullable Arrived reply;

	private int status;

	private int metadataBytes;

	ReplySubscription(ClientCalls calls, MethodDescriptor method, byte[] arguments, CallOptions options,
			Flow.Subscriber<? super Object> subscriber) {
		this.calls = calls;
		this.method = method;
		this.arguments = arguments;
		this.options = options;
		this.subscriber = subscriber;
		this.receiver = new StreamReceiver(calls.streamWindowBytes(), this);
		this.grantBytes = calls.streamWindowBytes() / 2;
	}

	/** Subscribes, and makes the call. */
	void start() {
		Flow.Subscriber<? super Object> told = this.subscriber;
		try {
			if (told != null) {
				told.onSubscribe(this);
			}
		}
		catch (Throwable ex) {
			misbehaved(ex);
		}
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
		return this.method;
	}

	@Override
	public CallOptions options() {
		return this.options;
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
	public void startsOn(RpcChannel open) {
		if (!open.streams().areKnown()) {
			throw RpcException.madeElsewhere(RpcStatus.UNIMPLEMENTED, "the server knows no streams", this.method, null);
		}
		this.channel = open;
		open.streams().begin(this.receiver, this.demand.getAndSet(0));
	}

	@Override
	public StreamReceiver streamReceiver() {
		return this.receiver;
	}

	@Override
	public void onStarted(int id) {
		this.requestId = id;
		this.receiver.started(id);
	}

	@Override
	public int requestId() {
		return this.requestId;
	}

	@Override
	public boolean isDone() {
		return this.ended || this.cancelled;
	}

	@Override
	public void onMessage(RegisteredBuffer memory, ByteBuffer message) {
		Arrived part;
		try {
			part = new Arrived(memory, message);
			this.arrived.add(part);
		}
		catch (Throwable ex) {
			memory.release();
			throw ex;
		}
		workAfterTurn();
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
		this.reply = new Arrived(last.take(), message);
		end();
	}

	@Override
	public void onFailure(CallFailure why, String detail) {
		this.failure = Replies.failure(this.method, why, detail);
		end();
	}

	private ChannelLoop loop() {
		RpcChannel submittedOn = this.channel;
		return (submittedOn != null) ? submittedOn.loop() : this.calls.loops().any();
	}

	private void end() {
		this.receiver.close();
		this.ended = true;
		workAfterTurn();
	}

	private void workAfterTurn() {
		if (this.work.getAndIncrement() == 0) {
			loop().afterTurn(this);
		}
	}

	private void workHere() {
		if (this.work.getAndIncrement() == 0) {
			finish();
		}
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
	public void fail(RpcException why) {
		this.failure = why.elsewhere(this.method);
		this.ended = true;
		workHere();
	}

	@Override
	public void failLater() {
		fail(RpcException.madeElsewhere(RpcStatus.RESOURCE_EXHAUSTED, "no memory to begin the call", this.method,
				null));
	}

	@Override
	public void request(long messages) {
		if (messages <= 0) {
			this.misuse = new IllegalArgumentException(
					"request for " + messages + " messages (expected: more than 0, Reactive Streams rule 3.9)");
			workHere();
			return;
		}
		this.demand.accumulateAndGet(messages, ReplySubscription::sum);
		if (this.channel != null) {
			grantSoon();
		}
	}

	private static long sum(long first, long second) {
		long sum = first + second;
		return (sum < 0) ? Long.MAX_VALUE : sum;
	}

	private void grantSoon() {
		if (!isDone() && this.granting.compareAndSet(false, true)) {
			loop().execute(this.grant);
		}
	}

	/** Grants what the subscriber wants and has consumed; driver. */
	private void grant() {
		this.granting.set(false);
		this.receiver.grant(this.demand.getAndSet(0), this.consumedBytes.getAndSet(0));
	}

	@Override
	public void cancel() {
		giveUp();
		workHere();
	}

	private void giveUp() {
		this.cancelled = true;
		RpcChannel running = this.channel;
		if (running != null) {
			running.abandon(this, CallFailure.CANCELLED, "cancelled by the subscriber");
		}
	}

	/** Tells the subscriber what there is; not while driving. */
	@Override
	public void finish() {
		for (int done = this.work.get(); done != 0; done = this.work.addAndGet(-done)) {
			boolean last = this.ended;
			Flow.Subscriber<? super Object> told = this.subscriber;
			IllegalArgumentException wrong = this.misuse;
			if (told != null && !this.cancelled && wrong != null) {
				giveUp();
				fail(told, RpcStatus.CANCELLED, wrong);
			}
			for (Arrived part = this.arrived.poll(); part != null; part = this.arrived.poll()) {
				deliver(part);
			}
			if (this.cancelled) {
				drop();
			}
			else if (last) {
				finish(this.subscriber);
			}
		}
	}

	private void deliver(Arrived part) {
		Flow.Subscriber<? super Object> told = this.subscriber;
		if (this.cancelled || told == null) {
			part.memory().release();
			return;
		}
		int cost = this.receiver.cost(part.message().remaining());
		Object value;
		try {
			value = decode(part);
		}
		catch (RpcException ex) {
			giveUp();
			fail(told, ex.status(), ex);
			return;
		}
		try {
			told.onNext(value);
		}
		catch (Throwable ex) {
			misbehaved(ex);
		}
		if (this.consumedBytes.addAndGet(cost) >= this.grantBytes) {
			grantSoon();
		}
	}

	private Object decode(Arrived part) {
		ReceivedMemory received = Replies.received();
		int bytes = part.message().remaining();
		Object value;
		try {
			value = Replies.decode(this.method, RpcStatus.OK.code(), part.message(), 0, part.memory(), received);
			loop().metrics().decoded(bytes, received.sharedBytes());
		}
		finally {
			part.memory().release();
		}
		ReceivedMemory parts = Replies.takeParts(received);
		if (parts != null) {
			parts.handOver();
		}
		if (value == null) {
			throw RpcException.madeElsewhere(RpcStatus.INTERNAL, "the stream contains nothing in place of a message",
					this.method, null);
		}
		return value;
	}

	/** The call has ended, and all that came before that was delivered. */
	private void finish(Flow.@Nullable Subscriber<? super Object> told) {
		if (told == null) {
			drop();
			return;
		}
		RpcException why = this.failure;
		Arrived last = this.reply;
		this.reply = null;
		if (last != null) {
			try {
				Replies.fill(this.options.replyMetadata(), last.message(), this.metadataBytes);
				if (this.status != RpcStatus.OK.code()) {
					why = Replies.failure(this.method, this.status, last.message(), this.metadataBytes);
				}
			}
			finally {
				last.memory().release();
			}
		}
		if (why != null) {
			fail(told, why.status(), why.forCaller());
			return;
		}
		this.subscriber = null;
		observed(RpcStatus.OK, null);
		try {
			told.onComplete();
		}
		catch (Throwable ex) {
			misbehaved(ex);
		}
	}

	private void fail(Flow.Subscriber<? super Object> told, RpcStatus code, Throwable why) {
		this.subscriber = null;
		observed(code, why);
		try {
			told.onError(why);
		}
		catch (Throwable ex) {
			misbehaved(ex);
		}
	}

	/** Forgets the subscriber and gives back what it will not get. */
	private void drop() {
		this.subscriber = null;
		Arrived last = this.reply;
		this.reply = null;
		if (last != null) {
			last.memory().release();
		}
		observed(RpcStatus.CANCELLED, null);
	}

	private void observed(RpcStatus code, @Nullable Throwable why) {
		CallObservation watched = this.observation;
		this.observation = null;
		if (watched != null) {
			watched.callEnded(code, why);
		}
	}

	/** Rule 2.13 of Reactive Streams: a subscriber that throws has cancelled. */
	private void misbehaved(Throwable failure) {
		failures.log(Level.WARN, "A subscriber to {} failed, which cancels its subscription", this.method, failure);
		giveUp();
	}

	/** A message, and the memory it lies in, which it owns. */
	private record Arrived(RegisteredBuffer memory, ByteBuffer message) {

	}

}
