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

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.TransportOptions;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

import static org.assertj.core.api.Assertions.assertThat;

/** In which order large messages of one connection are Read, and into how much memory. */
class LargeMessageTurnTests {

	private static final int MEBIBYTE = 1 << 20;

	@Test
	void messagesAwaitTheirTurnWithoutMemory() throws Exception {
		try (Fixture fixture = new Fixture(24 * MEBIBYTE, Duration.ofSeconds(1), 64 * MEBIBYTE)) {
			fixture.uploadAll(48, MEBIBYTE);
			assertThat(fixture.serverMemory.metrics().failures()).as("allocations that failed").isZero();
		}
	}

	@Test
	void nobodyIsGivenUpWhileTheMemoryAwaitedIsBeingRead() throws Exception {
		try (Fixture fixture = new Fixture(64 * MEBIBYTE, Duration.ZERO, 3 * MEBIBYTE)) {
			fixture.uploadAll(24, 2 * MEBIBYTE);
		}
	}

	@Test
	void shortMessagePassesLongOnes() throws Exception {
		try (Fixture fixture = new Fixture(256 * MEBIBYTE, Duration.ofSeconds(1), 64 * MEBIBYTE)) {
			AtomicInteger ended = new AtomicInteger();
			List<CompletableFuture<?>> all = new ArrayList<>();
			fixture.uploadAll(1, 1);
			fixture.holdServer();
			for (int i = 0; i < 5; i++) {
				all.add(fixture.uploads.upload(new byte[12 * MEBIBYTE]).thenRun(ended::incrementAndGet));
			}
			CompletableFuture<Integer> before = fixture.uploads.upload(new byte[200_000])
				.thenApply((length) -> ended.get());
			RpcFixture.awaitTrue(() -> fixture.client.metrics().outstandingCalls() == 6);
			fixture.release.countDown();
			assertThat(before.get(60, TimeUnit.SECONDS)).as("long messages before the short one").isLessThan(3);
			CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
		}
	}

	/** Takes messages and forgets them. */
	interface Uploads {

		@RdmaMethod(inline = true)
		int upload(byte[] bytes);

	}

	/** The same as its client sees it. */
	interface UploadsClient {

		CompletableFuture<Integer> upload(byte[] bytes);

	}

	/**
	 * A server and a client with memory of their own; nothing is outstanding at the end.
	 */
	private static final class Fixture implements AutoCloseable {

		final CountDownLatch held = new CountDownLatch(1);

		final CountDownLatch release = new CountDownLatch(1);

		final RegisteredMemory serverMemory;

		final RegisteredMemory clientMemory = memory(256 * MEBIBYTE, Duration.ofSeconds(20));

		final RdmaTransport serverTransport;

		final RdmaTransport clientTransport;

		final RpcServer server;

		final RpcClient client;

		final UploadsClient uploads;

		Fixture(int serverBytes, Duration allocationTimeout, long unfinishedBytes) {
			this.serverMemory = memory(serverBytes, allocationTimeout);
			TransportOptions options = TransportOptions.DEFAULTS.withProvider(IwarpProvider.NAME, "");
			this.serverTransport = RdmaTransport.open(options, this.serverMemory);
			this.clientTransport = RdmaTransport.open(options, this.clientMemory);
			this.server = RpcServer.builder()
				.transport(this.serverTransport)
				.options(RpcServerOptions.DEFAULTS.withLoopback(0)
					.withChannel(ChannelOptions.DEFAULTS.withUnfinished(unfinishedBytes)))
				.service(Uploads.class, (bytes) -> bytes.length)
				.build()
				.start();
			this.client = RpcClient.builder()
				.transport(this.clientTransport)
				.target("127.0.0.1", this.server.port())
				.build();
			this.uploads = this.client.proxy(Uploads.class.getName(), UploadsClient.class);
		}

		/** Has the server see what arrives at once, when it is released. */
		void holdServer() throws InterruptedException {
			ChannelLoop loop = this.server.channels().get(0).loop();
			Thread holder = new Thread(() -> loop.execute(() -> {
				this.held.countDown();
				try {
					this.release.await(60, TimeUnit.SECONDS);
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}));
			holder.start();
			assertThat(this.held.await(60, TimeUnit.SECONDS)).as("the server's loop is held").isTrue();
		}

		private static RegisteredMemory memory(int maxBytes, Duration allocationTimeout) {
			return RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(maxBytes)
				.withAllocationTimeout(allocationTimeout)
				.withLeakDetection(LeakDetection.PARANOID));
		}

		void uploadAll(int count, int bytes) throws Exception {
			List<CompletableFuture<Integer>> calls = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				calls.add(this.uploads.upload(new byte[bytes]));
			}
			for (CompletableFuture<Integer> call : calls) {
				assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo(bytes);
			}
		}

		@Override
		public void close() {
			this.client.close();
			this.server.close();
			this.clientTransport.close();
			this.serverTransport.close();
			assertThat(this.clientMemory.metrics().allocatedBytes()).as("client memory outstanding").isZero();
			assertThat(this.serverMemory.metrics().allocatedBytes()).as("server memory outstanding").isZero();
			this.clientMemory.close();
			this.serverMemory.close();
		}

	}

}
