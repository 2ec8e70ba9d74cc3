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

package dev.rdmarpc.rpc;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.flatbuffers.FlatBuffersOptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Arguments and results whose values would take more of the heap than there is for them.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcDecodedSizeTests {

	private final RpcFixture fixture = new RpcFixture();

	private final Keeper keeper = new Keeper();

	private final RpcServer server = RpcServer.builder()
		.transport(this.fixture.serverTransport)
		.options(RpcFixture.serverOptions(0))
		.codec(codec())
		.service(Values.class, this.keeper)
		.build()
		.start();

	private final RpcClient client = RpcClient.builder()
		.transport(this.fixture.clientTransport)
		.target(TestEnvironment.host(), this.server.port())
		.codec(codec())
		.build();

	private final Values values = this.client.proxy(Values.class);

	private static FlatBuffersCodec codec() {
		return new FlatBuffersCodec(FlatBuffersOptions.DEFAULTS.withMaxDecodedBytes(4L << 20));
	}

	@AfterEach
	void nothingIsOutstanding() {
		this.client.close();
		this.server.close();
		this.fixture.close();
	}

	@Test
	void argumentsOfCallsAtOnceShareTheHeap() throws Exception {
		List<CompletableFuture<Integer>> calls = new ArrayList<>();
		for (int i = 0; i < 9; i++) {
			calls.add(this.values.keep(new byte[1_000_000]));
		}
		RpcFixture.awaitTrue(() -> calls.stream().filter(CompletableFuture::isDone).count() == 5);
		assertThat(this.values.size(new byte[1_000])).isEqualTo(1_000);
		assertThat(RpcFixture.failureOf(() -> this.values.size(new byte[1_000_000])).status())
			.isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
		this.keeper.end.complete(0);
		int kept = 0;
		for (CompletableFuture<Integer> call : calls) {
			Throwable failure = call.handle((length, thrown) -> thrown).get(20, TimeUnit.SECONDS);
			if (failure == null) {
				kept++;
			}
			else {
				assertThat(failure).isInstanceOfSatisfying(RpcException.class, (ex) -> {
					assertThat(ex.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
					assertThat(ex).hasMessageContaining("the values of the message take up to 1000048 bytes of heap")
						.hasMessageContaining("are taken by others (expected: at most 4194304 altogether)");
				});
			}
		}
		assertThat(kept).isEqualTo(4);
		for (int i = 0; i < 10; i++) {
			assertThat(this.values.size(new byte[4_000_000])).isEqualTo(4_000_000);
		}
	}

	@Test
	void resultsThatAreTooLargeFailWithTheirStatus() {
		for (int i = 0; i < 10; i++) {
			assertThat(this.values.create(4_000_000)).hasSize(4_000_000);
			RpcException failure = RpcFixture.failureOf(() -> this.values.create(5_000_000));
			assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(failure).hasMessageContaining("reply cannot be decoded: the values of the message take");
		}
	}

	@Test
	void referencesToOneTableAreRefusedByTheServer() {
		try (RpcClient hostile = RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.target(TestEnvironment.host(), this.server.port())
			.codec(new ReferencesCodec())
			.build()) {
			for (int i = 0; i < 10; i++) {
				RpcException refused = RpcFixture.failureOf(() -> hostile.proxy(Values.class).count(List.of()));
				assertThat(refused.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
				assertThat(refused).hasMessageContaining("arguments cannot be decoded: a message of")
					.hasMessageContaining("more than 40 bytes for each of its own");
				assertThat(this.values.size(new byte[1_000])).isEqualTo(1_000);
			}
		}
	}

	@Test
	void referencesToOneTableAreRefusedByTheClient() {
		try (RpcServer hostile = RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(RpcFixture.serverOptions(0))
			.codec(new ReferencesCodec())
			.service(Values.class, this.keeper)
			.build()
			.start(); RpcClient other = this.fixture.newClient(hostile)) {
			for (int i = 0; i < 10; i++) {
				RpcException refused = RpcFixture.failureOf(() -> other.proxy(Values.class).list(1));
				assertThat(refused.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
				assertThat(refused).hasMessageContaining("reply cannot be decoded: a message of")
					.hasMessageContaining("more than 40 bytes for each of its own");
				assertThat(this.values.size(new byte[1_000])).isEqualTo(1_000);
			}
		}
	}

	/** The service of these tests. */
	public interface Values {

		CompletableFuture<Integer> keep(byte[] bytes);

		int size(byte[] bytes);

		byte[] create(int length);

		int count(List<Large> list);

		List<Large> list(int length);

	}

	/** Holds what it is given until the end. */
	private static final class Keeper implements Values {

		private final CompletableFuture<Integer> end = new CompletableFuture<>();

		@Override
		public CompletableFuture<Integer> keep(byte[] bytes) {
			return this.end.thenApply((ended) -> bytes.length);
		}

		@Override
		public int size(byte[] bytes) {
			return bytes.length;
		}

		@Override
		public byte[] create(int length) {
			return new byte[length];
		}

		@Override
		public int count(List<Large> list) {
			return list.size();
		}

		@Override
		public List<Large> list(int length) {
			return List.of();
		}

	}

	/** Much for four bytes. */
	public record Large(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l,
			long m, long n, long o, long p, long q, long r, long s, long t, long u, long v, long w, long x) {

	}

	/** Sends lists of references to one table in the place of all lists. */
	private static final class ReferencesCodec implements MessageCodec {

		private final MessageCodec codec = new FlatBuffersCodec();

		@Override
		public String name() {
			return this.codec.name();
		}

		@Override
		public MessageFormat arguments(MethodSignature method) {
			MessageFormat format = this.codec.arguments(method);
			return method.methodName().equals("count") ? new References(format) : format;
		}

		@Override
		public MessageFormat result(MethodSignature method) {
			MessageFormat format = this.codec.result(method);
			return method.methodName().equals("list") ? new References(format) : format;
		}

	}

	private static final class References implements MessageFormat {

		private static final int COUNT = 200_000;

		private final MessageFormat format;

		References(MessageFormat format) {
			this.format = format;
		}

		@Override
		public void encode(Object value, MessageSegments out) {
			ByteBuffer message = ByteBuffer.allocateDirect(36 + 4 * COUNT).order(ByteOrder.LITTLE_ENDIAN);
			message.putInt(12).putShort((short) 6).putShort((short) 8).putShort((short) 4).putShort((short) 0);
			message.putInt(8).putInt(4).putInt(COUNT);
			for (int i = 0; i < COUNT; i++) {
				message.putInt(4 * (COUNT - i) + 4);
			}
			message.putShort((short) 4).putShort((short) 4).putInt(4);
			out.clear();
			out.addBytes(message.flip());
		}

		@Override
		public Object decode(ByteBuffer message, ReceivedMemory memory) {
			return this.format.decode(message, memory);
		}

	}

}
