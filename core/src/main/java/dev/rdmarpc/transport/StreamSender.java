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

/**
 * The sending end of a stream of messages: lets them go in order, as far as the peer has
 * granted messages and bytes, and says how many more are to be made.
 *
 * <p>
 * A message that takes several frames, or that the peer Reads, is the only one on its way
 * until it is gone, so that the next ones do not overtake it. Others follow each other.
 * Messages are asked for only while what is ready or on its way takes less than the
 * windows of both sides: the peer's bounds what waits there, this side's what it holds
 * itself if the peer grants more than it takes.
 *
 * <p>
 * Confined to the loop's driver, but for {@link #prepare}.
 */
public final class StreamSender {

	/** The most messages to be made at once. */
	private static final int MOST_AHEAD = 64;

	/** By what part of it a large message is forgotten with each smaller one. */
	private static final int FADING = 8;

	private final Carrier carrier;

	private final int requestId;

	private final Listener listener;

	private final int windowBytes;

	private final int aheadBytes;

	private final OutgoingMessage.Owner owner = new Owner();

	private final ArrayDeque<OutgoingMessage> waiting = new ArrayDeque<>();

	private long waitingBytes;

	private long messages;

	private long freeBytes;

	private long leavingBytes;

	/** Messages that were asked for and have not come. */
	private int expected;

	/** What messages cost, rather too much than too little. */
	private int usualCost = StreamReceiver.MESSAGE_OVERHEAD_BYTES;

	/** A message that must be gone before the next one is sent. */
	private @Nullable OutgoingMessage alone;

	private @Nullable Runnable whenDrained;

	private boolean closed;

	/**
	 * Creates the end of a stream.
	 * @param windowBytes as the peer has announced it
	 * @param aheadBytes what may be ready to be sent
	 * @param first messages that the peer has granted so far
	 */
	StreamSender(Carrier carrier, int requestId, int windowBytes, int aheadBytes, int first, Listener listener) {
		this.carrier = carrier;
		this.requestId = requestId;
		this.listener = listener;
		this.windowBytes = windowBytes;
		this.aheadBytes = aheadBytes;
		this.freeBytes = this.windowBytes;
		this.messages = first;
	}

	/**
	 * Prepares a message like a reply. Any thread.
	 * @return a message owned by the caller, to be submitted or aborted
	 * @throws MemoryExhaustedException if there is no registered memory in time
	 */
	public OutgoingMessage prepare(MessageSegments message) {
		return this.carrier.prepare(this.owner, this.requestId, message);
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
		if (this.closed) {
			return false;
		}
		this.waiting.add(message);
		this.expected--;
		int cost = cost(message);
		this.usualCost = Math.max(cost, this.usualCost - this.usualCost / FADING);
		this.waitingBytes += cost;
		send();
		return true;
	}

	private int cost(OutgoingMessage message) {
		return StreamReceiver.cost(message.messageBytes(), this.windowBytes);
	}

	private void gone(OutgoingMessage message) {
		if (this.closed) {
			return;
		}
		this.leavingBytes -= cost(message);
		if (this.alone == message) {
			this.alone = null;
		}
		send();
	}

	private void send() {
		for (OutgoingMessage next = this.waiting.peek(); next != null && mayLeave(next); next = this.waiting.peek()) {
			int cost = cost(next);
			this.carrier.sendData(next);
			this.waiting.remove();
			this.waitingBytes -= cost;
			this.leavingBytes += cost;
			this.freeBytes -= cost;
			this.messages -= (this.messages < StreamReceiver.UNLIMITED) ? 1 : 0;
			this.alone = next.isOneFrame() ? null : next;
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

	private boolean mayLeave(OutgoingMessage message) {
		return this.alone == null && this.messages > 0 && cost(message) <= this.freeBytes;
	}

	/** Asks for more messages when half of those asked for have come. */
	private void ask() {
		long room = Math.min(this.freeBytes, this.aheadBytes - this.leavingBytes) - this.waitingBytes;
		if (room <= 0 || this.closed) {
			return;
		}
		long most = Math.min(this.messages - this.waiting.size(), MOST_AHEAD);
		int wanted = (int) Math.min(most, Math.max(1, room / this.usualCost));
		if (this.expected <= wanted / 2 && wanted > this.expected) {
			int more = wanted - this.expected;
			this.expected = wanted;
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
		for (OutgoingMessage next = this.waiting.poll(); next != null; next = this.waiting.poll()) {
			next.recycle();
		}
		Runnable then = this.whenDrained;
		this.whenDrained = null;
		if (then != null) {
			then.run();
		}
	}

	/** What takes messages to the peer. */
	interface Carrier {

		/** See {@link StreamSender#prepare}. */
		OutgoingMessage prepare(OutgoingMessage.Owner owner, int requestId, MessageSegments message);

		/** Takes ownership. */
		void sendData(OutgoingMessage message);

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

	/** The producer's side; driver. */
	public interface Listener {

		/** So many more messages are to be made. */
		void onWanted(int messages);

	}

}
