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
import java.util.function.ToIntFunction;

import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.MemoryExhaustedException;
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

	private final ChannelLoop loop;

	private final MpmcVarHandleArrayQueue<OutgoingMessage> idle = new MpmcVarHandleArrayQueue<>(CAPACITY);

	private final MemoryReserve reserve;

	OutgoingMessagePool(ChannelLoop loop, RegisteredMemory memory) {
		this.loop = loop;
		this.reserve = new MemoryReserve(memory);
		this.reserve.refill();
	}

	/** Fills up the reserve for what must be said; driver. */
	void refillReserve() {
		this.reserve.refill();
	}

	/** Gives the reserve back; driver. */
	void close() {
		this.reserve.close();
	}

	/**
	 * Claims memory for a message: waits a bounded time, or, where the current thread
	 * drives the loop, takes little from the reserve.
	 * @throws MemoryExhaustedException if there is none
	 */
	private RegisteredBuffer claim(int bytes) {
		if (!this.loop.isDriver()) {
			return this.loop.memory().allocate(bytes);
		}
		RegisteredBuffer buffer = this.reserve.claim(bytes);
		if (buffer == null) {
			throw new MemoryExhaustedException("no registered memory for " + bytes + " bytes", null);
		}
		return buffer;
	}

	/** See {@link RpcChannel#prepareRequest}. */
	OutgoingMessage request(RpcChannel channel, PendingCall call, RequestHead head, long deadlineNanos,
			long remainingNanos, byte[] metadata, MessageSegments message) {
		OutgoingMessage request = take();
		Exposure exposure = expose(channel, message);
		RegisteredBuffer buffer = null;
		try {
			buffer = claim(channel, FrameFlyweight.REQUEST_HEADER_LENGTH, metadata.length, message, exposure);
			request.prepareRequest(channel, buffer, call, head, deadlineNanos, remainingNanos, metadata, message,
					exposure);
			count(message, exposure);
			return request;
		}
		catch (Throwable ex) {
			giveBack(exposure, buffer);
			throw ex;
		}
	}

	/** See {@link RpcChannel#prepareReply}. */
	OutgoingMessage reply(RpcChannel channel, int requestId, int status, MessageSegments message) {
		OutgoingMessage reply = take();
		Exposure exposure = expose(channel, message);
		RegisteredBuffer buffer = null;
		try {
			buffer = claim(channel, FrameFlyweight.REPLY_HEADER_LENGTH, 0, message, exposure);
			reply.prepareReply(channel, buffer, requestId, status, message, exposure);
			count(message, exposure);
			return reply;
		}
		catch (Throwable ex) {
			giveBack(exposure, buffer);
			throw ex;
		}
	}

	private static void giveBack(@Nullable Exposure exposure, @Nullable RegisteredBuffer buffer) {
		if (exposure != null) {
			exposure.close();
		}
		if (buffer != null) {
			buffer.release();
		}
	}

	private void count(MessageSegments message, @Nullable Exposure exposure) {
		this.loop.metrics().copied((exposure != null) ? exposure.copiedBytes() : message.totalBytes());
	}

	/** Opens a message for the peer's Reads if it is too large to be sent eagerly. */
	private @Nullable Exposure expose(RpcChannel channel, MessageSegments message) {
		ProtectionDomain domain = this.loop.resources().protectionDomain();
		QueuePair peer = channel.rendezvous().queuePair();
		return (domain != null && peer != null && channel.rendezvous().isReadByPeer(message.totalBytes()))
				? Exposure.open(domain, peer, message, this::claim) : null;
	}

	private RegisteredBuffer claim(RpcChannel channel, int headerLength, int metadataBytes, MessageSegments message,
			@Nullable Exposure exposure) {
		if (exposure == null) {
			long bytes = OutgoingMessage.claimBytes(headerLength, metadataBytes, message.totalBytes(),
					channel.peerFrameBytes());
			return claim((int) Math.min(Integer.MAX_VALUE, bytes));
		}
		return claim(headerLength + FrameFlyweight.padded(metadataBytes)
				+ WindowListFlyweight.length(exposure.windowCount()));
	}

	/** A frame that is only a header, or {@code null} if there is no memory for it. */
	@Nullable OutgoingMessage control(RpcChannel channel, int type, int subject) {
		return control(channel, type, subject, 0);
	}

	/** The same with a number in the place of the offset. */
	@Nullable OutgoingMessage control(RpcChannel channel, int type, int subject, int offsetBytes) {
		OutgoingMessage control = take();
		RegisteredBuffer buffer = this.reserve.claim(FrameFlyweight.HEADER_LENGTH);
		if (buffer == null) {
			give(control);
			return null;
		}
		try {
			control.prepareControl(channel, buffer, type, subject, offsetBytes, FrameFlyweight.HEADER_LENGTH);
			return control;
		}
		catch (Throwable ex) {
			buffer.release();
			throw ex;
		}
	}

	/**
	 * A frame of the handshake, or {@code null} if there is no memory for it.
	 * @param writer fills in the body and returns the length of the frame
	 */
	@Nullable OutgoingMessage hello(RpcChannel channel, int type, ToIntFunction<ByteBuffer> writer) {
		OutgoingMessage hello = take();
		RegisteredBuffer buffer = this.loop.memory().tryAllocate(ChannelOptions.MIN_FRAME_BYTES);
		if (buffer == null) {
			give(hello);
			return null;
		}
		try {
			ByteBuffer frame = buffer.buffer();
			frame.clear();
			hello.prepareControl(channel, buffer, type, 0, 0, writer.applyAsInt(frame));
			return hello;
		}
		catch (Throwable ex) {
			buffer.release();
			throw ex;
		}
	}

	private OutgoingMessage take() {
		OutgoingMessage message = this.idle.poll();
		return (message != null) ? message : new OutgoingMessage(this);
	}

	void give(OutgoingMessage message) {
		this.idle.offer(message);
	}

}
