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
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.balancing.LoadBalancing;
import dev.rdmarpc.balancing.OutlierOptions;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.verbs.iwarp.TcpProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** A target with several addresses that stay the same. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcBalancingTests {

	private static final CallOptions PATIENT = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(30)));

	private static RpcClient client(RpcFixture fixture, List<InetSocketAddress> addresses,
			UnaryOperator<RpcClient.Builder> more) {
		return more
			.apply(RpcClient.builder()
				.transport(fixture.clientTransport)
				.addresses("places", addresses)
				.options(RpcClientOptions.DEFAULTS.withBackoff(Duration.ofMillis(10), Duration.ofMillis(100))))
			.build();
	}

	private static RpcClient client(RpcFixture fixture, InetSocketAddress... addresses) {
		return client(fixture, List.of(addresses), UnaryOperator.identity());
	}

	private static void awaitOpen(RpcClient client, int count) {
		client.connect();
		RpcFixture.awaitTrue(() -> client.metrics().open() == count);
	}

	/** An address of this host without a server. */
	static InetSocketAddress nobody(RpcFixture fixture) {
		try (RpcServer server = fixture.startServer(Place.class, new Served(-1))) {
			return server.address();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void callsGoToEachAddressInTurn(boolean blocking) {
		Served one = new Served(1);
		Served two = new Served(2);
		Served three = new Served(3);
		try (RpcFixture fixture = new RpcFixture();
				RpcServer first = fixture.startServer(Place.class, one);
				RpcServer second = fixture.startServer(Place.class, two);
				RpcServer third = fixture.startServer(Place.class, three);
				RpcClient client = client(fixture, first.address(), second.address(), third.address())) {
			assertThat(client.addresses()).hasSize(3)
				.extracting(AddressHealth::state)
				.containsOnly(ConnectionState.IDLE);
			Place place = PATIENT.on(client.proxy(Place.class));
			awaitOpen(client, 3);
			for (int i = 0; i < 30; i++) {
				assertThat(blocking ? place.where("x") : place.whereAsync("x").join()).isBetween(1, 3);
			}
			assertThat(List.of(one, two, three)).extracting((served) -> served.calls.get()).containsOnly(10);
			assertThat(client.addresses()).extracting(AddressHealth::state).containsOnly(ConnectionState.READY);
			assertThat(client.metrics().health()).isEqualTo(QueuePairPoolHealth.UP);
			assertThat(client.target()).isEqualTo("places");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void anAddressWithoutServerGetsNoCalls(boolean blocking) {
		Served served = new Served(1);
		try (RpcFixture fixture = new RpcFixture(); RpcServer server = fixture.startServer(Place.class, served)) {
			InetSocketAddress nobody = nobody(fixture);
			try (RpcClient client = client(fixture, nobody, server.address())) {
				Place place = PATIENT.on(client.proxy(Place.class));
				for (int i = 0; i < 100; i++) {
					assertThat(blocking ? place.where("x") : place.whereAsync("x").join()).isOne();
				}
				assertThat(client.metrics().health()).isEqualTo(QueuePairPoolHealth.UP);
				assertThat(client.state()).isEqualTo(ConnectionState.READY);
				assertThat(client.lastFailure()).isEmpty();
				RpcFixture.awaitTrue(() -> !client.addresses().get(0).lastFailure().isEmpty());
				assertThat(client.addresses()).extracting(AddressHealth::address)
					.containsExactly(text(nobody), text(server.address()));
				assertThat(client.addresses().get(1).queuePairs()).isOne();
			}
		}
	}

	private static String text(InetSocketAddress address) {
		return AddressPool.nameOf(address);
	}

	@Test
	void noServerAnywhereIsUnavailableWithTheReasons() {
		try (RpcFixture fixture = new RpcFixture()) {
			InetSocketAddress nobody = nobody(fixture);
			String nowhere = RpcFixture.UNKNOWN_HOST;
			InetSocketAddress neither = InetSocketAddress.createUnresolved(nowhere, 7471);
			try (RpcClient client = client(fixture, nobody, neither)) {
				Place place = PATIENT.on(client.proxy(Place.class));
				assertThat(RpcFixture.failureOf(() -> place.where("x"))).hasMessageContaining("UNAVAILABLE")
					.hasMessageContaining("no connection to places: " + text(nobody) + ": ")
					.hasMessageContaining(nowhere + ":7471: unknown host " + nowhere);
				assertThat(client.metrics().health()).isEqualTo(QueuePairPoolHealth.DOWN);
				assertThat(client.lastFailure()).contains("unknown host");
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void callsThatWaitTakeWhicheverAddressIsReadyFirst(boolean blocking) throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			InetSocketAddress nobody = nobody(fixture);
			InetSocketAddress late = nobody(fixture);
			try (RpcClient client = client(fixture, nobody, late)) {
				Place place = PATIENT.withWaitForReady().on(client.proxy(Place.class));
				List<CompletableFuture<Integer>> calls = new ArrayList<>();
				for (int i = 0; i < 3; i++) {
					calls.add(blocking ? RpcFixture.inThread(() -> place.where("x")) : place.whereAsync("x"));
				}
				RpcFixture.awaitTrue(() -> client.state() == ConnectionState.BACKOFF);
				assertThat(calls).noneMatch(CompletableFuture::isDone);
				try (RpcServer server = fixture.startServer(RpcFixture.serverOptions(late.getPort()), Place.class,
						new Served(2))) {
					for (CompletableFuture<Integer> call : calls) {
						assertThat(call.get(30, TimeUnit.SECONDS)).isEqualTo(2);
					}
					assertThat(server.isRunning()).isTrue();
				}
			}
		}
	}

	@Test
	@SuppressWarnings("try") // the proxy is closed before its block ends
	void idempotentCallsAreMadeAgainElsewhereAtOnceAndOthersOnlyOnce() throws Exception {
		Served one = new Served(1);
		Served two = new Served(2);
		try (RpcFixture fixture = new RpcFixture();
				RpcServer first = fixture.startServer(Place.class, one);
				RpcServer second = fixture.startServer(Place.class, two);
				TcpProxy proxy = new TcpProxy(first.address());
				RpcClient client = client(fixture, proxy.address(), second.address())) {
			Place place = PATIENT.on(client.proxy(Place.class));
			awaitOpen(client, 2);
			List<CompletableFuture<Integer>> repeatable = new ArrayList<>();
			List<CompletableFuture<Integer>> once = new ArrayList<>();
			one.hold();
			for (int i = 0; i < 10; i++) {
				repeatable.add(place.repeatable("r" + i));
			}
			for (int i = 0; i < 10; i++) {
				once.add(place.whereAsync("o" + i));
			}
			RpcFixture.awaitTrue(() -> one.calls.get() + two.calls.get() == 20);
			proxy.close();
			for (CompletableFuture<Integer> call : repeatable) {
				assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo(2);
			}
			int lost = 0;
			for (CompletableFuture<Integer> call : once) {
				lost += failsOnce(call);
			}
			assertThat(lost).as("calls of that connection that cannot be repeated").isEqualTo(one.ids("o").size());
			assertThat(one.ids("o")).doesNotContainAnyElementsOf(two.ids("o"));
			assertThat(two.ids("r")).as("all, in the end").hasSize(10);
			one.release();
			RpcFixture.awaitTrue(() -> first.activeCalls() == 0);
		}
	}

	private static int failsOnce(CompletableFuture<Integer> call) throws Exception {
		try {
			assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo(2);
			return 0;
		}
		catch (ExecutionException ex) {
			assertThat(ex.getCause()).isInstanceOfSatisfying(RpcException.class,
					(failure) -> assertThat(failure.status()).isEqualTo(RpcStatus.UNAVAILABLE));
			return 1;
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void serversThatStopOneAfterTheOtherFailNoCallAndServeNoneTwice(boolean blocking) throws Exception {
		Served[] services = { new Served(0), new Served(1), new Served(2) };
		try (RpcFixture fixture = new RpcFixture()) {
			RpcServer[] servers = new RpcServer[3];
			InetSocketAddress[] addresses = new InetSocketAddress[3];
			for (int i = 0; i < 3; i++) {
				servers[i] = fixture.startServer(Place.class, services[i]);
				addresses[i] = servers[i].address();
			}
			try (RpcClient client = client(fixture, addresses)) {
				Place place = PATIENT.on(client.proxy(Place.class));
				awaitOpen(client, 3);
				AtomicBoolean over = new AtomicBoolean();
				Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
				AtomicInteger answered = new AtomicInteger();
				List<CompletableFuture<Void>> callers = new ArrayList<>();
				for (int i = 0; i < 3; i++) {
					callers.add(RpcFixture.inThread(() -> {
						while (!over.get()) {
							String id = UUID.randomUUID().toString();
							try {
								assertThat(blocking ? place.where(id) : place.whereAsync(id).join()).isBetween(0, 2);
								answered.incrementAndGet();
							}
							catch (RuntimeException ex) {
								failures.add(ex);
							}
						}
						return null;
					}));
				}
				for (int i = 0; i < 6; i++) {
					int before = answered.get();
					RpcFixture.awaitTrue(() -> answered.get() > before + 100);
					servers[i % 3].close();
					int between = answered.get();
					RpcFixture.awaitTrue(() -> answered.get() > between + 100);
					servers[i % 3] = fixture.startServer(RpcFixture.serverOptions(addresses[i % 3].getPort()),
							Place.class, services[i % 3]);
					RpcFixture.awaitTrue(() -> client.metrics().open() == 3);
				}
				over.set(true);
				for (CompletableFuture<Void> caller : callers) {
					caller.get(30, TimeUnit.SECONDS);
				}
				assertThat(failures).isEmpty();
			}
			for (RpcServer server : servers) {
				server.close();
			}
			Map<String, Integer> executions = new ConcurrentHashMap<>();
			for (Served service : services) {
				service.ids.forEach((id) -> executions.merge(id, 1, Integer::sum));
			}
			assertThat(executions.values()).as("executions of each call").containsOnly(1);
		}
	}

	@Test
	@SuppressWarnings("try") // a server is closed before its block ends
	void callsWithOneKeyGoToOneAddressUntilItGoes() {
		Served[] services = { new Served(0), new Served(1), new Served(2) };
		try (RpcFixture fixture = new RpcFixture();
				RpcServer first = fixture.startServer(Place.class, services[0]);
				RpcServer second = fixture.startServer(Place.class, services[1]);
				RpcServer third = fixture.startServer(Place.class, services[2]);
				RpcClient client = client(fixture, List.of(first.address(), second.address(), third.address()),
						(builder) -> builder.loadBalancer(LoadBalancing.CONSISTENT_HASH.create()))) {
			Place place = PATIENT.on(client.proxy(Place.class));
			awaitOpen(client, 3);
			int[] homes = new int[50];
			for (int i = 0; i < homes.length; i++) {
				homes[i] = place.keyed(i, "key " + i);
				for (int again = 0; again < 3; again++) {
					assertThat(place.keyed(again, "key " + i)).isEqualTo(homes[i]);
					assertThat(place.keyedAsync("key " + i).join()).isEqualTo(homes[i]);
					assertThat(PATIENT.withHashKey("key " + i).on(place).where("any")).isEqualTo(homes[i]);
				}
			}
			assertThat(homes).contains(0, 1, 2);
			second.close();
			RpcFixture.awaitTrue(() -> client.metrics().open() == 2);
			for (int i = 0; i < homes.length; i++) {
				int now = place.keyed(i, "key " + i);
				assertThat(now).as("key %d", i).isNotEqualTo(1);
				if (homes[i] != 1) {
					assertThat(now).as("key %d", i).isEqualTo(homes[i]);
				}
			}
		}
	}

	@Test
	void keysOfTypesWithoutStableHashAreRefused() {
		Function<Class<?>, ServiceDescriptor> describe = (type) -> ServiceDescriptor.of("x", type,
				new FlatBuffersCodec());
		assertThatIllegalArgumentException().isThrownBy(() -> describe.apply(TwoKeys.class))
			.withMessageContaining("x/call has two parameters with @RdmaHashKey");
		assertThatIllegalArgumentException().isThrownBy(() -> describe.apply(ListKey.class))
			.withMessageContaining("x/call has @RdmaHashKey on a parameter of type java.util.List (expected: String");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void anAddressThatIsNotAvailableForCallsIsLeftOutForAWhile(boolean blocking) {
		Served healthy = new Served(1);
		Served ill = new Served(2);
		ill.ill = true;
		OutlierOptions hasty = OutlierOptions.DEFAULTS.withEjectionTime(Duration.ofMillis(300), Duration.ofMillis(300));
		try (RpcFixture fixture = new RpcFixture();
				RpcServer first = fixture.startServer(Place.class, healthy);
				RpcServer second = fixture.startServer(Place.class, ill);
				RpcClient client = client(fixture, List.of(first.address(), second.address()),
						(builder) -> builder.outliers(hasty))) {
			Place place = PATIENT.on(client.proxy(Place.class));
			awaitOpen(client, 2);
			int failed = 0;
			for (int i = 0; i < 10; i++) {
				failed += fails(place, blocking);
			}
			assertThat(failed).as("failures before it is left out").isEqualTo(5);
			assertThat(client.addresses().get(1).ejections()).isOne();
			assertThat(client.addresses()).extracting(AddressHealth::ejections).containsExactly(0L, 1L);
			ill.ill = false;
			int before = ill.calls.get();
			RpcFixture.awaitTrue(() -> {
				assertThat(fails(place, blocking)).isZero();
				return ill.calls.get() > before;
			});
		}
	}

	@Test
	@SuppressWarnings("try") // a server is closed before its block ends
	void anAddressIsNotLeftOutForAnOrderlyRestart() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer first = fixture.startServer(Place.class, new Served(1));
				RpcServer second = fixture.startServer(Place.class, new Served(2));
				RpcClient client = withQueuePairs(fixture, first.address(), second.address())) {
			int port = second.port();
			awaitOpen(client, 10);
			second.close();
			RpcFixture.awaitTrue(() -> client.metrics().losses() == 5);
			try (RpcServer again = fixture.startServer(RpcFixture.serverOptions(port), Place.class, new Served(2))) {
				RpcFixture.awaitTrue(() -> client.metrics().open() == 10);
				assertThat(again.channels()).hasSize(5);
				assertThat(client.addresses()).extracting(AddressHealth::ejections).containsOnly(0L);
			}
		}
	}

	@Test
	@SuppressWarnings("try") // the proxy is closed before its block ends
	void theLossOfAllQueuePairsOfAnAddressIsOneFailure() throws Exception {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer first = fixture.startServer(Place.class, new Served(1));
				RpcServer second = fixture.startServer(Place.class, new Served(2));
				TcpProxy proxy = new TcpProxy(second.address());
				RpcClient client = withQueuePairs(fixture, first.address(), proxy.address());
				RpcClient hasty = client(fixture, List.of(first.address(), proxy.address()), (builder) -> builder
					.outliers(new OutlierOptions(1, Duration.ofHours(1), Duration.ofHours(1), 50)))) {
			awaitOpen(client, 10);
			awaitOpen(hasty, 2);
			proxy.close();
			RpcFixture.awaitTrue(() -> client.metrics().losses() == 5 && hasty.metrics().losses() == 1);
			assertThat(client.addresses()).extracting(AddressHealth::ejections).containsOnly(0L);
			RpcFixture.awaitTrue(() -> hasty.addresses().get(1).ejections() == 1);
		}
	}

	private static RpcClient withQueuePairs(RpcFixture fixture, InetSocketAddress... addresses) {
		return client(fixture, List.of(addresses),
				(builder) -> builder.options(RpcClientOptions.DEFAULTS.withQueuePairs(QueuePairPoolOptions.fixed(5))
					.withBackoff(Duration.ofMillis(10), Duration.ofMillis(100))));
	}

	/** A one-way call has no reply, and so no status, not even that of the one before. */
	@Test
	void whatAnotherTargetHasRepliedIsNotHeldAgainstCallsWithoutReply() {
		Served one = new Served(1);
		Served two = new Served(2);
		Served ill = new Served(3);
		ill.ill = true;
		try (RpcFixture fixture = new RpcFixture();
				RpcServer first = fixture.startServer(Place.class, one);
				RpcServer second = fixture.startServer(Place.class, two);
				RpcServer elsewhere = fixture.startServer(Place.class, ill);
				RpcClient other = fixture.newClient(elsewhere);
				RpcClient client = client(fixture, first.address(), second.address())) {
			Place place = PATIENT.on(client.proxy(Place.class));
			awaitOpen(client, 2);
			assertThat(fails(PATIENT.on(other.proxy(Place.class)), true)).isOne();
			for (int i = 0; i < 20; i++) {
				place.note("x");
			}
			assertThat(client.addresses()).extracting(AddressHealth::ejections).containsOnly(0L);
			RpcFixture.awaitTrue(() -> one.calls.get() == 10 && two.calls.get() == 10);
		}
	}

	private static int fails(Place place, boolean blocking) {
		try {
			if (blocking) {
				place.where("x");
			}
			else {
				place.whereAsync("x").join();
			}
			return 0;
		}
		catch (RuntimeException ex) {
			return 1;
		}
	}

	@Test
	@SuppressWarnings("try") // a server is closed before its block ends
	void ifAllAreLeftOutOrGoneThoseThatAreConnectedHaveToDo() {
		Served ill = new Served(1);
		ill.ill = true;
		try (RpcFixture fixture = new RpcFixture();
				RpcServer first = fixture.startServer(Place.class, new Served(2));
				RpcServer second = fixture.startServer(Place.class, ill);
				RpcClient client = client(fixture, first.address(), second.address())) {
			Place place = PATIENT.on(client.proxy(Place.class));
			awaitOpen(client, 2);
			RpcFixture.awaitTrue(() -> {
				fails(place, true);
				return client.addresses().get(1).ejected();
			});
			assertThat(place.where("x")).isEqualTo(2);
			first.close();
			RpcFixture.awaitTrue(() -> client.metrics().open() == 1);
			ill.ill = false;
			assertThat(place.where("x")).isOne();
		}
	}

	@Test
	void aLoadBalancerThatFailsOrErrsIsNoFailureOfCalls() {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Place.class, new Served(1));
				RpcServer other = fixture.startServer(Place.class, new Served(1))) {
			List<InetSocketAddress> addresses = List.of(server.address(), other.address());
			try (RpcClient failing = client(fixture, addresses, (builder) -> builder.loadBalancer((all, key) -> {
				throw new IllegalStateException("undecided");
			}));
					RpcClient erring = client(fixture, addresses,
							(builder) -> builder.loadBalancer((all, key) -> all.size() + 7))) {
				assertThat(failing.proxy(Place.class).where("x")).isOne();
				assertThat(failing.proxy(Place.class).where("x")).isOne();
				assertThat(erring.proxy(Place.class).whereAsync("x").join()).isOne();
				assertThat(erring.proxy(Place.class).whereAsync("x").join()).isOne();
			}
		}
	}

	@Test
	void aClientWithoutAddressesIsNotBuilt() {
		assertThatIllegalArgumentException().isThrownBy(() -> RpcClient.builder().addresses("places", List.of()))
			.withMessage("no addresses of places (expected: at least one)");
	}

	/** Says where it is. */
	public interface Place {

		int where(String id);

		CompletableFuture<Integer> whereAsync(String id);

		@RdmaMethod(oneWay = true)
		void note(String id);

		@RdmaMethod(idempotent = true)
		CompletableFuture<Integer> repeatable(String id);

		int keyed(int other, @RdmaHashKey String key);

		CompletableFuture<Integer> keyedAsync(@RdmaHashKey String key);

	}

	/** Cannot be. */
	interface TwoKeys {

		void call(@RdmaHashKey String one, @RdmaHashKey String two);

	}

	/** Cannot be. */
	interface ListKey {

		void call(@RdmaHashKey List<String> keys);

	}

	/** A place that notes down what is called. */
	static final class Served implements Place {

		final AtomicInteger calls = new AtomicInteger();

		final Queue<String> ids = new ConcurrentLinkedQueue<>();

		volatile boolean ill;

		private volatile CountDownLatch held = new CountDownLatch(0);

		private final List<CompletableFuture<Integer>> open = new ArrayList<>();

		private final int number;

		Served(int number) {
			this.number = number;
		}

		void hold() {
			this.held = new CountDownLatch(1);
		}

		synchronized void release() {
			this.held.countDown();
			this.open.forEach((call) -> call.complete(this.number));
		}

		List<String> ids(String prefix) {
			return this.ids.stream().filter((id) -> id.startsWith(prefix)).toList();
		}

		@Override
		public int where(String id) {
			if (this.ill) {
				this.calls.incrementAndGet();
				throw new RpcException(RpcStatus.UNAVAILABLE, "ill");
			}
			this.ids.add(id);
			this.calls.incrementAndGet();
			return this.number;
		}

		@Override
		public synchronized CompletableFuture<Integer> whereAsync(String id) {
			int here = where(id);
			if (this.held.getCount() == 0) {
				return CompletableFuture.completedFuture(here);
			}
			CompletableFuture<Integer> later = new CompletableFuture<>();
			this.open.add(later);
			return later;
		}

		@Override
		public void note(String id) {
			where(id);
		}

		@Override
		public CompletableFuture<Integer> repeatable(String id) {
			return whereAsync(id);
		}

		@Override
		public int keyed(int other, String key) {
			return where(key);
		}

		@Override
		public CompletableFuture<Integer> keyedAsync(String key) {
			return whereAsync(key);
		}

	}

}
