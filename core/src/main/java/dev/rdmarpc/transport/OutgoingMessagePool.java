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
import java.util.function.BooleanSupplier;
import java.util.function.ToIntFunction;

import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.HalfShare;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.Patience;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;

/**
 * Makes outgoing messages: claims memory for them and reuses their objects. Thread-safe,
 * unless said otherwise: messages are prepared by callers and handlers and given back by
 * the loop.
 */
final class OutgoingMessagePool {

	private static final int CAPACITY = 1024;

	/** The part of all memory that the messages of a loop may keep at most: 1/64. */
	private static final int KEPT_SHIFT = 6;

	/** Of how many idle messages only one goes at each tick. */
	private static final int FEW = 64;

	/** How many go of more. */
	private static final int DROPPED_PER_TICK = 16;

	private final RegisteredMemory memory;

	private final @Nullable ProtectionDomain protectionDomain;

	private final MemoryAttachment attachment;

	private final LoopMetrics metrics;

	private final BooleanSupplier isDriver;

	private final MpmcVarHandleArrayQueue<OutgoingMessage> idle = new MpmcVarHandleArrayQueue<>(CAPACITY);

	private final MemoryReserve reserve;

	private final boolean keeps;

	private volatile boolean closed;

	/** Whether there was none for a Send of several messages, until the next tick. */
	private boolean starved;

	/**
	 * Creates a pool.
	 * @param isDriver whether the current thread drives the loop
	 */
	OutgoingMessagePool(LoopResources resources, LoopMetrics metrics, BooleanSupplier isDriver) {
		this.memory = resources.memory();
		this.protectionDomain = resources.protectionDomain();
		this.attachment = resources.attachment();
		this.metrics = metrics;
		this.isDriver = isDriver;
		MemoryOptions options = this.memory.options();
		this.keeps = options.leakDetection() == LeakDetection.DISABLED
				&& options.maxBytes() >> KEPT_SHIFT >= CAPACITY * BufferedMessage.KEPT_BYTES;
		this.reserve = new MemoryReserve(this.memory);
		this.reserve.refill();
	}

	/**
	 * Fills up the reserve for what must be said, and lets go of messages that were only
	 * needed before, or of all where somebody waits for memory; driver, at every tick.
	 */
	void tick() {
		this.starved = false;
		this.reserve.refill();
		int count = this.idle.size();
		int some = (count > FEW) ? DROPPED_PER_TICK : 1;
		forgetIdle(this.memory.isAwaited() ? count : some);
	}

	/** Gives the reserve back, and what messages have kept; driver. */
	void close() {
		this.closed = true;
		this.reserve.close();
		forgetIdle(Integer.MAX_VALUE);
	}

	private void forgetIdle(int most) {
		for (int count = 0; count < most; count++) {
			OutgoingMessage message = this.idle.poll();
			if (message == null) {
				return;
			}
			message.forgetMemory(null);
		}
	}

	/** Takes a message back that has ended. */
	void giveBack(OutgoingMessage message) {
		message.ends(this.keeps && !this.memory.isAwaited());
		keep(message);
	}

	/** Whoever closes the pool sees the message, or is seen. */
	private void keep(OutgoingMessage message) {
		if (!this.idle.offer(message)) {
			message.forgetMemory(null);
		}
		else if (this.closed) {
			forgetIdle(Integer.MAX_VALUE);
		}
	}

	/**
	 * The memory that a message has kept, or some that it will. Where the current thread
	 * does not drive the loop, it waits a bounded time; otherwise it takes little from
	 * the reserve.
	 * @param mostNanos how long it waits at most, even if it is worth it
	 * @throws MemoryExhaustedException if there is none
	 */
	private RegisteredBuffer claim(OutgoingMessage made, int bytes, long mostNanos) {
		RegisteredBuffer kept = made.kept(bytes);
		return (kept != null) ? kept : claim(
				(this.keeps && bytes < BufferedMessage.KEPT_BYTES) ? BufferedMessage.KEPT_BYTES : bytes, mostNanos);
	}

	private RegisteredBuffer claim(int bytes, long mostNanos) {
		if (!this.isDriver.getAsBoolean()) {
			return this.memory.allocate(bytes, mostNanos);
		}
		RegisteredBuffer buffer = this.reserve.claim(bytes);
		if (buffer == null) {
			throw new MemoryExhaustedException("no registered memory for " + bytes + " bytes", null);
		}
		return buffer;
	}

	/** See {@link RpcChannel#prepareRequest}. */
	OutgoingMessage request(OutgoingMessage.Carrier carrier, PendingCall call, RequestTemplate template,
			long deadlineNanos, long remainingNanos, byte[] metadata, MessageSegments message) {
		long mostNanos = call.isBlocking() ? Long.MAX_VALUE : this.memory.patience().longestNanos();
		if (remainingNanos > 0) {
			mostNanos = Math.min(mostNanos, remainingNanos);
		}
		boolean timed = remainingNanos > 0 && message.totalBytes() > carrier.frameBytes();
		long begin = timed ? System.nanoTime() : 0;
		OutgoingMessage request = take();
		Exposure exposure = null;
		RegisteredBuffer buffer = null;
		try {
			exposure = expose(carrier, message, false, mostNanos);
			long waited = timed ? System.nanoTime() - begin : 0;
			buffer = claim(request, carrier, FrameFlyweight.REQUEST_HEADER_LENGTH, metadata.length, message, exposure,
					mostNanos - waited);
			// not for less: of equal calls, the one with less time left goes first
			boolean late = timed && waited >= this.memory.patience().timeoutNanos();
			long left = late ? Math.max(1, remainingNanos - waited) : remainingNanos;
			request.prepareRequest(carrier, buffer, call, template, deadlineNanos, left, metadata, message, exposure);
			count(message, exposure);
			return request;
		}
		catch (Throwable ex) {
			drop(request, exposure, buffer);
			throw ex;
		}
	}

	/** See {@link RpcChannel#prepareReply}. */
	OutgoingMessage reply(OutgoingMessage.Carrier carrier, int requestId, int status, byte[] metadata,
			MessageSegments message) {
		OutgoingMessage reply = take();
		Exposure exposure = null;
		RegisteredBuffer buffer = null;
		try {
			countLarge(carrier, reply, message);
			exposure = expose(carrier, message, false, this.memory.patience().longestNanos());
			buffer = claim(reply, carrier, FrameFlyweight.REPLY_HEADER_LENGTH, metadata.length, message, exposure,
					this.memory.patience().longestNanos());
			reply.prepareReply(carrier, buffer, requestId, status, metadata, message, exposure);
			count(message, exposure);
			return reply;
		}
		catch (Throwable ex) {
			drop(reply, exposure, buffer);
			throw ex;
		}
	}

	/** See {@link StreamSender#prepare}. */
	OutgoingMessage part(OutgoingMessage.Carrier carrier, OutgoingMessage.Owner stream, int requestId,
			MessageSegments message) {
		OutgoingMessage part = take();
		Exposure exposure = null;
		RegisteredBuffer buffer = null;
		try {
			checkStreams(carrier);
			countLarge(carrier, part, message);
			exposure = expose(carrier, message, true, this.memory.patience().longestNanos());
			buffer = claim(part, carrier, FrameFlyweight.HEADER_LENGTH, 0, message, exposure,
					this.memory.patience().longestNanos());
			part.preparePart(carrier, stream, buffer, requestId, message, exposure);
			count(message, exposure);
			return part;
		}
		catch (Throwable ex) {
			drop(part, exposure, buffer);
			throw ex;
		}
	}

	/**
	 * Memory for a frame of small messages of a stream, or {@code null} if there is none,
	 * or the peer has more than it may.
	 */
	@Nullable RegisteredBuffer tryAllocatePack(OutgoingMessage.Carrier carrier, int bytes) {
		return (overdrawn(carrier) != null) ? null : this.memory.tryAllocate(bytes);
	}

	/** A frame for small messages of a stream, or {@code null} without memory for it. */
	@Nullable OutgoingMessage pack(OutgoingMessage.Carrier carrier, OutgoingMessage.Owner stream, int bytes, int requestId,
			GatheredMessages by) {
		RegisteredBuffer buffer = tryAllocatePack(carrier, bytes);
		if (buffer == null) {
			return null;
		}
		OutgoingMessage pack = take(buffer);
		try {
			pack.preparePack(carrier, stream, buffer, requestId, by);
			return pack;
		}
		catch (Throwable ex) {
			drop(pack, null, buffer);
			throw ex;
		}
	}

	/** The one frame of a stream that is no message of it. */
	OutgoingMessage mark(OutgoingMessage.Carrier carrier, OutgoingMessage.Owner stream, int type, int requestId,
			byte[] content) {
		OutgoingMessage mark = take();
		RegisteredBuffer buffer = null;
		try {
			buffer = claim(mark, FrameFlyweight.HEADER_LENGTH + content.length, this.memory.patience().longestNanos());
			mark.prepareMark(carrier, stream, buffer, type, requestId, content);
			return mark;
		}
		catch (Throwable ex) {
			drop(mark, null, buffer);
			throw ex;
		}
	}

	/**
	 * Counts a large message to a peer that calls, unless that has left too much; waits
	 * for as long as for memory.
	 */
	private void countLarge(OutgoingMessage.Carrier carrier, OutgoingMessage made, MessageSegments message) {
		SmallReplies counting = carrier.replies();
		if (counting != null && counting.isLarge(message.totalBytes())) {
			Patience patience = this.isDriver.getAsBoolean() ? Patience.NONE : this.memory.patience();
			made.countLarge(counting, message.totalBytes(), patience);
		}
	}

	/** Ends streams to a peer that has more than it may, however small the messages. */
	private static void checkStreams(OutgoingMessage.Carrier carrier) {
		PeerReplies peer = overdrawn(carrier);
		if (peer != null) {
			throw new ReplyLimitException(peer.explain());
		}
	}

	/** The peer, if it is one that calls and has more than it may. */
	private static @Nullable PeerReplies overdrawn(OutgoingMessage.Carrier carrier) {
		SmallReplies counting = carrier.replies();
		return (counting != null && counting.peer().isOver()) ? counting.peer() : null;
	}

	/** Gives all back of a message that could not be made. */
	private static void drop(OutgoingMessage message, @Nullable Exposure exposure, @Nullable RegisteredBuffer buffer) {
		message.uncount();
		if (exposure != null) {
			exposure.close();
		}
		message.forgetMemory(buffer);
	}

	private void count(MessageSegments message, @Nullable Exposure exposure) {
		this.metrics.copied((exposure != null) ? exposure.copiedBytes() : message.totalBytes());
	}

	/** Opens a message for the peer's Reads if it is too large to be sent eagerly. */
	private @Nullable Exposure expose(OutgoingMessage.Carrier carrier, MessageSegments message, boolean part,
			long mostNanos) {
		ProtectionDomain domain = this.protectionDomain;
		QueuePair peer = (domain != null) ? carrier.readerOf(message, part) : null;
		if (domain == null || peer == null) {
			return null;
		}
		// the side that calls waits for replies, which need memory as well
		boolean shared = carrier.replies() == null && !this.isDriver.getAsBoolean();
		return Exposure.open(domain, this.attachment, peer, message,
				shared ? new SharedMemory(this.memory.half(), mostNanos) : (bytes) -> claim(bytes, mostNanos));
	}

	private RegisteredBuffer claim(OutgoingMessage made, OutgoingMessage.Carrier carrier, int headerLength,
			int metadataBytes, MessageSegments message, @Nullable Exposure exposure, long mostNanos) {
		if (exposure == null) {
			long bytes = FrameFlyweight.claimBytes(headerLength, metadataBytes, message.totalBytes(),
					carrier.frameBytes());
			return claim(made, (int) Math.min(Integer.MAX_VALUE, bytes), mostNanos);
		}
		return claim(made, headerLength + FrameFlyweight.padded(metadataBytes)
				+ WindowListFlyweight.length(exposure.windowCount()), mostNanos);
	}

	/** A frame that is only a header, or {@code null} if there is no memory for it. */
	@Nullable OutgoingMessage control(int type, int subject, int offsetBytes) {
		OutgoingMessage control = take();
		RegisteredBuffer buffer = control.kept(FrameFlyweight.HEADER_LENGTH);
		try {
			buffer = (buffer != null) ? buffer : this.reserve.claim(FrameFlyweight.HEADER_LENGTH);
			if (buffer == null) {
				keep(control);
				return null;
			}
			control.prepareControl(buffer, type, subject, offsetBytes, FrameFlyweight.HEADER_LENGTH);
			return control;
		}
		catch (Throwable ex) {
			drop(control, null, buffer);
			throw ex;
		}
	}

	/**
	 * A Send of several frames, or {@code null} without memory for it, which is not asked
	 * for again before the next tick: without it, each goes alone. Driver.
	 */
	@Nullable OutgoingMessage bundle(int bytes) {
		if (this.starved) {
			return null;
		}
		RegisteredBuffer buffer = this.memory.tryAllocate(bytes);
		this.starved = buffer == null;
		if (buffer == null) {
			return null;
		}
		OutgoingMessage bundle = take(buffer);
		try {
			bundle.prepareControl(buffer, 0, 0, 0, bytes);
			return bundle;
		}
		catch (Throwable ex) {
			drop(bundle, null, buffer);
			throw ex;
		}
	}

	/** A frame that grants a stream so much, or {@code null} without memory for it. */
	@Nullable OutgoingMessage demand(int requestId, int messages, int bytes) {
		OutgoingMessage demand = control(FrameType.DEMAND, requestId, bytes);
		if (demand != null) {
			demand.memory().buffer().putInt(FrameFlyweight.MESSAGE_LENGTH_OFFSET, messages);
		}
		return demand;
	}

	/**
	 * A frame of the handshake, or {@code null} if there is no memory for it.
	 * @param writer fills in the body and returns the length of the frame
	 */
	@Nullable OutgoingMessage hello(int type, ToIntFunction<ByteBuffer> writer) {
		RegisteredBuffer buffer = this.memory.tryAllocate(ChannelOptions.MIN_FRAME_BYTES);
		if (buffer == null) {
			return null;
		}
		OutgoingMessage hello = take(buffer);
		try {
			ByteBuffer frame = buffer.buffer();
			frame.clear();
			hello.prepareControl(buffer, type, 0, 0, writer.applyAsInt(frame));
			return hello;
		}
		catch (Throwable ex) {
			drop(hello, null, buffer);
			throw ex;
		}
	}

	/**
	 * A message for memory that was claimed.
	 * @param claimed is given back if there is no message
	 */
	private OutgoingMessage take(RegisteredBuffer claimed) {
		try {
			return take();
		}
		catch (Throwable ex) {
			claimed.release();
			throw ex;
		}
	}

	private OutgoingMessage take() {
		OutgoingMessage message = this.idle.poll();
		return (message != null) ? message : new OutgoingMessage(this);
	}

	/** Memory for what is copied of one large message. */
	private record SharedMemory(HalfShare share, long mostNanos) implements Exposure.Memory {

		@Override
		public RegisteredBuffer claim(int bytes) {
			return this.share.allocate(bytes, this.mostNanos);
		}

		@Override
		public void giveBack(RegisteredBuffer copy) {
			this.share.release(copy);
		}

	}

}
