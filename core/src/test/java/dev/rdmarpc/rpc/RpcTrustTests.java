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

import java.util.Random;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.verbs.shm.SharedMemoryProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls through shared memory between peers that trust each other. With
 * {@code -Drdma.test.provider=shm -Drdma.test.trust=true}, all tests of calls are such.
 */
class RpcTrustTests {

	private static final int CALLS = 50;

	private static final int BYTES = 1 << 20;

	private final Random random = new Random(5);

	@BeforeEach
	void sharesMemory() {
		Assumptions.assumeTrue(new SharedMemoryProvider().availability().available());
		Assumptions.assumeTrue(TestEnvironment.provider(SharedMemoryProvider.NAME).equals(SharedMemoryProvider.NAME));
	}

	private static RpcFixture fixture(boolean servers, boolean clients) {
		return new RpcFixture(SharedMemoryProvider.NAME, TestEnvironment.providers(servers),
				TestEnvironment.providers(clients));
	}

	private byte[] bytes(int count) {
		byte[] bytes = new byte[count];
		this.random.nextBytes(bytes);
		return bytes;
	}

	/** Each byte goes there and back. */
	@ParameterizedTest
	@CsvSource({ "true, true, 1", "true, false, 2", "false, true, 2" })
	void largeMessagesAreCopiedOnceIfBothTrustEachOther(boolean servers, boolean clients, int copies) {
		try (RpcFixture fixture = fixture(servers, clients)) {
			long before = copied(fixture);
			for (int call = 0; call < CALLS; call++) {
				byte[] sent = bytes(BYTES);
				assertThat(fixture.echo.bytes(sent)).isEqualTo(sent);
			}
			double perByte = (copied(fixture) - before) / (2.0 * CALLS * BYTES);
			assertThat(perByte).as("copies by the provider").isBetween((double) copies, 1.1 * copies);
		}
	}

	private static long copied(RpcFixture fixture) {
		return fixture.serverTransport.rails().get(0).copiedBytes()
				+ fixture.clientTransport.rails().get(0).copiedBytes();
	}

	@Test
	void messagesOfAllSizesArriveAsTheyWere() {
		try (RpcFixture fixture = fixture(true, true)) {
			for (int size : new int[] { 0, 1, 100, 8000, 32_769, 65_536, 262_145, 1_000_001, 3 << 20, 7_654_321 }) {
				byte[] sent = bytes(size);
				assertThat(fixture.echo.bytes(sent)).as("%d bytes", size).isEqualTo(sent);
			}
		}
	}

}
