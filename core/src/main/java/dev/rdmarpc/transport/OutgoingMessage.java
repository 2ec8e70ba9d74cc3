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
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.verbs.QueuePair;

/**
 * A message on its way out: its frames lie back to back in one registered buffer, each of
 * the peer's frame size except the last. Prepared by any thread, then owned by the
 * channel. Pooled.
 *
 * <p>
 * Ownership: {@link #submit()} hands message and buffer to the channel, which gives both
 * back when the last Send has completed or the channel has closed. {@link #abort()} gives
 * them back instead.
 */
public final class OutgoingMessage extends BufferedMessage {

	private static final byte[] PADDING = new byte[8];

	private final OutgoingMessagePool home;

	private final DeadlineQueue.Place<OutgoingMessage> place = new DeadlineQueue.Place<>(this);

	/** What the driver runs when the message was submitted. */
	private final Runnable acceptance;

	private @Nullable Carrier carrier;

	private @Nullable PendingCall call;

	private @Nullable Owner owner;

	private long deadlineNanos;

	private int totalBytes;

	private int frameBytes;

	private int postedBytes;

	private int framesInFlight;

	private int requestId;

	private int type;

	private int controlType;

	private @Nullable Exposure exposure;

	private long exposedUntilNanos;

	private int readBytes;

	private boolean withdrawn;

	private boolean perhapsPosted;

	/** Whether it is a {@link PackedMessages}. */
	private boolean pack;

	/** How many messages of a stream it is. */
	private int messages;

	/** What those of a pack have without what is between them. */
	private int packedBytes;

	/** Who adds messages to the pack, until it is sealed. */
	private @Nullable GatheredMessages gathering;

	/**
	 * Creates a message.
	 * @param home where it goes when it is given back
	 */
	OutgoingMessage(OutgoingMessagePool home) {
		this.home = home;
		this.acceptance = () -> carrier().accept(this);
	}

	/**
	 * Claims memory and lays out the frames of a request. The request id is filled in
	 * when it is sent.
	 */
	void prepareRequest(Carrier target, RegisteredBuffer claimed, PendingCall waiting, RequestTemplate template,
			long deadline, long remainingNanos, byte[] metadata, MessageSegments message, @Nullable Exposure opened) {
		this.carrier = target;
		this.deadlineNanos = deadline;
		this.requestId = 0;
		ByteBuffer frame = begin(FrameType.REQUEST, claimed, target.frameBytes());
		this.call = waiting;
		classify(template.priority(), deadline);
		StreamReceiver stream = waiting.streamReceiver();
		StreamSender following = waiting.streamSender();
		FrameFlyweight.putHeader(frame, 0, FrameType.REQUEST, 0, message.totalBytes(),
				(stream != null) ? stream.first() : 0);
		FrameFlyweight.putRequestFields(frame, 0, template.methodId(), remainingNanos, template.priority(),
				template.argumentCount(), metadata.length);
		if (stream != null) {
			this.owner = stream.owner();
			FrameFlyweight.putFlags(frame, 0, FrameFlyweight.FLAG_STREAM);
		}
		if (following != null) {
			following.order(template.priority(), deadline);
			this.owner = following.requestOwner(this.owner);
			FrameFlyweight.putFlags(frame, 0, FrameFlyweight.flags(frame) | FrameFlyweight.FLAG_FOLLOWED);
		}
		if (waiting.isOneWay()) {
			this.owner = target.oneWay();
			FrameFlyweight.putFlags(frame, 0, (this.owner != null) ? FrameFlyweight.FLAG_ONE_WAY : 0);
		}
		layOut(frame, FrameFlyweight.REQUEST_HEADER_LENGTH, metadata, message, opened);
	}

	/** Claims memory and lays out the frames of a message of a stream. */
	void preparePart(Carrier target, Owner stream, RegisteredBuffer claimed, int id, MessageSegments message,
			@Nullable Exposure opened) {
		this.carrier = target;
		this.owner = stream;
		this.requestId = id;
		ByteBuffer frame = begin(FrameType.MESSAGE, claimed, target.frameBytes());
		FrameFlyweight.putHeader(frame, 0, FrameType.MESSAGE, id, message.totalBytes(), 0);
		layOut(frame, FrameFlyweight.HEADER_LENGTH, RequestTemplate.NO_METADATA, message, opened);
	}

	/** Begins a frame to which small messages of a stream are appended. */
	void preparePack(Carrier target, Owner stream, RegisteredBuffer claimed, int id, GatheredMessages by) {
		prepareMark(target, stream, claimed, FrameType.MESSAGE, id, RequestTemplate.NO_METADATA);
		FrameFlyweight.putFlags(claimed.buffer(), 0, FrameFlyweight.FLAG_PACK);
		this.pack = true;
		this.messages = 0;
		this.packedBytes = 0;
		this.gathering = by;
	}

	/** Makes the one frame of a stream that is no message of it. */
	void prepareMark(Carrier target, Owner stream, RegisteredBuffer claimed, int frameType, int id, byte[] content) {
		this.carrier = target;
		this.owner = stream;
		this.requestId = id;
		ByteBuffer frame = begin(frameType, claimed, target.frameBytes());
		FrameFlyweight.putHeader(frame, 0, frameType, id, content.length, 0);
		frame.put(FrameFlyweight.HEADER_LENGTH, content);
		this.totalBytes = FrameFlyweight.HEADER_LENGTH + content.length;
		this.exposure = null;
	}

	/** Claims memory and lays out the frames of a reply. */
	void prepareReply(Carrier target, RegisteredBuffer claimed, int replyTo, int status, byte[] metadata,
			MessageSegments message, @Nullable Exposure opened) {
		this.carrier = target;
		this.requestId = replyTo;
		ByteBuffer frame = begin(FrameType.REPLY, claimed, target.frameBytes());
		FrameFlyweight.putHeader(frame, 0, FrameType.REPLY, replyTo, message.totalBytes(), 0);
		FrameFlyweight.putReplyFields(frame, 0, status, metadata.length);
		layOut(frame, FrameFlyweight.REPLY_HEADER_LENGTH, metadata, message, opened);
	}

	/**
	 * Makes a control frame, or with type 0 a Send of frames, which the caller fills in.
	 */
	void prepareControl(RegisteredBuffer claimed, int frameType, int subject, int offsetBytes, int lengthBytes) {
		this.requestId = subject;
		ByteBuffer frame = begin(frameType, claimed, lengthBytes);
		FrameFlyweight.putHeader(frame, 0, frameType, subject, 0, offsetBytes);
		this.totalBytes = lengthBytes;
		this.controlType = frameType;
	}

	private ByteBuffer begin(int frameType, RegisteredBuffer claimed, int peerFrameBytes) {
		this.type = frameType;
		liesIn(claimed);
		this.frameBytes = peerFrameBytes;
		this.postedBytes = 0;
		this.framesInFlight = 0;
		this.controlType = 0;
		this.withdrawn = false;
		this.perhapsPosted = false;
		this.pack = false;
		this.gathering = null;
		this.messages = 1;
		this.call = null;
		since(0);
		classify(RequestTemplate.NORMAL_PRIORITY, DeadlineQueue.NONE);
		ByteBuffer frame = claimed.buffer();
		frame.clear();
		return frame;
	}

	private void layOut(ByteBuffer frame, int headerLength, byte[] metadata, MessageSegments message,
			@Nullable Exposure opened) {
		frame.position(headerLength);
		frame.put(metadata);
		frame.put(PADDING, 0, FrameFlyweight.padded(metadata.length) - metadata.length);
		this.exposure = opened;
		if (opened != null) {
			FrameFlyweight.putFlags(frame, 0, FrameFlyweight.flags(frame) | FrameFlyweight.FLAG_READ);
			opened.describe(frame, frame.position());
			this.totalBytes = frame.position() + WindowListFlyweight.length(opened.windowCount());
			frame.clear();
			return;
		}
		this.totalBytes = FrameFlyweight.putMessage(frame, this.requestId, this.frameBytes, message);
		frame.clear();
	}

	/**
	 * Says what it takes its place by; before it is submitted.
	 * @param code of the priority of its call
	 * @param deadlineNanos of its call, or {@link DeadlineQueue#NONE}
	 */
	public void order(int code, long deadlineNanos) {
		classify(code, deadlineNanos);
	}

	/** Sends the message: takes ownership. May be called from any thread. */
	public void submit() {
		carrier().submit(this);
	}

	/** Among those that wait to be sent. */
	DeadlineQueue.Place<OutgoingMessage> place() {
		return this.place;
	}

	Runnable acceptance() {
		return this.acceptance;
	}

	/** Gives message and buffer back unsent. */
	public void abort() {
		this.owner = null;
		recycle();
	}

	/**
	 * The message of a request that was not sent, or {@code null} if it was to be Read
	 * from where it is.
	 */
	public byte @Nullable [] content() {
		return (this.exposure != null) ? null
				: FrameFlyweight.content(memory().buffer(), this.totalBytes, this.frameBytes);
	}

	/** Writes the request id into every frame. */
	void stamp(int id) {
		this.requestId = id;
		ByteBuffer frames = memory().buffer();
		for (int at = 0; at < this.totalBytes; at += this.frameBytes) {
			frames.putInt(at + FrameFlyweight.REQUEST_ID_OFFSET, id);
		}
	}

	/** Posting the next frame has failed, perhaps after it was sent. */
	void perhapsPosted() {
		this.perhapsPosted = true;
	}

	/** Says in the frames, none of which was posted, that it is the caller's last one. */
	void markLast() {
		ByteBuffer frames = memory().buffer();
		FrameFlyweight.putFlags(frames, 0, frames.get(FrameFlyweight.FLAGS_OFFSET) | FrameFlyweight.FLAG_LAST);
	}

	/**
	 * Whether the frame, of which nothing was posted, has room for other entries.
	 * @param mostBytes the size of a frame of several messages
	 */
	boolean hasRoomFor(int bytes, int mostBytes) {
		return isUnposted() && isOneFrame() && FrameFlyweight.HEADER_LENGTH + entriesBytes() + bytes <= mostBytes;
	}

	/** What its messages take in a frame that they share. */
	int entriesBytes() {
		return this.pack ? this.totalBytes - FrameFlyweight.HEADER_LENGTH : PackedMessages.entryBytes(messageBytes());
	}

	/** Whether another message can be added without more memory. */
	boolean isPack() {
		return this.pack;
	}

	/**
	 * Moves the message, which becomes one of several and counts for all their memory.
	 * @param larger has room for them all; takes ownership
	 */
	private void moveTo(RegisteredBuffer larger) {
		ByteBuffer from = memory().buffer();
		ByteBuffer frame = larger.buffer();
		frame.clear().put(0, from, 0, FrameFlyweight.HEADER_LENGTH);
		FrameFlyweight.putFlags(frame, 0, FrameFlyweight.flags(from) | FrameFlyweight.FLAG_PACK);
		this.pack = true;
		this.packedBytes = FrameFlyweight.messageBytes(from);
		this.totalBytes = PackedMessages.put(frame, FrameFlyweight.HEADER_LENGTH, from, FrameFlyweight.HEADER_LENGTH,
				this.packedBytes);
		movesTo(larger);
		recount(neededBytes());
	}

	/**
	 * Adds the message of another one to the frame, which {@linkplain #hasRoomFor has
	 * room} for it.
	 * @param larger memory for all messages if it is no {@link #isPack() pack} yet; takes
	 * ownership
	 */
	void add(OutgoingMessage other, @Nullable RegisteredBuffer larger) {
		if (larger != null) {
			moveTo(larger);
		}
		ByteBuffer frame = memory().buffer();
		ByteBuffer from = other.memory().buffer();
		int bytes = other.entriesBytes();
		if (other.pack) {
			frame.put(this.totalBytes, from, FrameFlyweight.HEADER_LENGTH, bytes);
		}
		else {
			PackedMessages.put(frame, this.totalBytes, from, FrameFlyweight.HEADER_LENGTH, other.messageBytes());
		}
		this.totalBytes += bytes;
		this.packedBytes += other.messageBytes();
		this.messages += other.messages;
		frame.putInt(FrameFlyweight.MESSAGE_LENGTH_OFFSET, this.totalBytes - FrameFlyweight.HEADER_LENGTH);
		FrameFlyweight.putFlags(frame, 0, FrameFlyweight.flags(frame) | FrameFlyweight.flags(from));
	}

	/** Adds a message, for which the pack that is not sealed has room, to its memory. */
	void append(ByteBuffer frame, MessageSegments message) {
		this.totalBytes = PackedMessages.put(frame, this.totalBytes, message);
		this.packedBytes += message.totalBytes();
		this.messages++;
	}

	/** Nobody but the driver adds anything from here on; the driver. */
	void seal() {
		GatheredMessages by = this.gathering;
		if (by != null) {
			this.gathering = null;
			by.close(this);
			memory().buffer()
				.putInt(FrameFlyweight.MESSAGE_LENGTH_OFFSET, this.totalBytes - FrameFlyweight.HEADER_LENGTH);
		}
	}

	/** Whether the device has certainly seen nothing of the message. */
	boolean isUnposted() {
		return this.postedBytes == 0 && !this.perhapsPosted;
	}

	/** Offset of the next frame to post. */
	int nextFrameOffset() {
		return this.postedBytes;
	}

	/** Length of the next frame to post. */
	int nextFrameLength() {
		return Math.min(this.frameBytes, this.totalBytes - this.postedBytes);
	}

	/** Writes the credits into the next frame, and whether messages wait for some. */
	void grant(int credits, boolean heldBack) {
		FrameFlyweight.putCredits(memory().buffer(), this.postedBytes, credits, heldBack);
	}

	/** Whether a frame is left after the next one. */
	boolean hasMoreThanOneFrame() {
		return this.totalBytes - this.postedBytes > this.frameBytes;
	}

	/** The next frame has been posted. */
	void framePosted() {
		this.postedBytes += nextFrameLength();
		this.framesInFlight++;
	}

	/** A Send of this message has completed; gives everything back after the last one. */
	void frameCompleted() {
		this.framesInFlight--;
		recycleIfDone();
	}

	/** Nothing more of this message will be posted. */
	void truncate() {
		closeExposure();
		this.withdrawn = true;
		this.totalBytes = this.postedBytes;
		recycleIfDone();
	}

	private void recycleIfDone() {
		if (this.framesInFlight == 0 && isPosted() && this.exposure == null) {
			recycle();
		}
	}

	/** Whether the peer Reads it, or may when it is told of it. */
	boolean isExposed() {
		return this.exposure != null;
	}

	/** How much the peer may read. */
	int exposedBytes() {
		Exposure opened = this.exposure;
		return (opened != null) ? opened.totalBytes() : 0;
	}

	/**
	 * The peer may read it from now on.
	 * @param untilNanos when it is revoked at the latest
	 */
	void exposed(long nowNanos, long untilNanos) {
		since(nowNanos);
		this.exposedUntilNanos = untilNanos;
		this.readBytes = 0;
	}

	/** When it is to be revoked at the latest. */
	long exposedUntil() {
		return this.exposedUntilNanos;
	}

	/** The peer has read so much of it, as it says; returns how much more that is. */
	int read(int bytes) {
		int more = Math.max(0, Math.min(bytes, exposedBytes()) - this.readBytes);
		this.readBytes += more;
		return more;
	}

	/** Nobody needs the message any more: it is revoked soon. */
	void withdrawn(long untilNanos) {
		this.withdrawn = true;
		this.exposedUntilNanos = Math.min(this.exposedUntilNanos, untilNanos);
	}

	boolean isWithdrawn() {
		return this.withdrawn;
	}

	/** Ends the peer's Reads of a message whose frame has been posted. */
	void revoke() {
		closeExposure();
		recycleIfDone();
	}

	private void closeExposure() {
		Exposure opened = this.exposure;
		if (opened != null) {
			this.exposure = null;
			opened.close();
		}
	}

	/** Whether all of it was sent, once it is {@linkplain Owner#gone gone}. */
	boolean isSent() {
		return isPosted() && !this.withdrawn;
	}

	boolean isPosted() {
		return this.postedBytes >= this.totalBytes;
	}

	boolean isRequest() {
		return this.type == FrameType.REQUEST;
	}

	/** The type of its first frame. */
	int type() {
		return this.type;
	}

	boolean isControl() {
		return this.controlType != 0;
	}

	int controlType() {
		return this.controlType;
	}

	int requestId() {
		return this.requestId;
	}

	long deadlineNanos() {
		return this.deadlineNanos;
	}

	@Nullable PendingCall call() {
		return this.call;
	}

	void clearCall() {
		this.call = null;
	}

	private Carrier carrier() {
		return Objects.requireNonNull(this.carrier, "message used after it was given back");
	}

	/** Gives the buffer back to its pool and this object to its own. */
	void recycle() {
		Owner told = this.owner;
		if (told != null) {
			this.owner = null;
			told.gone(this);
		}
		uncount();
		closeExposure();
		this.call = null;
		this.carrier = null;
		this.home.giveBack(this);
	}

	/** Whose message it is, or {@code null} if nobody is told what becomes of it. */
	@Nullable Owner owner() {
		return this.owner;
	}

	/** How many messages of a stream it is. */
	int messages() {
		return this.messages;
	}

	/** The length of the message in its frames, or to be Read, or of all messages. */
	int messageBytes() {
		return this.pack ? this.packedBytes : FrameFlyweight.messageBytes(memory().buffer());
	}

	/** How much memory it needs, whatever it has. */
	int neededBytes() {
		return this.pack ? memory().length() : this.totalBytes;
	}

	/** Whether one frame, which is not posted yet, has all of it. */
	boolean isOneFrame() {
		return this.exposure == null && this.totalBytes <= this.frameBytes;
	}

	/** Is told by the driver what becomes of a message. */
	interface Owner {

		/** A submitted message: takes ownership if it returns {@code true}. */
		boolean accept(OutgoingMessage message);

		/** The message is about to be given back, sent or not. */
		void gone(OutgoingMessage message);

	}

	/** The channel that a message is for. Any thread that has seen it open asks it. */
	interface Carrier {

		/** The size of the peer's frames. */
		int frameBytes();

		/**
		 * This side's end of the connection, perhaps closed, to a peer that Reads the
		 * message, or the part of a stream, or {@code null} where it is sent in frames.
		 */
		@Nullable QueuePair readerOf(MessageSegments message, boolean part);

		/** Where replies are counted, or {@code null} if they are not. */
		@Nullable SmallReplies replies();

		/** Is told when a request without reply is gone; none if the peer knows none. */
		@Nullable Owner oneWay();

		/** Has the driver {@link #accept} the message: takes ownership. Any thread. */
		void submit(OutgoingMessage message);

		/** A submitted message: takes ownership. Driver. */
		void accept(OutgoingMessage message);

	}

}
