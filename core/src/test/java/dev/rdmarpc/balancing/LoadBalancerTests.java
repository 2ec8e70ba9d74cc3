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

package dev.rdmarpc.balancing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class LoadBalancerTests {

	private static final int CALLS = 3000;

	@ParameterizedTest
	@EnumSource
	void onlyAvailableAddressesArePicked(LoadBalancing policy) {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		LoadBalancer balancer = policy.create();
		for (int round = 0; round < 2000; round++) {
			List<Address> all = addresses(1 + random.nextInt(20));
			all.forEach((address) -> {
				address.available = random.nextInt(3) > 0;
				address.calls = random.nextInt(5);
			});
			int picked = balancer.pick(all, random.nextInt(3));
			if (all.stream().noneMatch(Address::isAvailable)) {
				assertThat(picked).as("seed %d, round %d", seed, round).isEqualTo(LoadBalancer.NONE);
			}
			else {
				assertThat(all.get(picked).isAvailable()).as("seed %d, round %d", seed, round).isTrue();
			}
		}
	}

	@Test
	void callsGoInTurnToThoseThatAreAvailable() {
		List<Address> all = addresses(4);
		LoadBalancer balancer = LoadBalancing.ROUND_ROBIN.create();
		assertThat(counts(balancer, all, CALLS)).containsOnly(CALLS / 4);
		all.get(1).available = false;
		assertThat(counts(balancer, all, CALLS)).containsExactly(CALLS / 3, 0, CALLS / 3, CALLS / 3);
	}

	@Test
	void turnsAreTakenByAllThreadsTogether() {
		List<Address> all = addresses(3);
		LoadBalancer balancer = LoadBalancing.ROUND_ROBIN.create();
		List<CompletableFuture<int[]>> threads = IntStream.range(0, 4)
			.mapToObj((thread) -> CompletableFuture.supplyAsync(() -> counts(balancer, all, CALLS)))
			.toList();
		int[] sums = new int[3];
		threads.forEach((counts) -> Arrays.setAll(sums, (i) -> sums[i] + counts.join()[i]));
		assertThat(sums).containsOnly(4 * CALLS / 3);
	}

	@Test
	void callsGoWhereTheFewestAreOutstanding() {
		List<Address> all = addresses(4);
		all.get(0).calls = 7;
		all.get(1).calls = 2;
		all.get(2).calls = 9;
		all.get(3).calls = 1;
		all.get(3).available = false;
		LoadBalancer balancer = LoadBalancing.LEAST_OUTSTANDING.create();
		assertThat(counts(balancer, all, CALLS)).containsExactly(0, CALLS, 0, 0);
		all.forEach((address) -> address.calls = 0);
		assertThat(counts(balancer, all, CALLS)).as("those that are idle share")
			.satisfies((counts) -> assertThat(IntStream.of(counts).limit(3).boxed())
				.allSatisfy((count) -> assertThat(count).isBetween(CALLS / 4, CALLS * 5 / 12)))
			.satisfies((counts) -> assertThat(counts[3]).isZero());
	}

	@Test
	void theBusiestOfManyIsLeftAlone() {
		List<Address> all = addresses(100);
		all.forEach((address) -> address.calls = 1);
		all.get(50).calls = 1000;
		LoadBalancer balancer = LoadBalancing.LEAST_OUTSTANDING.create();
		int[] counts = counts(balancer, all, CALLS);
		assertThat(counts[50]).isLessThan(10);
		assertThat(Arrays.stream(counts).boxed()).filteredOn((count) -> count == 0)
			.as("addresses without calls")
			.hasSizeLessThan(3);
	}

	@Test
	void callsWithOneKeyGoToOneAddress() {
		List<Address> all = addresses(5);
		LoadBalancer balancer = LoadBalancing.CONSISTENT_HASH.create();
		int[] places = places(balancer, all);
		assertThat(places(LoadBalancing.CONSISTENT_HASH.create(), all)).as("another client").isEqualTo(places);
		int[] counts = new int[5];
		Arrays.stream(places).forEach((place) -> counts[place]++);
		assertThat(Arrays.stream(counts).boxed())
			.allSatisfy((count) -> assertThat(count).isBetween(CALLS / 5 * 8 / 10, CALLS / 5 * 12 / 10));
	}

	@Test
	void anAddressThatGoesMovesItsOwnKeysOnly() {
		List<Address> all = addresses(5);
		LoadBalancer balancer = LoadBalancing.CONSISTENT_HASH.create();
		int[] before = places(balancer, all);
		all.get(2).available = false;
		int[] after = places(balancer, all);
		int[] heirs = new int[5];
		for (int key = 0; key < CALLS; key++) {
			if (before[key] != 2) {
				assertThat(after[key]).as("key %d", key).isEqualTo(before[key]);
			}
			else {
				heirs[after[key]]++;
			}
		}
		assertThat(heirs[2]).isZero();
		assertThat(Arrays.stream(heirs).boxed()).as("all others inherit")
			.filteredOn((count) -> count > CALLS / 5 / 4 / 2)
			.hasSize(4);
		List<Address> without = new ArrayList<>(all);
		Address last = without.remove(4);
		all.get(2).available = true;
		for (int key = 1; key <= CALLS; key++) {
			Address picked = without.get(balancer.pick(without, key));
			if (before[key - 1] != 4) {
				assertThat(picked).isSameAs(all.get(before[key - 1])).isNotSameAs(last);
			}
		}
	}

	@Test
	void callsWithoutKeyGoInTurn() {
		assertThat(counts(LoadBalancing.CONSISTENT_HASH.create(), addresses(3), CALLS)).containsOnly(CALLS / 3);
	}

	private static int[] places(LoadBalancer balancer, List<Address> all) {
		return IntStream.rangeClosed(1, CALLS).map((key) -> balancer.pick(all, key)).toArray();
	}

	private static int[] counts(LoadBalancer balancer, List<Address> all, int calls) {
		int[] counts = new int[all.size()];
		for (int i = 0; i < calls; i++) {
			counts[balancer.pick(all, LoadBalancer.NO_KEY)]++;
		}
		return counts;
	}

	@ParameterizedTest
	@EnumSource
	void addressesOfTheZoneArePreferredAsLongAsOneIsAvailable(LoadBalancing policy) {
		LoadBalancer balancer = new ZonePreference("near", policy.create());
		assertThat(balancer.usesKeys()).isEqualTo(policy.create().usesKeys());
		List<Address> all = addresses(6);
		all.get(1).zone = "near";
		all.get(4).zone = "near";
		all.get(5).zone = "far";
		assertThat(picked(balancer, all)).containsExactlyInAnyOrder(1, 4);
		all.get(1).available = false;
		assertThat(picked(balancer, all)).containsExactly(4);
		all.get(4).available = false;
		assertThat(picked(balancer, all)).containsExactlyInAnyOrder(0, 2, 3, 5);
		all.get(4).available = true;
		assertThat(picked(balancer, all)).containsExactly(4);
		assertThat(picked(balancer, addresses(3))).as("no zone is known").containsExactlyInAnyOrder(0, 1, 2);
		all.forEach((address) -> address.available = false);
		assertThat(balancer.pick(all, 7)).isEqualTo(LoadBalancer.NONE);
	}

	private static Set<Integer> picked(LoadBalancer balancer, List<Address> all) {
		return IntStream.range(1, 300)
			.mapToObj((i) -> balancer.pick(all, i * 0x9e3779b97f4a7c15L))
			.collect(Collectors.toSet());
	}

	private static List<Address> addresses(int count) {
		return IntStream.range(0, count).mapToObj((i) -> new Address("host" + i + ":7471")).toList();
	}

	private static final class Address implements Candidate {

		private final String name;

		private volatile boolean available = true;

		private volatile int calls;

		private volatile String zone = "";

		Address(String name) {
			this.name = name;
		}

		@Override
		public String name() {
			return this.name;
		}

		@Override
		public boolean isAvailable() {
			return this.available;
		}

		@Override
		public int outstandingCalls() {
			return this.calls;
		}

		@Override
		public String zone() {
			return this.zone;
		}

	}

}
