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

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * What the frames of an open channel mean: delivers complete messages, puts others
 * together, and treats everything the peer says as hostile until checked.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class FrameReceiver implements InboundTransfers.Receiver, InboundBudget.Holder {

	/** As many messages that share a frame take as long as a frame of a call. */
	private static final int PACKED_PER_FRAME = 7;

	private final RpcChannel channel;

	private final ChannelLoop loop;

	private final ChannelHandler handler;

	private final boolean initiator;

	private final int maxMessageBytes;

	private final int maxMetadataBytes;

	private final long patienceNanos;

	private final ChannelCalls calls;

	private final StreamFrames streams;

	private final MessageAssembler assembler;

	private final InboundTransfers transfers;

	private long cancels;

	FrameReceiver(RpcChannel channel, ChannelHandler handler, ChannelOptions options, boolean initiator,
			ChannelCalls calls) {
		this.channel = channel;
		this.loop = channel.loop();
		this.handler = handler;
		this.initiator = initiator;
		this.maxMessageBytes = options.maxMessageBytes();
		this.maxMetadataBytes = options.maxMetadataBytes();
		this.patienceNanos = options.deadPeerNanos();
		this.calls = calls;
		this.streams = new StreamFrames(initiator ? calls : new ServedEnds(), initiator, this.maxMetadataBytes);
		// replies to calls given up go on arriving, so there can be more than calls
		int maxMessages = initiator ? ChannelOptions.MAX_CALLS : options.maxCalls();
		this.assembler = new MessageAssembler(this::claim, maxMessages, options.maxUnfinishedBytes(),
				options.frameBytes() - FrameFlyweight.HEADER_LENGTH);
		this.transfers = new InboundTransfers(this, this.loop.resources(), this.loop.metrics(), options, maxMessages);
	}

	/** Whether the channel was connected from this side. */
	boolean isInitiator() {
		return this.initiator;
	}

	InboundTransfers transfers() {
		return this.transfers;
	}

	/** Claims memory for a message that is arriving. */
	@Override
	public @Nullable RegisteredBuffer claim(int bytes) {
		return this.loop.inbound().claim(this, bytes);
	}

	@Override
	public void onShortOfMemory() {
		this.loop.tickSoon();
	}

	@Override
	public long heldBytes() {
		return this.assembler.heldBytes() + this.transfers.heldBytes();
	}

	@Override
	public long droppableBytes() {
		return this.assembler.heldBytes();
	}

	@Override
	public long stalledBytes(long sinceNanos) {
		return (this.channel.state() != ChannelState.CLOSED) ? this.transfers.stalledBytes(sinceNanos) : 0;
	}

	@Override
	public int unfinished() {
		return this.assembler.count() + this.transfers.all().size();
	}

	/**
	 * The ids of requests of which something has arrived, or is to be read, but not all.
	 */
	Set<Integer> arrivingRequests() {
		Set<Integer> ids = new HashSet<>();
		this.assembler.forEachRequest(ids::add);
		for (InboundTransfer transfer : this.transfers.all()) {
			if (transfer.isRequest() && !transfer.isCancelled()) {
				ids.add(transfer.requestId());
			}
		}
		return ids;
	}

	@Override
	public boolean shed(long bytes) {
		return this.assembler.shed(bytes);
	}

	@Override
	public void giveUp(String reason) {
		if (this.channel.state() != ChannelState.CLOSED) {
			this.channel.giveUp(reason);
		}
		else {
			close(Integer.MAX_VALUE);
		}
	}

	/**
	 * A frame has arrived.
	 * @param buffer borrowed
	 * @return whether the buffer was taken over
	 */
	boolean onFrame(RegisteredBuffer buffer, ByteBuffer frame, int length, int type) {
		switch (type) {
			case FrameType.REQUEST, FrameType.REPLY, FrameType.MESSAGE -> {
				if (BundleFlyweight.isFollowed(frame, 0)) {
					onBundle(buffer, frame, length, type);
					return false;
				}
				return onMessageFrame(buffer, frame, length, type);
			}
			case FrameType.CONTINUATION -> onContinuation(frame, length);
			case FrameType.CANCEL -> onCancel(FrameFlyweight.requestId(frame));
			case FrameType.DEMAND -> check(this.streams.demand(frame));
			case FrameType.END -> check(this.streams.end(FrameFlyweight.requestId(frame)));
			case FrameType.METADATA -> check(this.streams.metadata(frame, length));
			case FrameType.CREDIT, FrameType.RETURN -> {
				// credits and the sign of life are in every frame and have been dealt
				// with
			}
			case FrameType.PING -> this.channel.sender().pong(FrameFlyweight.requestId(frame));
			case FrameType.PONG -> this.channel.sender().answered(FrameFlyweight.requestId(frame));
			case FrameType.GOODBYE -> this.channel.onGoodbye();
			case FrameType.READ_DONE ->
				this.channel.sender().exposures().done(FrameFlyweight.requestId(frame), this.loop.nowNanos());
			case FrameType.READ_PROGRESS -> this.channel.sender()
				.exposures()
				.progress(FrameFlyweight.requestId(frame), FrameFlyweight.offsetBytes(frame), this.loop.nowNanos());
			default -> this.channel.violation(FrameType.name(type));
		}
		return false;
	}

	/** A problem with a stream ends the connection. */
	private boolean check(@Nullable String problem) {
		if (problem != null) {
			this.channel.violation(problem);
		}
		return problem == null;
	}

	/** How many calls, or streams, the peer has given up; any thread may ask. */
	long cancels() {
		return this.cancels;
	}

	private void onCancel(int requestId) {
		this.cancels++;
		if (this.initiator) {
			this.streams.stop(requestId);
			return;
		}
		this.assembler.cancel(requestId);
		this.channel.sender().exposures().withdraw(requestId, this.loop.nowNanos());
		this.transfers.cancel(requestId);
		this.handler.onCancel(this.channel, requestId);
	}

	/** Several messages have arrived in one Send. */
	private void onBundle(RegisteredBuffer buffer, ByteBuffer frames, int length, int type) {
		if (type != (this.initiator ? FrameType.REPLY : FrameType.REQUEST)) {
			this.channel.violation(FrameType.name(type) + " with others in one Send");
			return;
		}
		int at = 0;
		boolean more = true;
		for (int count = 1; more && this.channel.state().isConnected(); count++) {
			String problem = (count > BundleFlyweight.MOST_FRAMES)
					? "more than " + BundleFlyweight.MOST_FRAMES + " frames in one Send"
					: BundleFlyweight.problem(frames, at, length, type);
			if (problem != null) {
				this.channel.violation(problem);
				return;
			}
			more = BundleFlyweight.isFollowed(frames, at);
			int next = BundleFlyweight.next(frames, at);
			onBundled(buffer, frames, at, type == FrameType.REQUEST);
			at = next;
			if (more) {
				this.loop.countMore(1);
				this.loop.metrics().anotherReceived();
				this.channel.credits().anotherFrame();
			}
		}
		this.loop.metrics().copied(length);
	}

	/** One of them, whole; it gets memory of its own, so that each can be kept alone. */
	private void onBundled(RegisteredBuffer buffer, ByteBuffer frames, int at, boolean request) {
		IncomingMessage message = this.loop.incoming();
		message.wrap(buffer, frames, at);
		if (!accept(message, request)) {
			return;
		}
		if (!isBeginning(message, frames, at)) {
			this.channel.violation("part of a message in one Send with others");
			return;
		}
		this.transfers.passedBy(message.priority(), true, this.loop.nowNanos());
		int from = message.metadataOffset();
		int bytes = message.messageOffset() - from + message.messageBytes();
		RegisteredBuffer own = this.loop.receives().claimOwn(bytes);
		if (own == null) {
			onShortOfMemory();
			onDropped(message, request);
			return;
		}
		boolean taken = false;
		try {
			own.buffer().put(0, frames, from, bytes);
			message.relocate(own, 0);
			deliver(message, request);
			taken = message.release();
		}
		finally {
			if (!taken) {
				own.release();
			}
		}
	}

	private boolean onMessageFrame(RegisteredBuffer buffer, ByteBuffer frame, int length, int type) {
		boolean request = type == FrameType.REQUEST;
		if ((type != FrameType.MESSAGE && request == this.initiator) || length < FrameFlyweight.headerLength(type)) {
			this.channel.violation(FrameType.name(type).toLowerCase(Locale.ROOT) + " of " + length + " bytes");
			return false;
		}
		IncomingMessage message = this.loop.incoming();
		message.wrap(buffer, frame, 0);
		if (!accept(message, request)) {
			return false;
		}
		if ((FrameFlyweight.flags(frame) & FrameFlyweight.FLAG_READ) != 0) {
			beginRead(message, frame, length, request);
			return false;
		}
		int inFrame = length - message.messageOffset();
		if (inFrame < 0 || message.messageBytes() < inFrame || !isBeginning(message, frame, 0)) {
			this.channel
				.violation("message of " + message.messageBytes() + " bytes in a frame of " + length + " bytes");
			return false;
		}
		if (message.isPart() && !check(this.streams.begin(message, inFrame == message.messageBytes()))) {
			return false;
		}
		if (message.isPack() && inFrame == message.messageBytes()) {
			this.loop.countMore(PackedMessages.count(message.message()) / PACKED_PER_FRAME);
		}
		this.transfers.passedBy(message.priority(), inFrame == message.messageBytes(), this.loop.nowNanos());
		if (inFrame < message.messageBytes()) {
			begin(message, frame, length, request);
			return false;
		}
		if (!this.loop.receives().canReplace()) {
			onDropped(message, request);
			return false;
		}
		deliver(message, request);
		return message.release();
	}

	/** Whether the metadata is not too long; finds out how urgent the message is. */
	private boolean accept(IncomingMessage message, boolean request) {
		if (message.metadataBytes() > this.maxMetadataBytes) {
			this.channel.violation(
					message.metadataBytes() + " bytes of metadata (expected: at most " + this.maxMetadataBytes + ")");
			return false;
		}
		if (!request) {
			int id = message.requestId();
			message.priority(this.initiator ? this.calls.priority(id) : this.handler.priority(id));
		}
		return true;
	}

	/** Whether the offset is none, or what it stands for with a stream. */
	private boolean isBeginning(IncomingMessage message, ByteBuffer frames, int at) {
		if ((message.streamed() || message.followed()) && (message.oneWay() || !this.channel.streams().areKnown())) {
			return false;
		}
		return message.streamed() ? message.demand() >= 0 : FrameFlyweight.offsetBytes(frames, at) == 0;
	}

	/** Whether somebody waits for a message that is no request. */
	private boolean expects(IncomingMessage message) {
		return message.isPart() ? this.streams.expects(message.requestId()) : this.calls.expects(message.requestId());
	}

	private void beginRead(IncomingMessage message, ByteBuffer frame, int length, boolean request) {
		String problem = WindowListFlyweight.problem(frame, message.messageOffset(), length, message.messageBytes());
		if (problem == null && message.isPart()) {
			problem = this.streams.begin(message, false);
		}
		if (problem != null) {
			this.channel.violation(problem);
		}
		else if ((message.streamed() || message.followed()) && !isBeginning(message, frame, 0)) {
			this.channel.violation("request of a stream with a demand of " + message.demand());
		}
		else if (message.messageBytes() > this.maxMessageBytes) {
			readDone(message.requestId());
			onDropped(message, request);
		}
		else if (!request && !expects(message)) {
			readDone(message.requestId());
		}
		else {
			message.due(dueNanos(message, request));
			if (!this.transfers.begin(message, frame, request, this.loop.nowNanos())) {
				this.channel.violation("message " + message.requestId() + " begun twice, or too many begun");
				return;
			}
			this.channel.markDirty();
		}
	}

	/** The deadline of the call that a message is of. */
	private long dueNanos(IncomingMessage message, boolean request) {
		if (request) {
			long remaining = message.remainingNanos();
			return (remaining == 0) ? DeadlineQueue.NONE : this.loop.nowNanos() + remaining;
		}
		int id = message.requestId();
		return this.initiator ? this.calls.dueNanos(id) : this.handler.deadlineNanos(id);
	}

	/** Tells the peer that a message of its is not needed any more. */
	private void readDone(int requestId) {
		if (!this.channel.sender().sendControl(FrameType.READ_DONE, requestId) && this.channel.isOpen()) {
			this.channel.shut("no registered memory to end a read");
		}
	}

	@Override
	public void onTransferBegun(InboundTransfer transfer) {
		if (!transfer.isRequest()) {
			return;
		}
		try {
			IncomingMessage head = transfer.head();
			head.arriving(this.handler.foresee(this.channel, head, transfer.arrived()));
		}
		catch (Throwable ex) {
			// decoding the message says what is wrong with it
		}
	}

	@Override
	public void onTransferred(InboundTransfer transfer) {
		try {
			readDone(transfer.requestId());
			if (this.channel.state().isConnected()) {
				deliver(transfer.complete(), transfer.isRequest());
			}
		}
		finally {
			transfer.release();
		}
	}

	@Override
	public void onTransferProgress(InboundTransfer transfer) {
		this.channel.sender().tellProgress(transfer.requestId(), transfer.readBytes());
	}

	@Override
	public void onTransferWithoutMemory(InboundTransfer transfer) {
		readDone(transfer.requestId());
		onDropped(transfer.head(), transfer.isRequest());
	}

	@Override
	public void onTransferAbandoned(InboundTransfer transfer) {
		readDone(transfer.requestId());
	}

	private void begin(IncomingMessage message, ByteBuffer frame, int length, boolean request) {
		boolean drop = message.messageBytes() > this.maxMessageBytes || (!request && !expects(message));
		if (!this.assembler.begin(message, frame, length, request, drop, this.loop.nowNanos())) {
			this.channel.violation("message " + message.requestId() + " begun twice, or too many begun");
		}
	}

	private void onContinuation(ByteBuffer frame, int length) {
		switch (this.assembler.add(frame, length, this.loop.nowNanos())) {
			case INCOMPLETE -> {
				// more to come
			}
			case VIOLATION -> this.channel.violation("continuation of " + length + " bytes at "
					+ FrameFlyweight.offsetBytes(frame) + " that does not fit its message");
			case COMPLETE -> onAssembled(this.assembler.takeCompleted(FrameFlyweight.requestId(frame)));
		}
	}

	private void onAssembled(InboundMessage message) {
		try {
			if (message.memory() == null) {
				onDropped(message.head(), message.isRequest());
			}
			else {
				this.loop.metrics().copied(message.head().messageBytes());
				deliver(message.complete(), message.isRequest());
			}
		}
		finally {
			message.release();
		}
	}

	private void onDropped(IncomingMessage head, boolean request) {
		boolean tooLarge = head.messageBytes() > this.maxMessageBytes;
		String detail = tooLarge
				? "message of " + head.messageBytes() + " bytes (expected: at most " + this.maxMessageBytes + ")"
				: "no memory for a message of " + head.messageBytes() + " bytes";
		CallFailure why = tooLarge ? CallFailure.MESSAGE_TOO_LARGE : CallFailure.RESOURCE_EXHAUSTED;
		if (request) {
			this.handler.onUnreadableRequest(this.channel, head.requestId(), detail);
		}
		else if (head.isPart()) {
			this.streams.lost(head.requestId(), why, detail);
		}
		else {
			this.calls.unreadable(head.requestId(), why, detail);
		}
	}

	/** Does not throw, so that it stays certain whether the message was taken. */
	private void deliver(IncomingMessage message, boolean request) {
		try {
			if (request) {
				this.handler.onRequest(this.channel, message);
			}
			else if (message.isPart()) {
				this.streams.deliver(message);
			}
			else {
				this.calls.reply(message);
			}
		}
		catch (Throwable ex) {
			this.loop.failed(this.channel, ex);
		}
	}

	/**
	 * Watches the time.
	 * @return why the channel should be given up, or {@code null}
	 */
	@Nullable String tick(long nowNanos) {
		if (this.assembler.anyStalled(nowNanos - this.patienceNanos)) {
			return "the peer does not go on with a message it has begun";
		}
		this.transfers.retry(nowNanos);
		return this.transfers.problem(nowNanos);
	}

	/** Nobody is interested any more in a message that may be arriving. */
	void drop(int requestId) {
		this.transfers.cancel(requestId);
		this.assembler.drop(requestId);
	}

	/**
	 * Begins no more, and gives the memory back that no Read is under way for. Thousands
	 * of messages may have some, for all of which others would have to wait.
	 * @param most how many messages give memory back at most
	 * @return how many did, less only if none is left that has some
	 */
	int close(int most) {
		int count = 0;
		try {
			count = this.transfers.close(most);
		}
		finally {
			count += this.assembler.close(most - count);
		}
		return count;
	}

	/** The ends of streams on the side that serves. */
	private final class ServedEnds implements StreamFrames.Ends {

		@Override
		public boolean isKnown(int requestId) {
			return FrameReceiver.this.handler.isServing(requestId);
		}

		@Override
		public @Nullable StreamReceiver receiver(int requestId) {
			return FrameReceiver.this.handler.streamReceiver(requestId);
		}

		@Override
		public @Nullable StreamSender sender(int requestId) {
			return FrameReceiver.this.handler.streamSender(requestId);
		}

		@Override
		public void threw(int requestId, Throwable failure) {
			FrameReceiver.this.loop.failures().report(FrameReceiver.this.channel, failure);
			lost(requestId, CallFailure.RESOURCE_EXHAUSTED,
					LoopFailures.reason("message could not be delivered: ", failure));
		}

		@Override
		public void lost(int requestId, CallFailure why, String detail) {
			StreamReceiver stream = receiver(requestId);
			if (stream != null) {
				stream.lost(why, detail);
			}
		}

	}

}
