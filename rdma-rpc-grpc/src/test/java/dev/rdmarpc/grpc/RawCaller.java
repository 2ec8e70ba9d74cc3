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

import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.grpc.Server;
import io.grpc.Status;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.CallFailure;
import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ChannelState;
import dev.rdmarpc.transport.IncomingMessage;
import dev.rdmarpc.transport.PendingCall;
import dev.rdmarpc.transport.RequestTemplate;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.transport.StreamSender;

/**
 * Calls a server over a channel, without gRPC: what it says is up to the test. It does
 * not heed that it is to make no new calls.
 */
final class RawCaller implements ChannelHandler {

	/** Their memory does not follow the load. */
	static final ChannelOptions STEADY = ChannelOptions.DEFAULTS.withCredits(16, 16);

	private final CompletableFuture<RpcChannel> open = new CompletableFuture<>();

	private final CompletableFuture<String> closed = new CompletableFuture<>();

	private RawCaller() {
	}

	/** Connects to a server. */
	static RawCaller open(GrpcFixture fixture, Server server) throws Exception {
		RawCaller caller = new RawCaller();
		RpcChannel channel = fixture.transport()
			.newChannel(fixture.transport().sharedLoops(fixture.transport().rail(), 8192, 1).get(0),
					GrpcProtocol.options(STEADY, 0, 0, ServerSettings.NEVER, 0), caller);
		fixture.transport().connect(channel, new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort()));
		caller.channel();
		return caller;
	}

	/** The same for who needs the channel only. */
	static RpcChannel connect(GrpcFixture fixture, Server server) throws Exception {
		return open(fixture, server).channel();
	}

	RpcChannel channel() throws Exception {
		return this.open.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
	}

	boolean isClosed() {
		return this.closed.isDone();
	}

	static byte[] head(int method, int authority, int block, String content) {
		byte[] text = content.getBytes(StandardCharsets.US_ASCII);
		ByteBuffer bytes = ByteBuffer.allocate(8 + text.length).order(ByteOrder.LITTLE_ENDIAN);
		return bytes.putShort((short) method).putShort((short) authority).putInt(block).put(text).array();
	}

	static Reply call(RpcChannel channel, RequestTemplate template, byte[] content) throws Exception {
		Call call = new Call(null);
		submit(call, channel, template, content);
		return call.reply.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
	}

	static void submit(Call call, RpcChannel channel, RequestTemplate template, byte[] content) {
		MessageSegments message = new MessageSegments();
		message.addBytes(ByteBuffer.wrap(content));
		channel.prepareRequest(call, template, Long.MAX_VALUE, 0, RequestTemplate.NO_METADATA, message).submit();
		message.clear();
	}

	@Override
	public String codec() {
		return GrpcProtocol.CODEC;
	}

	@Override
	public void onOpen(RpcChannel channel) {
		this.open.complete(channel);
	}

	@Override
	public void onRequest(RpcChannel channel, IncomingMessage request) {
		channel.close("unexpected");
	}

	@Override
	public void onUnreadableRequest(RpcChannel channel, int requestId, String detail) {
		channel.close("unexpected");
	}

	@Override
	public void onCancel(RpcChannel channel, int requestId) {
		// nothing is served
	}

	@Override
	public void onGoodbye(RpcChannel channel) {
		// as if it had not been said
		try {
			Field state = RpcChannel.class.getDeclaredField("state");
			state.setAccessible(true);
			state.set(channel, ChannelState.OPEN);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void onClosed(RpcChannel channel, String reason) {
		this.open.completeExceptionally(new IllegalStateException(reason));
		this.closed.complete(reason);
	}

	/**
	 * What a call ended with.
	 *
	 * @param message that came with the status, with its head, or {@code null}
	 */
	record Reply(Status.Code status, CallFailure failure, byte[] message) {

		/** Whether the call was not begun. */
		boolean isRefused() {
			return this.message != null
					&& ReplyHead.read(ByteBuffer.wrap(this.message).order(ByteOrder.LITTLE_ENDIAN), 8192).refused();
		}

	}

	/** One call. */
	static class Call implements PendingCall {

		final CompletableFuture<Reply> reply = new CompletableFuture<>();

		final StreamSender sender;

		private int requestId;

		/**
		 * Creates the call.
		 * @param followed where its messages follow the request, or {@code null}
		 */
		Call(RpcChannel followed) {
			this.sender = (followed != null) ? followed.streams().requestSender((messages) -> {
			}) : null;
		}

		/** Waits for the end. */
		void end() {
			GrpcFixture.await(this.reply::isDone, "the call has ended");
		}

		@Override
		public void onStarted(int id) {
			this.requestId = id;
			if (this.sender != null) {
				this.sender.started(id);
			}
		}

		@Override
		public StreamSender streamSender() {
			return this.sender;
		}

		@Override
		public int requestId() {
			return this.requestId;
		}

		@Override
		public void onReply(IncomingMessage arrived) {
			Status.Code status = Status.fromCodeValue(arrived.status()).getCode();
			byte[] message = new byte[arrived.message().remaining()];
			arrived.message().get(message);
			RegisteredBuffer memory = arrived.take();
			memory.release();
			this.reply.complete(new Reply(status, null, message));
		}

		@Override
		public void onFailure(CallFailure failure, String detail) {
			this.reply.complete(new Reply(Status.Code.UNKNOWN, failure, null));
		}

		@Override
		public boolean isDone() {
			return this.reply.isDone();
		}

	}

}
