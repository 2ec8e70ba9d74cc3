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

package dev.rdmarpc.boot.grpc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.grpc.client.ImportGrpcClients;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.advice.GrpcAdvice;
import org.springframework.grpc.server.advice.GrpcExceptionHandler;

import dev.rdmarpc.boot.grpc.hello.GreetRequest;
import dev.rdmarpc.boot.grpc.hello.GreeterGrpc;
import dev.rdmarpc.boot.grpc.hello.Greeting;

/** An application written for gRPC. Nothing in it knows of RDMA. */
@SpringBootApplication
@ImportGrpcClients(target = "greeter", types = GreeterGrpc.GreeterBlockingStub.class)
class GreeterApplication {

	@Bean
	GreeterService greeterService() {
		return new GreeterService();
	}

	@Bean
	@GlobalServerInterceptor
	CountingInterceptor countingInterceptor() {
		return new CountingInterceptor();
	}

	@Bean
	Problems problems() {
		return new Problems();
	}

	static class GreeterService extends GreeterGrpc.GreeterImplBase {

		/** Calls for the name "slow" say that they have begun, and wait. */
		final CountDownLatch begun = new CountDownLatch(1);

		final CountDownLatch goOn = new CountDownLatch(1);

		@Override
		public void greet(GreetRequest request, StreamObserver<Greeting> observer) {
			if (request.getName().equals("slow")) {
				this.begun.countDown();
				try {
					this.goOn.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			}
			observer.onNext(greeting(request));
			observer.onCompleted();
		}

		@Override
		public void greetManyTimes(GreetRequest request, StreamObserver<Greeting> observer) {
			for (int i = 0; i < request.getTimes(); i++) {
				observer.onNext(greeting(request));
			}
			observer.onCompleted();
		}

		private static Greeting greeting(GreetRequest request) {
			if (request.getName().isEmpty()) {
				throw new IllegalArgumentException("nobody to greet");
			}
			return Greeting.newBuilder().setText("Hello " + request.getName()).build();
		}

	}

	/** Public, as Spring gRPC demands it. */
	@GrpcAdvice
	public static class Problems {

		@GrpcExceptionHandler(IllegalArgumentException.class)
		public Status invalid(IllegalArgumentException ex) {
			return Status.INVALID_ARGUMENT.withDescription(ex.getMessage());
		}

	}

	/** Counts calls by method. */
	static class CountingInterceptor implements ServerInterceptor {

		final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();

		@Override
		public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(ServerCall<ReqT, RespT> call, Metadata headers,
				ServerCallHandler<ReqT, RespT> next) {
			this.calls.computeIfAbsent(call.getMethodDescriptor().getFullMethodName(), (method) -> new AtomicInteger())
				.incrementAndGet();
			return next.startCall(call, headers);
		}

		int count(String method) {
			AtomicInteger count = this.calls.get(method);
			return (count != null) ? count.get() : 0;
		}

	}

}
