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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * The receiving end of a stream of messages: what this side has granted, what has
 * arrived, and what is to be granted.
 *
 * <p>
 * The peer may send a message while it has been granted one, and as many bytes as the
 * message counts for. Messages are granted when the consumer asks for them, bytes when it
 * has consumed some, so that small messages hold no more memory than the window. A
 * message counts for {@value #MESSAGE_OVERHEAD_BYTES} bytes more than it has, but for no
 * more than half of the window: so much is always free when the other half has not been
 * granted again yet. So two messages of any size may be there. What they hold at the side
 * that serves is counted for the peer, together with its requests, until it is
 * {@linkplain #consumed consumed}; a message that would exceed the peer's limit ends the
 * stream.
 *
 * <p>
 * Confined to the loop's driver: on the caller's side from when the request is submitted.
 *
 * <p>
 * Implementation notes. The driver counts a message before it hands it over, with the
 * length of the memory that it hands over, so that nobody can take off what is not
 * counted. From then on the memory and its count have one owner: the listener, also when
 * it throws, and whomever it hands both to. Who gives the memory back takes the count
 * off, on any thread and after the end of the stream as well, so that the end of a call
 * or of a connection needs to know of no count. The peer's share is set before the stream
 * is handed to anybody and does not change, and is thread-safe itself. Memory is given
 * back before it is taken off: what is counted may for a moment be more than what is
 * held, and is never less.
 */
public final class StreamReceiver {

	/** What a message counts for beside its bytes. */
	public static final int MESSAGE_OVERHEAD_BYTES = 64;

	/** So many messages granted are no limit any more, and do not become fewer. */
	static final long UNLIMITED = Integer.MAX_VALUE;

	private final Listener listener;

	private final OutgoingMessage.Owner owner = new Owner();

	private final int windowBytes;

	private long messages;

	private long freeBytes;

	private long owedMessages;

	private long owedBytes;

	private @Nullable Carrier carrier;

	/** Whose messages are counted; {@code null} if nobody's are. */
	private @Nullable PeerShare peer;

	private int requestId;

	private boolean arriving;

	/** Whether the peer knows the call, so that it can be granted something. */
	private boolean known;

	private boolean granting;

	/** Whether something of the stream was there already. */
	private boolean begun;

	/** Whether the peer has said that it sends no more messages. */
	private boolean ended;

	private boolean cancelled;

	private boolean closed;

	/**
	 * Creates the end of the stream that replies to a call.
	 * @param windowBytes as this side has announced it
	 */
	public StreamReceiver(int windowBytes, Listener listener) {
		this.windowBytes = windowBytes;
		this.freeBytes = windowBytes;
		this.listener = listener;
	}

	/** The end of the stream that follows a request, whose id is known. */
	static StreamReceiver following(Carrier sender, int requestId, int windowBytes, Listener listener) {
		StreamReceiver stream = new StreamReceiver(windowBytes, listener);
		stream.carrier = sender;
		stream.peer = sender.peer();
		stream.requestId = requestId;
		stream.known = true;
		return stream;
	}

	/** What a message counts for. */
	static int cost(int messageBytes, int windowBytes) {
		return (int) Math.min(windowBytes / 2, (long) messageBytes + MESSAGE_OVERHEAD_BYTES);
	}

	/** How much may be on its way and not consumed. */
	public int windowBytes() {
		return this.windowBytes;
	}

	/** What a message that has been consumed counts for. */
	public int cost(int messageBytes) {
		return cost(messageBytes, this.windowBytes);
	}

	/** A number of messages after more of them were granted. */
	static long sum(long messages, long more) {
		return (more >= UNLIMITED) ? UNLIMITED : Math.min(UNLIMITED, messages + more);
	}

	/** The messages that the request grants, from 0; before it is prepared. */
	void begin(Carrier sender, long first) {
		this.carrier = sender;
		this.messages = sum(0, first);
	}

	/** What the request says of the demand. */
	int first() {
		return (int) this.messages;
	}

	/** The call has its request id. */
	public void started(int id) {
		this.requestId = id;
	}

	/** Is told when the request has been sent. */
	OutgoingMessage.Owner owner() {
		return this.owner;
	}

	/**
	 * The consumer wants more messages, and has consumed some bytes.
	 * @param moreMessages at least 0
	 * @param bytes sum of the {@linkplain #cost costs}
	 */
	public void grant(long moreMessages, long bytes) {
		this.owedMessages = sum(this.owedMessages, moreMessages);
		this.owedBytes += bytes;
		grant();
	}

	private void grant() {
		Carrier sender = this.carrier;
		boolean any = (this.owedMessages > 0 && this.messages < UNLIMITED) || this.owedBytes > 0;
		if (sender != null && any && this.known && !this.granting && !this.closed && !this.cancelled) {
			this.granting = true;
			sender.grants(this);
		}
	}

	/**
	 * The consumer wants no more messages although the call goes on: the peer is told,
	 * and what still arrives is dropped. Only where the messages follow a request.
	 */
	public void cancel() {
		Carrier sender = this.carrier;
		if (this.closed || this.cancelled || sender == null) {
			return;
		}
		this.cancelled = true;
		if (!this.ended && !this.granting) {
			this.granting = true;
			sender.grants(this);
		}
		dropArriving(sender);
	}

	/** Whether the peer is to be told that no more messages are wanted. */
	boolean isCancelled() {
		return this.cancelled;
	}

	private void dropArriving(Carrier sender) {
		if (this.arriving) {
			this.arriving = false;
			sender.drops(this.requestId);
		}
	}

	int requestId() {
		return this.requestId;
	}

	/** Whether the call has ended. */
	boolean isClosed() {
		return this.closed;
	}

	/** The messages that are to be granted. */
	int owedMessages() {
		return (int) this.owedMessages;
	}

	/** The bytes that are to be granted. */
	int owedBytes() {
		return (int) this.owedBytes;
	}

	/** What was owed is granted. */
	void granted() {
		this.granting = false;
		this.messages = sum(this.messages, this.owedMessages);
		this.freeBytes += this.owedBytes;
		this.owedMessages = 0;
		this.owedBytes = 0;
	}

	/**
	 * The peer has begun a message.
	 * @param whole whether all of it is there
	 * @param last whether it is to be the last one
	 * @return what rule that breaks, or {@code null}
	 */
	@Nullable String begin(int messageBytes, boolean whole, boolean last) {
		int cost = cost(messageBytes);
		if (this.ended) {
			return "message of a stream after its end";
		}
		if (this.arriving) {
			return "message of a stream before the last one is complete";
		}
		if (this.messages == 0 || cost > this.freeBytes) {
			return "message of " + messageBytes + " bytes in a stream that was granted " + this.messages
					+ " messages and " + this.freeBytes + " bytes";
		}
		this.messages -= (this.messages < UNLIMITED) ? 1 : 0;
		this.freeBytes -= cost;
		this.arriving = !whole && !this.cancelled;
		this.begun = true;
		this.ended = last;
		return null;
	}

	/**
	 * The peer has sent several messages at once, see {@link PackedMessages}.
	 * @param pack position to limit
	 * @param last whether the last one of them is to be the last one
	 * @return what rule that breaks, or {@code null}
	 */
	@Nullable String begin(ByteBuffer pack, boolean last) {
		int at = pack.position();
		do {
			String problem = PackedMessages.problem(pack, at);
			if (problem == null) {
				problem = begin(PackedMessages.messageBytes(pack, at), true, false);
			}
			if (problem != null) {
				return problem;
			}
			at += PackedMessages.entryBytes(PackedMessages.messageBytes(pack, at));
		}
		while (at < pack.limit());
		this.ended = last;
		return null;
	}

	/**
	 * The peer sends no more messages.
	 * @return what rule that breaks, or {@code null}
	 */
	@Nullable String end() {
		if (this.ended || this.arriving) {
			return this.ended ? "end of a stream that has ended" : "end of a stream in the middle of a message";
		}
		this.ended = true;
		if (!isDeaf()) {
			this.listener.onEnd();
		}
		return null;
	}

	/**
	 * What the peer says before the first message.
	 * @param metadata borrowed
	 * @return what rule that breaks, or {@code null}
	 */
	@Nullable String metadata(ByteBuffer metadata) {
		if (this.begun) {
			return "metadata of a stream that has begun";
		}
		this.begun = true;
		if (!isDeaf()) {
			this.listener.onMetadata(metadata);
		}
		return null;
	}

	/** A message cannot be delivered. */
	void lost(CallFailure why, String detail) {
		this.arriving = false;
		if (!isDeaf()) {
			this.listener.onLost(why, detail);
		}
	}

	/** Whether the consumer is not told anything any more. */
	private boolean isDeaf() {
		return this.closed || this.cancelled;
	}

	/** Whether the rest of a message is still to come. */
	public boolean isArriving() {
		return this.arriving;
	}

	/**
	 * A message is complete. Where its buffer is much larger than the message, it is
	 * copied, so that what is held is what was granted.
	 */
	void deliver(IncomingMessage message) {
		this.arriving = false;
		if (isDeaf()) {
			return;
		}
		hand(message);
		if (this.ended && !isDeaf()) {
			this.listener.onEnd();
		}
	}

	private void hand(IncomingMessage message) {
		ByteBuffer view = message.message();
		RegisteredBuffer copy = tryCompact(message.memory(), view);
		PeerShare counting = this.peer;
		if (counting != null && !counting.tryHold(((copy != null) ? copy : message.memory()).length())) {
			if (copy != null) {
				copy.release();
			}
			this.listener.onLimit(counting.explainHeld());
			return;
		}
		RegisteredBuffer memory = (copy != null) ? copy : message.take();
		ByteBuffer content = (copy != null) ? copy.buffer().limit(message.messageBytes()) : view;
		if (message.isPack()) {
			this.listener.onPack(memory, content);
		}
		else {
			this.listener.onMessage(memory, content);
		}
	}

	/** Whether messages are counted until they are {@link #consumed}. */
	public boolean isCounted() {
		return this.peer != null;
	}

	/**
	 * Memory that the listener was handed has been given back, which is to be said once
	 * for each. Any thread, also when the stream has ended.
	 * @param bytes the length of the memory
	 */
	public void consumed(int bytes) {
		PeerShare counting = this.peer;
		if (counting != null) {
			counting.consumed(bytes);
		}
	}

	/**
	 * A copy of a message that lies in a much larger buffer, see {@link #tryCopy}. Any
	 * thread.
	 * @param memory where it lies; borrowed
	 * @param message position to limit
	 * @return the copy, owned by the caller, or {@code null} if the message stays where
	 * it is
	 */
	public @Nullable RegisteredBuffer tryCompact(RegisteredBuffer memory, ByteBuffer message) {
		return (memory.length() > 2 * message.remaining() + MESSAGE_OVERHEAD_BYTES) ? tryCopy(message) : null;
	}

	/**
	 * A copy of a message in memory of its own, from its beginning. Any thread.
	 * @param message position to limit
	 * @return the copy, owned by the caller, or {@code null} if there is no memory for it
	 */
	public @Nullable RegisteredBuffer tryCopy(ByteBuffer message) {
		Carrier memory = this.carrier;
		int bytes = message.remaining();
		RegisteredBuffer copy = (memory != null) ? memory.tryAllocate(Math.max(1, bytes)) : null;
		if (copy != null) {
			copy.buffer().put(0, message, message.position(), bytes);
		}
		return copy;
	}

	/**
	 * The call has ended: nothing is granted any more, and what arrives is dropped.
	 */
	public void close() {
		this.closed = true;
		Carrier sender = this.carrier;
		if (sender != null) {
			dropArriving(sender);
		}
	}

	/** What takes grants to the peer. */
	interface Carrier {

		/** A stream has something to grant, or wants no more. */
		void grants(StreamReceiver stream);

		/** Nobody needs the message any more that is arriving for a call. */
		void drops(int requestId);

		/** Memory for a copy, or {@code null}. */
		@Nullable RegisteredBuffer tryAllocate(int bytes);

		/** What the peer uses, or {@code null} if that is not counted. */
		@Nullable PeerShare peer();

	}

	/** What the request tells of itself. */
	private final class Owner implements OutgoingMessage.Owner {

		@Override
		public boolean accept(OutgoingMessage message) {
			return false;
		}

		@Override
		public void gone(OutgoingMessage message) {
			StreamReceiver.this.known = true;
			grant();
		}

	}

	/**
	 * The consumer's side; driver. Memory that it is handed is to be
	 * {@linkplain StreamReceiver#consumed consumed} when it has given it back.
	 */
	public interface Listener {

		/**
		 * A message has arrived, in order.
		 * @param memory where it lies; takes ownership
		 * @param message its bytes, position to limit, little-endian
		 */
		void onMessage(RegisteredBuffer memory, ByteBuffer message);

		/**
		 * Several messages have arrived, in order. Unless overridden, each is told by
		 * {@link #onMessage} and holds the memory of all; those behind one whose listener
		 * throws are dropped.
		 * @param memory where they lie; takes ownership
		 * @param pack as {@link PackedMessages} says, position to limit, little-endian
		 */
		default void onPack(RegisteredBuffer memory, ByteBuffer pack) {
			PackedMessages.forEach(memory, pack, this::onMessage);
		}

		/**
		 * What the peer says before the first message, at most once; only where messages
		 * reply to a call.
		 * @param metadata position to limit; borrowed
		 */
		default void onMetadata(ByteBuffer metadata) {
		}

		/** There are no more messages; only where messages follow a request. */
		default void onEnd() {
		}

		/**
		 * A message was too large, or there was no memory for it, which ends the stream;
		 * only where messages follow a request.
		 * @param detail one sentence for the caller
		 */
		default void onLost(CallFailure why, String detail) {
		}

		/**
		 * There is too much of the peer that has not been consumed for another message,
		 * which ends the stream; only where messages follow a request.
		 * @param detail one sentence for the caller
		 */
		default void onLimit(String detail) {
			onLost(CallFailure.RESOURCE_EXHAUSTED, detail);
		}

	}

}
