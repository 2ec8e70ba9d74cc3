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

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.balancing.LoadBalancer;
import dev.rdmarpc.codec.CodecException;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.PendingCall;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.verbs.VerbsException;

/**
 * Makes calls over the queue pairs of a client: encodes, submits, and waits or hands out
 * a future.
 *
 * <p>
 * A call that ends without reply because its connection went is made again, on another
 * one, if it was never sent or its method is idempotent.
 *
 * <p>
 * Thread-safe. Whatever fails before a call is submitted has given back what it took.
 */
final class ClientCalls {

	private static final long NO_DEADLINE = Long.MAX_VALUE;

	/** A century is no deadline; much more could not be counted. */
	private static final Duration FOREVER = Duration.ofDays(36_500);

	/** How far away a deadline is for which it suffices to know the time roughly. */
	private static final long FAR_NANOS = 1_000_000_000;

	private static final long RETRY_NANOS = 5_000_000;

	/** How long a loop may take to end a call that is given up. */
	private static final long PATIENCE_NANOS = 1_000_000_000;

	private final ChannelSource channels;

	private final boolean keys;

	private final boolean observing;

	private final RpcClientOptions options;

	/** Which can be changed, unlike other options. */
	private volatile Duration defaultDeadline;

	private final List<CallObserver> observers;

	private final ClientLoops loops;

	private final @Nullable ContextPropagation propagation;

	private final MethodSettings settings;

	private final Hedges hedges;

	private final CallTerms plain = new CallTerms(this);

	ClientCalls(ChannelSource channels, ClientLoops loops, RpcClientOptions options, List<CallObserver> observers,
			@Nullable ContextPropagation propagation, MethodSettings settings, Hedges hedges) {
		this.channels = channels;
		this.keys = channels.keys();
		this.observing = channels.observes();
		this.loops = loops;
		this.options = options;
		this.defaultDeadline = options.defaultDeadline();
		this.observers = observers;
		this.propagation = propagation;
		this.settings = settings;
		this.hedges = hedges;
	}

	/** The loops of all connections. */
	ClientLoops loops() {
		return this.loops;
	}

	/** What belongs to the current thread, if that is to be carried to others. */
	@Nullable CarriedContext capture() {
		return CarriedContext.capture(this.propagation);
	}

	String target() {
		return this.channels.target();
	}

	Duration defaultDeadline() {
		return this.defaultDeadline;
	}

	void defaultDeadline(Duration deadline) {
		this.defaultDeadline = deadline;
	}

	@Nullable Object call(MethodDescriptor method, @Nullable Object[] arguments, CallOptions call) {
		return method.later() ? later(method, arguments, call) : call(method, arguments, null, call, NO_DEADLINE);
	}

	/**
	 * Makes a call, also of a method whose calls are made later.
	 * @param encoded what the arguments were encoded to, if they have changed since
	 * @param bound when it ends at the latest, unless it replies with a stream
	 */
	@Nullable Object call(MethodDescriptor method, @Nullable Object[] arguments, byte @Nullable [] encoded, CallOptions call,
			long bound) {
		MethodSettings.Settings own = this.settings.of(method);
		if (own != null && own.hedging() != null) {
			return callHedged(method, arguments, encoded, call, bound, own);
		}
		if (!method.plain()) {
			return callOtherwise(method, arguments, encoded, call, bound);
		}
		long now = this.loops.roughNanos();
		long deadline = nearest(deadlineOf(method, call, now), bound);
		if (deadline - now < FAR_NANOS) {
			now = System.nanoTime();
			deadline = nearest(deadlineOf(method, call, now), bound);
		}
		if (this.observers.isEmpty()) {
			byte[] sent = call.metadata().isEmpty() ? RequestTemplate.NO_METADATA : metadata(method, call).encode();
			return method.asynchronous() ? callAsync(method, arguments, encoded, call, now, deadline, null, sent)
					: callBlocking(method, arguments, call, now, deadline, sent, null);
		}
		CallMetadata metadata = metadata(method, call);
		CallObservation observation = RpcObservedCall.start(this.observers, method, target(), metadata);
		if (method.asynchronous()) {
			return callAsync(method, arguments, encoded, call, now, deadline, observation, metadata.encode());
		}
		if (observation == null) {
			return callBlocking(method, arguments, call, now, deadline, metadata.encode(), null);
		}
		CallObservation.Scope scope = observation.openScope();
		try {
			Object result = callBlocking(method, arguments, call, now, deadline, metadata.encode(), observation);
			observation.callEnded(RpcStatus.OK, null);
			return result;
		}
		catch (Throwable ex) {
			observation.callEnded((ex instanceof RpcException rpc) ? rpc.status() : RpcStatus.INTERNAL, ex);
			throw ex;
		}
		finally {
			scope.close();
		}
	}

	/** A reply has come over a channel. */
	void answered(@Nullable RpcChannel from, int status) {
		if (this.observing && from != null && from.handler() instanceof ClientConnection connection) {
			connection.answered(status);
		}
	}

	private long key(MethodDescriptor method, @Nullable Object[] arguments, CallOptions call) {
		return this.keys ? HashKeys.of(method, arguments, call) : LoadBalancer.NO_KEY;
	}

	/**
	 * Whoever waits for the result waits for a future, so that any attempt can end it.
	 */
	private @Nullable Object callHedged(MethodDescriptor method, @Nullable Object[] arguments,
			byte @Nullable [] encoded, CallOptions call, long bound, MethodSettings.Settings own) {
		Object content = (encoded != null) ? encoded
				: own.encodedEarly() ? Requests.encoded(method, arguments, maxMessageBytes()) : arguments;
		HedgedCall future = new HedgedCall(this, this.hedges, Objects.requireNonNull(own.hedging()), method, call,
				content, key(method, arguments, call), nearest(deadlineOf(method, call, System.nanoTime()), bound));
		future.begin();
		return method.asynchronous() ? future : Replies.await(method, future);
	}

	/** With a stream, or later. */
	private @Nullable Object callOtherwise(MethodDescriptor method, @Nullable Object[] all, byte @Nullable [] encoded,
			CallOptions call, long bound) {
		long key = key(method, all, call);
		CarriedContext context = (method.consuming() || method.later()) ? capture() : null;
		Flow.Publisher<?> messages = method.consuming() ? method.streamOf(all) : null;
		messages = (messages != null && context != null) ? context.around(messages) : messages;
		@Nullable Object[] arguments = (messages != null) ? method.withoutStream(all) : all;
		if (method.streaming()) {
			return method.givenResult(replies(method, arguments, messages, call, key));
		}
		CallFuture future = begin(method, (encoded != null) ? encoded : arguments, messages, call, bound, key, context);
		return method.asynchronous() ? future : Replies.await(method, future);
	}

	private Flow.Publisher<?> replies(MethodDescriptor method, @Nullable Object[] arguments,
			Flow.@Nullable Publisher<?> messages, CallOptions call, long key) {
		if (!method.signalsFailures()) {
			return new ReplyPublisher(this, method, Requests.encoded(method, arguments, maxMessageBytes()), messages,
					call, key);
		}
		Object content = Requests.encodedOrFailure(method, arguments, maxMessageBytes());
		return (content instanceof byte[] encoded) ? new ReplyPublisher(this, method, encoded, messages, call, key)
				: new FailedPublisher((RpcException) content);
	}

	private Object later(MethodDescriptor method, @Nullable Object[] all, CallOptions call) {
		Object kept = kept(method, all);
		return method.givenReply(
				() -> (CallerStage) Objects.requireNonNull(call(method, all, encoded(kept), call, NO_DEADLINE)));
	}

	/**
	 * What a call is made with later, perhaps several times, but for a stream: what the
	 * arguments are encoded to now, or the {@link RpcException} that says why they cannot
	 * be, or {@code null} if they cannot change.
	 */
	@Nullable Object kept(MethodDescriptor method, @Nullable Object[] all) {
		return method.stableArguments() ? null : Requests.encodedOrFailure(method,
				method.consuming() ? method.withoutStream(all) : all, maxMessageBytes());
	}

	/**
	 * What was kept.
	 * @throws RpcException if it could not be
	 */
	static byte @Nullable [] encoded(@Nullable Object kept) {
		if (kept instanceof RpcException failure) {
			throw failure;
		}
		return (byte[]) kept;
	}

	/**
	 * Makes a call for which nobody waits here.
	 * @param content the arguments, or what they were encoded to
	 * @param messages what follows the request, or {@code null}
	 * @param bound when it ends at the latest
	 */
	private CallFuture begin(MethodDescriptor method, Object content, Flow.@Nullable Publisher<?> messages,
			CallOptions call, long bound, long key, @Nullable CarriedContext context) {
		CallTerms terms = observed(method, call, key, context);
		long now = System.nanoTime();
		long deadline = nearest(deadlineOf(method, call, now), bound);
		CallFuture future = (messages != null) ? new StreamingFuture(terms, method, content, messages, deadline)
				: new CallFuture(terms, method, content, deadline);
		begin(future, now);
		return future;
	}

	/** Makes the call of a subscriber, which has its subscription already. */
	void subscribe(ReplySubscription subscription) {
		try {
			MethodDescriptor method = subscription.method();
			CallMetadata metadata = metadata(method, subscription.options());
			CallObservation observation = this.observers.isEmpty() ? null
					: RpcObservedCall.start(this.observers, method, target(), metadata);
			long now = System.nanoTime();
			subscription.begins(deadlineOf(method, subscription.options(), now), metadata.encode(), observation);
			begin(subscription, now);
		}
		catch (RpcException ex) {
			subscription.fail(ex);
		}
		catch (Throwable ex) {
			subscription.fail(Requests.cannotBeEncoded(subscription.method(), ex));
		}
	}

	private int maxMessageBytes() {
		return this.options.channel().maxMessageBytes();
	}

	/** The window of each stream to the client. */
	int streamWindowBytes() {
		return this.options.channel().streamWindowBytes();
	}

	private CallMetadata metadata(MethodDescriptor method, CallOptions call) {
		int most = this.options.channel().maxMetadataBytes();
		CallMetadata metadata = new CallMetadata(most);
		if (call.metadata().isEmpty()) {
			return metadata;
		}
		call.metadata().forEach((key, value) -> {
			if (!metadata.put(key, value)) {
				throw new RpcException(RpcStatus.RESOURCE_EXHAUSTED, CallMetadata.noRoom(key, most), method.service(),
						method.name(), null);
			}
		});
		return metadata;
	}

	/**
	 * The nearest of the deadline of the call, or of the method, here or by its
	 * declaration, or of the client, and that of the call served. The client's is not for
	 * streams, of which most have no end.
	 */
	private long deadlineOf(MethodDescriptor method, CallOptions call, long now) {
		Duration own = call.deadline();
		if (own == null) {
			MethodSettings.Settings here = this.settings.of(method);
			own = (here != null && here.deadline() != null) ? here.deadline() : method.deadline();
		}
		if (own == null) {
			own = (method.streaming() || method.consuming()) ? Duration.ZERO : this.defaultDeadline;
		}
		ServedCall served = ServedCall.current();
		long inherited = (served != null) ? served.deadlineNanos() : NO_DEADLINE;
		if (own.isZero() || own.compareTo(FOREVER) >= 0) {
			return inherited;
		}
		return nearest(now + own.toNanos(), inherited);
	}

	private static long nearest(long deadline, long other) {
		return (deadline == NO_DEADLINE || (other != NO_DEADLINE && other - deadline < 0)) ? other : deadline;
	}

	/**
	 * When a call that begins now ends at the latest, however often it is made. A stream
	 * that replies begins only when it is subscribed to.
	 */
	long bound(MethodDescriptor method, CallOptions call) {
		return method.streaming() ? NO_DEADLINE : deadlineOf(method, call, System.nanoTime());
	}

	private @Nullable Object callBlocking(MethodDescriptor method, @Nullable Object[] arguments, CallOptions call,
			long begun, long deadline, byte[] metadata, @Nullable CallObservation observation) {
		long key = key(method, arguments, call);
		long now = begun;
		for (int attempts = 1;; attempts++) {
			if (Thread.currentThread().isInterrupted()) {
				throw new RpcException(RpcStatus.CANCELLED,
						"the calling thread was interrupted before the call was sent", method.service(), method.name(),
						null);
			}
			RpcChannel channel = this.channels.openChannel(key);
			if (channel == null) {
				channel = ConnectWaits.await(this.channels, this.options, method, call, deadline);
				now = System.nanoTime();
			}
			BlockingCall waiting = BlockingCall.take(method, channel.loop());
			OutgoingMessage request;
			try {
				request = prepare(channel, waiting, method, arguments, call, now, deadline, NO_DEADLINE, metadata);
			}
			catch (Throwable ex) {
				waiting.giveBack();
				throw ex;
			}
			if (observation != null) {
				observation.requestSent(channel);
			}
			if (!channel.loop().submitAndWait(request, waiting, deadline)) {
				waiting.abandoned();
				abandon(channel, waiting, method);
			}
			waiting.tellWait(observation);
			if (!RetryPolicy.isAllowed(waiting.unanswered(), method, attempts)) {
				if (waiting.isAnswered()) {
					answered(channel, waiting.status());
				}
				return waiting.finish(call.replyMetadata());
			}
			waiting.giveBack();
			this.channels.repeated();
			now = System.nanoTime();
		}
	}

	/**
	 * The deadline has passed or the thread was interrupted: the call is ended here, by
	 * the loop. A loop that does not turn is not waited for: users' code cannot hold it
	 * up, but its device can, and so can the appender of a log.
	 */
	private static void abandon(RpcChannel channel, BlockingCall waiting, MethodDescriptor method) {
		boolean interrupted = Thread.interrupted();
		CallFailure why = interrupted ? CallFailure.CANCELLED : CallFailure.DEADLINE_EXCEEDED;
		String detail = interrupted ? "the calling thread was interrupted" : "no reply within the deadline";
		long patience = System.nanoTime() + PATIENCE_NANOS;
		boolean ended = false;
		while (!ended && System.nanoTime() - patience < 0) {
			long until = tryAbandon(channel, waiting, why, detail) ? patience : System.nanoTime() + RETRY_NANOS;
			ended = channel.loop().waitFor(waiting, until);
			interrupted |= Thread.interrupted();
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
		if (!ended) {
			waiting.leave();
			throw Replies.failure(method, why, detail + ", and the connection's loop is held up");
		}
	}

	/** Without memory to say so, it is said again. */
	@SuppressWarnings("UnusedException") // there is no memory to say anything of it
											// either
	private static boolean tryAbandon(RpcChannel channel, PendingCall waiting, CallFailure why, String detail) {
		try {
			channel.abandon(waiting, why, detail);
			return true;
		}
		catch (OutOfMemoryError ex) {
			return false;
		}
	}

	private CallFuture callAsync(MethodDescriptor method, @Nullable Object[] arguments, byte @Nullable [] encoded,
			CallOptions call, long now, long deadline, @Nullable CallObservation observation, byte[] metadata) {
		CallTerms terms = terms(call, metadata, observation, key(method, arguments, call), capture());
		CallFuture future = new CallFuture(terms, method, (encoded != null) ? encoded : arguments, deadline);
		begin(future, now);
		return future;
	}

	/** What a call is made with that begins now, for observers as well. */
	CallTerms observed(MethodDescriptor method, CallOptions call, long key, @Nullable CarriedContext context) {
		CallMetadata metadata = metadata(method, call);
		CallObservation observation = this.observers.isEmpty() ? null
				: RpcObservedCall.start(this.observers, method, target(), metadata);
		return terms(call, metadata.encode(), observation, key, context);
	}

	@SuppressWarnings("ReferenceEquality") // options that equal none are rare
	private CallTerms terms(CallOptions call, byte[] metadata, @Nullable CallObservation observation, long key,
			@Nullable CarriedContext context) {
		boolean plain = call == CallOptions.NONE && metadata.length == 0 && observation == null
				&& key == LoadBalancer.NO_KEY && context == null;
		return plain ? this.plain : new CallTerms(this, call, metadata, observation, key, context);
	}

	/** Makes a call again whose request or reply was lost. */
	void repeat(CallFuture future) {
		this.channels.repeated();
		begin(future, System.nanoTime());
	}

	/** Starts a call now, or when there is a connection. */
	void begin(DeferredCall future, long now) {
		RpcChannel channel = this.channels.openChannel(future.key());
		if (channel != null) {
			start(channel, future, now);
			return;
		}
		if (future instanceof CallFuture call && !encodeEarly(call)) {
			return;
		}
		long least = ConnectWaits.leastNanos(this.channels, this.options, future.method(), future.options());
		CompletableFuture<RpcChannel> soon = this.channels.channel(least > 0);
		long deadline = future.deadlineNanos();
		long nanos = ConnectWaits.nanos(this.options, least, deadline);
		if (nanos != NO_DEADLINE) {
			soon = soon.orTimeout(Math.max(1, nanos), TimeUnit.NANOSECONDS);
		}
		future.waitsWith(soon);
		soon.whenComplete((opened, failure) -> this.loops.runElsewhere(() -> connected(future, opened, failure, now)));
	}

	private void connected(DeferredCall future, @Nullable RpcChannel opened, @Nullable Throwable failure, long begun) {
		MethodDescriptor method = future.method();
		try {
			if (future.isDone()) {
				return;
			}
			if (failure instanceof TimeoutException) {
				future.fail(ConnectWaits.notInTime(this.channels, method, begun, future.deadlineNanos(), failure));
			}
			else if (failure != null || opened == null) {
				future.fail(ConnectWaits.forMethod(method, failure));
			}
			else {
				start(opened, future, System.nanoTime());
			}
		}
		catch (Throwable ex) {
			future.failLater();
		}
	}

	/** Leaves a call whose failure could not be told to a loop, to be told later. */
	void postpone(CallFuture future) {
		this.loops.any().executeAtTick(future);
	}

	/** When a call is sent, its caller may have changed the arguments already. */
	private boolean encodeEarly(CallFuture future) {
		MessageSegments segments = SegmentsPool.claim();
		try {
			segments.maxBytes(maxMessageBytes());
			future.encodeEarly(segments);
			return true;
		}
		catch (Throwable ex) {
			future.fail(Requests.cannotBeEncoded(future.method(), ex));
			return false;
		}
		finally {
			SegmentsPool.giveBack(segments);
		}
	}

	/** An open channel for another attempt, see {@link ChannelSource}. */
	@Nullable RpcChannel openChannel(long key, List<RpcChannel> used) {
		return this.channels.openChannel(key, used);
	}

	/** Sends a call, or fails it. */
	void start(RpcChannel channel, DeferredCall future, long now) {
		MethodDescriptor method = future.method();
		try {
			future.startsOn(channel);
			OutgoingMessage request = prepare(channel, future, method, CallFuture.NO_ARGUMENTS, future.options(), now,
					future.deadlineNanos(), future.deadlineNanos(), future.metadata());
			request.submit();
			future.submitted();
		}
		catch (RpcException ex) {
			future.fail(ex);
		}
		catch (Throwable ex) {
			future.fail(Requests.cannotBeEncoded(method, ex));
		}
	}

	/**
	 * Encodes a request into registered memory.
	 * @param arguments of a blocking call; a {@link DeferredCall} has its own
	 * @param now read a moment ago: the clock takes as long as a tenth of all the rest
	 * @param channelDeadline when the channel gives up by itself
	 */
	private OutgoingMessage prepare(RpcChannel channel, PendingCall waiting, MethodDescriptor method,
			@Nullable Object[] arguments, CallOptions call, long now, long deadline, long channelDeadline,
			byte[] metadata) {
		if (channel.handler() instanceof ClientConnection connection) {
			connection.check(method);
		}
		long remaining = 0;
		if (deadline != NO_DEADLINE) {
			remaining = deadline - now;
			if (remaining <= 0) {
				throw new RpcException(RpcStatus.DEADLINE_EXCEEDED, "the deadline passed before the call was sent",
						method.service(), method.name(), null);
			}
		}
		if (metadata.length > channel.maxSendMetadataBytes()) {
			throw new RpcException(RpcStatus.RESOURCE_EXHAUSTED,
					metadata.length + " bytes of metadata (expected by the server: at most "
							+ channel.maxSendMetadataBytes() + "), which its max-metadata-size sets",
					method.service(), method.name(), null);
		}
		MessageSegments segments = SegmentsPool.claim();
		try {
			segments.maxBytes(channel.maxSendBytes());
			if (waiting instanceof DeferredCall future) {
				future.encode(segments, this.options.channel().eagerBytes());
			}
			else {
				method.arguments().encode(arguments, segments);
			}
			RequestTemplate template = method.template(call.priority(), this.options.priority());
			OutgoingMessage request = channel.prepareRequest(waiting, template, channelDeadline, remaining, metadata,
					segments);
			request.order(template.priority(), deadline);
			return request;
		}
		catch (MemoryExhaustedException ex) {
			throw (deadline != NO_DEADLINE && deadline - System.nanoTime() <= 0) ? Requests.late(method, ex)
					: Requests.cannotBeEncoded(method, ex);
		}
		catch (CodecException | VerbsException ex) {
			throw Requests.cannotBeEncoded(method, ex);
		}
		finally {
			SegmentsPool.giveBack(segments);
		}
	}

}
