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
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.codec.ArrivingBytes;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.ReceivedMemory;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

import static org.assertj.core.api.Assertions.assertThat;

/** Arguments that are copied to their array while they arrive. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcArrivingBytesTests {

	private static final int LARGE = 1 << 20;

	private final WatchingCodec codec = new WatchingCodec();

	private final Random random = new Random(17);

	@Test
	void argumentsOfCallsOneAfterTheOtherAreFilledAsTheyArrive() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = server(fixture);
				RpcClient client = fixture.newClient(server)) {
			Files files = client.proxy(Files.class);
			for (int i = 0; i < 20; i++) {
				byte[] content = new byte[LARGE + this.random.nextInt(100_000)];
				this.random.nextBytes(content);
				assertThat(files.put("name " + i, content)).isEqualTo(sum(content));
			}
			assertThat(this.codec.foreseen.get()).as("all but those of a connection that has delivered little")
				.isBetween(15, 20);
		}
	}

	@Test
	void argumentsOfManyCallsAtOnceDoNotMixUp() throws Exception {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = server(fixture);
				RpcClient client = fixture.newClient(server)) {
			AsyncFiles files = client.proxy(Files.class.getName(), AsyncFiles.class);
			List<CompletableFuture<Long>> sums = new ArrayList<>();
			List<Long> expected = new ArrayList<>();
			for (int i = 0; i < 40; i++) {
				byte[] content = new byte[this.random.nextInt(2 * LARGE)];
				this.random.nextBytes(content);
				expected.add(sum(content));
				sums.add(files.put("name " + i, content));
				if (i % 4 == 3) {
					sums.get(i).get(20, TimeUnit.SECONDS);
				}
			}
			for (int i = 0; i < sums.size(); i++) {
				assertThat(sums.get(i).get(20, TimeUnit.SECONDS)).as("call %d", i).isEqualTo(expected.get(i));
			}
		}
	}

	/**
	 * What goes wrong there ends no call: decoding says what is wrong, if anything is.
	 */
	@Test
	void formatThatFailsToForeseeDoesNoHarm() {
		this.codec.failure = new IllegalStateException("by the test");
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = server(fixture);
				RpcClient client = fixture.newClient(server)) {
			for (int i = 0; i < 5; i++) {
				assertThat(client.proxy(Files.class).put("name", new byte[LARGE])).isZero();
			}
			assertThat(this.codec.asked.get()).isPositive();
		}
	}

	private RpcServer server(RpcFixture fixture) {
		return RpcServer.builder()
			.transport(fixture.serverTransport)
			.options(RpcFixture.serverOptions(0))
			.codec(this.codec)
			.service(Files.class, (name, content) -> sum(content))
			.build()
			.start();
	}

	private static long sum(byte[] content) {
		long sum = 0;
		for (byte value : content) {
			sum = 31 * sum + value;
		}
		return sum;
	}

	/** The service of these tests. */
	public interface Files {

		/** Answers with a sum of the content. */
		long put(String name, byte[] content);

	}

	/** The same for clients that do not wait. */
	public interface AsyncFiles {

		/** As {@link Files#put}. */
		CompletableFuture<Long> put(String name, byte[] content);

	}

	private static final class WatchingCodec implements MessageCodec {

		private final MessageCodec codec = new FlatBuffersCodec();

		private final AtomicInteger asked = new AtomicInteger();

		private final AtomicInteger foreseen = new AtomicInteger();

		private volatile @Nullable RuntimeException failure;

		@Override
		public String name() {
			return this.codec.name();
		}

		@Override
		public MessageFormat arguments(MethodSignature method) {
			MessageFormat format = this.codec.arguments(method);
			return new MessageFormat() {
				@Override
				public void encode(@Nullable Object value, MessageSegments out) {
					format.encode(value, out);
				}

				@Override
				public @Nullable Object decode(ByteBuffer message, ReceivedMemory memory) {
					return format.decode(message, memory);
				}

				@Override
				public @Nullable ArrivingBytes foresee(ByteBuffer begun, int messageBytes) {
					WatchingCodec.this.asked.incrementAndGet();
					RuntimeException thrown = WatchingCodec.this.failure;
					if (thrown != null) {
						throw thrown;
					}
					ArrivingBytes arriving = format.foresee(begun, messageBytes);
					if (arriving != null) {
						WatchingCodec.this.foreseen.incrementAndGet();
					}
					return arriving;
				}
			};
		}

		@Override
		public MessageFormat result(MethodSignature method) {
			return this.codec.result(method);
		}

	}

}
