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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.balancing.Candidate;
import dev.rdmarpc.balancing.LoadBalancer;
import dev.rdmarpc.balancing.OutlierDetector;
import dev.rdmarpc.balancing.OutlierOptions;
import dev.rdmarpc.transport.RailHistory;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What becomes of the addresses of a target where something fails when they change. */
@Timeout(60)
class BalancedPoolsTests {

	private static final List<InetSocketAddress> ADDRESSES = List.of(RailsFixture.loopback(1), RailsFixture.loopback(2),
			RailsFixture.loopback(3));

	private final OutlierDetector outliers = new OutlierDetector(
			new OutlierOptions(1, Duration.ofMinutes(1), Duration.ofMinutes(1), 50));

	private final List<AddressPool> made = new ArrayList<>();

	private final List<String> zones = new ArrayList<>();

	@Test
	void addressWhoseZoneCannotBeAskedForHasNone() {
		try (RpcFixture fixture = new RpcFixture()) {
			BalancedPools pools = pools((of, address) -> pool(fixture, of, address));
			pools.update(ADDRESSES, (address) -> {
				assertThat(Thread.holdsLock(pools)).as("code of others is run with the lock").isFalse();
				return switch (ADDRESSES.indexOf(address)) {
					case 0 -> "north";
					case 1 -> throw new IllegalStateException("no zone");
					default -> "south";
				};
			});
			pools.openChannel(LoadBalancer.NO_KEY);
			assertThat(this.zones).containsExactly("north", "", "south");
			pools.close();
		}
	}

	@Test
	void nothingIsLeftOfAddressesThatCouldNotBeAdded() {
		try (RpcFixture fixture = new RpcFixture()) {
			BalancedPools pools = pools((of, address) -> {
				if (address.equals(ADDRESSES.get(1))) {
					throw new OutOfMemoryError("made up");
				}
				return pool(fixture, of, address);
			});
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(OutOfMemoryError.class)
					.isThrownBy(() -> pools.update(ADDRESSES, (address) -> ""));
			}
			assertThat(pools.addresses()).isEmpty();
			assertThat(this.made).hasSize(3).allMatch(BalancedPoolsTests::isClosed);
			expectNoneObserved();
			pools.close();
		}
	}

	@Test
	void addressWithoutQueuePairsIsNotObserved() {
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(OutOfMemoryError.class)
				.isThrownBy(() -> new AddressPool(ADDRESSES.get(0), "target", this.outliers, () -> {
				}, (pool, name) -> {
					throw new OutOfMemoryError("made up");
				}));
		}
		expectNoneObserved();
	}

	@Test
	void addressesThatHaveGoneAreClosedAlsoIfThatCannotBeTold() {
		try (RpcFixture fixture = new RpcFixture()) {
			BalancedPools pools = pools((of, address) -> pool(fixture, of, address));
			pools.update(ADDRESSES, (address) -> "");
			pools.onAddresses((addresses) -> {
				if (addresses.size() < ADDRESSES.size()) {
					throw new OutOfMemoryError("made up");
				}
			});
			assertThatExceptionOfType(OutOfMemoryError.class)
				.isThrownBy(() -> pools.update(ADDRESSES.subList(0, 1), (address) -> ""));
			assertThat(this.made).extracting(BalancedPoolsTests::isClosed).containsExactly(false, true, true);
			pools.close();
		}
	}

	/** Every quarter of a second, however long the pauses would be, but no longer. */
	@Test
	void addressesAreTriedSoonAsLongAsSomebodyWaitsForThem() {
		AtomicInteger attempts = new AtomicInteger();
		RpcClientOptions hours = RpcClientOptions.DEFAULTS.withBackoff(Duration.ofHours(1), Duration.ofHours(9));
		try (RpcFixture fixture = new RpcFixture()) {
			BalancedPools pools = pools((of, address) -> pool(fixture, of, address, hours, attempts));
			pools.update(ADDRESSES.subList(0, 1), (address) -> "");
			CompletableFuture<RpcChannel> first = pools.channel(true);
			CompletableFuture<RpcChannel> second = pools.channel(true);
			RpcFixture.awaitTrue(() -> attempts.get() >= 3);
			first.cancel(false);
			int before = attempts.get();
			RpcFixture.awaitTrue(() -> attempts.get() >= before + 3);
			assertThat(second).isNotDone();
			second.cancel(false);
			RpcFixture.awaitTrue(() -> pools.pauseSince(Long.MIN_VALUE).matches(".* \\d{6,} ms\\)"));
			CompletableFuture<RpcChannel> third = pools.channel(true);
			int again = attempts.get();
			RpcFixture.awaitTrue(() -> attempts.get() >= again + 3);
			assertThat(third).isNotDone();
			pools.close();
			assertThat(third).isCompletedExceptionally();
		}
	}

	private BalancedPools pools(BiFunction<BalancedPools, InetSocketAddress, AddressPool> factory) {
		return new BalancedPools("target", new ZoneWatcher(), factory, new PoolCounters(),
				RpcClientOptions.DEFAULTS.queuePairs(), null);
	}

	private AddressPool pool(RpcFixture fixture, BalancedPools pools, InetSocketAddress address) {
		return pool(fixture, pools, address, RpcClientOptions.DEFAULTS, new AtomicInteger());
	}

	private AddressPool pool(RpcFixture fixture, BalancedPools pools, InetSocketAddress address,
			RpcClientOptions options, AtomicInteger attempts) {
		ClientLoops loops = new ClientLoops(fixture.clientTransport, options);
		PoolCounters counters = new PoolCounters();
		AddressPool added = new AddressPool(address, "target", this.outliers, pools::troubled,
				(pool, name) -> new QueuePairPool(() -> new ClientConnection(
						(handler) -> new AttemptContext(fixture.clientTransport, name, () -> {
							attempts.incrementAndGet();
							return pool.resolved();
						}, options, loops, new RailHistory(loops.rails(), options.rails()), handler), "flatbuffers",
						counters, new ClientMethods()), options.queuePairs(), fixture.clientTransport.timer(),
						counters));
		this.made.add(added);
		return added;
	}

	private static boolean isClosed(AddressPool pool) {
		return pool.queuePairs().state() == ConnectionState.CLOSED;
	}

	/** One of two may be left out, but not the only one. */
	private void expectNoneObserved() {
		OutlierDetector.Observed only = this.outliers.observe("the only one");
		only.failed();
		assertThat(only.isEjected()).as("others are observed").isFalse();
	}

	/** Notes the zones of the addresses, and picks none. */
	private final class ZoneWatcher implements LoadBalancer {

		@Override
		public int pick(List<? extends Candidate> candidates, long key) {
			candidates.forEach((candidate) -> BalancedPoolsTests.this.zones.add(candidate.zone()));
			return NONE;
		}

	}

}
