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

import io.grpc.Attributes;
import io.grpc.Decompressor;
import io.grpc.InternalStatus;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.internal.ServerStream;
import io.grpc.internal.ServerStreamListener;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.WritableBuffer;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.StreamSender;

/**
 * The server's end of one call as gRPC sees it.
 *
 * <p>
 * Implementation notes. What the handler sends comes from one thread at a time. The end
 * of the call is told when the reader is closed, so that it comes last.
 */
final class RdmaServerStream extends CallStream implements ServerStream {

	private final RdmaServerCall call;

	private final String authority;

	private @Nullable ServerStreamListener listener;

	/** Those that are not sent yet. */
	private byte @Nullable [][] headers;

	private int written;

	/** What became of a message that could not be sent. */
	private @Nullable Status lost;

	private boolean closed;

	/** What the handler has ended the call with. */
	private volatile @Nullable Status answer;

	/** Whether gRPC wants no more messages. */
	private boolean done;

	private boolean failed;

	private boolean halfClosed;

	private boolean readerClosed;

	/** How the call ends once the reader is closed. */
	private @Nullable Status ending;

	private boolean told;

	RdmaServerStream(RdmaServerCall call, String authority, StatsTraceContext stats) {
		super(call.tasks(), call.pieces(), call.transport().settings().maxMessageBytes(), stats,
				call.transport().tracer());
		this.call = call;
		this.authority = authority;
	}

	@Override
	ServerStreamListener listener() {
		ServerStreamListener known = this.listener;
		if (known == null) {
			throw new IllegalStateException("the call has no listener");
		}
		return known;
	}

	@Override
	public void setListener(ServerStreamListener value) {
		this.listener = value;
	}

	@Override
	public void setDecompressor(Decompressor decompressor) {
		reader().setDecompressor(decompressor);
	}

	@Override
	public void setOnReadyThreshold(int bytes) {
		setReadyBytes(bytes);
	}

	@Override
	public StatsTraceContext statsTraceContext() {
		return stats();
	}

	@Override
	public int streamId() {
		return this.call.requestId();
	}

	@Override
	public Attributes getAttributes() {
		return this.call.transport().attributes();
	}

	@Override
	public String getAuthority() {
		return this.authority;
	}

	@Override
	public void writeHeaders(Metadata metadata, boolean flush) {
		this.headers = HeaderBlock.of(metadata);
		StreamSender stream = this.call.sender();
		if (flush && stream != null) {
			sendMessage(stream);
		}
	}

	@Override
	public void deliverFrame(@Nullable WritableBuffer frame, boolean last, boolean flush, int messages) {
		if (frame == null) {
			return;
		}
		tracer().reportMessageSent(messages);
		pieces().await((OutgoingPiece) frame);
		this.written += messages;
		StreamSender stream = this.call.sender();
		if (stream == null) {
			checkSingle();
		}
		// the last one goes with what ends the call
		else if ((flush && !last) || isMuch()) {
			sendMessage(stream);
		}
	}

	/** A caller that takes no stream is given one message, and others are not kept. */
	private void checkSingle() {
		if (this.lost != null) {
			pieces().clear();
		}
		else if (this.written > 1) {
			lose(Status.INTERNAL.withDescription("more than one message to a caller that takes one"));
		}
	}

	private boolean isMuch() {
		return pieces().waitingBytes() >= GrpcProtocol.MOST_WAITING_BYTES;
	}

	private void sendMessage(StreamSender stream) {
		if (this.lost != null) {
			// none may follow it
			pieces().clear();
			return;
		}
		try {
			OutgoingMessage ready = prepareMessage(stream, this.headers);
			this.headers = null;
			ready.submit();
		}
		catch (Throwable ex) {
			this.call.unsent(ex);
			lose(Unsent.reply(ex));
		}
	}

	@Override
	public void lacksMemory(Throwable cause) {
		if (this.lost == null) {
			this.call.unsent(cause);
			lose(Unsent.reply(cause));
		}
	}

	/** Ends the call, since one of its messages cannot be sent. */
	private void lose(Status reason) {
		this.lost = reason;
		pieces().clear();
		tasks().execute(() -> fail(reason, reason));
	}

	@Override
	public void close(Status status, Metadata trailers) {
		if (this.closed) {
			return;
		}
		this.closed = true;
		framer().close();
		this.answer = status;
		if (!this.call.isHandling() || status.getCause() instanceof Error) {
			this.call.handled();
		}
		StreamSender stream = this.call.sender();
		if (stream != null && pieces().waitingBytes() > 0) {
			sendMessage(stream);
		}
		trailers.discardAll(InternalStatus.CODE_KEY);
		trailers.discardAll(InternalStatus.MESSAGE_KEY);
		if (this.lost == null) {
			this.call.reply(this.headers, trailers, status);
		}
		tasks().execute(this::ended);
	}

	/** The handler has ended the call. */
	private void ended() {
		this.done = true;
		try {
			if (this.call.sender() == null) {
				endWith(Status.OK);
			}
			else {
				end();
				reader().close();
			}
		}
		finally {
			pieces().close();
		}
	}

	/** What the handler has ended the call with is on its way, behind its messages. */
	void answered() {
		if (!this.failed) {
			endWith(Status.OK);
		}
	}

	@Override
	public void cancel(Status reason) {
		Status why = Status.CANCELLED.withDescription("the server has given the call up");
		tasks().execute(() -> fail(reason, why));
	}

	/** Something may be sent from now on; tasks of the call, as all below. */
	@Override
	void begin() {
		tracer().reportRemoteStreamStarted();
		super.begin();
	}

	/** Whether gRPC wants no more messages. */
	boolean isDone() {
		return this.done;
	}

	/** The caller has said all. */
	void halfClose() {
		this.halfClosed = true;
		try {
			reader().closeWhenComplete();
		}
		catch (Throwable ex) {
			deframeFailed(ex);
		}
	}

	/** The caller wants it no more, or the connection has ended. */
	void cancelled(Status reason) {
		this.done = true;
		endWith(reason);
	}

	/**
	 * Ends the call.
	 * @param why what the caller is told
	 */
	void fail(Status reason, Status why) {
		if (!this.failed && !this.told) {
			this.failed = true;
			this.done = true;
			this.call.fail(why);
			try {
				endWith(reason);
			}
			finally {
				pieces().close();
			}
		}
	}

	@Override
	public void bytesRead(int bytes) {
		this.call.consumed(bytes);
	}

	@Override
	public void deframeFailed(Throwable cause) {
		Status reason = Status.fromThrowable(cause);
		fail(reason, reason);
	}

	@Override
	public void deframerClosed(boolean partialMessage) {
		this.readerClosed = true;
		if (this.halfClosed && this.ending == null && !this.done) {
			if (partialMessage) {
				deframeFailed(
						Status.INTERNAL.withDescription("Encountered end-of-stream mid-frame").asRuntimeException());
				return;
			}
			listener().halfClosed();
		}
		Status status = this.ending;
		if (status != null) {
			tell(status);
		}
	}

	/** Tells the handler why it ends, OK if it has answered. */
	private void endWith(Status status) {
		end();
		this.ending = status;
		try {
			if (this.readerClosed) {
				tell(status);
			}
			else {
				reader().close();
			}
		}
		catch (Throwable ex) {
			// its executor takes nothing more, so that it runs no more
			this.call.handled();
			throw ex;
		}
	}

	private void tell(Status status) {
		if (this.told) {
			return;
		}
		this.told = true;
		Status given = this.answer;
		Status counted = (status.isOk() && given != null) ? given : status;
		stats().streamClosed(counted);
		tracer().reportStreamClosed(counted.isOk());
		listener().closed(status);
	}

}
