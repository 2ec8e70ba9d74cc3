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
import java.util.function.Supplier;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.internal.AbstractClientStream;
import io.grpc.internal.ClientStreamListener.RpcProgress;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.TransportTracer;
import io.grpc.internal.WritableBuffer;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.PendingCall;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.StreamSender;

/**
 * The caller's end of one call. Headers and a single message are sent as one request when
 * the caller has half-closed; of several messages, each follows the request, which goes
 * at once. A single message comes back in the reply, several come before it.
 *
 * <p>
 * Implementation notes. The sink is used by one thread at a time, the caller's. The state
 * is confined to the tasks of the call, but for what it does as a {@link PendingCall},
 * which is the driver's. The sender says that it has submitted, and then has the driver
 * ask whether the call is done; who cancels says that it is done, and then asks whether
 * it was submitted. So one of them sees the other. A call that has to wait until others
 * have ended is begun by another thread than the caller's: only then they share a lock.
 */
final class RdmaClientStream extends AbstractClientStream {

	private final RdmaClientTransport transport;

	private final MethodDescriptor<?, ?> method;

	private final OutgoingPieces pieces;

	private final StatsTraceContext stats;

	private final Sending sink = new Sending();

	private final State state;

	private String authority;

	RdmaClientStream(RdmaClientTransport transport, MethodDescriptor<?, ?> method, Metadata headers,
			CallOptions callOptions, OutgoingPieces pieces, StatsTraceContext stats, TransportTracer tracer) {
		super(pieces, stats, tracer, headers, callOptions, false);
		this.transport = transport;
		this.method = method;
		this.pieces = pieces;
		this.stats = stats;
		this.authority = transport.authority();
		this.state = new State(callOptions, tracer);
	}

	@Override
	protected State transportState() {
		return this.state;
	}

	@Override
	protected Sink abstractClientStreamSink() {
		return this.sink;
	}

	@Override
	public void setAuthority(String value) {
		this.authority = value;
	}

	@Override
	public Attributes getAttributes() {
		return this.transport.getAttributes();
	}

	/** Ends the call from outside its tasks. */
	void fail(Status status, RpcProgress progress) {
		this.state.tasks.execute(() -> this.state.fail(status, progress, false));
	}

	/**
	 * The connection has ended: a call that the channel does not know ends as well, and
	 * may be tried again. The channel says itself what became of the others.
	 */
	void failUnlessSubmitted(Status status) {
		this.state.tasks.execute(() -> {
			if (!this.state.submitted) {
				this.state.fail(status, RpcProgress.MISCARRIED, false);
			}
		});
	}

	/** The call has to wait until others have ended; before others know of it. */
	void hold() {
		this.sink.held = new Held();
	}

	/** The call needs to wait no longer. Any thread. */
	void release() {
		this.state.tasks.execute(this.state::allocated);
		this.sink.release();
	}

	/** How far a call is that has to wait; guards what is sent of it. */
	private static final class Held {

		private boolean released;

		private boolean ended;

	}

	/** What the caller's side wants to be done. */
	private final class Sending implements Sink {

		private byte[][] headers = HeaderBlock.NONE;

		private @Nullable Held held;

		/** Whether something could not be sent, so that nothing may follow it. */
		private boolean lost;

		@Override
		public void writeHeaders(Metadata metadata, byte @Nullable [] payload) {
			metadata.discardAll(GrpcUtil.CONTENT_TYPE_KEY);
			metadata.discardAll(GrpcUtil.TE_HEADER);
			metadata.discardAll(GrpcUtil.USER_AGENT_KEY);
			this.headers = HeaderBlock.of(metadata);
			RdmaClientStream.this.state.begin();
			if (RdmaClientStream.this.state.following != null && this.held == null) {
				sendRequest();
			}
		}

		private void release() {
			Held waiting = Objects.requireNonNull(this.held);
			synchronized (waiting) {
				waiting.released = true;
				StreamSender stream = RdmaClientStream.this.state.following;
				if (stream != null || waiting.ended) {
					sendRequest();
				}
				if (stream != null) {
					sendMessages(stream, true, waiting.ended);
				}
			}
		}

		@Override
		public void writeFrame(@Nullable WritableBuffer frame, boolean endOfStream, boolean flush, int messages) {
			Held waiting = this.held;
			if (waiting == null) {
				write(frame, endOfStream, flush, messages);
				return;
			}
			synchronized (waiting) {
				if (waiting.released) {
					write(frame, endOfStream, flush, messages);
					return;
				}
				getTransportTracer().reportMessageSent(messages);
				if (frame != null) {
					RdmaClientStream.this.pieces.await((OutgoingPiece) frame);
				}
				waiting.ended |= endOfStream;
			}
		}

		private void write(@Nullable WritableBuffer frame, boolean endOfStream, boolean flush, int messages) {
			getTransportTracer().reportMessageSent(messages);
			if (frame != null) {
				RdmaClientStream.this.pieces.await((OutgoingPiece) frame);
			}
			StreamSender stream = RdmaClientStream.this.state.following;
			if (stream != null) {
				sendMessages(stream, flush, endOfStream);
			}
			else if (endOfStream) {
				sendRequest();
			}
		}

		private void sendMessages(StreamSender stream, boolean flush, boolean endOfStream) {
			long waiting = RdmaClientStream.this.pieces.waitingBytes();
			if (waiting > 0 && (flush || endOfStream || waiting >= GrpcProtocol.MOST_WAITING_BYTES)) {
				send(() -> prepareMessage(stream), null);
			}
			if (endOfStream) {
				send(stream::prepareEnd, null);
			}
		}

		private OutgoingMessage prepareMessage(StreamSender stream) {
			MessageSegments message = GrpcProtocol.segments();
			try {
				RdmaClientStream.this.pieces.addTo(message);
				OutgoingMessage ready = stream.prepare(message);
				onSendingBytes(message.totalBytes());
				return ready;
			}
			finally {
				message.clear();
				RdmaClientStream.this.pieces.clear();
			}
		}

		private void send(Supplier<OutgoingMessage> preparation, @Nullable State awaited) {
			if (this.lost) {
				RdmaClientStream.this.pieces.clear();
				return;
			}
			try {
				OutgoingMessage message = preparation.get();
				if (awaited != null) {
					awaited.submitAndWait(message);
				}
				else {
					message.submit();
				}
			}
			catch (Throwable ex) {
				this.lost = true;
				cancel(Unsent.request(ex));
			}
		}

		private void sendRequest() {
			State call = RdmaClientStream.this.state;
			send(() -> {
				OutgoingMessage request = prepare(call);
				RdmaClientStream.this.stats.clientOutboundHeaders();
				call.submitted = true;
				return request;
			}, (call.blocking && this.held == null) ? call : null);
		}

		private OutgoingMessage prepare(State call) {
			RpcChannel channel = RdmaClientStream.this.transport.channel();
			MessageSegments message = GrpcProtocol.segments();
			try {
				RequestHead.add(message, RdmaClientStream.this.method.getFullMethodName(),
						RdmaClientStream.this.authority, this.headers, RdmaClientStream.this.transport.userAgent());
				RdmaClientStream.this.pieces.addTo(message);
				checkLength(message.totalBytes(), channel);
				InboundMessages replies = call.replies;
				if (replies != null) {
					channel.streams().begin(replies.receiver(), Integer.MAX_VALUE);
				}
				return channel.prepareRequest(call, GrpcProtocol.CALL, Long.MAX_VALUE, 0, RequestTemplate.NO_METADATA,
						message);
			}
			finally {
				message.clear();
				RdmaClientStream.this.pieces.clear();
				this.headers = HeaderBlock.NONE;
			}
		}

		private void checkLength(int length, RpcChannel channel) {
			if (length > channel.maxSendBytes()) {
				throw Status.RESOURCE_EXHAUSTED
					.withDescription("request of " + length + " bytes (expected: at most " + channel.maxSendBytes()
							+ ", which both sides accept)")
					.asRuntimeException();
			}
		}

		@Override
		public void cancel(Status reason) {
			State call = RdmaClientStream.this.state;
			call.tasks.execute(() -> call.cancel(reason));
		}

	}

	/** The call as gRPC's and this project's transports see it. */
	private final class State extends AbstractClientStream.TransportState
			implements PendingCall, InboundMessages.Consumer, StreamSender.Listener {

		private final SerialTasks tasks = RdmaClientStream.this.transport.newTasks();

		private final @Nullable InboundMessages replies;

		private final @Nullable StreamSender following;

		private final boolean blocking;

		private volatile @Nullable BlockingWait wait;

		private volatile boolean submitted;

		private volatile boolean done;

		private int requestId;

		private boolean headersRead;

		private boolean ended;

		State(CallOptions options, TransportTracer tracer) {
			super(RdmaClientStream.this.transport.maxMessageBytes(), RdmaClientStream.this.stats, tracer, options);
			RpcChannel channel = RdmaClientStream.this.transport.channel();
			MethodType type = RdmaClientStream.this.method.getType();
			int window = RdmaClientStream.this.transport.windowBytes();
			this.replies = type.serverSendsOneMessage() ? null : new InboundMessages(channel, this.tasks, this,
					(listener) -> new StreamReceiver(window, listener));
			this.blocking = BlockingWait.isMeant(type, options);
			this.following = type.clientSendsOneMessage() ? null : channel.streams().requestSender(this);
		}

		private void submitAndWait(OutgoingMessage request) {
			BlockingWait begun = new BlockingWait();
			this.wait = begun;
			begun.submitAndWait(RdmaClientStream.this.transport.channel().loop(), request, this, this.tasks);
		}

		/**
		 * Goes on with the end of the call where it is waited for, or after the turn;
		 * driver.
		 */
		private void ended(Runnable end) {
			BlockingWait begun = this.wait;
			boolean taken = begun != null && begun.takes(end);
			this.done = true;
			if (begun != null && taken) {
				RdmaClientStream.this.transport.channel().loop().wake(begun.caller());
			}
			else {
				this.tasks.executeAfterTurn(end);
			}
		}

		/** The call begins; the caller's thread. */
		private void begin() {
			Status refused = RdmaClientStream.this.transport.began(RdmaClientStream.this);
			getTransportTracer().reportLocalStreamStarted();
			if (RdmaClientStream.this.sink.held == null) {
				this.tasks.execute(this::allocated);
			}
			if (refused != null) {
				// gRPC repeats what has miscarried at once, which helps where there is
				// another connection.
				boolean full = refused.getCode() == Status.Code.RESOURCE_EXHAUSTED;
				RdmaClientStream.this.fail(refused, full ? RpcProgress.PROCESSED : RpcProgress.MISCARRIED);
			}
		}

		private void allocated() {
			onStreamAllocated();
		}

		@Override
		public void runOnTransportThread(Runnable task) {
			this.tasks.execute(task);
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
			cancel(Status.fromThrowable(cause));
		}

		private void cancel(Status reason) {
			this.done = true;
			if (this.submitted && !this.ended) {
				RdmaClientStream.this.transport.channel().abandon(this, CallFailure.CANCELLED, "cancelled");
			}
			transportReportStatus(reason, true, new Metadata());
			end();
		}

		private void fail(Status status, RpcProgress progress, boolean stopDelivery) {
			this.done = true;
			if (!this.ended) {
				transportReportStatus(status, progress, stopDelivery, new Metadata());
				end();
			}
		}

		private void end() {
			if (!this.ended) {
				this.ended = true;
				RdmaClientStream.this.pieces.close();
				RdmaClientStream.this.transport.ended(RdmaClientStream.this);
			}
		}

		@Override
		public void onStarted(int id) {
			this.requestId = id;
			InboundMessages stream = this.replies;
			if (stream != null) {
				stream.receiver().started(id);
			}
			StreamSender messages = this.following;
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
		public @Nullable StreamSender streamSender() {
			return this.following;
		}

		@Override
		public void onWanted(int messages) {
			// gRPC is told by what was sent how much more may come
		}

		@Override
		public void onSent(int messageBytes) {
			this.tasks.executeAfterTurn(() -> onSentBytes(messageBytes));
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
				ended(() -> deliver(status, memory, message));
			}
			catch (Throwable ex) {
				memory.release();
				throw ex;
			}
		}

		@Override
		public void onFailure(CallFailure failure, String detail) {
			closeStream();
			Status status = RdmaClientStream.this.transport.statusOf(failure, detail);
			RpcProgress progress = (failure == CallFailure.NOT_SENT) ? RpcProgress.MISCARRIED : RpcProgress.PROCESSED;
			ended(() -> fail(status, progress, false));
		}

		private void closeStream() {
			InboundMessages stream = this.replies;
			if (stream != null) {
				stream.receiver().close();
			}
		}

		@Override
		public void onMessage(RegisteredBuffer memory, ByteBuffer message) {
			if (this.ended) {
				memory.release();
				message.position(message.limit());
				return;
			}
			boolean kept = false;
			try {
				if (!this.headersRead) {
					readHeaders(ReplyHead.readHeaders(message, RdmaClientStream.this.transport.maxMetadataBytes()));
				}
				kept = true;
				read(memory, message);
			}
			catch (Throwable ex) {
				cancel(Status.fromThrowable(ex));
			}
			finally {
				if (!kept) {
					memory.release();
				}
			}
		}

		private void deliver(int code, RegisteredBuffer memory, ByteBuffer message) {
			boolean kept = false;
			try {
				if (!this.ended) {
					ReplyHead head = ReplyHead.read(message, RdmaClientStream.this.transport.maxMetadataBytes());
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
				cancel(Status.fromThrowable(ex));
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
				fail(described, RpcProgress.REFUSED, false);
			}
			else {
				inboundTrailersReceived(head.trailers(), described);
				end();
			}
		}

		private void readHeaders(Metadata headers) {
			this.headersRead = true;
			inboundHeadersReceived(headers);
		}

		private void read(RegisteredBuffer memory, ByteBuffer message) {
			if (message.hasRemaining() && !this.ended) {
				inboundDataReceived(new ReceivedBuffer(memory, message));
			}
			else {
				memory.release();
			}
		}

	}

}
