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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.AbstractAsyncStub;
import io.grpc.stub.AbstractBlockingStub;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

import dev.rdmarpc.benchmarks.workloads.store.KeyValueStore;

/** The store's stubs and its binding to a server, in the form of generated ones. */
final class StoreGrpc {

	private static final String SERVICE = "rdmarpc.benchmarks.KeyValueStore";

	private static final int RECORD_BYTES = 1280;

	private static final MessageMarshaller<Boolean> ANSWER = new MessageMarshaller<>(
			(answer) -> new MessageWriter(Integer.BYTES).put(answer ? 1 : 0).message(),
			(bytes) -> new MessageReader(bytes).number() != 0);

	private static final MessageMarshaller<Map<String, byte[]>> VALUES = new MessageMarshaller<>(
			(values) -> new MessageWriter(RECORD_BYTES).put(values).message(),
			(bytes) -> new MessageReader(bytes).map());

	private static final MethodDescriptor<ReadRequest, Map<String, byte[]>> READ = method("Read",
			new MessageMarshaller<>(ReadRequest::encode, ReadRequest::decode), VALUES);

	private static final MethodDescriptor<ScanRequest, List<Map<String, byte[]>>> SCAN = method("Scan",
			new MessageMarshaller<>(ScanRequest::encode, ScanRequest::decode),
			new MessageMarshaller<>(StoreGrpc::encodeAll, StoreGrpc::decodeAll));

	private static final MethodDescriptor<WriteRequest, Boolean> UPDATE = method("Update",
			new MessageMarshaller<>(WriteRequest::encode, WriteRequest::decode), ANSWER);

	private static final MethodDescriptor<WriteRequest, Boolean> INSERT = method("Insert",
			new MessageMarshaller<>(WriteRequest::encode, WriteRequest::decode), ANSWER);

	private static final MethodDescriptor<String, Boolean> DELETE = method("Delete", new MessageMarshaller<>(
			(key) -> new MessageWriter(64).put(key).message(), (bytes) -> new MessageReader(bytes).string()), ANSWER);

	private static final MethodDescriptor<Integer, byte[]> BLOB = method("Blob",
			new MessageMarshaller<>((bytes) -> new MessageWriter(Integer.BYTES).put(bytes).message(),
					(bytes) -> new MessageReader(bytes).number()),
			new MessageMarshaller<>((blob) -> blob, (blob) -> blob));

	private StoreGrpc() {
	}

	private static <Q, R> MethodDescriptor<Q, R> method(String name, MessageMarshaller<Q> requests,
			MessageMarshaller<R> replies) {
		return MethodDescriptor.<Q, R>newBuilder()
			.setType(MethodDescriptor.MethodType.UNARY)
			.setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
			.setRequestMarshaller(requests)
			.setResponseMarshaller(replies)
			.build();
	}

	private static byte[] encodeAll(List<Map<String, byte[]>> records) {
		MessageWriter writer = new MessageWriter(Integer.BYTES + RECORD_BYTES * records.size()).put(records.size());
		records.forEach(writer::put);
		return writer.message();
	}

	private static List<Map<String, byte[]>> decodeAll(byte[] bytes) {
		MessageReader reader = new MessageReader(bytes);
		int size = reader.number();
		List<Map<String, byte[]>> records = new ArrayList<>(size);
		for (int i = 0; i < size; i++) {
			records.add(reader.map());
		}
		return records;
	}

	static BlockingStub newBlockingStub(Channel channel) {
		return AbstractBlockingStub.newStub(BlockingStub::new, channel);
	}

	static Stub newStub(Channel channel) {
		return AbstractAsyncStub.newStub(Stub::new, channel);
	}

	/** Which fields of a record. */
	record ReadRequest(String key, List<String> fields) {

		byte[] encode() {
			return new MessageWriter(64).put(this.key).put(this.fields).message();
		}

		static ReadRequest decode(byte[] bytes) {
			MessageReader reader = new MessageReader(bytes);
			return new ReadRequest(reader.string(), reader.strings());
		}

	}

	/** Which fields of which records. */
	record ScanRequest(String startKey, int count, List<String> fields) {

		byte[] encode() {
			return new MessageWriter(64).put(this.startKey).put(this.count).put(this.fields).message();
		}

		static ScanRequest decode(byte[] bytes) {
			MessageReader reader = new MessageReader(bytes);
			return new ScanRequest(reader.string(), reader.number(), reader.strings());
		}

	}

	/** A record, or some of its fields. */
	record WriteRequest(String key, Map<String, byte[]> values) {

		byte[] encode() {
			return new MessageWriter(RECORD_BYTES).put(this.key).put(this.values).message();
		}

		static WriteRequest decode(byte[] bytes) {
			MessageReader reader = new MessageReader(bytes);
			return new WriteRequest(reader.string(), reader.map());
		}

	}

	/** Serves a store. */
	record Service(KeyValueStore store) implements BindableService {

		@Override
		public ServerServiceDefinition bindService() {
			KeyValueStore served = this.store;
			return ServerServiceDefinition.builder(SERVICE)
				.addMethod(READ,
						ServerCalls.asyncUnaryCall(
								(request, observer) -> answer(served.read(request.key(), request.fields()), observer)))
				.addMethod(SCAN,
						ServerCalls.asyncUnaryCall((request, observer) -> answer(
								served.scan(request.startKey(), request.count(), request.fields()), observer)))
				.addMethod(UPDATE, ServerCalls.asyncUnaryCall(
						(request, observer) -> answer(served.update(request.key(), request.values()), observer)))
				.addMethod(INSERT, ServerCalls.asyncUnaryCall(
						(request, observer) -> answer(served.insert(request.key(), request.values()), observer)))
				.addMethod(DELETE, ServerCalls.asyncUnaryCall((key, observer) -> answer(served.delete(key), observer)))
				.addMethod(BLOB, ServerCalls.asyncUnaryCall((bytes, observer) -> answer(served.blob(bytes), observer)))
				.build();
		}

		private static <T> void answer(T reply, StreamObserver<T> observer) {
			observer.onNext(reply);
			observer.onCompleted();
		}

	}

	/** Makes calls that block. */
	static final class BlockingStub extends AbstractBlockingStub<BlockingStub> implements KeyValueStore {

		private BlockingStub(Channel channel, CallOptions options) {
			super(channel, options);
		}

		@Override
		protected BlockingStub build(Channel channel, CallOptions options) {
			return new BlockingStub(channel, options);
		}

		private <Q, R> R call(MethodDescriptor<Q, R> method, Q request) {
			return ClientCalls.blockingUnaryCall(getChannel(), method, getCallOptions(), request);
		}

		@Override
		public Map<String, byte[]> read(String key, List<String> fields) {
			return call(READ, new ReadRequest(key, fields));
		}

		@Override
		public List<Map<String, byte[]>> scan(String startKey, int count, List<String> fields) {
			return call(SCAN, new ScanRequest(startKey, count, fields));
		}

		@Override
		public boolean update(String key, Map<String, byte[]> values) {
			return call(UPDATE, new WriteRequest(key, values));
		}

		@Override
		public boolean insert(String key, Map<String, byte[]> values) {
			return call(INSERT, new WriteRequest(key, values));
		}

		@Override
		public boolean delete(String key) {
			return call(DELETE, key);
		}

		@Override
		public byte[] blob(int bytes) {
			return call(BLOB, bytes);
		}

	}

	/** Makes calls that tell an observer. */
	static final class Stub extends AbstractAsyncStub<Stub> {

		private Stub(Channel channel, CallOptions options) {
			super(channel, options);
		}

		@Override
		protected Stub build(Channel channel, CallOptions options) {
			return new Stub(channel, options);
		}

		void read(ReadRequest request, StreamObserver<Map<String, byte[]>> observer) {
			ClientCalls.asyncUnaryCall(getChannel().newCall(READ, getCallOptions()), request, observer);
		}

	}

}
