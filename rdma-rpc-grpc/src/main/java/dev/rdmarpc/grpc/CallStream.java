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

import java.io.InputStream;

import io.grpc.Compressor;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.MessageDeframer;
import io.grpc.internal.MessageFramer;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.Stream;
import io.grpc.internal.StreamListener;
import io.grpc.internal.TransportTracer;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.StreamSender;

/**
 * What both ends of a call are for gRPC: messages are framed and taken apart, and the
 * user learns when more may be sent.
 *
 * <p>
 * Messages are written by one thread at a time, the user's. What arrives is handed on by
 * the tasks of the call.
 *
 * <p>
 * Implementation notes. The lock guards how much waits to be sent, and nothing is called
 * under it. gRPC has classes of this kind for transports over HTTP/2; they divide a call
 * into three objects and more for each end.
 */
abstract class CallStream implements Stream, MessageFramer.Sink, MessageDeframer.Listener, OutgoingPieces.Owner {

	/** More may be sent while less than this waits; as in gRPC's own transports. */
	private static final int READY_BYTES = 32 * 1024;

	private final SerialTasks tasks;

	private final OutgoingPieces pieces;

	private final StatsTraceContext stats;

	private final TransportTracer tracer;

	private final MessageFramer framer;

	private final MessageReader reader;

	private int readyBytes = READY_BYTES;

	private int waitingBytes;

	private boolean begun;

	private boolean over;

	CallStream(SerialTasks tasks, OutgoingPieces pieces, int maxMessageBytes, StatsTraceContext stats,
			TransportTracer tracer) {
		this.tasks = tasks;
		this.pieces = pieces;
		this.stats = stats;
		this.tracer = tracer;
		pieces.ownedBy(this);
		this.framer = new MessageFramer(this, pieces, stats);
		this.reader = new MessageReader(this, maxMessageBytes, stats, tracer);
	}

	/** Whom the call belongs to; the tasks of the call, once it has begun. */
	abstract StreamListener listener();

	final SerialTasks tasks() {
		return this.tasks;
	}

	final OutgoingPieces pieces() {
		return this.pieces;
	}

	final StatsTraceContext stats() {
		return this.stats;
	}

	final TransportTracer tracer() {
		return this.tracer;
	}

	final MessageReader reader() {
		return this.reader;
	}

	final MessageFramer framer() {
		return this.framer;
	}

	@Override
	public final void setCompressor(Compressor compressor) {
		this.framer.setCompressor(compressor);
	}

	@Override
	public final void setMessageCompression(boolean enable) {
		this.framer.setMessageCompression(enable);
	}

	@Override
	public final void optimizeForDirectExecutor() {
		// nothing is done on another thread for the others
	}

	@Override
	public final void writeMessage(InputStream message) {
		try {
			if (!this.framer.isClosed()) {
				this.framer.writePayload(message);
			}
		}
		finally {
			GrpcUtil.closeQuietly(message);
		}
	}

	@Override
	public final void flush() {
		if (!this.framer.isClosed()) {
			this.framer.flush();
		}
	}

	@Override
	public final void request(int messages) {
		this.tasks.execute(() -> {
			try {
				this.reader.request(messages);
			}
			catch (Throwable ex) {
				deframeFailed(ex);
			}
		});
	}

	/**
	 * Bytes have arrived; tasks of the call.
	 * @param bytes takes ownership
	 */
	final void arrived(ReceivedBuffer bytes) {
		try {
			this.reader.arrived(bytes);
		}
		catch (Throwable ex) {
			deframeFailed(ex);
		}
	}

	@Override
	public final void messagesAvailable(StreamListener.MessageProducer messages) {
		try {
			listener().messagesAvailable(messages);
		}
		catch (Throwable ex) {
			// an executor that takes nothing more, so that nobody comes for it
			GrpcUtil.closeQuietly(messages.next());
			throw ex;
		}
	}

	/**
	 * A message of a stream, of what waits to be sent.
	 * @param headers that come before it, or {@code null}
	 */
	final OutgoingMessage prepareMessage(StreamSender stream, byte @Nullable [][] headers) {
		MessageSegments message = GrpcProtocol.segments();
		try {
			if (headers != null) {
				ReplyHead.addHeaders(message, headers);
			}
			this.pieces.addTo(message);
			OutgoingMessage ready = stream.prepare(message);
			sending(message.totalBytes());
			return ready;
		}
		finally {
			message.clear();
			this.pieces.clear();
		}
	}

	/** More may be sent while less than so many bytes wait. */
	final synchronized void setReadyBytes(int bytes) {
		this.readyBytes = bytes;
	}

	@Override
	public synchronized boolean isReady() {
		return this.begun && !this.over && this.waitingBytes < this.readyBytes;
	}

	/** Something may be sent from now on; tasks of the call. */
	void begin() {
		synchronized (this) {
			this.begun = true;
		}
		if (isReady()) {
			listener().onReady();
		}
	}

	/** Nothing more may be sent. */
	final synchronized void end() {
		this.over = true;
	}

	/** So many bytes wait to be sent. */
	private synchronized void sending(int bytes) {
		this.waitingBytes += bytes;
	}

	/** So many bytes wait no more; tasks of the call. */
	final void sent(int bytes) {
		boolean ready;
		synchronized (this) {
			boolean before = this.waitingBytes < this.readyBytes;
			this.waitingBytes -= bytes;
			ready = !before && isReady();
		}
		if (ready) {
			listener().onReady();
		}
	}

}
