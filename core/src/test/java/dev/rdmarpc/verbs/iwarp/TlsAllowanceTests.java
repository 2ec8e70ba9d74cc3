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

package dev.rdmarpc.verbs.iwarp;

import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** How much may be said in TLS for its own sake. */
class TlsAllowanceTests {

	private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

	@ParameterizedTest
	@ValueSource(longs = { 0, Long.MAX_VALUE - 5, Long.MIN_VALUE, -1 })
	void sixteenRecordsMayComeAtOnceAndOnePerSecondAfterThat(long now) {
		TlsAllowance allowance = new TlsAllowance(TlsAllowance.OF_CLIENTS, now);
		for (int i = 0; i < 16; i++) {
			assertThat(allowance.take(27, now)).as("record %d", i).isTrue();
		}
		for (int i = 1; i < 100; i++) {
			assertThat(allowance.take(27, now + i * SECOND)).as("second %d", i).isTrue();
		}
		assertThat(allowance.take(27, now + 99 * SECOND)).isFalse();
	}

	@Test
	void noMoreIsSavedThanMayBeSaidAtOnce() {
		TlsAllowance allowance = new TlsAllowance(TlsAllowance.OF_CLIENTS, 0);
		assertThat(allowance.take(TlsAllowance.OF_CLIENTS, 0)).isTrue();
		assertThat(allowance.take(TlsAllowance.OF_CLIENTS, 1000 * SECOND)).isTrue();
		assertThat(allowance.take(1, 1000 * SECOND)).isFalse();
	}

	@Test
	void recordsCountByTheirLength() {
		assertThat(new TlsAllowance(TlsAllowance.OF_CLIENTS, 0).take(TlsAllowance.OF_CLIENTS + 1, 0)).isFalse();
		TlsAllowance allowance = new TlsAllowance(TlsAllowance.OF_SERVERS, 0);
		assertThat(allowance.take(16_000, 0)).as("a ticket").isTrue();
		assertThat(allowance.take(16_000, 0)).as("another").isTrue();
		assertThat(allowance.take(40_000, 0)).isFalse();
	}

}
