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
import java.nio.ByteOrder;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.ArrivingBytes;
import dev.rdmarpc.memory.RegisteredBuffer;

/**
 * A request or reply that has arrived completely. A reusable view: valid during the
 * callback that gets it, on the calling thread. Its bytes outlive the callback when the
 * buffer is {@linkplain #take() taken}.
 */
public final class IncomingMessage {

	private @Nullable RegisteredBuffer buffer;

	private boolean taken;

	private @Nullable ArrivingBytes arriving;

	private int type;

	private int requestId;

	private boolean streamed;

	private int demand;

	private boolean followed;

	private boolean oneWay;

	private boolean last;

	private boolean pack;

	private long methodId;

	private long remainingNanos;

	private int priority;

	private long dueNanos;

	private int argumentCount;

	private int status;

	private int metadataOffset;

	private int metadataBytes;

	private int messageOffset;

	private int messageBytes;

	/**
	 * Wraps the first frame of a message; fields are read from its header.
	 * @param at where the frame begins
	 */
	void wrap(RegisteredBuffer frameBuffer, ByteBuffer frames, int at) {
		this.buffer = frameBuffer;
		this.taken = false;
		this.requestId = FrameFlyweight.requestId(frames, at);
		this.type = FrameFlyweight.type(frames, at);
		int flags = FrameFlyweight.flags(frames, at);
		if (this.type == FrameType.REQUEST) {
			this.streamed = (flags & FrameFlyweight.FLAG_STREAM) != 0;
			this.demand = this.streamed ? FrameFlyweight.offsetBytes(frames, at) : 0;
			this.followed = (flags & FrameFlyweight.FLAG_FOLLOWED) != 0;
			this.oneWay = (flags & FrameFlyweight.FLAG_ONE_WAY) != 0;
			this.last = false;
			this.pack = false;
			this.methodId = frames.getLong(at + FrameFlyweight.METHOD_ID_OFFSET);
			this.remainingNanos = FrameFlyweight.deadlineNanos(frames.getInt(at + FrameFlyweight.DEADLINE_OFFSET));
			this.priority = Classes.of(frames.get(at + FrameFlyweight.PRIORITY_OFFSET));
			this.argumentCount = frames.get(at + FrameFlyweight.ARGUMENTS_OFFSET) & 0xFF;
			this.metadataBytes = frames.getShort(at + FrameFlyweight.REQUEST_METADATA_LENGTH_OFFSET) & 0xFFFF;
			this.status = 0;
		}
		else {
			boolean reply = this.type == FrameType.REPLY;
			this.streamed = false;
			this.followed = false;
			this.oneWay = false;
			this.last = (flags & FrameFlyweight.FLAG_LAST) != 0;
			this.pack = !reply && (flags & FrameFlyweight.FLAG_PACK) != 0;
			this.status = reply ? frames.get(at + FrameFlyweight.STATUS_OFFSET) & 0xFF : 0;
			this.metadataBytes = reply ? frames.getShort(at + FrameFlyweight.REPLY_METADATA_LENGTH_OFFSET) & 0xFFFF : 0;
			this.methodId = 0;
			this.remainingNanos = 0;
		}
		this.metadataOffset = at + FrameFlyweight.headerLength(this.type);
		this.messageOffset = this.metadataOffset + FrameFlyweight.padded(this.metadataBytes);
		this.messageBytes = FrameFlyweight.messageBytes(frames, at);
		this.dueNanos = DeadlineQueue.NONE;
	}

	/** Moves the view to where the message was copied to, of several frames or of one. */
	void relocate(RegisteredBuffer assembled, int newMetadataOffset) {
		this.buffer = assembled;
		this.taken = false;
		this.metadataOffset = newMetadataOffset;
		this.messageOffset = newMetadataOffset + FrameFlyweight.padded(this.metadataBytes);
	}

	/** Copies the fields for a message whose frames are still arriving. */
	void copyFrom(IncomingMessage other) {
		this.type = other.type;
		this.requestId = other.requestId;
		this.streamed = other.streamed;
		this.demand = other.demand;
		this.followed = other.followed;
		this.oneWay = other.oneWay;
		this.last = other.last;
		this.pack = other.pack;
		this.methodId = other.methodId;
		this.remainingNanos = other.remainingNanos;
		this.priority = other.priority;
		this.dueNanos = other.dueNanos;
		this.argumentCount = other.argumentCount;
		this.status = other.status;
		this.metadataBytes = other.metadataBytes;
		this.messageBytes = other.messageBytes;
	}

	/** Forgets the buffer and tells whether it was taken. */
	boolean release() {
		this.buffer = null;
		return this.taken;
	}

	int messageOffset() {
		return this.messageOffset;
	}

	int metadataOffset() {
		return this.metadataOffset;
	}

	/** The id by which to reply. */
	public int requestId() {
		return this.requestId;
	}

	/** Whether it is a message of a stream, and neither request nor reply. */
	boolean isPart() {
		return this.type == FrameType.MESSAGE;
	}

	/** Whether it is several messages of a stream, as {@link PackedMessages} says. */
	boolean isPack() {
		return this.pack;
	}

	/** Whether it is the last message of the caller's stream. */
	boolean isLast() {
		return this.last;
	}

	/** Whether messages of the caller follow; requests only. */
	public boolean followed() {
		return this.followed;
	}

	/** Whether the caller wants a stream; requests only. */
	public boolean streamed() {
		return this.streamed;
	}

	/** Whether nobody waits for a reply; requests only. */
	public boolean oneWay() {
		return this.oneWay;
	}

	/** How many messages of the stream may be sent at first, at least 0. */
	public int demand() {
		return this.demand;
	}

	/** Which method is called; requests only. */
	public long methodId() {
		return this.methodId;
	}

	/**
	 * What remained of the deadline when it was sent, in nanoseconds; 0 is no deadline.
	 */
	public long remainingNanos() {
		return this.remainingNanos;
	}

	/** The code of the priority: of a request, or of that which it replies to. */
	public int priority() {
		return this.priority;
	}

	/** Says how urgent a message is that is no request. */
	void priority(int of) {
		this.priority = of;
	}

	/** The deadline of its call, if that was said, or {@link DeadlineQueue#NONE}. */
	long dueNanos() {
		return this.dueNanos;
	}

	/** Says what the deadline of its call is. */
	void due(long deadlineNanos) {
		this.dueNanos = deadlineNanos;
	}

	/** How many arguments the message holds; requests only. */
	public int argumentCount() {
		return this.argumentCount;
	}

	/** The status code; replies only. */
	public int status() {
		return this.status;
	}

	/** Size of the message without metadata, in bytes. */
	public int messageBytes() {
		return this.messageBytes;
	}

	/** Size of the metadata, in bytes. */
	public int metadataBytes() {
		return this.metadataBytes;
	}

	/**
	 * The message: position to limit, little-endian, in registered memory. The one view
	 * of the buffer, so {@link #metadata()} moves it.
	 */
	public ByteBuffer message() {
		return view(this.messageOffset, this.messageBytes);
	}

	/** The metadata, like {@link #message()}. */
	public ByteBuffer metadata() {
		return view(this.metadataOffset, this.metadataBytes);
	}

	/**
	 * A view of the metadata that lies before a message.
	 * @param message as {@link #message()} returned it
	 * @param metadataBytes how much there is
	 */
	public static ByteBuffer metadataBefore(ByteBuffer message, int metadataBytes) {
		int offset = message.position() - FrameFlyweight.padded(metadataBytes);
		ByteBuffer view = message.duplicate().order(ByteOrder.LITTLE_ENDIAN);
		return view.limit(offset + metadataBytes).position(offset);
	}

	private ByteBuffer view(int offset, int length) {
		ByteBuffer view = held().buffer();
		view.clear().position(offset).limit(offset + length);
		return view.order(ByteOrder.LITTLE_ENDIAN);
	}

	/** The buffer that {@link #message()} is a view of; borrowed. */
	public RegisteredBuffer memory() {
		return held();
	}

	/**
	 * Takes the buffer over: the caller owns it, may go on reading the views after the
	 * callback, and releases it.
	 */
	public RegisteredBuffer take() {
		this.taken = true;
		return held();
	}

	/** Takes ownership of an array that is filled while the message arrives. */
	void arriving(@Nullable ArrivingBytes foreseen) {
		this.arriving = foreseen;
	}

	/** The array that is filled while the message arrives; borrowed. */
	@Nullable ArrivingBytes arriving() {
		return this.arriving;
	}

	/**
	 * Takes the array over that was filled while the message arrived, if there is one.
	 */
	public @Nullable ArrivingBytes takeArriving() {
		ArrivingBytes filled = this.arriving;
		this.arriving = null;
		return filled;
	}

	private RegisteredBuffer held() {
		RegisteredBuffer current = this.buffer;
		if (current == null) {
			throw new IllegalStateException("message used after its callback");
		}
		return current;
	}

}
