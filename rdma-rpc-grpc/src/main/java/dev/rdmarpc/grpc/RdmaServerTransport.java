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

package dev.rdmarpc.grpc;

import java.security.Principal;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.InternalChannelz.SocketOptions;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalLogId;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.internal.GrpcAttributes;
import io.grpc.internal.ServerTransport;
import io.grpc.internal.ServerTransportListener;
import io.grpc.internal.TransportTracer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.PeerReplies;
import dev.rdmarpc.transport.PeerShare;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.StreamSender;
import dev.rdmarpc.transport.Underway;

/**
 * The server's end of one connection: makes a call of each request, and knows which are
 * active, by the slot of their request id.
 *
 * <p>
 * Implementation notes. As a {@link ChannelHandler} it is the driver's, and so is the
 * table of calls. gRPC is told of the connection by the tasks of the connection or, if a
 * call is first, by the tasks of that: whoever is first, under the lock.
 */
final class RdmaServerTransport implements ServerTransport, ChannelHandler {

	private static final Logger logger = LoggerFactory.getLogger(RdmaServerTransport.class);

	private static final RateLimitedLogger limits = new RateLimitedLogger(logger);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	/** The transport of a call, among its attributes. */
	static final Attributes.Key<RdmaServerTransport> TRANSPORT = Attributes.Key
		.create("dev.rdmarpc.grpc.RdmaServerTransport.TRANSPORT");

	private static final int INITIAL_SLOTS = 64;

	/** More than a caller that has been held up has sent. */
	private static final int MOST_UNANSWERED = 1024;

	/** The age of connections varies so that their ends do not coincide. */
	private static final double LEAST_AGE = 0.9;

	private static final double MOST_AGE = 1.1;

	private final RdmaServer server;

	private final RdmaTransport transport;

	private final ServerSettings settings;

	private final TransportTracer tracer = GrpcProtocol.newTracer();

	private @Nullable RdmaServerCall[] active = new RdmaServerCall[INITIAL_SLOTS];

	private int activeCalls;

	/** Whether there was a call since the last tick. */
	private boolean used;

	/** When there was a call for the last time, as far as ticks tell. */
	private long usedNanos;

	/** Calls that count: those that are active, and those whose handlers still run. */
	private final AtomicInteger countedCalls = new AtomicInteger();

	private volatile @Nullable RpcChannel channel;

	private volatile @Nullable InternalLogId logId;

	private volatile @Nullable SerialTasks tasks;

	private volatile @Nullable Principal principal;

	private @Nullable PeerShare share;

	/** Calls of which gRPC's server knows, and whose handlers have not been called. */
	private final Map<Metadata, RdmaServerCall> beginning = new ConcurrentHashMap<>();

	private volatile Attributes attributes = Attributes.EMPTY;

	/** Who is to be told of the end. */
	private @Nullable ServerTransportListener introduced;

	private volatile @Nullable ServerTransportListener listener;

	private volatile @Nullable Status forced;

	private boolean told;

	private @Nullable Future<?> age;

	private final Runnable termination = this::terminated;

	private final Farewell farewell;

	/** Late calls that wait until they can be refused. */
	private final Set<Integer> unanswered = new HashSet<>();

	RdmaServerTransport(RdmaServer server, RdmaTransport transport, ServerSettings settings) {
		this.server = server;
		this.transport = transport;
		this.settings = settings;
		this.farewell = new Farewell(settings.farewellNanos(), () -> new Underway(channel()).requests(),
				() -> new Underway(channel()).isSending());
	}

	Farewell farewell() {
		return this.farewell;
	}

	RpcChannel channel() {
		RpcChannel open = this.channel;
		if (open == null) {
			throw new IllegalStateException("the connection is not open");
		}
		return open;
	}

	RdmaTransport transport() {
		return this.transport;
	}

	ServerSettings settings() {
		return this.settings;
	}

	TransportTracer tracer() {
		return this.tracer;
	}

	/** The handler of a call is about to be called with these headers. Any thread. */
	void beginning(Metadata headers, RdmaServerCall call) {
		this.beginning.put(headers, call);
	}

	/** The call with these very headers, which is forgotten. Any thread. */
	@Nullable RdmaServerCall takeBeginning(Metadata headers) {
		return this.beginning.remove(headers);
	}

	Attributes attributes() {
		return this.attributes;
	}

	@Override
	public String codec() {
		return GrpcProtocol.CODEC;
	}

	@Override
	public void onAuthenticated(Principal who, PeerShare used) {
		this.principal = who;
		this.share = used;
	}

	@Override
	public void onOpen(RpcChannel opened) {
		this.channel = opened;
		this.usedNanos = System.nanoTime();
		this.logId = InternalLogId.allocate(RdmaServerTransport.class, String.valueOf(opened.remoteAddress()));
		SerialTasks own = new SerialTasks(this.transport, opened.loop());
		this.tasks = own;
		own.executeAfterTurn(this::listener);
	}

	/** Who is told of calls, or {@code null} if the connection is about to be closed. */
	@Nullable ServerTransportListener listener() {
		ServerTransportListener known = this.listener;
		return (known != null) ? known : introduce();
	}

	private synchronized @Nullable ServerTransportListener introduce() {
		if (this.told) {
			return this.listener;
		}
		this.told = true;
		try {
			return tell(channel());
		}
		catch (Throwable ex) {
			channel().close("gRPC's server has failed to take the connection");
			throw ex;
		}
	}

	private @Nullable ServerTransportListener tell(RpcChannel open) {
		ServerTransportListener created = this.server.opened(this);
		if (created == null) {
			open.close("the server is shutting down");
			return null;
		}
		this.introduced = created;
		Attributes.Builder known = Attributes.newBuilder()
			.set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, open.remoteAddress())
			.set(Grpc.TRANSPORT_ATTR_LOCAL_ADDR,
					(open.localAddress() != null) ? open.localAddress() : this.server.getListenSocketAddress())
			.set(GrpcAttributes.ATTR_SECURITY_LEVEL, GrpcProtocol.securityLevel(this.settings.channel()));
		Principal who = this.principal;
		if (who != null) {
			known.set(RdmaServerBuilder.TRANSPORT_ATTR_PRINCIPAL, who);
		}
		this.attributes = created.transportReady(known.build()).toBuilder().set(TRANSPORT, this).build();
		watch();
		this.listener = created;
		return created;
	}

	private void watch() {
		if (this.settings.maxAgeNanos() != ServerSettings.NEVER) {
			double factor = ThreadLocalRandom.current().nextDouble(LEAST_AGE, MOST_AGE);
			this.age = this.server.timer()
				.schedule(this::onAge, (long) (factor * this.settings.maxAgeNanos()), TimeUnit.NANOSECONDS);
		}
	}

	private synchronized void onAge() {
		shutdown();
		if (this.settings.maxAgeGraceNanos() != ServerSettings.NEVER) {
			this.age = this.server.timer()
				.schedule(() -> channel().close("the connection has reached its maximum age"),
						this.settings.maxAgeGraceNanos(), TimeUnit.NANOSECONDS);
		}
	}

	@Override
	public void shutdown() {
		this.farewell.say();
		channel().drain();
	}

	@Override
	public void shutdownNow(Status reason) {
		this.forced = reason;
		channel().close(String.valueOf(reason.getDescription()));
	}

	@Override
	public ScheduledExecutorService getScheduledExecutorService() {
		return this.server.timer();
	}

	@Override
	public ListenableFuture<SocketStats> getStats() {
		RpcChannel open = channel();
		return Futures.immediateFuture(new SocketStats(this.tracer.getStats(), open.localAddress(),
				open.remoteAddress(), new SocketOptions.Builder().build(), null));
	}

	@Override
	public InternalLogId getLogId() {
		InternalLogId known = this.logId;
		if (known == null) {
			throw new IllegalStateException("the connection is not open");
		}
		return known;
	}

	@Override
	public void onRequest(RpcChannel from, IncomingMessage request) {
		int requestId = request.requestId();
		int slot = requestId & 0xFFFF;
		RdmaServerCall before = (slot < this.active.length) ? this.active[slot] : null;
		if (slot >= this.settings.channel().maxCalls() || (before != null && before.requestId() == requestId)) {
			from.violation("request id " + requestId + " is in use or out of range");
			return;
		}
		// the next use of a slot says that its caller has given the last one up
		if (before != null) {
			remove(slot);
			before.onCancel(Status.CANCELLED.withDescription("the caller has given the call up"));
		}
		if (request.methodId() == GrpcProtocol.PING.methodId()) {
			reply(requestId, Status.OK, false);
		}
		else if (request.methodId() != GrpcProtocol.CALL.methodId()) {
			reply(requestId, Status.UNIMPLEMENTED.withDescription("request that is no gRPC call"), false);
		}
		else if (!this.farewell.admits(requestId)) {
			refuse(requestId);
		}
		else {
			begin(request);
		}
	}

	/** Why a call may not begin, or {@code null} if it may: it counts then. */
	private @Nullable String refusal(@Nullable PeerShare own, int bytes) {
		PeerReplies replies = channel().replies();
		if (replies != null && replies.isFull()) {
			return replies.explain();
		}
		String why = this.server.calls().tryBegin(this.countedCalls.get());
		if (why != null) {
			return why;
		}
		PeerShare.Limit reached = (own != null) ? own.tryBegin(bytes) : null;
		if (own == null || reached == null) {
			return null;
		}
		this.server.calls().end();
		return own.explain(reached);
	}

	private void begin(IncomingMessage request) {
		int slot = request.requestId() & 0xFFFF;
		int bytes = request.messageBytes();
		PeerShare own = this.share;
		String why = refusal(own, bytes);
		if (why != null) {
			limited("Refused a call", why);
			reply(request.requestId(), Status.RESOURCE_EXHAUSTED.withDescription(why), false);
			return;
		}
		this.countedCalls.incrementAndGet();
		RdmaServerCall call;
		try {
			reserve(slot);
			call = new RdmaServerCall(this, request);
		}
		catch (Throwable ex) {
			uncount(bytes);
			throw ex;
		}
		// from here on, the call itself sees to it that it counts no more
		this.active[slot] = call;
		this.activeCalls++;
		this.used = true;
		call.onArrived();
	}

	/** Notes that a limit has been reached. Any thread. */
	void limited(String what, String why) {
		limits.log(Level.WARN, "{} from {}: {}", what, channel().remoteAddress(), why);
	}

	/** A call that counted does so no more. Any thread. */
	void uncount(int bytes) {
		this.countedCalls.decrementAndGet();
		this.server.calls().end();
		PeerShare own = this.share;
		if (own != null) {
			own.end(bytes);
		}
	}

	private void reserve(int slot) {
		if (slot >= this.active.length) {
			int capacity = Math.min(this.settings.channel().maxCalls(), Integer.highestOneBit(slot) << 1);
			this.active = Arrays.copyOf(this.active, capacity);
		}
	}

	private void remove(int slot) {
		this.active[slot] = null;
		this.activeCalls--;
	}

	/**
	 * Refuses a call that comes too late, once the last replies have been sent; driver.
	 */
	private void refuse(int requestId) {
		if (this.farewell.answers()) {
			reply(requestId, Status.UNAVAILABLE.withDescription("the connection takes no new calls"), true);
		}
		else if (this.unanswered.size() < MOST_UNANSWERED) {
			this.unanswered.add(requestId);
		}
	}

	/**
	 * Answers a request of which there is no call; driver.
	 * @param repeatable whether the caller may make the call elsewhere, whatever it is
	 */
	private void reply(int requestId, Status status, boolean repeatable) {
		if (!this.farewell.answers()) {
			return;
		}
		MessageSegments message = GrpcProtocol.segments();
		try {
			if (repeatable) {
				ReplyHead.addRefusal(message, String.valueOf(status.getDescription()));
			}
			else {
				ReplyHead.add(message, null, HeaderBlock.NONE, status.getDescription());
			}
			channel().prepareReply(requestId, status.getCode().value(), RequestTemplate.NO_METADATA, message).submit();
		}
		catch (MemoryExhaustedException ex) {
			channel().close("no registered memory for a reply");
		}
		finally {
			message.clear();
		}
	}

	/**
	 * A call has ended: sends its reply unless nobody waits for it any more; driver.
	 * @param reply takes ownership
	 * @return whether it was sent
	 */
	boolean ended(RdmaServerCall call, OutgoingMessage reply) {
		int slot = call.requestId() & 0xFFFF;
		call.onEnded();
		if (this.active[slot] == call) {
			remove(slot);
			call.answered();
			reply.submit();
			return true;
		}
		reply.abort();
		return false;
	}

	@Override
	public void onUnreadableRequest(RpcChannel from, int requestId, String detail) {
		reply(requestId, Status.RESOURCE_EXHAUSTED.withDescription(detail), false);
	}

	private @Nullable RdmaServerCall find(int requestId) {
		int slot = requestId & 0xFFFF;
		RdmaServerCall call = (slot < this.active.length) ? this.active[slot] : null;
		return (call != null && call.requestId() == requestId) ? call : null;
	}

	/** Whether a call has not ended; driver. */
	boolean isActive(RdmaServerCall call) {
		return find(call.requestId()) == call;
	}

	@Override
	public boolean isServing(int requestId) {
		return find(requestId) != null;
	}

	@Override
	public @Nullable StreamReceiver streamReceiver(int requestId) {
		RdmaServerCall call = find(requestId);
		return (call != null) ? call.receiver() : null;
	}

	@Override
	public @Nullable StreamSender streamSender(int requestId) {
		RdmaServerCall call = find(requestId);
		return (call != null) ? call.sender() : null;
	}

	@Override
	public void onCancel(RpcChannel from, int requestId) {
		RdmaServerCall call = find(requestId);
		if (call != null) {
			remove(requestId & 0xFFFF);
			call.onCancel(Status.CANCELLED.withDescription("the caller has given the call up"));
		}
	}

	@Override
	public void onTick(RpcChannel ticked, long nowNanos) {
		endIfIdle(ticked, nowNanos);
		boolean over = this.farewell.tick(nowNanos, this.activeCalls);
		if (this.farewell.answers() && !this.unanswered.isEmpty()) {
			this.unanswered.forEach(this::refuse);
			this.unanswered.clear();
		}
		if (over) {
			if (this.farewell.refused() > 0) {
				limits.log(Level.WARN, "Closed the connection from {}: {} calls came after it was told to make none",
						ticked.remoteAddress(), this.farewell.refused());
			}
			ticked.close("closed after goodbye, which the caller has not heeded");
		}
	}

	/** gRPC has a class for this, which has to be called by the thread of its timer. */
	private void endIfIdle(RpcChannel ticked, long nowNanos) {
		if (this.used || this.activeCalls > 0) {
			this.used = false;
			this.usedNanos = nowNanos;
		}
		else if (ticked.isOpen() && nowNanos - this.usedNanos >= this.settings.maxIdleNanos()) {
			shutdown();
		}
	}

	@Override
	public void onGoodbye(RpcChannel from) {
		// the caller closes when it has its replies
	}

	@Override
	public void onClosed(RpcChannel closed, String reason) {
		logger.debug("Closed {}: {}", closed, reason);
		Status known = this.forced;
		Status status = (known != null) ? known
				: Status.UNAVAILABLE.withDescription("the connection has ended: " + reason);
		try {
			for (int slot = 0; slot < this.active.length; slot++) {
				cancelSurely(slot, status);
			}
		}
		finally {
			SerialTasks own = this.tasks;
			if (own != null) {
				own.executeAfterTurn(this.termination);
			}
		}
	}

	/** Does not throw: others are to be told as well. */
	private void cancelSurely(int slot, Status reason) {
		RdmaServerCall call = this.active[slot];
		if (call == null) {
			return;
		}
		try {
			remove(slot);
			call.onCancel(reason);
		}
		catch (Throwable ex) {
			failures.log(Level.WARN, "A call of {} could not be ended", this, ex);
		}
	}

	private void terminated() {
		ServerTransportListener known;
		synchronized (this) {
			this.told = true;
			known = this.introduced;
			// requests that have not begun by now do not begin any more
			this.listener = null;
			Future<?> pending = this.age;
			if (pending != null) {
				pending.cancel(false);
			}
		}
		if (known != null) {
			try {
				known.transportTerminated();
			}
			finally {
				this.server.ended();
			}
		}
	}

	@Override
	public String toString() {
		return "transport of " + this.channel;
	}

}
