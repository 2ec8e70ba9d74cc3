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

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

import dev.rdmarpc.benchmarks.workloads.grpc.BlobMarshaller.Blob;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.sample.store.FeaturePage;
import dev.rdmarpc.sample.store.FeatureStore;
import dev.rdmarpc.sample.store.FeatureVector;

/**
 * The stub of the sample's store and its binding to a server, in the form of generated
 * ones.
 */
final class StoreGrpc {

	private static final String SERVICE = "rdmarpc.sample.FeatureStore";

	private static final MessageMarshaller<String> KEY = new MessageMarshaller<>(
			(key) -> new MessageWriter(Integer.BYTES + key.length()).put(key).message(),
			(bytes) -> new MessageReader(bytes).string());

	private static final MessageMarshaller<List<String>> KEYS = new MessageMarshaller<>(
			(keys) -> new MessageWriter(64 * keys.size()).put(keys, MessageWriter::put).message(),
			(bytes) -> new MessageReader(bytes).list(MessageReader::string));

	private static final MessageMarshaller<Long> VERSION = new MessageMarshaller<>(
			(version) -> new MessageWriter(Long.BYTES).put(version).message(),
			(bytes) -> new MessageReader(bytes).longNumber());

	private static final MethodDescriptor<PutRequest, Long> PUT = method("Put",
			new MessageMarshaller<>(PutRequest::encode, PutRequest::decode), VERSION);

	private static final MethodDescriptor<String, Optional<FeatureVector>> GET = method("Get", KEY,
			VectorMessages.FOUND);

	private static final MethodDescriptor<List<String>, List<FeatureVector>> MULTI_GET = method("MultiGet", KEYS,
			VectorMessages.LIST);

	private static final MethodDescriptor<ScanRequest, FeaturePage> SCAN = method("Scan",
			new MessageMarshaller<>(ScanRequest::encode, ScanRequest::decode), VectorMessages.PAGE);

	private StoreGrpc() {
	}

	private static <Q, R> MethodDescriptor<Q, R> method(String name, Marshaller<Q> requests, Marshaller<R> replies) {
		return MethodDescriptor.<Q, R>newBuilder()
			.setType(MethodDescriptor.MethodType.UNARY)
			.setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
			.setRequestMarshaller(requests)
			.setResponseMarshaller(replies)
			.build();
	}

	/**
	 * Makes a stub.
	 * @param memory where large values are that it has got
	 */
	static Stub newStub(Channel channel, RegisteredMemory memory) {
		return new Stub(channel, CallOptions.DEFAULT, BlobMethods.of(memory));
	}

	/** A vector and its key. */
	record PutRequest(String key, float[] values) {

		byte[] encode() {
			return new MessageWriter(2 * Integer.BYTES + this.key.length() + Float.BYTES * this.values.length)
				.put(this.key)
				.put(this.values)
				.message();
		}

		static PutRequest decode(byte[] bytes) {
			MessageReader reader = new MessageReader(bytes);
			return new PutRequest(reader.string(), reader.floats());
		}

	}

	/** Which vectors. */
	record ScanRequest(String prefix, Optional<String> after, int limit) {

		byte[] encode() {
			return new MessageWriter(64).put(this.prefix)
				.put(this.after.stream().toList(), MessageWriter::put)
				.put(this.limit)
				.message();
		}

		static ScanRequest decode(byte[] bytes) {
			MessageReader reader = new MessageReader(bytes);
			return new ScanRequest(reader.string(), reader.list(MessageReader::string).stream().findFirst(),
					reader.number());
		}

	}

	/** The methods for large values, which are in the memory of one side. */
	private record BlobMethods(MethodDescriptor<Blob, byte[]> put, MethodDescriptor<String, Blob> get) {

		static BlobMethods of(RegisteredMemory memory) {
			BlobMarshaller blobs = new BlobMarshaller(memory);
			return new BlobMethods(
					method("PutBlob", blobs, new MessageMarshaller<>((nothing) -> nothing, (nothing) -> nothing)),
					method("GetBlob", KEY, blobs));
		}

	}

	/**
	 * Serves a store.
	 *
	 * @param store to serve
	 * @param memory where large values are received
	 */
	record Service(FeatureStore store, RegisteredMemory memory) implements BindableService {

		private static final byte[] NOTHING = new byte[0];

		@Override
		public ServerServiceDefinition bindService() {
			FeatureStore served = this.store;
			BlobMethods blobs = BlobMethods.of(this.memory);
			return ServerServiceDefinition.builder(SERVICE)
				.addMethod(PUT,
						ServerCalls.asyncUnaryCall(
								(request, observer) -> answer(served.put(request.key(), request.values()), observer)))
				.addMethod(GET, ServerCalls.asyncUnaryCall((key, observer) -> answer(served.get(key), observer)))
				.addMethod(MULTI_GET,
						ServerCalls.asyncUnaryCall((keys, observer) -> answer(served.multiGet(keys), observer)))
				.addMethod(SCAN,
						ServerCalls.asyncUnaryCall((request, observer) -> answer(
								served.scan(request.prefix(), request.after(), request.limit()), observer)))
				.addMethod(blobs.put(), ServerCalls.asyncUnaryCall(this::putBlob))
				.addMethod(blobs.get(), ServerCalls.asyncUnaryCall(this::getBlob))
				.build();
		}

		private void putBlob(Blob blob, StreamObserver<byte[]> observer) {
			RegisteredBuffer bytes = Objects.requireNonNull(blob.bytes());
			try {
				this.store.putBlob(blob.key(), bytes);
			}
			finally {
				bytes.release();
			}
			answer(NOTHING, observer);
		}

		private void getBlob(String key, StreamObserver<Blob> observer) {
			Optional<RegisteredBuffer> found = this.store.getBlob(key);
			try {
				answer(new Blob(key, found.orElse(null)), observer);
			}
			finally {
				found.ifPresent(RegisteredBuffer::release);
			}
		}

		private static <T> void answer(T reply, StreamObserver<T> observer) {
			observer.onNext(reply);
			observer.onCompleted();
		}

	}

	/** Makes calls that block, but for one that completes a future. */
	static final class Stub extends AbstractStub<Stub> implements FeatureStore {

		private final BlobMethods blobs;

		private Stub(Channel channel, CallOptions options, BlobMethods blobs) {
			super(channel, options);
			this.blobs = blobs;
		}

		@Override
		protected Stub build(Channel channel, CallOptions options) {
			return new Stub(channel, options, this.blobs);
		}

		private <Q, R> R call(MethodDescriptor<Q, R> method, Q request) {
			return ClientCalls.blockingUnaryCall(getChannel(), method, getCallOptions(), request);
		}

		@Override
		public long put(String key, float[] values) {
			return call(PUT, new PutRequest(key, values));
		}

		@Override
		public Optional<FeatureVector> get(String key) {
			return call(GET, key);
		}

		@Override
		public CompletableFuture<Optional<FeatureVector>> getAsync(String key) {
			FutureObserver<Optional<FeatureVector>> reply = new FutureObserver<>();
			ClientCalls.asyncUnaryCall(getChannel().newCall(GET, getCallOptions()), key, reply);
			return reply;
		}

		@Override
		public List<FeatureVector> multiGet(List<String> keys) {
			return call(MULTI_GET, keys);
		}

		@Override
		public FeaturePage scan(String prefix, Optional<String> after, int limit) {
			return call(SCAN, new ScanRequest(prefix, after, limit));
		}

		@Override
		public void putBlob(String key, RegisteredBuffer bytes) {
			call(this.blobs.put(), new Blob(key, bytes));
		}

		@Override
		public Optional<RegisteredBuffer> getBlob(String key) {
			return Optional.ofNullable(call(this.blobs.get(), key).bytes());
		}

	}

}
