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

package dev.rdmarpc.memory;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What Java lets a pool have. */
class DirectMemoryTests {

	private static final int EXTENT = 4 << 20;

	@ParameterizedTest
	@CsvSource({ "-XX:MaxDirectMemorySize=12345, 12345", "-XX:MaxDirectMemorySize=3k, 3072",
			"-XX:MaxDirectMemorySize=48M, 50331648", "-XX:MaxDirectMemorySize=2g, 2147483648",
			"-XX:MaxDirectMemorySize=0, 777", "-Xmx64m, 777" })
	void anOptionOrTheHeapLimits(String argument, long expected) {
		assertThat(DirectMemory.limitBytes(List.of("-ea", argument, "-Dx=-XX:MaxDirectMemorySize=1"), 777))
			.isEqualTo(expected);
	}

	@Test
	void theLastOptionCounts() {
		assertThat(DirectMemory.limitBytes(List.of("-XX:MaxDirectMemorySize=1g", "-XX:MaxDirectMemorySize=2k"), 777))
			.isEqualTo(2048);
	}

	@ParameterizedTest
	@CsvSource({ "16793600, 16777216", "16793599, 16773120", "4096, 0", "8192, 4096" })
	void eachExtentTakesOnePageMore(long limit, long expected) {
		assertThat(DirectMemory.mostBytes(limit, EXTENT)).isEqualTo(expected);
	}

	@Test
	void poolsHaveTheSmallerBudget() {
		MemoryOptions options = MemoryOptions.DEFAULTS.withMaxBytes(1L << 40);
		try (RegisteredMemory memory = RegisteredMemory.create(options)) {
			assertThat(memory.options().maxBytes()).isEqualTo(DirectMemory.mostBytes(options.extentBytes()))
				.isLessThan(1L << 40);
		}
		MemoryOptions small = options.withMaxBytes(1 << 20);
		assertThat(small.withinDirectMemory()).isEqualTo(small);
		assertThat(options.withInitialBytes(1L << 40).withinDirectMemory().maxBytes()).as("cannot be had anyway")
			.isEqualTo(1L << 40);
	}

}
