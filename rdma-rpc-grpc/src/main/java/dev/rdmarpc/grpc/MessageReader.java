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

package dev.rdmarpc.grpc;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.Objects;
import java.util.Queue;

import io.grpc.Codec;
import io.grpc.Decompressor;
import io.grpc.Status;
import io.grpc.internal.CompositeReadableBuffer;
import io.grpc.internal.MessageDeframer;
import io.grpc.internal.ReadableBuffer;
import io.grpc.internal.ReadableBuffers;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.StreamListener;
import io.grpc.internal.TransportTracer;
import org.jspecify.annotations.Nullable;

/**
 * Takes messages out of the bytes of one direction of a call, as many as are asked for: a
 * byte that tells whether it is compressed and its length in four bytes come before each
 * (gRPC over HTTP/2, length-prefixed messages). A message that has arrived in one piece
 * is handed out where it lies.
 *
 * <p>
 * Confined to the tasks of its call.
 *
 * <p>
 * Implementation notes. gRPC's own deframer does the same, with two buffers made of
 * buffers for each message, which are a tenth of all that a call allocates. It inflates
 * messages of calls that may compress them, once they are complete. Bytes count as read
 * when they belong to a message that is asked for, though it may not be complete: a
 * message may be larger than what the sender may send ahead. So nothing but the length of
 * a message bounds in how many parts it comes, and they are put into a
 * {@link PartialMessage}.
 */
final class MessageReader {

	private static final int HEADER_BYTES = 5;

	private static final int COMPRESSED = 1;

	private final MessageDeframer.Listener listener;

	private final StatsTraceContext stats;

	private final TransportTracer tracer;

	private int maxMessageBytes;

	/** The part that is read next. */
	private @Nullable ReceivedBuffer first;

	private @Nullable Queue<ReceivedBuffer> others;

	/** The beginning of a body whose rest has not arrived. */
	private @Nullable PartialMessage partial;

	/** In all parts, and in that. */
	private long unreadBytes;

	/** Of those, what belongs to the header or body that is waited for. */
	private int countedBytes;

	/** Of the header or body that is waited for. */
	private int neededBytes = HEADER_BYTES;

	private boolean inBody;

	private boolean compressed;

	private long wantedMessages;

	private int number = -1;

	private boolean delivering;

	private boolean closing;

	private boolean closed;

	private @Nullable MessageDeframer inflating;

	MessageReader(MessageDeframer.Listener listener, int maxMessageBytes, StatsTraceContext stats,
			TransportTracer tracer) {
		this.listener = listener;
		this.maxMessageBytes = maxMessageBytes;
		this.stats = stats;
		this.tracer = tracer;
	}

	/** Before anything is read. */
	void setMaxMessageBytes(int bytes) {
		this.maxMessageBytes = bytes;
	}

	/** Before anything has arrived. */
	void setDecompressor(Decompressor decompressor) {
		if (decompressor == Codec.Identity.NONE) {
			return;
		}
		this.inflating = new MessageDeframer(new Inflated(), decompressor, this.maxMessageBytes, this.stats,
				this.tracer);
	}

	/**
	 * So many more messages are asked for.
	 * @throws RuntimeException if the number is not positive, or if what has arrived is
	 * no message
	 */
	void request(int messages) {
		if (messages <= 0) {
			throw new IllegalArgumentException("numMessages must be > 0");
		}
		if (!this.closed) {
			this.wantedMessages += messages;
			deliver();
		}
	}

	/**
	 * Bytes have arrived.
	 * @param bytes takes ownership
	 * @throws RuntimeException if what has arrived is no message
	 */
	void arrived(ReceivedBuffer bytes) {
		if (this.closed || this.closing) {
			bytes.close();
		}
		else {
			add(bytes);
			deliver();
		}
	}

	private void add(ReceivedBuffer bytes) {
		int length = bytes.readableBytes();
		if (length == 0) {
			bytes.close();
			return;
		}
		if (this.first == null) {
			this.first = bytes;
		}
		else {
			Queue<ReceivedBuffer> waiting = this.others;
			if (waiting == null) {
				waiting = new ArrayDeque<>();
				this.others = waiting;
			}
			waiting.add(bytes);
		}
		this.unreadBytes += length;
	}

	/** Nothing more arrives: closes when all messages have been asked for. */
	void closeWhenComplete() {
		if (!this.closed) {
			this.closing = true;
			closeIfComplete();
		}
	}

	/** Drops what has not been handed out. */
	void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		if (this.inflating != null) {
			this.inflating.close();
		}
		if (this.partial != null) {
			this.partial.close();
			this.partial = null;
		}
		for (ReceivedBuffer part = this.first; part != null; part = this.first) {
			nextPart();
			part.close();
		}
		this.listener.deframerClosed(this.inBody || this.countedBytes > 0);
	}

	private void closeIfComplete() {
		if (this.closing && !this.delivering && this.unreadBytes == this.countedBytes) {
			close();
		}
	}

	private void deliver() {
		if (this.delivering) {
			return;
		}
		this.delivering = true;
		try {
			while (!this.closed && this.wantedMessages > 0 && hasNeeded()) {
				if (this.inBody) {
					deliverBody();
				}
				else {
					readHeader();
				}
			}
		}
		finally {
			this.delivering = false;
		}
		closeIfComplete();
	}

	private boolean hasNeeded() {
		int there = (int) Math.min(this.neededBytes, this.unreadBytes);
		int more = there - this.countedBytes;
		if (more > 0) {
			this.countedBytes = there;
			if (this.inBody && this.inflating == null) {
				this.stats.inboundWireSize(more);
			}
			this.listener.bytesRead(more);
		}
		if (there == this.neededBytes) {
			return true;
		}
		if (this.inBody && more > 0) {
			gather(there);
		}
		return false;
	}

	private void readHeader() {
		int flags = readByte();
		int length = readByte() << 24 | readByte() << 16 | readByte() << 8 | readByte();
		this.unreadBytes -= HEADER_BYTES;
		this.countedBytes = 0;
		if ((flags & ~COMPRESSED) != 0) {
			throw Status.INTERNAL.withDescription("gRPC frame header malformed: reserved bits not zero")
				.asRuntimeException();
		}
		if (length < 0 || length > this.maxMessageBytes) {
			throw Status.RESOURCE_EXHAUSTED
				.withDescription(String.format(Locale.US, "gRPC message exceeds maximum size %d: %d",
						this.maxMessageBytes, length))
				.asRuntimeException();
		}
		this.compressed = flags == COMPRESSED;
		this.neededBytes = length;
		this.inBody = true;
		if (this.inflating == null) {
			this.number++;
			this.stats.inboundMessage(this.number);
			this.tracer.reportMessageReceived();
		}
	}

	private void deliverBody() {
		int length = this.neededBytes;
		MessageDeframer deframer = this.inflating;
		if (deframer == null) {
			this.stats.inboundMessageRead(this.number, length, this.compressed ? -1 : length);
			if (this.compressed) {
				throw Status.INTERNAL
					.withDescription("Can't decode compressed gRPC message as compression not configured")
					.asRuntimeException();
			}
			this.stats.inboundUncompressedSize(length);
		}
		ReadableBuffer body = take(length);
		this.unreadBytes -= length;
		this.countedBytes = 0;
		this.neededBytes = HEADER_BYTES;
		this.inBody = false;
		this.wantedMessages--;
		if (deframer != null) {
			inflate(deframer, length, body);
		}
		else {
			this.listener.messagesAvailable(new ReceivedMessage(body));
		}
	}

	/** Hands out a message by gRPC's reader, which gets it as it has arrived. */
	private void inflate(MessageDeframer deframer, int length, ReadableBuffer body) {
		ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
		header.put((byte) (this.compressed ? COMPRESSED : 0)).putInt(length).flip();
		CompositeReadableBuffer whole = new CompositeReadableBuffer();
		whole.addBuffer(ReadableBuffers.wrap(header));
		whole.addBuffer(body);
		deframer.request(1);
		deframer.deframe(whole);
	}

	/** The part that is read, which is there. */
	private ReceivedBuffer part() {
		ReceivedBuffer part = this.first;
		if (part == null) {
			throw new IllegalStateException("nothing to read");
		}
		return part;
	}

	private void nextPart() {
		this.first = (this.others != null) ? this.others.poll() : null;
	}

	private int readByte() {
		ReceivedBuffer part = part();
		int value = part.readUnsignedByte();
		if (part.readableBytes() == 0) {
			nextPart();
			part.close();
		}
		return value;
	}

	private ReadableBuffer take(int length) {
		if (length == 0) {
			return ReadableBuffers.empty();
		}
		ReceivedBuffer part = this.first;
		if (this.partial == null && part != null && part.readableBytes() >= length) {
			return takeFrom(part, length);
		}
		gather(length);
		PartialMessage whole = this.partial;
		this.partial = null;
		return Objects.requireNonNull(whole).complete();
	}

	/** Adds what has arrived of a body, up to so many bytes of it. */
	private void gather(int length) {
		PartialMessage begun = this.partial;
		if (begun == null) {
			begun = new PartialMessage(this.neededBytes);
			this.partial = begun;
		}
		for (int left = length - begun.bytes(); left > 0; left = length - begun.bytes()) {
			ReceivedBuffer part = part();
			int bytes = Math.min(left, part.readableBytes());
			if (!PartialMessage.isSmall(bytes)) {
				begun.add(takeFrom(part, bytes));
				continue;
			}
			begun.copy(part, bytes);
			if (part.readableBytes() == 0) {
				nextPart();
				part.close();
			}
		}
	}

	private ReadableBuffer takeFrom(ReceivedBuffer part, int length) {
		if (part.readableBytes() > length) {
			return part.readBytes(length);
		}
		nextPart();
		return part;
	}

	/** What gRPC's reader says of a message that was read already. */
	private final class Inflated implements MessageDeframer.Listener {

		@Override
		public void bytesRead(int count) {
			// were said when they arrived
		}

		@Override
		public void messagesAvailable(StreamListener.MessageProducer producer) {
			MessageReader.this.listener.messagesAvailable(producer);
		}

		@Override
		public void deframerClosed(boolean partial) {
			// is closed with this one
		}

		@Override
		public void deframeFailed(Throwable cause) {
			MessageReader.this.listener.deframeFailed(cause);
		}

	}

}
