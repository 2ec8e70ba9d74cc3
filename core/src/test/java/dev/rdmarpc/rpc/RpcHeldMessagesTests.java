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

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.transport.ChannelSecurity;
import dev.rdmarpc.transport.HeldBytes;
import dev.rdmarpc.transport.PeerLimits;
import dev.rdmarpc.transport.PeerShare;
import dev.rdmarpc.transport.PrincipalLimits;
import dev.rdmarpc.transport.RdmaAuthenticator;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;

/** What a caller may leave in the messages of its streams. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcHeldMessagesTests {

	/** Shows its token as its name. */
	private static final RdmaAuthenticator BY_TOKEN = (credentials) -> {
		byte[] token = credentials.token();
		return CompletableFuture.completedFuture(
				(token != null) ? named(new String(token, StandardCharsets.UTF_8)) : RdmaAuthenticator.ANONYMOUS);
	};

	private static final int BLOCK_BYTES = 1_000_000;

	/** For five of them, and what is around them. */
	private static final int LIMIT = 5 * BLOCK_BYTES + 10_000;

	private static final int BLOCKS = 6;

	private static final int STREAMS = 4;

	/** Those that cannot have two messages within the limit. */
	private static final int TOO_MANY = 2;

	private final CountDownLatch released = new CountDownLatch(1);

	private final List<CompletableFuture<Long>> answers = new ArrayList<>();

	private static Principal named(String name) {
		return () -> name;
	}

	private void serve(int limit, BiConsumer<RpcFixture, RpcServer> test) {
		try (RpcFixture fixture = new RpcFixture()) {
			RpcServerOptions options = RpcFixture.serverOptions(0)
				.withPeers(PeerLimits.NONE.withPrincipal(new PrincipalLimits(8, 100, limit)));
			options = options
				.withChannel(options.channel().withSecurity(ChannelSecurity.NONE.withAuthenticator(BY_TOKEN)));
			try (RpcServer server = fixture.startServer(options, Store.class, new Pausing())) {
				try {
					test.accept(fixture, server);
				}
				finally {
					this.released.countDown();
				}
				RpcFixture.awaitTrue(() -> server.activeCalls() == 0 && server.channels().isEmpty());
			}
		}
	}

	private static RpcClient client(RpcFixture fixture, RpcServer server, String token) {
		ChannelSecurity security = token.isEmpty() ? ChannelSecurity.NONE
				: ChannelSecurity.NONE.withToken(() -> token.getBytes(StandardCharsets.UTF_8));
		return fixture.newClient(server, (options) -> options.withChannel(options.channel().withSecurity(security)));
	}

	private static Flow.Publisher<byte[]> blocks(int many) {
		return new FeedService.Numbers<>(many, (number) -> new byte[BLOCK_BYTES], () -> {
		});
	}

	private static long limited(RpcServer server) {
		return server.metrics().callsLimited().getOrDefault(PeerShare.Limit.REQUEST_BYTES, 0L);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "reports" })
	void callerWhoseMessagesNobodyTakesIsStoppedAtTheLimitAndOthersGoOn(String token) {
		serve(LIMIT, (fixture, server) -> {
			try (RpcClient greedy = client(fixture, server, token);
					RpcClient other = client(fixture, server, "batch")) {
				assertThat(other.proxy(Store.class).size(new byte[1])).isOne();
				long before = fixture.serverMemory.metrics().allocatedBytes();
				List<CompletableFuture<Long>> calls = new ArrayList<>();
				for (int i = 0; i < STREAMS; i++) {
					calls.add(greedy.proxy(Store.class).keep(blocks(BLOCKS)));
				}
				Await.until(() -> limited(server) >= TOO_MANY);
				// with the receives of the connection
				Await.until(() -> fixture.serverMemory.metrics().allocatedBytes() - before < LIMIT + 2 * BLOCK_BYTES);
				assertThat(other.proxy(Store.class).size(new byte[2 * BLOCK_BYTES])).isEqualTo(2 * BLOCK_BYTES);
				this.released.countDown();
				int complete = 0;
				for (CompletableFuture<Long> call : calls) {
					RpcException failure = RpcFixture.failureOf(() -> joined(call));
					if (failure != null) {
						assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
						assertThat(failure)
							.hasMessageContaining("too many bytes in messages of streams of "
									+ (token.isEmpty() ? "'" : "'" + token + "'"))
							.hasMessageContaining("(limit " + LIMIT + ")");
					}
					else {
						complete++;
						assertThat(call.join()).isEqualTo((long) BLOCKS * BLOCK_BYTES);
					}
				}
				assertThat(complete).isBetween(1, STREAMS - TOO_MANY);
				assertThat(greedy.proxy(Store.class).keep(blocks(BLOCKS)).join())
					.as("another call on the same connection")
					.isEqualTo((long) BLOCKS * BLOCK_BYTES);
				assertThat(greedy.metrics().losses()).isZero();
			}
		});
	}

	private static long joined(CompletableFuture<Long> call) {
		try {
			return call.join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RpcException why) ? why : ex;
		}
	}

	@Test
	void pausedHandlersWithinTheLimitGoOnLater() {
		serve(LIMIT, (fixture, server) -> {
			try (RpcClient client = client(fixture, server, "reports")) {
				CompletableFuture<Long> one = client.proxy(Store.class).keep(blocks(BLOCKS));
				CompletableFuture<Long> two = client.proxy(Store.class).keep(blocks(BLOCKS));
				RpcChannel channel = channel(server);
				Await.until(() -> HeldBytes.of(channel) >= 4L * BLOCK_BYTES);
				this.released.countDown();
				assertThat(one.join() + two.join()).isEqualTo(2L * BLOCKS * BLOCK_BYTES);
				Await.until(() -> HeldBytes.of(channel) == 0);
				assertThat(limited(server)).isZero();
			}
		});
	}

	private static RpcChannel channel(RpcServer server) {
		Await.until(() -> !server.channels().isEmpty());
		return server.channels().iterator().next();
	}

	@ParameterizedTest
	@EnumSource
	void nothingCountsAfterTheEnd(Exit exit) {
		serve(2 * BLOCK_BYTES + 10_000, (fixture, server) -> {
			RpcClient client = client(fixture, server, "reports");
			try (client) {
				CompletableFuture<Long> call = client.proxy(Store.class).keep(blocks(BLOCKS));
				RpcChannel channel = channel(server);
				Await.until(() -> HeldBytes.of(channel) >= 2L * BLOCK_BYTES);
				switch (exit) {
					case CONSUMED -> this.released.countDown();
					case CANCELLED -> call.cancel(true);
					case ANSWERED -> answer((answer) -> answer.complete(1L));
					case FAILED -> answer((answer) -> answer.completeExceptionally(new IllegalStateException()));
					case LOST -> channel.close("lost");
				}
				Await.until(call::isDone);
				this.released.countDown();
				Await.until(() -> HeldBytes.of(channel) == 0);
				assertThat(limited(server)).isZero();
			}
		});
	}

	private void answer(Consumer<CompletableFuture<Long>> how) {
		synchronized (this.answers) {
			this.answers.forEach(how);
		}
	}

	/** How a call ends. */
	enum Exit {

		CONSUMED, CANCELLED, ANSWERED, FAILED, LOST

	}

	/** Takes blocks. */
	interface Store {

		CompletableFuture<Long> keep(Flow.Publisher<byte[]> blocks);

		int size(byte[] bytes);

	}

	/** Takes none before it is released. */
	private final class Pausing implements Store {

		@Override
		public CompletableFuture<Long> keep(Flow.Publisher<byte[]> blocks) {
			CompletableFuture<Long> answer = IntakeService.reduce(blocks, 0L, (sum, block) -> {
				Await.latch(RpcHeldMessagesTests.this.released);
				sum[0] = (long) sum[0] + block.length;
			});
			synchronized (RpcHeldMessagesTests.this.answers) {
				RpcHeldMessagesTests.this.answers.add(answer);
			}
			return answer;
		}

		@Override
		public int size(byte[] bytes) {
			return bytes.length;
		}

	}

}
