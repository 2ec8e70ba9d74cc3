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
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * The sending end of a stream of messages: lets them go in order, as far as the peer has
 * granted messages and bytes, and says how many more are to be made.
 *
 * <p>
 * A message that takes several frames, or that the peer Reads, is the only one on its way
 * until it is gone, so that the next ones do not overtake it. Others follow each other.
 * Small ones that are ready before the frame of the one before them was posted join it in
 * that frame: nothing waits for that. Messages are asked for only while what is ready or
 * on its way takes less than the windows of both sides: the peer's bounds what waits
 * there, this side's what it holds itself if the peer grants more than it takes.
 *
 * <p>
 * What follows a request waits until that has been sent.
 *
 * <p>
 * Confined to the loop's driver, but for what prepares messages.
 */
public final class StreamSender {

	/** The most messages to be made at once at first, before their size is known. */
	private static final int FIRST_AHEAD = 64;

	/** The same later: so many make what a wish and its grant cost small for each. */
	private static final int MOST_AHEAD = 1024;

	/** What part of a frame a message has at most that shares it. */
	private static final int SMALL_PART = 4;

	/** By what part of it a large message is forgotten with each smaller one. */
	private static final int FADING = 8;

	private final Carrier carrier;

	private int requestId;

	private int priority = RequestTemplate.NORMAL_PRIORITY;

	private long dueNanos = DeadlineQueue.NONE;

	private final Listener listener;

	private final int windowBytes;

	private final int aheadBytes;

	private final OutgoingMessage.Owner owner = new Owner();

	private final GatheredMessages gathered;

	private final ArrayDeque<OutgoingMessage> waiting = new ArrayDeque<>();

	private long waitingBytes;

	private int waitingMessages;

	private long messages;

	private long freeBytes;

	private long leavingBytes;

	/** Messages that were asked for and have not come. */
	private int expected;

	/** The most of them. */
	private int mostExpected = FIRST_AHEAD;

	/** What messages cost, rather too much than too little. */
	private int usualCost = StreamReceiver.MESSAGE_OVERHEAD_BYTES;

	/** A message that must be gone before the next one is sent. */
	private @Nullable OutgoingMessage alone;

	/** The small message that was sent last, which others may join until it is posted. */
	private @Nullable OutgoingMessage open;

	/** The message that was submitted last, unless it is gone. */
	private @Nullable OutgoingMessage newest;

	private @Nullable Runnable whenDrained;

	/** Whether the peer knows the call. */
	private boolean known;

	/** Whether the end was submitted. */
	private boolean ended;

	private boolean closed;

	/**
	 * Creates the end of a stream.
	 * @param windowBytes as the peer has announced it
	 * @param aheadBytes what may be ready to be sent
	 */
	private StreamSender(Carrier carrier, int windowBytes, int aheadBytes, Listener listener) {
		this.carrier = carrier;
		this.listener = listener;
		this.windowBytes = windowBytes;
		this.aheadBytes = aheadBytes;
		this.freeBytes = this.windowBytes;
		this.gathered = new GatheredMessages(carrier, this.owner, windowBytes / 2);
	}

	/**
	 * The end of the stream that replies to a request.
	 * @param first messages that the peer has granted so far
	 */
	static StreamSender replying(Carrier carrier, int requestId, int windowBytes, int aheadBytes, int first,
			Listener listener) {
		StreamSender stream = new StreamSender(carrier, windowBytes, aheadBytes, listener);
		stream.requestId = requestId;
		stream.messages = first;
		stream.known = true;
		return stream;
	}

	/** The end of the stream that follows a request. */
	static StreamSender following(Carrier carrier, int windowBytes, int aheadBytes, Listener listener) {
		return new StreamSender(carrier, windowBytes, aheadBytes, listener);
	}

	/**
	 * Says what its messages take their places by, like the request and the reply of the
	 * call; before the first one is sent.
	 * @param code of the priority of the call
	 * @param deadlineNanos of the call, or {@link DeadlineQueue#NONE}
	 */
	public void order(int code, long deadlineNanos) {
		this.priority = code;
		this.dueNanos = deadlineNanos;
	}

	/** The call has its request id. */
	public void started(int id) {
		this.requestId = id;
	}

	/**
	 * Is told when the request has been sent.
	 * @param next is told as well
	 */
	OutgoingMessage.Owner requestOwner(OutgoingMessage.@Nullable Owner next) {
		return new RequestOwner(next);
	}

	/**
	 * Prepares a message like a reply. Any thread.
	 * @return a message owned by the caller, to be submitted or aborted
	 * @throws MemoryExhaustedException if there is no registered memory in time
	 */
	public OutgoingMessage prepare(MessageSegments message) {
		this.gathered.close();
		return this.carrier.prepare(this.owner, this.requestId, message);
	}

	/**
	 * Submits a small message together with those before and after it, which is cheaper
	 * where several follow each other. Any thread.
	 * @return {@code false} if it has to be {@linkplain #prepare prepared}
	 */
	public boolean tryGather(MessageSegments message) {
		return isSmall(message.totalBytes()) && this.gathered.tryAdd(message, this.requestId);
	}

	/**
	 * Prepares what is said before the first message, at most once; only where messages
	 * reply to a call.
	 * @param metadata at most {@link RpcChannel#maxSendMetadataBytes()}
	 * @return like {@link #prepare}
	 */
	public OutgoingMessage prepareMetadata(byte[] metadata) {
		return this.carrier.mark(this.owner, FrameType.METADATA, this.requestId, metadata);
	}

	/**
	 * Prepares the end of the messages; only where they follow a request.
	 * @return like {@link #prepare}
	 */
	public OutgoingMessage prepareEnd() {
		return this.carrier.mark(this.owner, FrameType.END, this.requestId, RequestTemplate.NO_METADATA);
	}

	/** Asks for the first messages. */
	public void begin() {
		ask();
	}

	/**
	 * The peer grants more.
	 * @return what rule that breaks, or {@code null}
	 */
	@Nullable String demand(int moreMessages, int bytes) {
		if (moreMessages < 0 || bytes < 0 || bytes > this.windowBytes - this.freeBytes) {
			return "demand for " + moreMessages + " messages and " + bytes + " bytes, with " + this.freeBytes
					+ " of the " + this.windowBytes + " bytes of the window unused";
		}
		this.messages = StreamReceiver.sum(this.messages, moreMessages);
		this.freeBytes += bytes;
		send();
		return null;
	}

	private boolean accept(OutgoingMessage message) {
		if (this.closed || this.ended) {
			return false;
		}
		OutgoingMessage before = this.newest;
		if (message.type() == FrameType.MESSAGE) {
			this.expected = Math.max(0, this.expected - message.messages());
			int cost = cost(message);
			this.usualCost = Math.max(cost / message.messages(), this.usualCost - this.usualCost / FADING);
			this.waitingBytes += cost;
			this.waitingMessages += message.messages();
			this.newest = message;
		}
		else if (message.type() == FrameType.END) {
			this.ended = true;
			if (before != null && before.isUnposted()) {
				before.markLast();
				return false;
			}
		}
		this.waiting.add(message);
		send();
		return true;
	}

	private int cost(OutgoingMessage message) {
		if (message.isPack()) {
			return message.messageBytes() + message.messages() * StreamReceiver.MESSAGE_OVERHEAD_BYTES;
		}
		return (message.type() != FrameType.MESSAGE) ? 0
				: StreamReceiver.cost(message.messageBytes(), this.windowBytes);
	}

	/** Whether it may share a frame with others, for whose costs no limit applies. */
	private boolean isSmall(OutgoingMessage message) {
		return message.type() == FrameType.MESSAGE && message.isOneFrame() && isSmall(message.messageBytes());
	}

	private boolean isSmall(int bytes) {
		return bytes <= Math.min(this.carrier.packBytes() / SMALL_PART,
				this.windowBytes / 2 - StreamReceiver.MESSAGE_OVERHEAD_BYTES);
	}

	private void gone(OutgoingMessage message) {
		if (this.closed) {
			return;
		}
		this.leavingBytes -= cost(message);
		if (this.alone == message) {
			this.alone = null;
		}
		if (this.open == message) {
			this.open = null;
		}
		if (this.newest == message) {
			this.newest = null;
		}
		if (message.type() == FrameType.MESSAGE) {
			this.listener.onSent(message.messageBytes());
		}
		send();
	}

	private void send() {
		for (OutgoingMessage next = this.waiting.peek(); next != null && mayLeave(next); next = this.waiting.peek()) {
			int cost = cost(next);
			int count = next.messages();
			boolean small = isSmall(next);
			boolean oneFrame = next.isOneFrame();
			if (small && joins(next)) {
				this.waiting.remove();
			}
			else {
				if (next.requestId() != this.requestId) {
					next.stamp(this.requestId);
				}
				next.order(this.priority, this.dueNanos);
				this.carrier.sendData(next);
				this.waiting.remove();
				this.open = small ? next : null;
			}
			this.waitingBytes -= cost;
			this.leavingBytes += cost;
			this.freeBytes -= cost;
			if (cost > 0) {
				this.waitingMessages -= count;
				this.messages -= (this.messages < StreamReceiver.UNLIMITED) ? count : 0;
			}
			this.alone = oneFrame ? null : next;
		}
		Runnable then = this.whenDrained;
		if (then != null && isDrained()) {
			this.whenDrained = null;
			then.run();
		}
		else {
			ask();
		}
	}

	/**
	 * Adds a message to the frame of the one before it if that is not on its way yet, and
	 * gives it back.
	 */
	private boolean joins(OutgoingMessage message) {
		OutgoingMessage before = this.open;
		if (before == null || !before.hasRoomFor(message.entriesBytes(), this.carrier.packBytes())) {
			return false;
		}
		RegisteredBuffer larger = before.isPack() ? null : this.carrier.tryAllocatePack();
		if (larger == null && !before.isPack()) {
			return false;
		}
		before.add(message, larger);
		if (this.newest == message) {
			this.newest = before;
		}
		message.abort();
		return true;
	}

	private boolean mayLeave(OutgoingMessage message) {
		if (this.alone != null || !this.known) {
			return false;
		}
		return message.type() != FrameType.MESSAGE
				|| (this.messages >= message.messages() && cost(message) <= this.freeBytes);
	}

	/** Asks for more messages when half of those asked for have come. */
	private void ask() {
		long room = Math.min(this.freeBytes, this.aheadBytes - this.leavingBytes) - this.waitingBytes;
		if (room <= 0 || this.closed || this.ended) {
			return;
		}
		long most = Math.min(this.messages - this.waitingMessages, this.mostExpected);
		int wanted = (int) Math.min(most, Math.max(1, room / this.usualCost));
		if (this.expected <= wanted / 2 && wanted > this.expected) {
			int more = wanted - this.expected;
			this.expected = wanted;
			this.mostExpected = Math.min(MOST_AHEAD, 2 * this.mostExpected);
			this.listener.onWanted(more);
		}
	}

	private boolean isDrained() {
		return this.closed || (this.waiting.isEmpty() && this.alone == null);
	}

	/**
	 * The producer has ended the stream.
	 * @param then is run as driver when all messages are on their way or the call has
	 * been given up, unless that is so now
	 * @return whether it is so now
	 */
	public boolean drain(Runnable then) {
		if (isDrained()) {
			this.closed = true;
			return true;
		}
		this.whenDrained = then;
		return false;
	}

	/** The call has been given up: gives back what has not been sent. */
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		this.newest = null;
		this.open = null;
		for (OutgoingMessage next = this.waiting.poll(); next != null; next = this.waiting.poll()) {
			next.recycle();
		}
		Runnable then = this.whenDrained;
		this.whenDrained = null;
		if (then != null) {
			then.run();
		}
	}

	/** The peer wants no more messages, though the call goes on. */
	void stop() {
		if (!this.closed) {
			close();
			this.listener.onStopped();
		}
	}

	/** What takes messages to the peer. */
	interface Carrier {

		/** See {@link StreamSender#prepare}. */
		OutgoingMessage prepare(OutgoingMessage.Owner owner, int requestId, MessageSegments message);

		/** A frame for messages to be gathered in, or {@code null} without memory. */
		@Nullable OutgoingMessage tryBegin(OutgoingMessage.Owner owner, int requestId, GatheredMessages by);

		/**
		 * See {@link StreamSender#prepareMetadata} and {@link StreamSender#prepareEnd}.
		 */
		OutgoingMessage mark(OutgoingMessage.Owner owner, int type, int requestId, byte[] content);

		/** Takes ownership. */
		void sendData(OutgoingMessage message);

		/**
		 * The size of a frame of several messages: no more than the peer takes, nor than
		 * this side would, since the peer may say that it takes far more.
		 */
		int packBytes();

		/**
		 * Memory for a frame of several messages, or {@code null}, also where the peer
		 * has left too much.
		 */
		@Nullable RegisteredBuffer tryAllocatePack();

	}

	/** What messages tell of themselves. */
	private final class Owner implements OutgoingMessage.Owner {

		@Override
		public boolean accept(OutgoingMessage message) {
			return StreamSender.this.accept(message);
		}

		@Override
		public void gone(OutgoingMessage message) {
			StreamSender.this.gone(message);
		}

	}

	/** What the request tells of itself. */
	private final class RequestOwner implements OutgoingMessage.Owner {

		private final OutgoingMessage.@Nullable Owner next;

		RequestOwner(OutgoingMessage.@Nullable Owner next) {
			this.next = next;
		}

		@Override
		public boolean accept(OutgoingMessage message) {
			return false;
		}

		@Override
		public void gone(OutgoingMessage message) {
			StreamSender.this.known = true;
			if (!StreamSender.this.closed) {
				send();
			}
			OutgoingMessage.Owner other = this.next;
			if (other != null) {
				other.gone(message);
			}
		}

	}

	/** The producer's side; driver. */
	public interface Listener {

		/** So many more messages are to be made. */
		void onWanted(int messages);

		/**
		 * The device is done with a message, or several together, of so many bytes; while
		 * the call goes on.
		 */
		default void onSent(int messageBytes) {
		}

		/**
		 * The peer wants no more messages, though the call goes on: the stream is closed;
		 * only where messages follow a request.
		 */
		default void onStopped() {
		}

	}

}
