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
import java.util.Objects;

import io.grpc.Decompressor;
import io.grpc.DecompressorRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.internal.ClientStream;
import io.grpc.internal.ClientStreamListener;
import io.grpc.internal.ClientStreamListener.RpcProgress;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.TransportTracer;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.PendingCall;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.StreamSender;

/**
 * What comes back to the caller's end of one call. A single message comes in the reply,
 * several come before it.
 *
 * <p>
 * Implementation notes. What the driver does is what {@link PendingCall} has; all else is
 * confined to the tasks of the call. The end is told when the reader is closed, so that
 * all messages come before it. The sender says that it has submitted, and then has the
 * driver ask whether the call is done; who cancels says that it is done, and then asks
 * whether it was submitted. So one of them sees the other.
 */
abstract class ClientReply extends CallStream implements ClientStream, PendingCall, InboundMessages.Consumer {

	private final RdmaClientTransport transport;

	private final @Nullable InboundMessages replies;

	private DecompressorRegistry decompressors = DecompressorRegistry.getDefaultInstance();

	private @Nullable ClientStreamListener listener;

	private volatile @Nullable BlockingWait wait;

	private volatile boolean submitted;

	private volatile boolean done;

	private int requestId;

	private boolean headersRead;

	private boolean ended;

	private boolean readerClosed;

	/** How the call ends once the reader is closed. */
	private @Nullable Status ending;

	private RpcProgress progress = RpcProgress.PROCESSED;

	private @Nullable Metadata trailers;

	private boolean told;

	ClientReply(RdmaClientTransport transport, MethodDescriptor<?, ?> method, OutgoingPieces pieces,
			StatsTraceContext stats, TransportTracer tracer) {
		super(transport.newTasks(), pieces, transport.maxMessageBytes(), stats, tracer);
		this.transport = transport;
		int window = transport.windowBytes();
		this.replies = method.getType().serverSendsOneMessage() ? null : new InboundMessages(transport.channel(),
				tasks(), this, (receiver) -> new StreamReceiver(window, receiver));
	}

	/** The call has ended; once. */
	abstract void leave();

	final RdmaClientTransport transport() {
		return this.transport;
	}

	@Override
	final ClientStreamListener listener() {
		return Objects.requireNonNull(this.listener);
	}

	/** Who is told what comes; once, before the call begins. */
	final void setListener(ClientStreamListener value) {
		this.listener = value;
	}

	@Override
	public final void setDecompressorRegistry(DecompressorRegistry registry) {
		this.decompressors = registry;
	}

	@Override
	public final void setMaxInboundMessageSize(int bytes) {
		reader().setMaxMessageBytes(bytes);
	}

	/** The request is about to be handed over, or fails. */
	final void submitted() {
		this.submitted = true;
	}

	/** Ends the call from outside its tasks, whatever of it has arrived. */
	void fail(Status status, RpcProgress how) {
		tasks().execute(() -> failed(status, how, true));
	}

	/**
	 * The connection has ended: a call that the channel does not know ends as well, and
	 * may be tried again. The channel says itself what became of the others.
	 */
	void failUnlessSubmitted(Status status) {
		tasks().execute(() -> {
			if (!this.submitted) {
				failed(status, RpcProgress.MISCARRIED, false);
			}
		});
	}

	/** Submits the request and waits for a while; the caller. */
	final void submitAndWait(OutgoingMessage request) {
		BlockingWait begun = new BlockingWait();
		this.wait = begun;
		begun.submitAndWait(this.transport.channel().loop(), request, this, tasks());
	}

	/** Ends the call at once; tasks of the call, as all below but for the driver's. */
	final void giveUp(Status reason) {
		this.done = true;
		if (this.submitted && !this.ended) {
			this.transport.channel().abandon(this, CallFailure.CANCELLED, "cancelled");
		}
		try {
			report(reason, RpcProgress.PROCESSED, true, new Metadata());
		}
		finally {
			ended();
		}
	}

	private void failed(Status status, RpcProgress how, boolean stop) {
		this.done = true;
		if (!this.ended) {
			try {
				report(status, how, stop, new Metadata());
			}
			finally {
				ended();
			}
		}
	}

	private void ended() {
		if (!this.ended) {
			this.ended = true;
			pieces().close();
			leave();
		}
	}

	/**
	 * Ends the call for the caller, when it has what has arrived.
	 * @param stop whether it is not to have that
	 */
	private void report(Status status, RpcProgress how, boolean stop, Metadata with) {
		if (this.ending != null && !stop) {
			return;
		}
		this.ending = status;
		this.progress = how;
		this.trailers = with;
		end();
		if (this.readerClosed) {
			tell(status);
		}
		else if (stop) {
			reader().close();
		}
		else {
			reader().closeWhenComplete();
		}
	}

	@Override
	public void deframerClosed(boolean partialMessage) {
		this.readerClosed = true;
		Status status = Objects.requireNonNull(this.ending);
		if (partialMessage && status.isOk()) {
			this.trailers = new Metadata();
			status = Status.INTERNAL.withDescription("Encountered end-of-stream mid-frame");
		}
		tell(status);
	}

	private void tell(Status status) {
		if (!this.told) {
			this.told = true;
			stats().streamClosed(status);
			tracer().reportStreamClosed(status.isOk());
			listener().closed(status, this.progress, Objects.requireNonNull(this.trailers));
		}
	}

	@Override
	public void bytesRead(int bytes) {
		InboundMessages stream = this.replies;
		if (stream != null) {
			stream.consumed(bytes);
		}
	}

	@Override
	public void deframeFailed(Throwable cause) {
		giveUp(Status.fromThrowable(cause));
	}

	@Override
	public int onMessage(RegisteredBuffer memory, ByteBuffer message, @Nullable HeldPart part) {
		int length = message.remaining();
		if (this.ended) {
			memory.release();
			return length;
		}
		int head = 0;
		boolean kept = false;
		try {
			if (!this.headersRead) {
				Metadata headers = ReplyHead.readHeaders(message, this.transport.maxMetadataBytes());
				head = length - message.remaining();
				readHeaders(headers);
			}
			kept = true;
			read(memory, message);
		}
		catch (Throwable ex) {
			giveUp(Status.fromThrowable(ex));
		}
		finally {
			if (!kept) {
				memory.release();
			}
		}
		return head;
	}

	private void deliver(int code, RegisteredBuffer memory, ByteBuffer message) {
		boolean kept = false;
		try {
			if (!this.ended) {
				ReplyHead head = ReplyHead.read(message, this.transport.maxMetadataBytes());
				if (head.headers() != null && !this.headersRead) {
					readHeaders(head.headers());
				}
				if (this.headersRead) {
					kept = true;
					read(memory, message);
				}
				close(Status.fromCodeValue(code), head);
			}
		}
		catch (Throwable ex) {
			giveUp(Status.fromThrowable(ex));
		}
		finally {
			if (!kept) {
				memory.release();
			}
		}
	}

	private void close(Status status, ReplyHead head) {
		if (this.ended) {
			return;
		}
		Status described = head.description().isEmpty() ? status : status.withDescription(head.description());
		if (head.refused() && !status.isOk()) {
			failed(described, RpcProgress.REFUSED, false);
		}
		else {
			stats().clientInboundTrailers(head.trailers());
			try {
				report(described, RpcProgress.PROCESSED, false, head.trailers());
			}
			finally {
				ended();
			}
		}
	}

	private void readHeaders(Metadata received) {
		this.headersRead = true;
		stats().clientInboundHeaders(received);
		String encoding = received.get(GrpcUtil.MESSAGE_ENCODING_KEY);
		if (encoding != null) {
			Decompressor decompressor = this.decompressors.lookupDecompressor(encoding);
			if (decompressor == null) {
				throw Status.INTERNAL.withDescription("Can't find decompressor for " + encoding).asRuntimeException();
			}
			reader().setDecompressor(decompressor);
		}
		listener().headersRead(received);
	}

	private void read(RegisteredBuffer memory, ByteBuffer message) {
		if (message.hasRemaining() && !this.ended) {
			arrived(new ReceivedBuffer(memory, message));
		}
		else {
			memory.release();
		}
	}

	@Override
	public final void onStarted(int id) {
		this.requestId = id;
		InboundMessages stream = this.replies;
		if (stream != null) {
			stream.receiver().started(id);
		}
		StreamSender messages = streamSender();
		if (messages != null) {
			messages.started(id);
		}
	}

	@Override
	public int requestId() {
		return this.requestId;
	}

	@Override
	public @Nullable StreamReceiver streamReceiver() {
		InboundMessages stream = this.replies;
		return (stream != null) ? stream.receiver() : null;
	}

	@Override
	public boolean isDone() {
		return this.done;
	}

	@Override
	public void onReply(IncomingMessage reply) {
		closeStream();
		int status = reply.status();
		ByteBuffer message = reply.message();
		RegisteredBuffer memory = reply.take();
		try {
			goOn(() -> deliver(status, memory, message));
		}
		catch (Throwable ex) {
			memory.release();
			throw ex;
		}
	}

	@Override
	public void onFailure(CallFailure failure, String detail) {
		closeStream();
		Status status = this.transport.statusOf(failure, detail);
		RpcProgress how = (failure == CallFailure.NOT_SENT) ? RpcProgress.MISCARRIED : RpcProgress.PROCESSED;
		goOn(() -> failed(status, how, false));
	}

	/**
	 * Goes on with the end of the call where it is waited for, or after the turn; driver.
	 */
	private void goOn(Runnable end) {
		BlockingWait begun = this.wait;
		boolean taken = begun != null && begun.takes(end);
		this.done = true;
		if (begun != null && taken) {
			this.transport.channel().loop().wake(begun.caller());
		}
		else {
			tasks().executeAfterTurn(end);
		}
	}

	private void closeStream() {
		InboundMessages stream = this.replies;
		if (stream != null) {
			stream.receiver().close();
		}
	}

}
