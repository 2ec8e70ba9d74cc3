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

import java.nio.ByteBuffer;

import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.AbstractAsyncStub;
import io.grpc.stub.AbstractBlockingStub;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

import dev.rdmarpc.benchmarks.compare.Exchange;
import dev.rdmarpc.benchmarks.compare.HeldCalls;

/** The service under comparison and its stubs, in the form of generated ones. */
public final class PayloadsGrpc {

	private static final String SERVICE = "rdmarpc.benchmarks.Payloads";

	private static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo");

	private static final MethodDescriptor<byte[], byte[]> UPLOAD = method("Upload");

	private static final MethodDescriptor<byte[], byte[]> HOLD = method("Hold");

	private static final MethodDescriptor<byte[], byte[]> RELEASE = method("Release");

	private static final MethodDescriptor<byte[], byte[]> ECHO_ALL = method("EchoAll", MethodType.BIDI_STREAMING);

	private PayloadsGrpc() {
	}

	private static MethodDescriptor<byte[], byte[]> method(String name) {
		return method(name, MethodType.UNARY);
	}

	private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
		return MethodDescriptor.<byte[], byte[]>newBuilder()
			.setType(type)
			.setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
			.setRequestMarshaller(new PayloadMarshaller())
			.setResponseMarshaller(new PayloadMarshaller())
			.setSafe(true)
			.build();
	}

	/** Makes a stub whose calls block. */
	public static PayloadsBlockingStub newBlockingStub(Channel channel) {
		return AbstractBlockingStub.newStub(PayloadsBlockingStub::new, channel);
	}

	/** Makes a stub whose calls tell an observer. */
	public static PayloadsStub newStub(Channel channel) {
		return AbstractAsyncStub.newStub(PayloadsStub::new, channel);
	}

	/** Answers the calls. */
	public static class Service implements BindableService {

		private final HeldCalls held = new HeldCalls();

		@Override
		public ServerServiceDefinition bindService() {
			return ServerServiceDefinition.builder(SERVICE)
				.addMethod(ECHO, ServerCalls.asyncUnaryCall(Service::answer))
				.addMethod(UPLOAD,
						ServerCalls.asyncUnaryCall((request, observer) -> answer(
								ByteBuffer.allocate(Exchange.REPLY_BYTES).putLong(request.length).array(), observer)))
				.addMethod(HOLD,
						ServerCalls
							.asyncUnaryCall((request, observer) -> this.held.hold(() -> answer(request, observer))))
				.addMethod(ECHO_ALL, ServerCalls.asyncBidiStreamingCall(Echo::new))
				.addMethod(RELEASE, ServerCalls.asyncUnaryCall((request, observer) -> {
					this.held.release();
					answer(request, observer);
				}))
				.build();
		}

		private static void answer(byte[] reply, StreamObserver<byte[]> observer) {
			observer.onNext(reply);
			observer.onCompleted();
		}

	}

	/** Answers each message of a stream with itself. */
	private record Echo(StreamObserver<byte[]> replies) implements StreamObserver<byte[]> {

		@Override
		public void onNext(byte[] payload) {
			this.replies.onNext(payload);
		}

		@Override
		public void onError(Throwable cause) {
			this.replies.onError(cause);
		}

		@Override
		public void onCompleted() {
			this.replies.onCompleted();
		}

	}

	/** Makes calls that block. */
	public static final class PayloadsBlockingStub extends AbstractBlockingStub<PayloadsBlockingStub> {

		private PayloadsBlockingStub(Channel channel, CallOptions options) {
			super(channel, options);
		}

		@Override
		protected PayloadsBlockingStub build(Channel channel, CallOptions options) {
			return new PayloadsBlockingStub(channel, options);
		}

		/** Answered with the payload. */
		public byte[] echo(byte[] payload) {
			return ClientCalls.blockingUnaryCall(getChannel(), ECHO, getCallOptions(), payload);
		}

		/** Answered with the payload's length. */
		public byte[] upload(byte[] payload) {
			return ClientCalls.blockingUnaryCall(getChannel(), UPLOAD, getCallOptions(), payload);
		}

		/** Answered when {@link #release} is called. */
		public byte[] hold(byte[] payload) {
			return ClientCalls.blockingUnaryCall(getChannel(), HOLD, getCallOptions(), payload);
		}

		/** Has calls answered, as {@link HeldCalls#release}. */
		public byte[] release(byte[] payload) {
			return ClientCalls.blockingUnaryCall(getChannel(), RELEASE, getCallOptions(), payload);
		}

	}

	/** Makes calls that tell an observer. */
	public static final class PayloadsStub extends AbstractAsyncStub<PayloadsStub> {

		private PayloadsStub(Channel channel, CallOptions options) {
			super(channel, options);
		}

		@Override
		protected PayloadsStub build(Channel channel, CallOptions options) {
			return new PayloadsStub(channel, options);
		}

		/** Answered with the payload. */
		public void echo(byte[] payload, StreamObserver<byte[]> observer) {
			ClientCalls.asyncUnaryCall(getChannel().newCall(ECHO, getCallOptions()), payload, observer);
		}

		/** Each payload is answered with itself. */
		public StreamObserver<byte[]> echoAll(StreamObserver<byte[]> observer) {
			return ClientCalls.asyncBidiStreamingCall(getChannel().newCall(ECHO_ALL, getCallOptions()), observer);
		}

		/** Answered with the payload's length. */
		public void upload(byte[] payload, StreamObserver<byte[]> observer) {
			ClientCalls.asyncUnaryCall(getChannel().newCall(UPLOAD, getCallOptions()), payload, observer);
		}

	}

}
