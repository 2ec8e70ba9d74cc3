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

package dev.rdmarpc.transport;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairListener;

/**
 * One connection that carries calls: a queue pair with handshake, credits, outstanding
 * calls and keep-alive.
 *
 * <p>
 * Threading: messages may be prepared by any thread; everything else is confined to the
 * driver of the channel's loop unless it says otherwise.
 */
public final class RpcChannel implements QueuePairListener {

	private final ChannelLoop loop;

	private final ChannelOptions options;

	private final ChannelHandler handler;

	private final boolean initiator;

	private final ChannelCredits credits;

	private final ChannelCalls calls;

	private final Handshake handshake;

	private final FrameReceiver receiver;

	private final FrameSender sender;

	private final ChannelStreams streams;

	private final KeepAlive keepAlive;

	private final RetiredChannels.Retired retirement;

	private final BoundTask disconnection = new BoundTask(this::disconnected);

	private volatile @Nullable QueuePairFault fault;

	private volatile ChannelState state = ChannelState.CONNECTING;

	private volatile @Nullable InetSocketAddress remoteAddress;

	private volatile @Nullable InetSocketAddress localAddress;

	private volatile boolean introduced;

	private @Nullable AcceptedChannels accepted;

	private boolean dirty;

	private final Ticked ticked = new Ticked();

	private final ChannelClosing closing = new ChannelClosing(this);

	private volatile String closeReason = "";

	private CallFailure failure = CallFailure.NOT_SENT;

	RpcChannel(ChannelLoop loop, ChannelOptions options, ChannelHandler handler, boolean initiator) {
		this.loop = loop;
		this.options = options;
		this.handler = handler;
		this.initiator = initiator;
		this.introduced = initiator;
		this.credits = new ChannelCredits(this, options, initiator, System.nanoTime());
		this.calls = new ChannelCalls(this, options.maxCalls());
		this.handshake = new Handshake(this, options, initiator);
		this.receiver = new FrameReceiver(this, handler, options, initiator, this.calls);
		this.sender = new FrameSender(this, options, this.handshake, this.calls, this.credits.ledger(),
				this.receiver.transfers(), initiator ? Integer.MAX_VALUE : options.credits());
		this.streams = new ChannelStreams(this.sender, this.sender, this.handshake::peerStreamWindowBytes,
				options.streamWindowBytes());
		this.keepAlive = new KeepAlive(options, System.nanoTime());
		this.retirement = new RetiredChannels.Retired(this, this.receiver::close, this.sender::isQuiet, this::dispose);
	}

	/** The loop that drives the channel. */
	public ChannelLoop loop() {
		return this.loop;
	}

	/** Whether calls may be started. */
	public boolean isOpen() {
		return this.state == ChannelState.OPEN;
	}

	/** Where the channel is in its life. */
	public ChannelState state() {
		return this.state;
	}

	/** Calls from here that wait for a reply. Any thread. */
	public int outstandingCalls() {
		return this.calls.outstanding();
	}

	/** The peer's address, or {@code null} before the connection is established. */
	public @Nullable InetSocketAddress remoteAddress() {
		return this.remoteAddress;
	}

	/** The largest message to send: what the peer accepts, and this side's own limit. */
	public int maxSendBytes() {
		return Math.min(this.handshake.peerMaxMessageBytes(), this.options.maxMessageBytes());
	}

	/** The most calls to make at the same time: what both sides allow. */
	public int maxSendCalls() {
		return Math.min(this.handshake.peerMaxCalls(), this.options.maxCalls());
	}

	/** The most metadata to send: what both sides accept. */
	public int maxSendMetadataBytes() {
		return Math.min(this.handshake.peerMetadataBytes(), this.options.maxMetadataBytes());
	}

	/** Makes the ends of streams. */
	public ChannelStreams streams() {
		return this.streams;
	}

	/** The address on this side, or {@code null} before the connection is established. */
	public @Nullable InetSocketAddress localAddress() {
		return this.localAddress;
	}

	/** What the peer has not taken yet; {@code null} if it is not one that calls. */
	public @Nullable PeerReplies replies() {
		SmallReplies counting = this.sender.replies();
		return (counting != null) ? counting.peer() : null;
	}

	FrameSender sender() {
		return this.sender;
	}

	FrameReceiver receiver() {
		return this.receiver;
	}

	/**
	 * Prepares a request: claims memory and copies the message into it, waiting a bounded
	 * time for memory.
	 * @param call gets the reply once the message is {@linkplain OutgoingMessage#submit()
	 * submitted}
	 * @param deadlineNanos when to give up, by {@link System#nanoTime()}, or
	 * {@link Long#MAX_VALUE}
	 * @param remainingNanos what remains of the deadline, for the peer; 0 is none
	 * @param metadata at most {@link #maxSendMetadataBytes()}
	 * @return a message owned by the caller, to be submitted or aborted
	 * @throws MemoryExhaustedException if there is no registered memory in time
	 */
	public OutgoingMessage prepareRequest(PendingCall call, RequestTemplate template, long deadlineNanos,
			long remainingNanos, byte[] metadata, MessageSegments message) {
		return this.loop.outgoingMessages()
			.request(this.sender, call, template, deadlineNanos, remainingNanos, metadata, message);
	}

	/**
	 * Prepares a reply, like a request.
	 * @throws MemoryExhaustedException if there is no registered memory in time
	 */
	public OutgoingMessage prepareReply(int requestId, int status, byte[] metadata, MessageSegments message) {
		return this.loop.outgoingMessages().reply(this.sender, requestId, status, metadata, message);
	}

	/**
	 * Gives up a call: it fails unless its reply is already there, and the peer is told.
	 * Any thread; takes effect asynchronously.
	 */
	public void abandon(PendingCall call, CallFailure why, String detail) {
		this.loop.execute(() -> this.calls.abandon(call, why, detail));
	}

	/** Says goodbye: outstanding calls end, then the channel closes. Any thread. */
	public void drain() {
		this.loop.execute(this::closeOrderly);
	}

	/**
	 * Closes the channel soon, the driver at once; outstanding calls fail. Any thread;
	 * needs no memory, and does not throw.
	 */
	public void close(String reason) {
		if (!this.loop.isDriver()) {
			this.closing.ask(reason);
			return;
		}
		try {
			shut(reason);
		}
		catch (Throwable ex) {
			this.loop.failures().report(this, ex);
		}
	}

	void attach(QueuePair created) {
		this.sender.attach(created);
		created.allowReceives(this.credits.promised());
	}

	QueuePair queuePair() {
		return this.sender.queuePair();
	}

	/** Promises the peer the receives to begin with; false if there are none for it. */
	boolean lendReceives() {
		return this.credits.lend(queuePair());
	}

	/**
	 * Whether the peer has connected and then said no more than its part of the
	 * handshake: it goes first when there is no room for others. Any thread.
	 */
	boolean isNewcomer() {
		return !this.introduced && this.state != ChannelState.CLOSED;
	}

	/** Says who has accepted the connection; before it is {@link #accepting}. */
	void acceptedAmong(AcceptedChannels channels) {
		this.accepted = channels;
		this.handshake.acceptedAmong(channels);
	}

	/** The connection is about to be accepted: the peer may speak at once. */
	void accepting(InetSocketAddress remote, List<X509Certificate> certificates) {
		this.remoteAddress = remote;
		this.handshake.peerCertificates(certificates);
		this.state = ChannelState.HANDSHAKING;
	}

	/** The connection is about to be set up. */
	void connecting() {
		this.keepAlive.connecting(System.nanoTime());
	}

	/** The connection is established: the side that connected speaks first. */
	void established(InetSocketAddress local, InetSocketAddress remote) {
		this.localAddress = local;
		if (this.state == ChannelState.CONNECTING) {
			this.remoteAddress = remote;
			this.state = ChannelState.HANDSHAKING;
			this.handshake.begin();
		}
	}

	/** What the layer above does with its events. */
	public ChannelHandler handler() {
		return this.handler;
	}

	/** Whether the peer answers questions about the schemas of its methods. */
	public boolean peerTellsSchemas() {
		return this.handshake.peerTellsSchemas();
	}

	/** The handshake is done. */
	void opened() {
		if (this.state != ChannelState.HANDSHAKING) {
			return;
		}
		this.credits.open(this.handshake.peerCredits(), this.handshake.peerMostCredits());
		if (!this.initiator) {
			this.keepAlive.newcomer(this.accepted != null && this.accepted.isCrowded());
			this.loop.tickSoon();
		}
		this.state = ChannelState.OPEN;
		this.handler.onOpen(this);
	}

	void markDirty() {
		if (!this.dirty) {
			this.loop.addDirty(this);
			this.dirty = true;
		}
	}

	/** Posts what credits and queue depth allow, then rings the doorbell. */
	void flush() {
		this.dirty = false;
		if (this.state.isConnected()) {
			this.sender.post(this.state == ChannelState.HANDSHAKING);
		}
	}

	/** Whether the handshake is done and the channel not closed. */
	boolean isUp() {
		return this.state == ChannelState.OPEN || this.state == ChannelState.DRAINING;
	}

	/** A Send has completed or was flushed, and with it those before it. */
	void onSendCompleted(boolean success, long id) {
		this.sender.outbound().completed(success, id);
		if (success) {
			if (this.sender.canPost()) {
				markDirty();
			}
			closeIfDrained();
		}
	}

	/** A Read has completed or was flushed. */
	void onReadCompleted(boolean success, long bytes) {
		this.keepAlive.sign(this.loop.nowNanos());
		this.receiver.transfers().completed(success, bytes, this.loop.nowNanos());
		if (this.sender.canPost()) {
			markDirty();
		}
	}

	/**
	 * A frame has arrived.
	 * @param buffer borrowed
	 * @return whether the buffer was taken over
	 */
	boolean onFrame(RegisteredBuffer buffer, int length) {
		if (!this.state.isConnected()) {
			return false;
		}
		this.keepAlive.sign(this.loop.nowNanos());
		ByteBuffer frame = buffer.buffer();
		frame.clear();
		if (length < FrameFlyweight.HEADER_LENGTH) {
			return violation("frame of " + length + " bytes");
		}
		int type = FrameFlyweight.type(frame);
		if (this.state == ChannelState.HANDSHAKING) {
			this.handshake.onFrame(frame, length, type);
			return false;
		}
		if (!this.introduced) {
			this.introduced = true;
			this.keepAlive.introduced();
		}
		String problem = this.credits.onFrame(frame, type);
		if (problem != null) {
			return violation(problem);
		}
		if (FrameFlyweight.credits(frame) > 0) {
			this.keepAlive.granted(this.loop.nowNanos());
			if (this.sender.hasWaiting()) {
				markDirty();
			}
		}
		return this.receiver.onFrame(buffer, frame, length, type);
	}

	/** The peer has broken the protocol: ends the channel, and returns false. */
	public boolean violation(String what) {
		giveUp("protocol violation by the peer: " + what);
		return false;
	}

	/** Ends the channel because of what the peer has done, or has not done in time. */
	void giveUp(String reason) {
		AcceptedChannels among = this.accepted;
		if (among != null && this.state != ChannelState.CLOSED) {
			among.suspects().givenUp(this.remoteAddress, reason);
		}
		shut(reason);
	}

	/** As {@link FrameSender#withdraw}. */
	long withdraw(int requestId) {
		this.receiver.drop(requestId);
		return this.sender.withdraw(requestId);
	}

	/** Takes, or makes, no new calls; when the others have ended the caller closes. */
	private void closeOrderly() {
		if (isUp()) {
			this.state = ChannelState.DRAINING;
			this.sender.goodbye();
			closeIfDrained();
		}
		else if (this.state != ChannelState.CLOSED) {
			shut("closed before it was open");
		}
	}

	/** The peer takes no new calls. */
	void onGoodbye() {
		if (isOpen()) {
			this.state = ChannelState.DRAINING;
			this.handler.onGoodbye(this);
		}
		closeIfDrained();
	}

	/** The side that calls closes an orderly end, once it has all its replies. */
	void closeIfDrained() {
		boolean idle = this.calls.isEmpty() && this.sender.outbound().isEmpty();
		if (this.initiator && this.state == ChannelState.DRAINING && idle) {
			shut("closed after goodbye");
		}
	}

	/** Why no call can be started, or {@code null}. Any thread. */
	public @Nullable String refusal() {
		return this.state.refusal(this.closeReason);
	}

	ChannelCredits credits() {
		return this.credits;
	}

	@Override
	public void onDisconnected(QueuePair pair, QueuePairFault fault) {
		this.fault = fault;
		this.loop.executeLaterSurely(this.disconnection);
	}

	private void disconnected() {
		this.loop.dispatchArrived();
		QueuePairFault known = this.fault;
		if (known != null && known.isByPeer()) {
			giveUp(known.detail());
		}
		shut((known != null) ? known.detail() : "the connection has ended");
	}

	/** Ends the channel: fails its calls and gives everything back. */
	void shut(String reason) {
		if (this.state == ChannelState.CLOSED) {
			return;
		}
		this.failure = isUp() ? CallFailure.CONNECTION_LOST : CallFailure.NOT_SENT;
		this.closeReason = reason;
		this.state = ChannelState.CLOSED;
		try {
			this.calls.notSent(this.sender.outbound().unpostedRequests(), reason);
		}
		finally {
			end();
		}
	}

	private void end() {
		try {
			this.sender.end();
		}
		finally {
			try {
				giveBack(false);
			}
			finally {
				retire();
			}
		}
	}

	private void retire() {
		try {
			this.loop.retire(this, this.handler, this.closeReason);
		}
		finally {
			AcceptedChannels others = this.accepted;
			if (others != null) {
				others.leave(this);
			}
		}
	}

	private void giveBack(boolean all) {
		try {
			this.receiver.close(all ? Integer.MAX_VALUE : 0);
		}
		finally {
			this.calls.failAll(this.failure, this.closeReason);
		}
	}

	RetiredChannels.Retired retirement() {
		return this.retirement;
	}

	/**
	 * Releases the queue pair and whatever it still held, and what {@link #shut} has
	 * failed to give back. May be repeated.
	 */
	void dispose() {
		this.sender.dispose();
		this.receiver.transfers().dropPosted();
		giveBack(true);
		this.loop.inbound().remove(this.receiver);
	}

	Ticks.Ticked ticked() {
		return this.ticked;
	}

	/**
	 * Called every few milliseconds: deadlines, handshake time-out, keep-alive.
	 * @param mayEnd whether it may be given up now, or only the next time
	 */
	void tick(long now, boolean mayEnd) {
		this.calls.expire(now);
		String problem = this.keepAlive.problem(this.state, this.sender.outbound().isStarved(), now);
		problem = (problem != null) ? problem : this.receiver.tick(now);
		problem = (problem != null) ? problem : this.sender.tick(now);
		if (problem != null && mayEnd) {
			giveUp(problem);
			return;
		}
		this.handler.onTick(this, now);
		if (isUp() && this.keepAlive.shouldAsk(now) && this.sender.sendControl(FrameType.PING, 0)) {
			this.keepAlive.asked(now);
		}
		if (this.state == ChannelState.OPEN && !this.sender.outbound().hasWaiting()) {
			this.credits.tick(now);
		}
		if (this.sender.canPost() || this.credits.ledger().shouldSendCredits()) {
			markDirty();
		}
	}

	ChannelOptions options() {
		return this.options;
	}

	@Override
	public String toString() {
		return (this.initiator ? "channel to " : "channel from ") + this.remoteAddress + " " + this.state;
	}

	/** The channel as ticks see it. */
	private final class Ticked extends Ticks.Ticked {

		@Override
		void tick(long nowNanos, boolean mayEnd) {
			if (!isOver()) {
				RpcChannel.this.loop.tick(RpcChannel.this, mayEnd);
			}
		}

		@Override
		boolean isOver() {
			return RpcChannel.this.state == ChannelState.CLOSED;
		}

		@Override
		boolean isAtRest() {
			return isOver() || (isUp() && RpcChannel.this.calls.outstanding() == 0
					&& RpcChannel.this.sender.exposures().isEmpty() && RpcChannel.this.receiver.transfers().isQuiet()
					&& !RpcChannel.this.receiver.transfers().isWaiting() && !RpcChannel.this.sender.hasWaiting());
		}

		@Override
		boolean needsTicks(long untilNanos) {
			return RpcChannel.this.calls.anyDeadlineBefore(untilNanos)
					|| RpcChannel.this.receiver.transfers().isWaiting()
					|| !RpcChannel.this.sender.exposures().isEmpty();
		}

		@Override
		boolean expectsBytes() {
			return !RpcChannel.this.sender.exposures().isEmpty()
					|| RpcChannel.this.receiver.transfers().isMoving(RpcChannel.this.loop.nowNanos());
		}

	}

}
