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

import java.util.ArrayDeque;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairState;

/**
 * The sending half of a channel, and its queue pair: takes submitted messages, posts them
 * as credits and queue depth allow, and keeps those open that the peer Reads.
 *
 * <p>
 * Confined to the loop's driver, unless said otherwise. What was posted belongs to the
 * device until it has completed or the queue pair is closed, so an end has two steps:
 * {@link #end()} gives back what the device has not seen, {@link #dispose()} the rest.
 */
final class FrameSender implements OutgoingMessage.Carrier, StreamReceiver.Carrier, StreamSender.Carrier {

	private final RpcChannel channel;

	private final ChannelLoop loop;

	private final Handshake handshake;

	private final ChannelCalls calls;

	private final InboundTransfers transfers;

	private final EagerLimit eagerLimit;

	private final Exposures exposures;

	private final SmallMessages small;

	private final OutboundQueue outbound;

	private final int mostPackBytes;

	/** Streams to this side that have something to grant. */
	private final ArrayDeque<StreamReceiver> granting = new ArrayDeque<>();

	private @Nullable QueuePair queuePair;

	private boolean closed;

	/** Whether small messages were sent lately while large ones were being read. */
	private boolean passing;

	private long passedNanos;

	/** Since when there are any to be read. */
	private long exposedNanos;

	private boolean latencyFavored;

	/** Whether there was no memory for an answer to the peer's last question. */
	private boolean owesAnswer;

	private boolean saidGoodbye;

	/** Whether there was no memory to say goodbye. */
	private boolean owesGoodbye;

	/** The last number that a question had; the peer ignores it if it has had it. */
	private int lastQuestion;

	private @Nullable SmallReplies replies;

	private @Nullable PeerShare peer;

	/**
	 * Creates the half of a channel.
	 * @param transfers whose Reads are posted to the same queue pair
	 * @param maxBacklog see {@link OutboundQueue}
	 */
	FrameSender(RpcChannel channel, ChannelOptions options, Handshake handshake, ChannelCalls calls,
			CreditLedger credits, InboundTransfers transfers, int maxBacklog) {
		this.channel = channel;
		this.loop = channel.loop();
		this.handshake = handshake;
		this.calls = calls;
		this.transfers = transfers;
		this.eagerLimit = new EagerLimit(options.eagerBytes());
		this.exposures = new Exposures(options.deadPeerNanos());
		this.small = this.loop.resources().small();
		this.mostPackBytes = options.frameBytes();
		this.outbound = new OutboundQueue(this.loop.resources().attachment(), this.loop.metrics(),
				this.loop.outgoingMessages(), credits, new SendWindow(this.loop.resources().scheduler(), this.small),
				maxBacklog, this::exposed, calls::waited);
	}

	/** Takes the queue pair, which it owns from now on. */
	void attach(QueuePair created) {
		this.queuePair = created;
	}

	/** Where to count what a peer that calls uses; before the channel opens. */
	void countFor(PeerShare share) {
		countReplies(share.replies());
		this.peer = share;
	}

	/** Where to count what is said to it. */
	void countReplies(PeerReplies to) {
		this.replies = new SmallReplies(to, this.eagerLimit);
	}

	@Override
	public @Nullable PeerShare peer() {
		return this.peer;
	}

	@Override
	public @Nullable SmallReplies replies() {
		return this.replies;
	}

	/** The number of the queue pair, 0 before there is one. Any thread. */
	int queuePairNumber() {
		QueuePair pair = this.queuePair;
		return (pair != null) ? pair.number() : 0;
	}

	QueuePair queuePair() {
		QueuePair pair = this.queuePair;
		if (pair == null) {
			throw new IllegalStateException("channel without a queue pair");
		}
		return pair;
	}

	@Override
	public int frameBytes() {
		return this.handshake.peerFrameBytes();
	}

	@Override
	public int packBytes() {
		return Math.min(frameBytes(), this.mostPackBytes);
	}

	@Override
	public @Nullable QueuePair readerOf(MessageSegments message, boolean part) {
		int bytes = message.totalBytes();
		if (this.eagerLimit.holds(bytes) || !this.handshake.peerReads()) {
			return null;
		}
		boolean copied = !part && Exposure.copiedBytes(message) == bytes;
		return (copied && this.eagerLimit.stretches(bytes, !this.exposures.isEmpty())) ? null : this.queuePair;
	}

	@Override
	public OutgoingMessage.@Nullable Owner oneWay() {
		return this.handshake.peerKnowsOneWay() ? this.calls : null;
	}

	@Override
	public void submit(OutgoingMessage message) {
		this.loop.submit(message);
	}

	@Override
	public void accept(OutgoingMessage message) {
		boolean queued = false;
		message.seal();
		try {
			PendingCall call = message.call();
			OutgoingMessage.Owner owner = message.owner();
			SmallReplies counting = this.replies;
			if (counting != null) {
				message.countSmall(counting, message.neededBytes());
			}
			boolean wanted = (call != null)
					? this.calls.start(message, call, this.channel.refusal(), this.handshake.peerMaxCalls())
					: this.channel.state().isConnected();
			if (wanted && call == null && owner != null) {
				queued = owner.accept(message);
			}
			else if (wanted) {
				this.outbound.addData(message);
				queued = true;
				this.channel.markDirty();
			}
		}
		catch (Throwable ex) {
			this.loop.failed(this.channel, ex);
			PendingCall untold = message.call();
			if (untold != null && !untold.isDone()) {
				this.calls.fail(untold, CallFailure.NOT_SENT, LoopFailures.INTERNAL);
			}
		}
		finally {
			if (!queued) {
				message.abort();
			}
		}
	}

	/**
	 * Sends a frame that is only a header.
	 * @return whether there was memory for it
	 */
	boolean sendControl(int type, int subject) {
		return this.channel.state().isConnected() && send(this.loop.outgoingMessages().control(type, subject, 0));
	}

	/** Tells the peer, once, that this side takes, or makes, no new calls. */
	void goodbye() {
		this.owesGoodbye = !this.saidGoodbye && this.channel.state().isConnected();
		if (this.owesGoodbye) {
			this.channel.markDirty();
			this.loop.tickSoon();
			this.saidGoodbye = sendControl(FrameType.GOODBYE, 0);
			this.owesGoodbye = !this.saidGoodbye;
		}
	}

	/** Tells the peer how much of a message of its was read, if it wants to know. */
	void tellProgress(int requestId, int readBytes) {
		if (this.handshake.peerTakesProgress() && this.channel.state().isConnected()) {
			send(this.loop.outgoingMessages().control(FrameType.READ_PROGRESS, requestId, readBytes));
		}
	}

	/**
	 * Answers the peer's questions whether this side is alive, all of them by one.
	 * @param question its number, or 0
	 */
	void pong(int question) {
		this.lastQuestion = (question != 0) ? question : this.lastQuestion;
		this.owesAnswer = !this.outbound.answersAlso(this.lastQuestion) && this.channel.state().isConnected()
				&& !sendControl(FrameType.PONG, this.lastQuestion);
		if (this.owesAnswer) {
			this.loop.tickSoon();
		}
	}

	/** The peer has answered a question, and those before it. */
	void answered(int question) {
		this.outbound.answered(question, this.loop.nowNanos());
		if (this.outbound.hasWaiting()) {
			this.channel.markDirty();
		}
	}

	/** Sends a frame without message, unless there was no memory for it. */
	boolean send(@Nullable OutgoingMessage control) {
		if (control != null) {
			this.outbound.addControl(control);
			this.channel.markDirty();
		}
		return control != null;
	}

	/**
	 * Posts what credits and queue depth allow, then rings the doorbell.
	 * @param handshaking whether only the handshake may be sent
	 */
	void post(boolean handshaking) {
		QueuePair pair = this.queuePair;
		if (pair == null) {
			return;
		}
		boolean posted = this.outbound.post(pair, handshaking, this.loop.nowNanos());
		while (!this.granting.isEmpty() && this.outbound.mayPostControl() && takeGrant()) {
			posted |= this.outbound.post(pair, handshaking, this.loop.nowNanos());
		}
		if (!this.outbound.hasWaiting()) {
			this.eagerLimit.allPosted();
		}
		boolean reads = this.transfers.post(pair);
		favorLatency(pair, this.loop.nowNanos());
		if (reads || posted) {
			pair.ringDoorbell();
		}
	}

	/**
	 * Tells the device whether large messages are under way, in either direction, and
	 * small ones beside them, on any channel of the loop, that are as urgent or more.
	 */
	private void favorLatency(QueuePair pair, long nowNanos) {
		int priority = this.outbound.takePostedWhole();
		if (priority >= 0) {
			this.small.posted(priority, nowNanos);
		}
		if (!this.exposures.isEmpty() && this.exposures.anyUpTo(this.small.mostUrgentPosted(this.exposedNanos))) {
			this.passing = true;
			this.passedNanos = nowNanos;
		}
		this.passing = this.passing && nowNanos - this.passedNanos < ReadWindow.LATELY_NANOS;
		boolean favored = this.passing || this.transfers.isSharing();
		if (favored != this.latencyFavored) {
			this.latencyFavored = favored;
			pair.favorLatency(favored);
		}
	}

	/** What the device was told last. */
	boolean favorsLatency() {
		return this.latencyFavored;
	}

	@Override
	public void grants(StreamReceiver stream) {
		this.granting.add(stream);
		this.channel.markDirty();
	}

	@Override
	public @Nullable RegisteredBuffer tryAllocate(int bytes) {
		return this.loop.resources().memory().tryAllocate(bytes);
	}

	@Override
	public @Nullable RegisteredBuffer tryAllocatePack() {
		return this.loop.outgoingMessages().tryAllocatePack(this, packBytes());
	}

	@Override
	public void drops(int requestId) {
		this.channel.receiver().drop(requestId);
	}

	@Override
	public OutgoingMessage prepare(OutgoingMessage.Owner owner, int requestId, MessageSegments message) {
		return this.loop.outgoingMessages().part(this, owner, requestId, message);
	}

	@Override
	public @Nullable OutgoingMessage tryBegin(OutgoingMessage.Owner owner, int requestId, GatheredMessages by) {
		return this.loop.outgoingMessages().pack(this, owner, packBytes(), requestId, by);
	}

	@Override
	public OutgoingMessage mark(OutgoingMessage.Owner owner, int type, int requestId, byte[] content) {
		return this.loop.outgoingMessages().mark(this, owner, type, requestId, content);
	}

	@Override
	public void sendData(OutgoingMessage message) {
		this.outbound.addData(message);
		this.channel.markDirty();
	}

	/** Queues what the first stream has to tell, unless there was no memory for it. */
	private boolean takeGrant() {
		StreamReceiver first = this.granting.element();
		if (!first.isClosed()) {
			OutgoingMessagePool messages = this.loop.outgoingMessages();
			OutgoingMessage grant = first.isCancelled() ? messages.control(FrameType.CANCEL, first.requestId(), 0)
					: messages.demand(first.requestId(), first.owedMessages(), first.owedBytes());
			if (grant == null) {
				this.loop.tickSoon();
				return false;
			}
			this.outbound.addControl(grant);
			first.granted();
		}
		this.granting.remove();
		return true;
	}

	/** Whether there may be more to post now that something has completed. */
	boolean canPost() {
		return hasWaiting() || this.transfers.canPost();
	}

	/** Whether frames wait to be posted. */
	boolean hasWaiting() {
		return this.outbound.hasWaiting() || !this.granting.isEmpty() || this.owesAnswer || this.owesGoodbye;
	}

	/** What waits, and what was posted. */
	OutboundQueue outbound() {
		return this.outbound;
	}

	/** The frame that describes a message to be Read has been posted. */
	private void exposed(OutgoingMessage message) {
		if (this.exposures.isEmpty()) {
			this.exposedNanos = this.loop.nowNanos();
		}
		this.exposures.add(message, this.loop.nowNanos());
		this.loop.tickSoon();
	}

	/** The messages that the peer is reading. */
	Exposures exposures() {
		return this.exposures;
	}

	/**
	 * A request's caller is not interested any more.
	 * @return for how many nanoseconds the request has waited to be posted, if it still
	 * did
	 */
	long withdraw(int requestId) {
		long waitedNanos = this.outbound.removeUnposted(requestId);
		if (waitedNanos == OutboundQueue.NOT_WAITING && sendControl(FrameType.CANCEL, requestId)) {
			this.outbound.removeRest(requestId);
		}
		this.exposures.withdraw(requestId, this.loop.nowNanos());
		return Math.max(0, waitedNanos);
	}

	/**
	 * A call has ended before all that follows its request was sent: of a message sent in
	 * part no more will come.
	 */
	void endFollowing(int requestId) {
		if (this.outbound.removeFollowing(requestId) && sendControl(FrameType.CANCEL, requestId)) {
			this.outbound.removeRest(requestId);
		}
		this.exposures.withdraw(requestId, this.loop.nowNanos());
	}

	/**
	 * Revokes what the peer has not read in time.
	 * @return why the channel should be given up, or {@code null}
	 */
	@Nullable String tick(long nowNanos) {
		if (this.owesAnswer) {
			pong(0);
		}
		if (this.owesGoodbye) {
			goodbye();
		}
		QueuePair pair = this.queuePair;
		if (pair != null && (this.latencyFavored || !this.exposures.isEmpty())) {
			favorLatency(pair, nowNanos);
		}
		return this.exposures.expire(nowNanos) ? "the peer did not read a message in time" : null;
	}

	/** Leaves the connection and gives back what was not posted yet. */
	void end() {
		QueuePair pair = this.queuePair;
		try {
			if (pair != null) {
				pair.disconnect();
			}
		}
		finally {
			dropUnposted();
		}
	}

	private void dropUnposted() {
		this.granting.clear();
		try {
			this.outbound.dropUnposted();
		}
		finally {
			this.exposures.close();
		}
	}

	/**
	 * Whether the connection is over and the device has given all posted buffers back.
	 */
	boolean isQuiet() {
		QueuePair pair = this.queuePair;
		boolean over = pair == null || pair.state() == QueuePairState.ERROR;
		return over && this.outbound.isEmpty() && this.transfers.isQuiet();
	}

	/** Closes the queue pair and gives back whatever it still held. May be repeated. */
	void dispose() {
		QueuePair pair = this.queuePair;
		if (pair != null && !this.closed) {
			pair.close();
			this.closed = true;
		}
		dropUnposted();
		this.outbound.dropPosted();
	}

}
