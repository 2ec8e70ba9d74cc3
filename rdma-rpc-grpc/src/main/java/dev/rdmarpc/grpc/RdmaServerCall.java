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
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.internal.ServerTransportListener;
import io.grpc.internal.StatsTraceContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.OutgoingMessage;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamReceiver;
import dev.rdmarpc.transport.StreamSender;

/**
 * The server's end of one call. What the handler answers is sent as one reply with
 * headers, message, trailers and status, unless the caller wants a stream: then headers
 * and messages are the messages of a stream, and trailers and status the reply.
 *
 * <p>
 * Implementation notes. The driver makes the object and tells it what happens; what
 * follows is left to the tasks of the call. gRPC's stream is made by the first of them.
 */
final class RdmaServerCall extends CountedCall implements StreamSender.Listener, InboundMessages.Consumer {

	private static final Logger logger = LoggerFactory.getLogger(RdmaServerCall.class);

	private static final RateLimitedLogger failures = new RateLimitedLogger(logger);

	private static final AtomicIntegerFieldUpdater<RdmaServerCall> REPLIED = AtomicIntegerFieldUpdater
		.newUpdater(RdmaServerCall.class, "replied");

	private final RdmaServerTransport transport;

	private final RpcChannel channel;

	private final SerialTasks tasks;

	private final OutgoingPieces pieces;

	private final int requestId;

	private final int requestBytes;

	private final ByteBuffer request;

	private final RegisteredBuffer memory;

	private final @Nullable StreamSender sender;

	private final @Nullable InboundMessages following;

	/** 1 when the reply that ends the call has been begun. */
	@SuppressWarnings("UnusedVariable") // changed by its updater
	private volatile int replied;

	/** What is sent when the messages before it are on their way; the driver's. */
	private @Nullable OutgoingMessage answer;

	private volatile @Nullable Metadata headers;

	private @Nullable RdmaServerStream stream;

	/** A request has arrived; driver. */
	RdmaServerCall(RdmaServerTransport transport, IncomingMessage request) {
		this.transport = transport;
		this.channel = transport.channel();
		this.tasks = new SerialTasks(transport.transport(), this.channel.loop());
		this.pieces = new OutgoingPieces(transport.transport().memory());
		this.requestId = request.requestId();
		this.requestBytes = request.messageBytes();
		this.sender = request.streamed() ? this.channel.streams().replySender(this.requestId, request.demand(), this)
				: null;
		this.following = request.followed() ? new InboundMessages(this.channel, this.tasks, this,
				(listener) -> this.channel.streams().requestReceiver(this.requestId, listener)) : null;
		this.request = request.message();
		this.memory = request.take();
	}

	RdmaServerTransport transport() {
		return this.transport;
	}

	SerialTasks tasks() {
		return this.tasks;
	}

	OutgoingPieces pieces() {
		return this.pieces;
	}

	int requestId() {
		return this.requestId;
	}

	/** gRPC has taken so many bytes of what has arrived. */
	void consumed(int bytes) {
		InboundMessages messages = this.following;
		if (messages != null) {
			messages.consumed(bytes);
		}
	}

	@Override
	void uncount() {
		Metadata known = this.headers;
		if (known != null && !isHandling()) {
			this.transport.takeBeginning(known);
		}
		this.transport.uncount(this.requestBytes);
	}

	@Nullable StreamSender sender() {
		return this.sender;
	}

	@Nullable StreamReceiver receiver() {
		InboundMessages messages = this.following;
		return (messages != null) ? messages.receiver() : null;
	}

	/** The call may begin; driver. */
	void onArrived() {
		StreamReceiver messages = receiver();
		if (messages != null) {
			messages.grant(Integer.MAX_VALUE, 0);
		}
		try {
			this.tasks.executeAfterTurn(this::begin);
		}
		catch (Throwable ex) {
			this.memory.release();
			handled();
			throw ex;
		}
	}

	/** The call has been given up, or the connection has ended; driver. */
	void onCancel(Status reason) {
		leave();
		boolean told = false;
		try {
			if (this.sender != null) {
				this.sender.close();
			}
			onEnded();
			this.tasks.executeAfterTurn(() -> cancelled(reason));
			told = true;
		}
		finally {
			if (!told) {
				handled();
			}
		}
	}

	private void cancelled(Status reason) {
		try {
			RdmaServerStream begun = this.stream;
			if (begun != null) {
				begun.cancelled(reason);
			}
		}
		finally {
			this.pieces.close();
		}
	}

	/** Nothing that arrives matters any more; driver. */
	void onEnded() {
		StreamReceiver messages = receiver();
		if (messages != null) {
			messages.close();
		}
	}

	@Override
	public int onMessage(RegisteredBuffer arrived, ByteBuffer message, @Nullable HeldPart part) {
		RdmaServerStream begun = this.stream;
		if (begun == null || begun.isDone()) {
			int length = message.remaining();
			arrived.release();
			HeldPart.release(part);
			return length;
		}
		begun.arrived(new ReceivedBuffer(arrived, message, part));
		return 0;
	}

	@Override
	public void onEnd() {
		RdmaServerStream begun = this.stream;
		if (begun != null && !begun.isDone()) {
			begun.halfClose();
		}
	}

	@Override
	public void onLost(String detail) {
		RdmaServerStream begun = this.stream;
		if (begun != null) {
			Status reason = Status.RESOURCE_EXHAUSTED.withDescription(detail);
			begun.fail(reason, reason);
		}
	}

	@Override
	public void onLimit(String detail) {
		this.transport.limited("Ended a stream", detail);
		onLost(detail);
	}

	@Override
	public void onWanted(int messages) {
		// gRPC is told by what has gone how much more may come
	}

	@Override
	public void onSent(int messageBytes) {
		this.tasks.executeAfterTurn(() -> {
			RdmaServerStream begun = this.stream;
			if (begun != null) {
				begun.sent(messageBytes);
			}
		});
	}

	private void begin() {
		boolean kept = false;
		boolean known = false;
		try {
			ServerTransportListener listener = this.transport.listener();
			if (listener == null) {
				return;
			}
			RequestHead head = RequestHead.read(this.request, this.transport.settings().maxMetadataBytes());
			StatsTraceContext stats = StatsTraceContext.newServerContext(this.transport.settings().tracers(),
					head.method(), head.headers());
			RdmaServerStream created = new RdmaServerStream(this, head.authority(), stats);
			this.stream = created;
			this.headers = head.headers();
			this.transport.beginning(head.headers(), this);
			listener.streamCreated(created, head.method(), head.headers());
			known = true;
			created.begin();
			kept = true;
			handBeginning(created);
		}
		catch (StatusRuntimeException ex) {
			refuse(ex.getStatus());
		}
		catch (Throwable ex) {
			failures.log(Level.WARN, "A call of {} could not begin", this.channel.remoteAddress(), ex);
			refuse(Status.INTERNAL.withDescription("the call could not begin"));
		}
		finally {
			if (!kept) {
				this.memory.release();
			}
			if (!known) {
				handled();
			}
		}
	}

	/** What came behind the head is for the reader; takes ownership of the memory. */
	private void handBeginning(RdmaServerStream begun) {
		InboundMessages messages = this.following;
		int bytes = this.request.remaining();
		if (bytes == 0) {
			this.memory.release();
		}
		else if (messages == null) {
			begun.arrived(new ReceivedBuffer(this.memory, this.request));
		}
		else {
			messages.uncounted(bytes);
			begun.arrived(beginning(messages, bytes));
		}
		if (messages == null) {
			begun.halfClose();
		}
	}

	/**
	 * What came behind the head of a call that may be open for long, in memory of its own
	 * if there would be much around it.
	 */
	private ReceivedBuffer beginning(InboundMessages messages, int bytes) {
		RegisteredBuffer copy = messages.receiver().tryCompact(this.memory, this.request);
		if (copy == null) {
			return new ReceivedBuffer(this.memory, this.request);
		}
		this.memory.release();
		return new ReceivedBuffer(copy, copy.buffer().limit(bytes));
	}

	private void refuse(Status reason) {
		RdmaServerStream begun = this.stream;
		if (begun != null) {
			begun.fail(reason, reason);
		}
		else {
			fail(reason);
		}
	}

	/**
	 * Ends the call with what its handler answers, when the messages before are on their
	 * way, unless it has ended another way. Any thread but the driver.
	 * @param headers those not sent yet, or {@code null}
	 */
	void reply(byte @Nullable [][] headers, Metadata trailers, Status status) {
		if (!REPLIED.compareAndSet(this, 0, 1)) {
			return;
		}
		OutgoingMessage ready;
		try {
			ready = prepare(headers, HeaderBlock.of(trailers), status);
		}
		catch (Throwable ex) {
			unsent(ex);
			this.pieces.clear();
			Status why = Unsent.reply(ex);
			drive(() -> endFailed(why));
			return;
		}
		if (!drive(() -> end(ready))) {
			ready.abort();
		}
	}

	/**
	 * Ends the call at once, since it is given up here, also if an answer waits to be
	 * sent. Any thread; does not wait for memory.
	 */
	void fail(Status why) {
		giveUp();
		this.replied = 1;
		drive(() -> {
			drop();
			endFailed(why);
		});
	}

	/** Has the driver end the call, or the connection if that cannot be. */
	private boolean drive(Runnable end) {
		try {
			this.channel.loop().execute(end);
			return true;
		}
		catch (Throwable ex) {
			unanswered(ex);
			return false;
		}
	}

	private void unanswered(Throwable cause) {
		failures.log(Level.WARN, "A call of {} could not be answered", this.channel.remoteAddress(), cause);
		this.channel.close("no memory for a reply");
	}

	/** Notes that something could not be sent. */
	void unsent(Throwable cause) {
		if (Unsent.isMemory(cause)) {
			logger.debug("No memory for a reply", cause);
		}
		else {
			failures.log(Level.WARN, "A reply to {} could not be sent", this.channel.remoteAddress(), cause);
		}
	}

	/** The driver, as below. */
	private void end(OutgoingMessage reply) {
		this.answer = reply;
		StreamSender messages = this.sender;
		if (messages == null || messages.drain(this::drained)) {
			drained();
		}
	}

	private void drained() {
		OutgoingMessage reply = this.answer;
		if (reply != null) {
			this.answer = null;
			if (this.transport.ended(this, reply) && this.sender != null) {
				tellAnswered();
			}
		}
	}

	private void tellAnswered() {
		boolean told = false;
		try {
			this.tasks.executeAfterTurn(() -> {
				RdmaServerStream begun = this.stream;
				if (begun != null) {
					begun.answered();
				}
			});
			told = true;
		}
		finally {
			if (!told) {
				handled();
			}
		}
	}

	/** Drops what waits until the caller takes it. */
	private void drop() {
		OutgoingMessage reply = this.answer;
		this.answer = null;
		if (reply != null) {
			reply.abort();
		}
		if (this.sender != null) {
			this.sender.close();
		}
	}

	private void endFailed(Status why) {
		if (!this.transport.isActive(this)) {
			return;
		}
		try {
			end(prepareFailure(why));
		}
		catch (Throwable ex) {
			unanswered(ex);
		}
	}

	/** A small reply, for which the driver has memory kept. */
	private OutgoingMessage prepareFailure(Status why) {
		try {
			return prepareFailure(why, why.getDescription());
		}
		catch (MemoryExhaustedException ex) {
			return prepareFailure(why, null);
		}
	}

	private OutgoingMessage prepareFailure(Status why, @Nullable String description) {
		MessageSegments message = GrpcProtocol.segments();
		try {
			ReplyHead.add(message, null, HeaderBlock.NONE, description);
			return this.channel.prepareReply(this.requestId, why.getCode().value(), RequestTemplate.NO_METADATA,
					message);
		}
		finally {
			message.clear();
		}
	}

	private OutgoingMessage prepare(byte @Nullable [][] headers, byte[][] trailers, Status status) {
		MessageSegments message = GrpcProtocol.segments();
		try {
			ReplyHead.add(message, headers, trailers, status.getDescription());
			if (this.sender == null) {
				this.pieces.addTo(message);
			}
			Status code = status;
			int length = message.totalBytes();
			if (length > this.channel.maxSendBytes()) {
				code = Status.RESOURCE_EXHAUSTED.withDescription("reply of " + length + " bytes (expected: at most "
						+ this.channel.maxSendBytes() + ", which both sides accept)");
				message.clear();
				ReplyHead.add(message, null, HeaderBlock.NONE, code.getDescription());
			}
			return this.channel.prepareReply(this.requestId, code.getCode().value(), RequestTemplate.NO_METADATA,
					message);
		}
		finally {
			message.clear();
			this.pieces.clear();
		}
	}

}
