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

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PatienceTests {

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	private static final long MILLI = Duration.ofMillis(1).toNanos();

	private final Patience patience = Patience.of(Duration.ofMillis(100));

	@Test
	void lastsForTheTimeoutWhereNothingMoves() {
		assertThat(this.patience.leftNanos(Long.MAX_VALUE, 0, 5 * SECOND)).isEqualTo(100 * MILLI);
		assertThat(this.patience.leftNanos(Long.MAX_VALUE, 30 * MILLI, 5 * SECOND)).isEqualTo(70 * MILLI);
		assertThat(this.patience.leftNanos(Long.MAX_VALUE, 100 * MILLI, 5 * SECOND)).isNotPositive();
	}

	@Test
	void lastsLongerWhileSomethingMoves() {
		assertThat(this.patience.leftNanos(Long.MAX_VALUE, 9 * SECOND, 0)).isEqualTo(SECOND);
		assertThat(this.patience.leftNanos(Long.MAX_VALUE, 9 * SECOND, 300 * MILLI)).isEqualTo(700 * MILLI);
		assertThat(this.patience.leftNanos(Long.MAX_VALUE, 9 * SECOND, SECOND)).isNotPositive();
	}

	@Test
	void lastsNoLongerThanWhoeverWaitsHasTime() {
		assertThat(this.patience.leftNanos(20 * MILLI, 0, 0)).isEqualTo(20 * MILLI);
		assertThat(this.patience.leftNanos(20 * MILLI, 20 * MILLI, 0)).isNotPositive();
		assertThat(this.patience.longestNanos()).isEqualTo(2 * SECOND);
	}

	@Test
	void aLongTimeoutIsMeantSo() {
		Patience patient = Patience.of(Duration.ofSeconds(30));
		assertThat(patient.longestNanos()).isEqualTo(30 * SECOND);
		assertThat(patient.leftNanos(patient.longestNanos(), 10 * SECOND, 100 * SECOND)).isEqualTo(20 * SECOND);
	}

	@Test
	void noneIsNone() {
		assertThat(Patience.NONE.longestNanos()).isZero();
		assertThat(Patience.NONE.leftNanos(Long.MAX_VALUE, 0, 0)).isZero();
		assertThat(new Patience(Long.MAX_VALUE).leftNanos(Long.MAX_VALUE, 0, 0)).isEqualTo(Long.MAX_VALUE);
	}

}
