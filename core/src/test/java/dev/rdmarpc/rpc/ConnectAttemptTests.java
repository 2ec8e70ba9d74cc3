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

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.ChannelHandler;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.Rail;
import dev.rdmarpc.transport.RailHistory;
import dev.rdmarpc.transport.RdmaTransport;
import dev.rdmarpc.transport.RpcChannel;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Attempts to connect for which resources are missing. Where there is no memory to tell
 * how they have ended, nobody waits for them.
 */
@Timeout(60)
class ConnectAttemptTests {

	private final CompletableFuture<ConnectAttempt> abandoned = new CompletableFuture<>();

	@Test
	void isAbandonedIfThereIsNoMemoryToTellThatItHasFailed() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			ConnectAttempt attempt = attempt(context(fixture, ConnectAttemptTests::exhausted, null));
			attempt.start();
			assertThat(this.abandoned.get(20, TimeUnit.SECONDS)).isSameAs(attempt);
		}
	}

	@Test
	void isAbandonedIfThereIsNoMemoryToTellThatItCannotBegin() {
		AttemptContext context;
		try (RpcFixture fixture = new RpcFixture()) {
			context = context(fixture, ConnectAttemptTests::exhausted, null);
		}
		ConnectAttempt attempt = attempt(context);
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(attempt::start);
		assertThat(this.abandoned).isCompletedWithValue(attempt);
	}

	@Test
	void connectionGoesOnAfterThereWasNoMemoryToTellOfAFailure() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			AtomicInteger asked = new AtomicInteger();
			AtomicInteger told = new AtomicInteger();
			Supplier<InetSocketAddress> addresses = () -> (asked.incrementAndGet() == 1) ? exhausted()
					: new InetSocketAddress(TestEnvironment.host(), fixture.server.port());
			PoolCounters counters = new PoolCounters(new PoolCounters(), new AddressWatch() {

				@Override
				public void unreachable() {
					told.incrementAndGet();
					exhausted();
				}

			});
			ClientConnection connection = new ClientConnection((handler) -> context(fixture, addresses, handler),
					"flatbuffers", counters, new ClientMethods());
			try {
				CompletableFuture<RpcChannel> early = connection.channel(true);
				RpcFixture.awaitTrue(() -> told.get() == 1);
				assertThat(connection.channel(true).get(20, TimeUnit.SECONDS).isOpen()).isTrue();
				assertThat(early.get(20, TimeUnit.SECONDS).isOpen()).isTrue();
			}
			finally {
				connection.close();
			}
		}
	}

	@Test
	void otherRailsAreTriedWhereOneHasNoResourcesForAChannel() throws Exception {
		List<String> tried = new CopyOnWriteArrayList<>();
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer server = fixture.serve(fixture.transport("shm", "iwarp"), RailsFixture.loopback(0),
					new EchoService());
			RdmaTransport transport = fixture.transport("shm", "iwarp");
			ClientConnection connection = connection(transport, server.address(), tried, List.of("shm"));
			try {
				assertThat(connection.channel(false).get(20, TimeUnit.SECONDS).loop().rail()).isEqualTo("iwarp");
				assertThat(tried).containsExactly("shm", "iwarp");
				Await.until(() -> connection.state() == ConnectionState.READY);
			}
			finally {
				connection.close();
			}
		}
	}

	@Test
	void attemptEndsWithTheReasonsOfAllRailsWhereNoneHasResourcesForAChannel() throws Exception {
		List<String> tried = new CopyOnWriteArrayList<>();
		try (RailsFixture fixture = new RailsFixture()) {
			RpcServer server = fixture.serve(fixture.transport("shm", "iwarp"), RailsFixture.loopback(0),
					new EchoService());
			RdmaTransport transport = fixture.transport("shm", "iwarp");
			ClientConnection connection = connection(transport, server.address(), tried, List.of("shm", "iwarp"));
			try {
				assertThat(connection.channel(false)).failsWithin(Duration.ofSeconds(20))
					.withThrowableThat()
					.withMessageContaining("shm: it cannot be tried: ")
					.withMessageContaining("; iwarp: it cannot be tried: ")
					.withMessageContaining("no completion queue");
			}
			finally {
				connection.close();
			}
			assertThat(tried).startsWith("shm", "iwarp");
		}
	}

	/** One that finds no resources for a channel on some rails. */
	private static ClientConnection connection(RdmaTransport transport, InetSocketAddress address, List<String> tried,
			List<String> exhausted) {
		RpcClientOptions options = RpcClientOptions.DEFAULTS;
		ClientLoops loops = new ClientLoops(transport, options);
		RailHistory history = new RailHistory(loops.rails(), options.rails());
		Map<Rail, ChannelLoop> own = new ConcurrentHashMap<>() {

			@Override
			public ChannelLoop compute(Rail rail,
					BiFunction<? super Rail, ? super ChannelLoop, ? extends ChannelLoop> next) {
				tried.add(rail.name());
				if (exhausted.contains(rail.name())) {
					throw new VerbsException(VerbsError.LIMIT_EXCEEDED, "no completion queue");
				}
				return super.compute(rail, next);
			}

		};
		return new ClientConnection((handler) -> new AttemptContext(transport, "target", () -> address, options, loops,
				own, history, handler), "flatbuffers", new PoolCounters(), new ClientMethods());
	}

	@Test
	void isOverdueInTimeOrAtOnce() {
		AttemptLimit limit = new AttemptLimit(RpcClientOptions.DEFAULTS);
		limit.end();
		assertThat(limit.isOver()).isTrue();
		limit.begin();
		assertThat(limit.isOver()).isFalse();
		limit.end();
		limit.suspend(true);
		assertThat(limit.isOver()).isFalse();
		limit.suspend(false);
		assertThat(limit.isOver()).isFalse();
	}

	private ConnectAttempt attempt(AttemptContext context) {
		return new ConnectAttempt(context, new SpeechlessOwner(), context.history().order(), false);
	}

	private static AttemptContext context(RpcFixture fixture, Supplier<InetSocketAddress> addresses,
			ChannelHandler handler) {
		RpcClientOptions options = RpcClientOptions.DEFAULTS;
		ClientLoops loops = new ClientLoops(fixture.clientTransport, options);
		return new AttemptContext(fixture.clientTransport, "target", addresses, options, loops,
				new RailHistory(loops.rails(), options.rails()), handler);
	}

	private static InetSocketAddress exhausted() {
		throw new OutOfMemoryError("made up");
	}

	private final class SpeechlessOwner implements ConnectAttempt.Owner {

		@Override
		public void resolving(ConnectAttempt attempt, boolean still) {
		}

		@Override
		public void abandoned(ConnectAttempt attempt) {
			ConnectAttemptTests.this.abandoned.complete(attempt);
		}

		@Override
		public boolean begins(ConnectAttempt attempt, RpcChannel channel) {
			return true;
		}

		@Override
		public boolean mayGoOn(ConnectAttempt attempt, String reason) {
			return false;
		}

		@Override
		public void failed(ConnectAttempt attempt, String reason) {
			exhausted();
		}

	}

}
