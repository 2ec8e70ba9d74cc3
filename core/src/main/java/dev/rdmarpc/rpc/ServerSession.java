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
import java.security.Principal;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.rdmarpc.codec.ArrivingBytes;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.logging.FailureText;
import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.DeadlineQueue;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.PeerShare;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.StreamSender;

/**
 * The server side of one channel: dispatches its requests and knows which are active, by
 * the slot of their request id.
 *
 * <p>
 * Confined to the driver of the channel's loop.
 */
final class ServerSession implements ChannelHandler {

	private static final Logger logger = LoggerFactory.getLogger(ServerSession.class);

	private static final int INITIAL_SLOTS = 64;

	/** Until then callers have said themselves that they have given up. */
	private static final long LATE_NANOS = 100_000_000;

	private static final String NO_MEMORY = "no registered memory for a reply";

	/** Made with the class: there may be no memory for a literal when it is needed. */
	private static final String CANNOT_WAIT = "the call cannot wait for a thread".intern();

	/** The metadata of a reply to a call that no handler has begun with. */
	private static final byte[] REFUSED = refused();

	private final ServerCalls calls;

	private final int maxSlots;

	private final MessageSegments segments = new MessageSegments();

	private @Nullable ServerCall[] active = new ServerCall[INITIAL_SLOTS];

	private final CallQueue.Lane lane = new CallQueue.Lane();

	private @Nullable LoopCalls onLoop;

	/** Read and written by any thread; each writes the same. */
	private @Nullable String peer;

	/** Written before the first call begins. */
	private @Nullable Principal principal;

	/** What it uses. */
	private @Nullable PeerShare share;

	private int claimed;

	ServerSession(ServerCalls calls, int maxSlots) {
		this.calls = calls;
		this.maxSlots = maxSlots;
	}

	@Override
	public String codec() {
		return this.calls.codec();
	}

	@Override
	public boolean tellsSchemas() {
		return true;
	}

	@Override
	public void onAuthenticated(Principal who, PeerShare used) {
		this.principal = who;
		this.share = used;
	}

	/** Who the caller is, or {@code null} if nobody was asked. */
	@Nullable Principal principal() {
		return this.principal;
	}

	/** What it shares with the server's other sessions. */
	ServerCalls calls() {
		return this.calls;
	}

	/** The caller's address, as text. */
	String peer(RpcChannel channel) {
		String known = this.peer;
		if (known == null) {
			known = String.valueOf(channel.remoteAddress());
			this.peer = known;
		}
		return known;
	}

	@Override
	public void onOpen(RpcChannel channel) {
		logger.debug("Opened {}", channel);
	}

	@Override
	public void onRequest(RpcChannel channel, IncomingMessage request) {
		int requestId = request.requestId();
		int slot = requestId & 0xFFFF;
		ServerCall before = (slot < this.active.length) ? this.active[slot] : null;
		if (slot >= this.maxSlots || (before != null && before.requestId() == requestId)) {
			channel.violation("request id " + requestId + " is in use or out of range");
			return;
		}
		// the next use of a slot says that its caller has given the last one up
		if (before != null) {
			this.active[slot] = null;
			cancel(before);
		}
		ExportedMethod method = this.calls.find(request.methodId());
		if (method == null) {
			onUnknownMethod(channel, request);
			return;
		}
		RpcStatus denied = denied(method);
		if (denied != null) {
			this.calls.denied(channel, method, principalName());
			refuse(channel, requestId, denied,
					(denied == RpcStatus.UNAUTHENTICATED) ? method.descriptor() + " requires a caller that is known"
							: "access to " + method.descriptor() + " is denied");
			return;
		}
		if (method.descriptor().streaming() != request.streamed()) {
			refuse(channel, requestId, RpcStatus.UNIMPLEMENTED, request.streamed()
					? "the method returns no stream at the server" : "the method returns a stream at the server");
			return;
		}
		if (method.descriptor().consuming() != request.followed()) {
			refuse(channel, requestId, RpcStatus.UNIMPLEMENTED, request.followed()
					? "the method takes no stream at the server" : "the method takes a stream at the server");
			return;
		}
		if (request.oneWay() && !method.descriptor().oneWay()) {
			// it could be stopped neither by its deadline nor by the end of the
			// connection
			refuse(channel, requestId, RpcStatus.UNIMPLEMENTED, "the method is not one-way at the server");
			return;
		}
		ServerCall call = claim(channel, request);
		if (call == null) {
			return;
		}
		try {
			reserve(slot);
			call.priority = request.priority();
			call.begin(this, channel, method, request);
		}
		catch (Throwable ex) {
			this.calls.notBegun(call);
			uncount(request.messageBytes());
			refuse(channel, requestId, RpcStatus.RESOURCE_EXHAUSTED, "the call cannot begin: " + FailureText.of(ex));
			return;
		}
		this.claimed++;
		if (!request.oneWay()) {
			this.active[slot] = call;
		}
		ChannelLoop loop = channel.loop();
		if (method.mayRunOnLoop(loop.nowNanos())) {
			callsOn(loop).offered();
			call.serve(false);
		}
		else {
			call.serve(true);
		}
	}

	/** Takes a call object, or refuses the request because of a limit. */
	private @Nullable ServerCall claim(RpcChannel channel, IncomingMessage request) {
		String unread = this.calls.unread(channel);
		if (unread != null) {
			refuse(channel, request.requestId(), RpcStatus.RESOURCE_EXHAUSTED, unread);
			return null;
		}
		PeerShare own = this.share;
		PeerShare.Limit reached = (own != null) ? own.tryBegin(request.messageBytes()) : null;
		if (own != null && reached != null) {
			String why = own.explain(reached);
			this.calls.limited(channel, reached, why);
			refuse(channel, request.requestId(), RpcStatus.RESOURCE_EXHAUSTED, why);
			return null;
		}
		ServerCall call;
		try {
			call = this.calls.claim(this.claimed, callsOn(channel.loop()));
		}
		catch (Throwable ex) {
			uncount(request.messageBytes());
			throw ex;
		}
		if (call == null) {
			uncount(request.messageBytes());
			refuse(channel, request.requestId(), RpcStatus.RESOURCE_EXHAUSTED, this.calls.overloaded(this.claimed));
		}
		return call;
	}

	private void uncount(int requestBytes) {
		PeerShare own = this.share;
		if (own != null) {
			own.end(requestBytes);
		}
	}

	private @Nullable String principalName() {
		PeerShare own = this.share;
		return (own != null) ? own.name() : null;
	}

	/** The status of a call that its caller may not make, or {@code null} if it may. */
	private @Nullable RpcStatus denied(ExportedMethod method) {
		AllowedCallers allowed = method.allowed();
		return (allowed != null) ? allowed.refusal(principalName()) : null;
	}

	/** Answers a question about schemas at once: it takes a bounded amount of work. */
	private void onUnknownMethod(RpcChannel channel, IncomingMessage request) {
		int requestId = request.requestId();
		if (request.methodId() != SchemaQuestion.METHOD_ID || request.streamed() || request.followed()
				|| request.oneWay()) {
			refuse(channel, requestId, RpcStatus.UNIMPLEMENTED, "the server has no such service or method");
			return;
		}
		OutgoingMessage answer = null;
		String problem;
		try {
			this.segments.maxBytes(channel.maxSendBytes());
			problem = SchemaQuestion.answer(request.message(), this.calls, this.segments);
			if (problem == null) {
				answer = channel.prepareReply(requestId, RpcStatus.OK.code(), RequestTemplate.NO_METADATA,
						this.segments);
			}
		}
		catch (Throwable ex) {
			refuse(channel, requestId, RpcStatus.RESOURCE_EXHAUSTED, "no answer: " + FailureText.of(ex));
			return;
		}
		finally {
			this.segments.clear();
		}
		if (answer != null) {
			answer.submit();
		}
		else {
			refuse(channel, requestId, RpcStatus.INVALID_ARGUMENT, String.valueOf(problem));
		}
	}

	/**
	 * Not while the calls of the connection are decoded by an executor's threads, which
	 * copy at the same time.
	 */
	@Override
	public @Nullable ArrivingBytes foresee(RpcChannel channel, IncomingMessage head, ByteBuffer begun) {
		ExportedMethod method = this.calls.find(head.methodId());
		if (method == null || denied(method) != null
				|| (this.claimed > 0 && !method.mayRunOnLoop(channel.loop().nowNanos()))) {
			return null;
		}
		return method.descriptor().arguments(head.argumentCount()).foresee(begun, head.messageBytes());
	}

	private LoopCalls callsOn(ChannelLoop loop) {
		LoopCalls known = this.onLoop;
		if (known == null) {
			known = this.calls.on(loop);
			this.onLoop = known;
		}
		return known;
	}

	/**
	 * Has the executor run a call, in its turn. Not the driver: the executor may be the
	 * user's, and block.
	 */
	void enqueue(QueuedWork call) {
		try {
			if (!this.calls.queue().add(this.lane, call)) {
				call.notEnqueued();
			}
		}
		catch (Throwable ex) {
			call.reject(CANNOT_WAIT);
		}
	}

	private void reserve(int slot) {
		if (slot >= this.active.length) {
			int capacity = Math.min(this.maxSlots, Integer.highestOneBit(slot) << 1);
			this.active = Arrays.copyOf(this.active, capacity);
		}
	}

	private static byte[] refused() {
		CallMetadata metadata = new CallMetadata();
		metadata.putReserved(Replies.REFUSED_KEY, "");
		return metadata.encode();
	}

	/** Answers a request that no handler begins with. */
	private void refuse(RpcChannel channel, int requestId, RpcStatus status, String detail) {
		boolean room = channel.maxSendMetadataBytes() >= REFUSED.length;
		fail(channel, requestId, status, detail, room ? REFUSED : RequestTemplate.NO_METADATA);
	}

	private void fail(RpcChannel channel, int requestId, RpcStatus status, String detail, byte[] metadata) {
		OutgoingMessage reply = this.calls.prepareFailure(channel, requestId, status, detail, metadata, this.segments);
		if (reply != null) {
			reply.submit();
		}
		else {
			channel.close(NO_MEMORY);
		}
	}

	@Override
	public void onUnreadableRequest(RpcChannel channel, int requestId, String detail) {
		refuse(channel, requestId, RpcStatus.RESOURCE_EXHAUSTED, detail);
	}

	/**
	 * A call has ended: sends its reply unless nobody waits for it any more; driver.
	 * @param reply {@code null} if there was no memory for one
	 */
	void ended(ServerCall call, @Nullable OutgoingMessage reply) {
		int requestId = call.requestId();
		int slot = requestId & 0xFFFF;
		boolean wanted = this.active[slot] == call;
		if (wanted) {
			this.active[slot] = null;
		}
		RpcChannel channel = call.channel();
		if (reply != null) {
			reply.order(call.priority, call.deadlineNanos());
		}
		uncount(call.requestBytes());
		this.calls.giveBack(call, callsOn(channel.loop()));
		this.claimed--;
		if (reply == null) {
			if (wanted) {
				fail(channel, requestId, RpcStatus.RESOURCE_EXHAUSTED, NO_MEMORY, RequestTemplate.NO_METADATA);
			}
		}
		else if (wanted) {
			reply.submit();
		}
		else {
			reply.abort();
		}
	}

	private @Nullable ServerCall find(int requestId) {
		int slot = requestId & 0xFFFF;
		ServerCall call = (slot < this.active.length) ? this.active[slot] : null;
		return (call != null && call.requestId() == requestId) ? call : null;
	}

	@Override
	public boolean isServing(int requestId) {
		return find(requestId) != null;
	}

	@Override
	public int priority(int requestId) {
		ServerCall call = find(requestId);
		return (call != null) ? call.priority : RequestTemplate.NORMAL_PRIORITY;
	}

	@Override
	public long deadlineNanos(int requestId) {
		ServerCall call = find(requestId);
		return (call != null) ? call.deadlineNanos() : DeadlineQueue.NONE;
	}

	@Override
	public @Nullable StreamSender streamSender(int requestId) {
		ServerCall call = find(requestId);
		return (call != null) ? call.streamSender() : null;
	}

	@Override
	public @Nullable StreamReceiver streamReceiver(int requestId) {
		ServerCall call = find(requestId);
		return (call != null) ? call.streamReceiver() : null;
	}

	@Override
	public void onCancel(RpcChannel channel, int requestId) {
		ServerCall call = find(requestId);
		if (call != null) {
			this.active[requestId & 0xFFFF] = null;
			cancel(call);
		}
	}

	/**
	 * Ends the calls whose deadline has passed, though their callers have not said so: a
	 * message of theirs may be held up, or they may never send one.
	 */
	@Override
	public void onTick(RpcChannel channel, long nowNanos) {
		for (int slot = 0; this.claimed > 0 && slot < this.active.length; slot++) {
			ServerCall call = this.active[slot];
			if (call == null || call.deadlineNanos() == Long.MAX_VALUE
					|| nowNanos - call.deadlineNanos() < LATE_NANOS) {
				continue;
			}
			boolean streams = call.streamSender() != null || call.streamReceiver() != null;
			int requestId = call.requestId();
			this.active[slot] = null;
			cancel(call);
			if (!streams) {
				fail(channel, requestId, RpcStatus.DEADLINE_EXCEEDED, "the deadline passed while the handler ran",
						RequestTemplate.NO_METADATA);
			}
		}
	}

	private void cancel(ServerCall call) {
		call.cancel();
		if (this.calls.queue().withdraw(call)) {
			call.withdraw();
		}
	}

	@Override
	public void onGoodbye(RpcChannel channel) {
		// the caller closes when it has its replies
	}

	@Override
	public void onClosed(RpcChannel channel, String reason) {
		for (int slot = 0; slot < this.active.length; slot++) {
			ServerCall call = this.active[slot];
			if (call != null) {
				this.active[slot] = null;
				cancel(call);
			}
		}
		logger.debug("Closed {}: {}", channel, reason);
	}

}
