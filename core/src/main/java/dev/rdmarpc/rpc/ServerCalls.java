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

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.transport.CallShares;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.PeerReplies;
import dev.rdmarpc.transport.PeerShare;
import dev.rdmarpc.transport.ReplyLimitException;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;

/**
 * What the sessions of a server share: methods, executor, limits. Thread-safe.
 */
final class ServerCalls {

	private static final Logger logger = LoggerFactory.getLogger(ServerCalls.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private final RateLimitedLogger denials = new RateLimitedLogger(logger);

	private final RateLimitedLogger limits = new RateLimitedLogger(logger);

	private final MethodTable methods;

	private final String codec;

	private final CallQueue queue;

	private final List<CallObserver> observers;

	private final CallShares shares;

	private final LongAdder denied = new LongAdder();

	private final Map<PeerShare.Limit, LongAdder> limited = Arrays.stream(PeerShare.Limit.values())
		.collect(Collectors.toUnmodifiableMap((limit) -> limit, (limit) -> new LongAdder()));

	private final Map<ChannelLoop, LoopCalls> loops = new ConcurrentHashMap<>();

	/** Of loops that have been closed. */
	private final LongAdder begunBefore = new LongAdder();

	ServerCalls(MethodTable methods, String codec, Executor executor, List<CallObserver> observers,
			int maxConcurrentCalls) {
		this.methods = methods;
		this.codec = codec;
		this.queue = new CallQueue(executor);
		this.observers = observers;
		this.shares = new CallShares(maxConcurrentCalls);
	}

	/** How often methods have moved. */
	long moves(ToIntFunction<HandlerPace> count) {
		return this.methods.all()
			.stream()
			.map(ExportedMethod::pace)
			.filter(Objects::nonNull)
			.mapToLong(count::applyAsInt)
			.sum();
	}

	/** The name of the codec of all methods. */
	String codec() {
		return this.codec;
	}

	@Nullable ExportedMethod find(long methodId) {
		return this.methods.find(methodId);
	}

	CallQueue queue() {
		return this.queue;
	}

	/** What sessions on one loop share. */
	LoopCalls on(ChannelLoop loop) {
		LoopCalls known = this.loops.get(loop);
		if (known != null) {
			return known;
		}
		// a rail that comes back has new loops
		this.loops.forEach((other, calls) -> {
			if (other.isClosed() && this.loops.remove(other, calls)) {
				this.begunBefore.add(calls.begun());
			}
		});
		return this.loops.computeIfAbsent(loop, (key) -> new LoopCalls());
	}

	/** Calls whose handler ran on the thread of a loop. */
	long begunOnLoops() {
		return this.begunBefore.sum() + this.loops.values().stream().mapToLong(LoopCalls::begun).sum();
	}

	/** Calls that their callers may not make. */
	long denied() {
		return this.denied.sum();
	}

	/** A caller may not make a call. */
	void denied(RpcChannel channel, ExportedMethod method, @Nullable String caller) {
		this.denied.increment();
		this.denials.log(Level.WARN, "{} at {} may not call {}",
				(caller != null) ? "'" + caller + "'" : "Somebody unknown", channel.remoteAddress(),
				method.descriptor());
	}

	/** Calls that were refused because their caller has reached a limit of its own. */
	long limited(PeerShare.Limit limit) {
		return Objects.requireNonNull(this.limited.get(limit)).sum();
	}

	/** A caller has reached a limit of its own. */
	void limited(RpcChannel channel, PeerShare.Limit limit, String why) {
		Objects.requireNonNull(this.limited.get(limit)).increment();
		this.limits.log(Level.WARN, "Refused a call from {}: {}", channel.remoteAddress(), why);
	}

	/** A stream of a caller has ended because of a limit of the caller. */
	void limitedStream(RpcChannel channel, String why) {
		Objects.requireNonNull(this.limited.get(PeerShare.Limit.REQUEST_BYTES)).increment();
		this.limits.log(Level.WARN, "Ended a stream from {}: {}", channel.remoteAddress(), why);
	}

	/**
	 * Why no call of a caller may begin: it has not taken the replies to others; counted
	 * as refused, or {@code null}.
	 */
	@Nullable String unread(RpcChannel channel) {
		PeerReplies replies = channel.replies();
		if (replies == null || !replies.isFull()) {
			return null;
		}
		String why = replies.explain();
		limited(channel, PeerShare.Limit.REPLY_BYTES, why);
		return why;
	}

	/**
	 * The failure of a call whose result is too large, for which there is no memory, or
	 * beside which there are too many that were not read.
	 */
	Throwable tooLarge(RpcChannel channel, String before, RuntimeException failure) {
		if (failure instanceof ReplyLimitException) {
			limited(channel, PeerShare.Limit.REPLY_BYTES, String.valueOf(failure.getMessage()));
		}
		return HandlerFailures.tooLarge(before, failure);
	}

	List<CallObserver> observers() {
		return this.observers;
	}

	int active() {
		return this.shares.count();
	}

	/** Allows another number of calls from now on; those that are active continue. */
	void maxConcurrentCalls(int calls) {
		this.shares.most(calls);
	}

	/**
	 * Takes a call object, or {@code null} when as many as allowed are active, or the
	 * connection has its share of them.
	 * @param own active calls of the connection
	 * @param loop whose driver it is
	 */
	@Nullable ServerCall claim(int own, LoopCalls loop) {
		if (!this.shares.tryBegin(own)) {
			return null;
		}
		ServerCall call = loop.take();
		if (call != null) {
			return call;
		}
		try {
			return new ServerCall(this);
		}
		catch (Throwable ex) {
			this.shares.end();
			throw ex;
		}
	}

	/**
	 * A call could not begin. Its object is not used again: what it has of the request
	 * must not become another caller's.
	 */
	void notBegun(ServerCall call) {
		this.shares.end();
		call.notBegun();
	}

	/**
	 * A call has ended.
	 * @param loop whose driver it is
	 */
	void giveBack(ServerCall call, LoopCalls loop) {
		this.shares.end();
		if (call.isReusable()) {
			call.reset();
			loop.keep(call);
		}
	}

	String overloaded(int own) {
		int all = this.shares.count();
		int most = this.shares.most();
		return (all >= most) ? "the server is executing " + all + " calls already" : "the connection has " + own
				+ " of the " + most + " calls that the server executes at once, which is its share";
	}

	/**
	 * Prepares a reply to a call that failed in a way that cannot be told; does not
	 * throw.
	 * @param cause why not
	 * @return {@code null} if there was no memory
	 */
	@Nullable OutgoingMessage prepareUntold(RpcChannel channel, int requestId, Throwable cause, MessageSegments segments) {
		if (cause instanceof MemoryExhaustedException || cause instanceof OutOfMemoryError) {
			return null;
		}
		failures.log(Level.WARN, "{} cannot be told why a call failed", channel, cause);
		return prepareFailure(channel, requestId, RpcStatus.UNKNOWN, "the handler failed, which cannot be told",
				RequestTemplate.NO_METADATA, segments);
	}

	/**
	 * Prepares a reply that says why a call failed; does not throw.
	 * @return {@code null} if it cannot be made, in which case the caller can only be
	 * told by closing the channel
	 */
	@Nullable OutgoingMessage prepareFailure(RpcChannel channel, int requestId, RpcStatus status, String detail, byte[] metadata,
			MessageSegments segments) {
		try {
			try {
				segments.maxBytes(Integer.MAX_VALUE);
				Replies.encodeDetail(detail, segments);
				return channel.prepareReply(requestId, status.code(), metadata, segments);
			}
			finally {
				segments.clear();
			}
		}
		catch (Throwable ex) {
			failures.log(Level.WARN, "{} cannot be told that a call failed", channel, ex);
			return null;
		}
	}

}
