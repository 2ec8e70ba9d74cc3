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

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Deadline;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.internal.ClientStreamListener;
import io.grpc.internal.ClientStreamListener.RpcProgress;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.InsightBuilder;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.TransportTracer;
import io.grpc.internal.WritableBuffer;
import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.StreamSender;

/**
 * The caller's end of one call. Headers and a single message are sent as one request when
 * the caller has half-closed; of several messages, each follows the request, which goes
 * at once.
 *
 * <p>
 * Implementation notes. What is sent comes from one thread at a time, the caller's. A
 * call that has to wait until others have ended is begun by another thread: only then
 * they share a lock.
 */
final class RdmaClientStream extends ClientReply implements StreamSender.Listener {

	private final MethodDescriptor<?, ?> method;

	private final boolean inUse;

	private final boolean blocking;

	private final @Nullable StreamSender following;

	private String authority;

	/** Those of the caller until it starts. */
	private @Nullable Metadata metadata;

	private byte[][] headers = HeaderBlock.NONE;

	private @Nullable Held held;

	private @Nullable Deadline deadline;

	/** Whether something could not be sent, so that nothing may follow it. */
	private volatile boolean lost;

	private boolean halfClosed;

	private volatile boolean cancelled;

	RdmaClientStream(RdmaClientTransport transport, MethodDescriptor<?, ?> method, Metadata headers,
			CallOptions callOptions, OutgoingPieces pieces, StatsTraceContext stats, TransportTracer tracer) {
		super(transport, method, pieces, stats, tracer);
		this.method = method;
		this.metadata = headers;
		this.authority = transport.authority();
		this.inUse = GrpcUtil.shouldBeCountedForInUse(callOptions);
		Integer ready = callOptions.getOnReadyThreshold();
		if (ready != null) {
			setReadyBytes(ready);
		}
		MethodType type = method.getType();
		this.blocking = BlockingWait.isMeant(type, callOptions);
		this.following = type.clientSendsOneMessage() ? null : transport.channel().streams().requestSender(this);
	}

	boolean shouldBeCountedForInUse() {
		return this.inUse;
	}

	@Override
	public void setAuthority(String value) {
		this.authority = value;
	}

	@Override
	public void setDeadline(Deadline value) {
		this.deadline = value;
		Metadata known = Objects.requireNonNull(this.metadata);
		known.discardAll(GrpcUtil.TIMEOUT_KEY);
		known.put(GrpcUtil.TIMEOUT_KEY, value.timeRemaining(TimeUnit.NANOSECONDS));
	}

	@Override
	public void setMaxOutboundMessageSize(int bytes) {
		framer().setMaxOutboundMessageSize(bytes);
	}

	/** Of no use here: streams are not compressed as a whole. */
	@Override
	public void setFullStreamDecompression(boolean enable) {
		// messages are compressed one by one
	}

	@Override
	public Attributes getAttributes() {
		return transport().getAttributes();
	}

	@Override
	public void appendTimeoutInsight(InsightBuilder insight) {
		insight.appendKeyValue("remote_addr", getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
	}

	@Override
	public boolean isReady() {
		return !this.cancelled && super.isReady();
	}

	@Override
	public void start(ClientStreamListener value) {
		setListener(value);
		Metadata known = Objects.requireNonNull(this.metadata);
		this.metadata = null;
		known.discardAll(GrpcUtil.CONTENT_TYPE_KEY);
		known.discardAll(GrpcUtil.TE_HEADER);
		known.discardAll(GrpcUtil.USER_AGENT_KEY);
		this.headers = HeaderBlock.of(known);
		register();
	}

	/** The call begins; the caller's thread. */
	private void register() {
		Status refused = transport().began(this);
		tracer().reportLocalStreamStarted();
		if (refused != null) {
			this.lost = true;
		}
		if (this.held == null) {
			if (this.following != null) {
				sendRequest();
			}
			// the user may send from here on, on another thread
			tasks().execute(this::begin);
		}
		if (refused != null) {
			// gRPC repeats what has miscarried at once, which helps where there is
			// another connection.
			boolean full = refused.getCode() == Status.Code.RESOURCE_EXHAUSTED;
			fail(refused, full ? RpcProgress.PROCESSED : RpcProgress.MISCARRIED);
		}
	}

	/** The call has to wait until others have ended; before others know of it. */
	void hold() {
		this.held = new Held();
	}

	/** The call needs to wait no longer. Any thread. */
	void release() {
		tasks().execute(this::begin);
		Held waiting = Objects.requireNonNull(this.held);
		synchronized (waiting) {
			waiting.released = true;
			StreamSender stream = this.following;
			if (stream != null || waiting.ended) {
				sendRequest();
			}
			if (stream != null) {
				sendMessages(stream, true, waiting.ended);
			}
		}
	}

	@Override
	public void halfClose() {
		if (!this.halfClosed) {
			this.halfClosed = true;
			framer().close();
		}
	}

	@Override
	public void deliverFrame(@Nullable WritableBuffer frame, boolean last, boolean flush, int messages) {
		Held waiting = this.held;
		if (waiting == null) {
			write(frame, last, flush, messages);
			return;
		}
		synchronized (waiting) {
			if (waiting.released) {
				write(frame, last, flush, messages);
				return;
			}
			tracer().reportMessageSent(messages);
			if (frame != null) {
				pieces().await((OutgoingPiece) frame);
			}
			waiting.ended |= last;
		}
	}

	private void write(@Nullable WritableBuffer frame, boolean last, boolean flush, int messages) {
		tracer().reportMessageSent(messages);
		if (frame != null) {
			pieces().await((OutgoingPiece) frame);
		}
		StreamSender stream = this.following;
		if (stream != null) {
			sendMessages(stream, flush, last);
		}
		else if (last) {
			sendRequest();
		}
	}

	private void sendMessages(StreamSender stream, boolean flush, boolean last) {
		long waiting = pieces().waitingBytes();
		if (waiting > 0 && (flush || last || waiting >= GrpcProtocol.MOST_WAITING_BYTES)) {
			send(() -> prepareMessage(stream, null), false);
		}
		if (last) {
			send(stream::prepareEnd, false);
		}
	}

	private void sendRequest() {
		send(this::beginRequest, this.blocking && this.held == null);
	}

	private void send(Supplier<OutgoingMessage> preparation, boolean await) {
		if (this.lost) {
			pieces().clear();
			return;
		}
		try {
			OutgoingMessage message = preparation.get();
			if (await) {
				submitAndWait(message);
			}
			else {
				message.submit();
			}
		}
		catch (Throwable ex) {
			lose(ex);
		}
	}

	private void lose(Throwable cause) {
		this.lost = true;
		Deadline known = this.deadline;
		boolean late = known != null && known.isExpired() && Unsent.isMemory(cause);
		giveUpLater(late ? Status.DEADLINE_EXCEEDED.withDescription(cause.getMessage()) : Unsent.request(cause));
	}

	@Override
	public void lacksMemory(Throwable cause) {
		lose(cause);
	}

	@Override
	public long patienceNanos() {
		long remaining = remainingNanos();
		return (remaining > 0) ? remaining : Long.MAX_VALUE;
	}

	/** What remains of the deadline, at least 1; 0 if there is none. */
	private long remainingNanos() {
		Deadline known = this.deadline;
		return (known != null) ? Math.max(1, known.timeRemaining(TimeUnit.NANOSECONDS)) : 0;
	}

	private OutgoingMessage beginRequest() {
		OutgoingMessage request = prepareRequest();
		try {
			// may make a call of its own
			stats().clientOutboundHeaders();
		}
		catch (Throwable ex) {
			request.abort();
			throw ex;
		}
		submitted();
		return request;
	}

	private OutgoingMessage prepareRequest() {
		RpcChannel channel = transport().channel();
		MessageSegments message = GrpcProtocol.segments();
		try {
			RequestHead.add(message, this.method.getFullMethodName(), this.authority, this.headers,
					transport().userAgent());
			pieces().addTo(message);
			checkLength(message.totalBytes(), channel);
			StreamReceiver stream = streamReceiver();
			if (stream != null) {
				channel.streams().begin(stream, Integer.MAX_VALUE);
			}
			return channel.prepareRequest(this, GrpcProtocol.CALL, Long.MAX_VALUE, remainingNanos(),
					RequestTemplate.NO_METADATA, message);
		}
		finally {
			message.clear();
			pieces().clear();
			this.headers = HeaderBlock.NONE;
		}
	}

	private static void checkLength(int length, RpcChannel channel) {
		if (length > channel.maxSendBytes()) {
			throw Status.RESOURCE_EXHAUSTED
				.withDescription("request of " + length + " bytes (expected: at most " + channel.maxSendBytes()
						+ ", which both sides accept)")
				.asRuntimeException();
		}
	}

	@Override
	void leave() {
		transport().ended(this);
	}

	@Override
	public void cancel(Status reason) {
		this.cancelled = true;
		giveUpLater(reason);
	}

	private void giveUpLater(Status reason) {
		tasks().execute(() -> giveUp(reason));
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
		tasks().executeAfterTurn(() -> sent(messageBytes));
	}

	/** How far a call is that has to wait; guards what is sent of it. */
	private static final class Held {

		private boolean released;

		private boolean ended;

	}

}
