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
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.balancing.AddressResolver;
import dev.rdmarpc.balancing.FixedAddresses;
import dev.rdmarpc.rpc.RpcBalancingTests.Place;
import dev.rdmarpc.rpc.RpcBalancingTests.Served;

import static org.assertj.core.api.Assertions.assertThat;

/** A target whose addresses come and go. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcChangingAddressesTests {

	private static final CallOptions PATIENT = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(30)));

	private static RpcClient client(RpcFixture fixture, AddressResolver resolver) {
		return RpcClient.builder()
			.transport(fixture.clientTransport)
			.addresses("places", resolver)
			.options(RpcClientOptions.DEFAULTS.withBackoff(Duration.ofMillis(10), Duration.ofMillis(100)))
			.build();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void addressesComeAndGoUnderLoadWithoutAFailedCall(boolean blocking) throws Exception {
		Registry registry = new Registry();
		Served[] services = { new Served(0), new Served(1), new Served(2) };
		try (RpcFixture fixture = new RpcFixture();
				RpcServer first = fixture.startServer(Place.class, services[0]);
				RpcServer second = fixture.startServer(Place.class, services[1]);
				RpcServer third = fixture.startServer(Place.class, services[2]);
				RpcClient client = client(fixture, registry)) {
			List<InetSocketAddress> all = List.of(first.address(), second.address(), third.address());
			registry.found = all.subList(0, 1);
			Place place = PATIENT.on(client.proxy(Place.class));
			assertThat(client.addresses()).isEmpty();
			AtomicBoolean over = new AtomicBoolean();
			Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
			List<CompletableFuture<Void>> callers = new ArrayList<>();
			for (int i = 0; i < 3; i++) {
				callers.add(RpcFixture.inThread(() -> {
					while (!over.get()) {
						try {
							assertThat(blocking ? place.where("x") : place.whereAsync("x").join()).isBetween(0, 2);
						}
						catch (RuntimeException ex) {
							failures.add(ex);
						}
					}
					return null;
				}));
			}
			for (int round = 0; round < 10; round++) {
				int next = (round + 1) % 3;
				registry.become(List.of(all.get(round % 3), all.get(next)));
				int before = services[next].calls.get();
				RpcFixture.awaitTrue(() -> services[next].calls.get() > before + 20);
				registry.become(List.of(all.get(next)));
				RpcFixture.awaitTrue(() -> namesOf(client).equals(List.of(AddressPool.nameOf(all.get(next)))));
				assertThat(client.metrics().open()).isOne();
			}
			over.set(true);
			for (CompletableFuture<Void> caller : callers) {
				caller.get(30, TimeUnit.SECONDS);
			}
			assertThat(failures).isEmpty();
			assertThat(client.metrics().losses()).as("connections lost").isZero();
		}
		assertThat(registry.closed).isTrue();
	}

	private static List<String> namesOf(RpcClient client) {
		return client.addresses().stream().map(AddressHealth::address).toList();
	}

	/**
	 * The only server was restarted elsewhere, which is known before it listens there.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void idempotentCallsWaitForATargetThatMovesWhileItRestarts(boolean blocking) throws Exception {
		Registry registry = new Registry();
		try (RpcFixture fixture = new RpcFixture(); RpcClient client = client(fixture, registry)) {
			InetSocketAddress elsewhere = RpcBalancingTests.nobody(fixture);
			Place place = PATIENT.on(client.proxy(Place.class));
			try (RpcServer before = fixture.startServer(Place.class, new Served(1))) {
				registry.found = List.of(before.address());
				assertThat(place.where("x")).isOne();
			}
			RpcFixture.awaitTrue(() -> client.metrics().losses() == 1);
			registry.become(List.of(elsewhere));
			RpcFixture.awaitTrue(() -> namesOf(client).equals(List.of(AddressPool.nameOf(elsewhere))));
			CompletableFuture<Integer> call = blocking ? RpcFixture.inThread(() -> place.repeatable("x").join())
					: place.repeatable("x");
			RpcFixture.awaitTrue(() -> client.state() == ConnectionState.BACKOFF);
			try (RpcServer after = fixture.startServer(RpcFixture.serverOptions(elsewhere.getPort()), Place.class,
					new Served(2))) {
				assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo(2);
				assertThat(after.isRunning()).isTrue();
			}
		}
	}

	@Test
	void callsToAnAddressThatGoesAreFinished() throws Exception {
		Registry registry = new Registry();
		Served one = new Served(1);
		try (RpcFixture fixture = new RpcFixture();
				RpcServer first = fixture.startServer(Place.class, one);
				RpcServer second = fixture.startServer(Place.class, new Served(2));
				RpcClient client = client(fixture, registry)) {
			registry.found = List.of(first.address());
			Place place = PATIENT.on(client.proxy(Place.class));
			one.hold();
			CompletableFuture<Integer> call = place.whereAsync("x");
			RpcFixture.awaitTrue(() -> one.calls.get() == 1);
			registry.become(List.of(second.address()));
			RpcFixture.awaitTrue(() -> place.where("y") == 2);
			assertThat(call).isNotDone();
			one.release();
			assertThat(call.get(20, TimeUnit.SECONDS)).isOne();
			RpcFixture.awaitTrue(() -> first.channels().isEmpty());
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void anAddressThatMovesIsLookedUpWhenItsConnectionIsLost(boolean blocking) {
		Registry registry = new Registry();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer second = fixture.startServer(Place.class, new Served(2));
				RpcClient client = client(fixture, registry)) {
			RpcServer first = fixture.startServer(Place.class, new Served(1));
			registry.found = List.of(first.address());
			Place place = PATIENT.withWaitForReady().on(client.proxy(Place.class));
			assertThat(place.where("x")).isOne();
			registry.found = List.of(second.address());
			first.close();
			assertThat(blocking ? place.where("x") : place.whereAsync("x").join()).isEqualTo(2);
		}
	}

	@Test
	void theIntervalIsKept() {
		Registry registry = new Registry();
		registry.interval = Duration.ofMillis(20);
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Place.class, new Served(1));
				RpcClient client = client(fixture, registry)) {
			registry.found = List.of(server.address());
			assertThat(registry.asked).as("nobody has called yet").hasValue(0);
			assertThat(client.proxy(Place.class).where("x")).isOne();
			RpcFixture.awaitTrue(() -> registry.asked.get() > 5);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aResolverThatDoesNotAnswerIsUnavailableWithTheReason(boolean blocking) throws Exception {
		Registry registry = new Registry();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Place.class, new Served(1));
				RpcClient client = client(fixture, registry)) {
			Place place = PATIENT.on(client.proxy(Place.class));
			assertThat(client.state()).isEqualTo(ConnectionState.IDLE);
			assertThat(client.metrics().health()).isEqualTo(QueuePairPoolHealth.UP);
			registry.failure = new IllegalStateException("the registry sleeps");
			assertThat(RpcFixture.failureOf(() -> place.where("x"))).hasMessageContaining("UNAVAILABLE")
				.hasMessageContaining("no connection to places: the registry does not answer: ")
				.hasMessageContaining("the registry sleeps");
			assertThat(client.state()).isIn(ConnectionState.BACKOFF, ConnectionState.CONNECTING);
			CompletableFuture<Integer> waiting = blocking
					? RpcFixture.inThread(() -> PATIENT.withWaitForReady().on(place).where("x"))
					: PATIENT.withWaitForReady().on(place).whereAsync("x");
			registry.failure = null;
			RpcFixture.awaitTrue(() -> String.valueOf(RpcFixture.failureOf(() -> place.where("x")).getMessage())
				.contains("the registry has no addresses"));
			assertThat(waiting).isNotDone();
			registry.become(List.of(server.address()));
			assertThat(waiting.get(30, TimeUnit.SECONDS)).isOne();
			assertThat(client.metrics().health()).isEqualTo(QueuePairPoolHealth.UP);
		}
	}

	@Test
	void addressesThatAreKnownOutliveAFailureAndAnEmptyAnswer() {
		Registry registry = new Registry();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Place.class, new Served(1));
				RpcClient client = client(fixture, registry)) {
			registry.found = List.of(server.address(), server.address());
			Place place = PATIENT.on(client.proxy(Place.class));
			assertThat(place.where("x")).isOne();
			assertThat(client.addresses()).as("each once").hasSize(1);
			int asked = registry.asked.get();
			registry.become(List.of());
			RpcFixture.awaitTrue(() -> registry.asked.get() > asked + 1);
			registry.failure = new IllegalStateException("the registry sleeps");
			int failed = registry.asked.get();
			RpcFixture.awaitTrue(() -> registry.asked.get() > failed + 1);
			assertThat(place.where("x")).isOne();
			assertThat(client.addresses()).hasSize(1);
			assertThat(client.metrics().losses()).isZero();
		}
	}

	@Test
	void thereIsAMostOfAddresses() {
		Registry registry = new Registry();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Place.class, new Served(1));
				RpcClient client = client(fixture, registry)) {
			List<InetSocketAddress> many = new ArrayList<>(List.of(server.address()));
			for (int i = 0; i < BalancedPools.MOST_ADDRESSES + 100; i++) {
				many.add(InetSocketAddress.createUnresolved(RpcFixture.UNKNOWN_HOST, 1 + i));
			}
			assertThat(new FixedAddresses(many).resolve()).hasSize(many.size());
			registry.found = many.subList(0, 1);
			assertThat(client.proxy(Place.class).where("x")).isOne();
			List<Integer> told = new CopyOnWriteArrayList<>();
			client.onAddresses((addresses) -> told.add(addresses.size()));
			int asked = registry.asked.get();
			registry.become(registry.found);
			RpcFixture.awaitTrue(() -> registry.asked.get() > asked);
			registry.become(many);
			RpcFixture.awaitTrue(() -> told.size() == 2);
			registry.become(many.subList(0, 1));
			RpcFixture.awaitTrue(() -> told.size() == 3);
			assertThat(told).containsExactly(1, BalancedPools.MOST_ADDRESSES, 1);
			assertThat(client.proxy(Place.class).where("x")).isOne();
		}
	}

	@Test
	void aClosedClientAsksNoMoreAndFailsThoseThatWait() throws Exception {
		Registry registry = new Registry();
		registry.failure = new IllegalStateException("the registry sleeps");
		try (RpcFixture fixture = new RpcFixture()) {
			CompletableFuture<Integer> waiting;
			try (RpcClient client = client(fixture, registry)) {
				waiting = PATIENT.withWaitForReady().on(client.proxy(Place.class)).whereAsync("x");
				RpcFixture.awaitTrue(() -> registry.asked.get() > 1);
				assertThat(waiting).isNotDone();
			}
			assertThat(waiting.handle((place, failure) -> String.valueOf(failure)).get(20, TimeUnit.SECONDS))
				.contains("the client is closed");
			assertThat(registry.closed).isTrue();
		}
	}

	/** Addresses as the test says. */
	private static final class Registry implements AddressResolver {

		final AtomicInteger asked = new AtomicInteger();

		volatile List<InetSocketAddress> found = List.of();

		volatile @Nullable RuntimeException failure;

		volatile Duration interval = Duration.ZERO;

		volatile boolean closed;

		private volatile Runnable changed = () -> {
		};

		void become(List<InetSocketAddress> addresses) {
			this.found = addresses;
			this.changed.run();
		}

		@Override
		public List<InetSocketAddress> resolve() {
			this.asked.incrementAndGet();
			RuntimeException known = this.failure;
			if (known != null) {
				throw known;
			}
			return this.found;
		}

		@Override
		public Duration refreshInterval() {
			return this.interval;
		}

		@Override
		public void onChange(Runnable told) {
			this.changed = told;
		}

		@Override
		public void close() {
			this.closed = true;
		}

		@Override
		public String toString() {
			return "the registry";
		}

	}

}
