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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.support.RegisteredMemory;
import dev.rdmarpc.verbs.support.Registration;

import static org.assertj.core.api.Assertions.assertThat;

/** STags name at most one region each, and are hard to guess. */
class StagTableTests {

	private static final ProtectionDomain DOMAIN = Identity.of(ProtectionDomain.class);

	private static RegisteredMemory add(StagTable table) {
		Registration asked = Registration.of(ByteBuffer.allocateDirect(8), EnumSet.allOf(AccessFlag.class));
		return table.add((stag, base) -> new RegisteredMemory(DOMAIN, asked, null, stag, base, table::remove));
	}

	@Test
	void agreesWithAMapUnderRandomChanges() {
		long seed = 42;
		Random random = new Random(seed);
		StagTable table = new StagTable(new SecureRandom());
		Map<Integer, RegisteredMemory> model = new HashMap<>();
		List<Integer> gone = new ArrayList<>();
		for (int step = 0; step < 40_000; step++) {
			boolean grow = random.nextInt(100) < ((step / 8000 % 2 == 0) ? 70 : 40);
			if (grow || model.isEmpty()) {
				RegisteredMemory region = add(table);
				assertThat(model.put(region.remoteKey(), region)).as("seed %d step %d", seed, step).isNull();
			}
			else {
				Integer stag = model.keySet().iterator().next();
				table.remove(model.remove(stag));
				gone.add(stag);
			}
			int probe = gone.isEmpty() ? random.nextInt() : gone.get(random.nextInt(gone.size()));
			assertThat(table.lookup(probe)).as("seed %d step %d", seed, step).isSameAs(model.get(probe));
		}
		assertThat(table.size()).isEqualTo(model.size());
		model.forEach((stag, region) -> assertThat(table.lookup(stag)).isSameAs(region));
	}

	/**
	 * The step from one key to the next under an index tells nothing of the step after.
	 */
	@Test
	void keysCannotBeForeseenFromEarlierOnes() {
		StagTable table = new StagTable(new SecureRandom());
		Map<Integer, Integer> lastKeys = new HashMap<>();
		Map<Integer, Integer> lastSteps = new HashMap<>();
		int foreseen = 0;
		int asked = 0;
		for (int i = 0; i < 100_000; i++) {
			RegisteredMemory region = add(table);
			int index = region.remoteKey() >>> 8;
			int key = region.remoteKey() & 0xFF;
			Integer last = lastKeys.put(index, key);
			if (last != null) {
				int step = key - last & 0xFF;
				Integer before = lastSteps.put(index >>> 8, step);
				asked += (before != null) ? 1 : 0;
				foreseen += (before != null && before == step) ? 1 : 0;
			}
			table.remove(region);
		}
		assertThat(asked).isGreaterThan(90_000);
		assertThat(foreseen).isLessThan(asked / 100);
	}

	/**
	 * Frequencies and pairs of successive values are compared with the mean and the
	 * standard deviation of what chance gives; a sound table exceeds eight of them about
	 * once in 10^12 runs.
	 */
	@Test
	void keysAndAddressesPassTestsOfFrequencyAndOfPairs() {
		int count = 100_000;
		StagTable table = new StagTable(new SecureRandom());
		int[] ones = new int[Long.SIZE];
		int[][] frequencies = new int[4][256];
		int before = 0;
		for (int i = 0; i < count; i++) {
			RegisteredMemory region = add(table);
			int stag = region.remoteKey();
			int entry = stag >>> 8 & 0xFF;
			int key = stag & 0xFF;
			frequencies[0][entry]++;
			frequencies[1][key]++;
			frequencies[2][(key & 0xF0) | (before & 0xF0) >>> 4]++;
			frequencies[3][(stag & 0xF) << 4 | (before & 0xF)]++;
			before = key;
			for (int bit = 0; bit < Long.SIZE; bit++) {
				ones[bit] += (int) (region.remoteAddress() >>> bit & 1);
			}
			table.remove(region);
		}
		for (int[] counts : frequencies) {
			double expected = count / 256.0;
			double chiSquare = Arrays.stream(counts)
				.mapToDouble((each) -> (each - expected) * (each - expected) / expected)
				.sum();
			assertThat(chiSquare).as("of 255 degrees of freedom").isBetween(75.0, 436.0);
		}
		for (int bit = 12; bit < Long.SIZE - 1; bit++) {
			assertThat(ones[bit]).as("bit %d of addresses", bit).isBetween(count / 2 - 1265, count / 2 + 1265);
		}
	}

	@Test
	void noKeyIsGivenOutAgainSoon() {
		StagTable table = new StagTable(new SecureRandom());
		Map<Integer, Set<Integer>> keysByIndex = new HashMap<>();
		for (int i = 0; i < 100_000; i++) {
			RegisteredMemory region = add(table);
			int stag = region.remoteKey();
			Set<Integer> keys = keysByIndex.computeIfAbsent(stag >>> 8, (index) -> new HashSet<>());
			assertThat(keys.add(stag & 0xFF)).isTrue();
			table.remove(region);
			assertThat(table.lookup(stag)).isNull();
		}
		assertThat(keysByIndex).hasSizeGreaterThan(3000).doesNotContainKey(0);
		assertThat(table.size()).isZero();
	}

	@Test
	void neitherIndicesNorAddressesCanBeForeseen() {
		StagTable table = new StagTable(new SecureRandom());
		Set<Long> addresses = new HashSet<>();
		int adjacent = 0;
		int last = 0;
		for (int i = 0; i < 1000; i++) {
			RegisteredMemory region = add(table);
			assertThat(region.remoteAddress() & 0xFFF).isZero();
			assertThat(region.remoteAddress()).isNotNegative();
			addresses.add(region.remoteAddress());
			int index = region.remoteKey() >>> 8;
			adjacent += (Math.abs(index - last) <= 1) ? 1 : 0;
			last = index;
		}
		assertThat(addresses).hasSize(1000);
		assertThat(adjacent).isLessThan(50);
	}

	@Test
	void wrapIsFoundAtTheEndOfTheAddressSpace() {
		assertThat(RegisteredMemory.wraps(-8, 8)).isFalse();
		assertThat(RegisteredMemory.wraps(-8, 9)).isTrue();
		assertThat(RegisteredMemory.wraps(-1, 0)).isFalse();
		assertThat(RegisteredMemory.wraps(0, 0xFFFFFFFFL)).isFalse();
	}

}
