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

package dev.rdmarpc.benchmarks.workloads.grpc;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.AbstractAsyncStub;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

import dev.rdmarpc.benchmarks.workloads.tensors.ParameterCalls;

/**
 * A parameter server's stub and its binding to a server, in the form of generated ones.
 */
final class ParametersGrpc {

	private static final String SERVICE = "rdmarpc.benchmarks.Parameters";

	private static final MessageMarshaller<byte[]> BYTES = new MessageMarshaller<>((bytes) -> bytes, (bytes) -> bytes);

	private static final MethodDescriptor<Tensor, byte[]> PUSH = method("Push");

	private static final MethodDescriptor<Tensor, byte[]> PULL = method("Pull");

	private ParametersGrpc() {
	}

	private static MethodDescriptor<Tensor, byte[]> method(String name) {
		return MethodDescriptor.<Tensor, byte[]>newBuilder()
			.setType(MethodDescriptor.MethodType.UNARY)
			.setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
			.setRequestMarshaller(new TensorMarshaller())
			.setResponseMarshaller(BYTES)
			.build();
	}

	static Stub newStub(Channel channel) {
		return AbstractAsyncStub.newStub(Stub::new, channel);
	}

	/** A tensor of a step, with its gradient or without. */
	record Tensor(int step, int number, byte[] gradient) {

	}

	/** Serves a parameter store. */
	record Service(ParameterCalls<byte[]> store) implements BindableService {

		@Override
		public ServerServiceDefinition bindService() {
			return ServerServiceDefinition.builder(SERVICE)
				.addMethod(PUSH,
						ServerCalls.asyncUnaryCall((request, observer) -> answer(
								this.store.push(request.step(), request.number(), request.gradient())
									.thenApply((length) -> ByteBuffer.allocate(Integer.BYTES).putInt(length).array()),
								observer)))
				.addMethod(PULL, ServerCalls.asyncUnaryCall(
						(request, observer) -> answer(this.store.pull(request.step(), request.number()), observer)))
				.build();
		}

		private static void answer(CompletableFuture<byte[]> reply, StreamObserver<byte[]> observer) {
			reply.whenComplete((bytes, problem) -> {
				if (problem != null) {
					observer.onError(Status.INTERNAL.withDescription(problem.toString()).asException());
				}
				else {
					observer.onNext(bytes);
					observer.onCompleted();
				}
			});
		}

	}

	/** Makes calls that complete futures. */
	static final class Stub extends AbstractAsyncStub<Stub> implements ParameterCalls<byte[]> {

		private static final byte[] NOTHING = new byte[0];

		private Stub(Channel channel, CallOptions options) {
			super(channel, options);
		}

		@Override
		protected Stub build(Channel channel, CallOptions options) {
			return new Stub(channel, options);
		}

		private CompletableFuture<byte[]> call(MethodDescriptor<Tensor, byte[]> method, Tensor tensor) {
			FutureObserver<byte[]> reply = new FutureObserver<>();
			ClientCalls.asyncUnaryCall(getChannel().newCall(method, getCallOptions()), tensor, reply);
			return reply;
		}

		@Override
		public CompletableFuture<Integer> push(int step, int tensor, byte[] gradient) {
			return call(PUSH, new Tensor(step, tensor, gradient)).thenApply((reply) -> ByteBuffer.wrap(reply).getInt());
		}

		@Override
		public CompletableFuture<byte[]> pull(int step, int tensor) {
			return call(PULL, new Tensor(step, tensor, NOTHING));
		}

	}

}
