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

package dev.rdmarpc.benchmarks.compare.grpc;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

import dev.rdmarpc.benchmarks.compare.BlockingLoop;
import dev.rdmarpc.benchmarks.compare.BlockingThreads;
import dev.rdmarpc.benchmarks.compare.CallbackLoop;
import dev.rdmarpc.benchmarks.compare.Exchange;
import dev.rdmarpc.benchmarks.compare.HeldCalls;
import dev.rdmarpc.benchmarks.compare.Mode;
import dev.rdmarpc.benchmarks.compare.Peer;
import dev.rdmarpc.benchmarks.compare.PeerClient;
import dev.rdmarpc.benchmarks.compare.PeerServer;
import dev.rdmarpc.benchmarks.compare.WaitingThreads;
import dev.rdmarpc.benchmarks.compare.Workload;

/**
 * Unary calls through grpc-java as its generated stubs make them: the asynchronous stub
 * for {@link Mode#ASYNC} and {@link Mode#MULTI}, the blocking stub else.
 */
public final class GrpcPeer implements Peer {

	private static final String SERVICE = "rdmarpc.benchmarks.Payload";

	private static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo");

	private static final MethodDescriptor<byte[], byte[]> UPLOAD = method("Upload");

	private static final MethodDescriptor<byte[], byte[]> HOLD = method("Hold");

	private static final MethodDescriptor<byte[], byte[]> RELEASE = method("Release");

	private final boolean direct;

	/**
	 * Creates the peer.
	 * @param direct whether both sides run callbacks on the transport's threads instead
	 * of grpc-java's default executor
	 */
	public GrpcPeer(boolean direct) {
		this.direct = direct;
	}

	private static MethodDescriptor<byte[], byte[]> method(String name) {
		return MethodDescriptor.<byte[], byte[]>newBuilder()
			.setType(MethodType.UNARY)
			.setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
			.setRequestMarshaller(new PayloadMarshaller())
			.setResponseMarshaller(new PayloadMarshaller())
			.setSafe(true)
			.build();
	}

	@Override
	public String name() {
		return this.direct ? "grpc-direct" : "grpc-default";
	}

	@Override
	public PeerServer startServer() throws Exception {
		HeldCalls held = new HeldCalls();
		NettyServerBuilder builder = NettyServerBuilder
			.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
			.maxInboundMessageSize(Integer.MAX_VALUE)
			.addService(ServerServiceDefinition.builder(SERVICE)
				.addMethod(ECHO, ServerCalls.asyncUnaryCall(GrpcPeer::echo))
				.addMethod(UPLOAD, ServerCalls.asyncUnaryCall(GrpcPeer::upload))
				.addMethod(HOLD,
						ServerCalls.asyncUnaryCall((request, observer) -> held.hold(() -> echo(request, observer))))
				.addMethod(RELEASE, ServerCalls.asyncUnaryCall((request, observer) -> {
					held.release();
					echo(request, observer);
				}))
				.build());
		if (this.direct) {
			builder.directExecutor();
		}
		return new RunningServer(builder.build().start());
	}

	private static void echo(byte[] request, StreamObserver<byte[]> observer) {
		observer.onNext(request);
		observer.onCompleted();
	}

	private static void upload(byte[] request, StreamObserver<byte[]> observer) {
		observer.onNext(ByteBuffer.allocate(Exchange.REPLY_BYTES).putLong(request.length).array());
		observer.onCompleted();
	}

	@Override
	public PeerClient connect(InetSocketAddress server, Workload workload) {
		MethodDescriptor<byte[], byte[]> method = (workload.exchange() == Exchange.ECHO) ? ECHO : UPLOAD;
		byte[] payload = new byte[workload.payloadBytes()];
		Arrays.fill(payload, (byte) 'x');
		if (workload.mode() != Mode.ASYNC && workload.mode() != Mode.MULTI) {
			return connectBlocking(open(server), workload, method, payload);
		}
		CallbackLoop loop = new CallbackLoop();
		for (int i = 0; i < workload.connections(); i++) {
			ManagedChannel channel = open(server);
			loop.add((slot) -> {
				StreamObserver<byte[]> observer = new SlotObserver(workload, slot);
				return () -> ClientCalls.asyncUnaryCall(channel.newCall(method, CallOptions.DEFAULT), payload,
						observer);
			}, workload.outstanding(), () -> close(channel));
		}
		return loop;
	}

	private static PeerClient connectBlocking(ManagedChannel channel, Workload workload,
			MethodDescriptor<byte[], byte[]> method, byte[] payload) {
		BlockingLoop.BlockingCall call = () -> check(workload, call(channel, method, payload));
		return switch (workload.mode()) {
			case WAITING -> new WaitingThreads(() -> call(channel, HOLD, payload),
					() -> call(channel, RELEASE, payload), workload.outstanding(), () -> close(channel));
			case THREADS -> new BlockingThreads(call, workload.outstanding(), () -> close(channel));
			default -> new BlockingLoop(call, () -> close(channel));
		};
	}

	private static byte[] call(ManagedChannel channel, MethodDescriptor<byte[], byte[]> method, byte[] payload) {
		return ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, payload);
	}

	private ManagedChannel open(InetSocketAddress server) {
		NettyChannelBuilder builder = NettyChannelBuilder.forAddress(server)
			.usePlaintext()
			.maxInboundMessageSize(Integer.MAX_VALUE);
		if (this.direct) {
			builder.directExecutor();
		}
		return builder.build();
	}

	private static void close(ManagedChannel channel) throws IOException {
		channel.shutdown();
		awaitEnd(channel::awaitTermination);
	}

	private static void awaitEnd(Termination termination) throws IOException {
		try {
			if (!termination.await(10, TimeUnit.SECONDS)) {
				throw new IOException("does not end");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new InterruptedIOException();
		}
	}

	private static void check(Workload workload, byte[] reply) {
		if (reply.length != workload.replyBytes()) {
			throw new IllegalStateException(
					"reply of " + reply.length + " bytes (expected: " + workload.replyBytes() + ")");
		}
	}

	private record RunningServer(Server server) implements PeerServer {

		@Override
		public int port() {
			return this.server.getPort();
		}

		@Override
		public void close() throws IOException {
			this.server.shutdownNow();
			awaitEnd(this.server::awaitTermination);
		}

	}

	/** Waits for something to end. */
	@FunctionalInterface
	private interface Termination {

		boolean await(long timeout, TimeUnit unit) throws InterruptedException;

	}

	private record SlotObserver(Workload workload, CallbackLoop.Slot slot) implements StreamObserver<byte[]> {

		@Override
		public void onNext(byte[] reply) {
			check(this.workload, reply);
		}

		@Override
		public void onError(Throwable cause) {
			this.slot.fail(cause);
		}

		@Override
		public void onCompleted() {
			this.slot.succeed();
		}

	}

}
