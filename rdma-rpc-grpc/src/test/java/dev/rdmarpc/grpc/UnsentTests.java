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

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegistrationHook;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.verbs.MemoryRegion;

/** Calls end, and give their places back, if something of them cannot be sent. */
class UnsentTests {

	/** More than there is without more memory. */
	private static final byte[] MUCH = new byte[20 << 20];

	private static final Metadata.Key<byte[]> LARGE = Metadata.Key.of("large-bin", Metadata.BINARY_BYTE_MARSHALLER);

	private static final Metadata.Key<String> BROKEN = Metadata.Key.of("broken-bin", new Broken());

	private static final ChannelOptions FEW = ChannelOptions.DEFAULTS
		.withLimits(ChannelOptions.DEFAULTS.maxMessageBytes(), 1);

	/** What handlers do instead of answering. */
	private final Queue<ServerCall<byte[], byte[]>> held = new ConcurrentLinkedQueue<>();

	private Server serve(GrpcFixture fixture, Metadata headers, Metadata trailers) throws Exception {
		ServerCallHandler<byte[], byte[]> handler = (call, ignored) -> {
			call.sendHeaders(headers);
			if (call.getMethodDescriptor().getType() != MethodDescriptor.MethodType.UNARY) {
				call.sendMessage(new byte[1]);
			}
			call.close(Status.UNKNOWN, trailers);
			return new ServerCall.Listener<>() {
			};
		};
		return fixture.serve((builder) -> builder.maxConcurrentCalls(1)
			.addService(ServerServiceDefinition.builder(Bytes.SERVICE)
				.addMethod(Bytes.UNARY, handler)
				.addMethod(Bytes.SERVER, handler)
				.addMethod(Bytes.BIDI, (call, ignored) -> {
					this.held.add(call);
					return new ServerCall.Listener<>() {
					};
				})
				.build()));
	}

	private static ManagedChannel connect(GrpcFixture fixture, Server server, ChannelOptions options) {
		ManagedChannel channel = fixture.connect(server,
				(builder) -> builder.channelOptions(options).maxInboundMetadataSize(64 << 20));
		GrpcFixture.await(() -> channel.getState(true) == ConnectivityState.READY, "there is a connection");
		return channel;
	}

	private static Status call(ManagedChannel channel, MethodDescriptor<byte[], byte[]> method) {
		return new Begun(channel, method, new Metadata()).status
			.orTimeout(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS)
			.join();
	}

	private static <T> Metadata with(Metadata.Key<T> key, T value) {
		Metadata metadata = new Metadata();
		metadata.put(key, value);
		return metadata;
	}

	@Test
	void aReplyThatCannotBeEncodedIsReplaced() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture()) {
			Server server = serve(fixture, new Metadata(), with(BROKEN, "x"));
			ManagedChannel channel = connect(fixture, server, ChannelOptions.DEFAULTS);
			for (MethodDescriptor<byte[], byte[]> method : List.of(Bytes.UNARY, Bytes.SERVER, Bytes.UNARY)) {
				Status status = call(channel, method);
				Assertions.assertThat(status.getCode()).isEqualTo(Status.Code.INTERNAL);
				Assertions.assertThat(status.getDescription()).isEqualTo("the reply could not be sent");
			}
		}
	}

	@Test
	void aReplyForWhichThereIsNoMemoryIsReplaced() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture(); Full full = new Full(fixture)) {
			Server server = serve(fixture, with(LARGE, MUCH), new Metadata());
			ManagedChannel channel = connect(fixture, server, ChannelOptions.DEFAULTS);
			full.full = true;
			for (MethodDescriptor<byte[], byte[]> method : List.of(Bytes.UNARY, Bytes.SERVER, Bytes.UNARY)) {
				AtomicReference<Status> status = new AtomicReference<>();
				// the one before counts until its handler has returned
				GrpcFixture.await(() -> {
					status.set(call(channel, method));
					return !String.valueOf(status.get().getDescription()).startsWith("too many calls");
				}, "the place of the call before");
				Assertions.assertThat(status.get().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
				Assertions.assertThat(status.get().getDescription()).isEqualTo("no registered memory for the reply");
			}
		}
	}

	@Test
	void aCallThatHasWaitedEndsIfItCannotBeSent() throws Exception {
		try (GrpcFixture fixture = new GrpcFixture(); Full full = new Full(fixture)) {
			Server server = serve(fixture, new Metadata(), new Metadata());
			ManagedChannel channel = connect(fixture, server, FEW);
			Begun first = new Begun(channel, Bytes.BIDI, new Metadata());
			GrpcFixture.await(() -> !this.held.isEmpty(), "a call is held");
			Begun second = new Begun(channel, Bytes.UNARY, with(LARGE, MUCH));
			Assertions.assertThat(second.status).isNotDone();
			full.full = true;
			this.held.remove().close(Status.OK, new Metadata());
			Assertions.assertThat(first.status.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS).isOk()).isTrue();
			Status status = second.status.get(GrpcFixture.TIMEOUT_SECONDS, TimeUnit.SECONDS);
			Assertions.assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
			Assertions.assertThat(status.getDescription()).contains("no more memory");
			Assertions.assertThat(call(channel, Bytes.UNARY).getCode()).isEqualTo(Status.Code.UNKNOWN);
		}
	}

	/** Fails, and not as one that refuses, when the pool grows from some time on. */
	private static final class Full implements RegistrationHook, AutoCloseable {

		private final MemoryAttachment attachment;

		private volatile boolean full;

		Full(GrpcFixture fixture) {
			this.attachment = fixture.memory().attach(this);
		}

		@Override
		public MemoryRegion register(ByteBuffer extent) {
			if (this.full) {
				throw new OutOfMemoryError("no more memory");
			}
			return new Region(extent);
		}

		@Override
		public void deregister(MemoryRegion region) {
			// there is none
		}

		@Override
		public void close() {
			this.full = false;
			this.attachment.close();
		}

	}

	/** Nobody uses it. */
	private record Region(ByteBuffer memory) implements MemoryRegion {

		@Override
		public int lengthBytes() {
			return this.memory.remaining();
		}

		@Override
		public int localKey() {
			return 0;
		}

		@Override
		public int remoteKey() {
			return 0;
		}

		@Override
		public long remoteAddress() {
			return 0;
		}

		@Override
		public boolean isValid() {
			return true;
		}

		@Override
		public void close() {
			// nothing was registered
		}

	}

	/** Cannot be encoded. */
	private static final class Broken implements Metadata.BinaryStreamMarshaller<String> {

		@Override
		public InputStream toStream(String value) {
			throw new IllegalStateException("broken");
		}

		@Override
		public String parseStream(InputStream stream) {
			return "";
		}

	}

	private static final class Begun extends ClientCall.Listener<byte[]> {

		private final CompletableFuture<Status> status = new CompletableFuture<>();

		Begun(ManagedChannel channel, MethodDescriptor<byte[], byte[]> method, Metadata headers) {
			ClientCall<byte[], byte[]> call = channel.newCall(method, CallOptions.DEFAULT);
			call.start(this, headers);
			call.request(2);
			call.sendMessage(new byte[1]);
			call.halfClose();
		}

		@Override
		public void onClose(Status reason, Metadata trailers) {
			this.status.complete(reason);
		}

	}

}
