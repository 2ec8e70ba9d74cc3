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

package dev.rdmarpc.transport;

import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** When a watcher looks: seldom where nobody is held up, and never too late. */
class LookIntervalTests {

	private static final long HELD_UP = 1_000_000;

	private final LookInterval interval = new LookInterval(HELD_UP);

	@Test
	void looksSeldomWhileEveryThreadIsAtHome() {
		assertThat(this.interval.nanos()).isEqualTo(LookInterval.QUIET_NANOS);
		this.interval.looked(0, 0);
		assertThat(this.interval.nanos()).isEqualTo(LookInterval.QUIET_NANOS);
	}

	@Test
	void looksSoonAtAThreadThatIsAway() {
		this.interval.looked(0, 1);
		assertThat(this.interval.nanos()).isEqualTo(HELD_UP);
		this.interval.looked(HELD_UP, 0);
		assertThat(this.interval.nanos()).isEqualTo(LookInterval.QUIET_NANOS);
	}

	@Test
	void looksOftenForAWhileAfterAHoldUp() {
		long now = Long.MAX_VALUE - HELD_UP;
		this.interval.looked(now, HELD_UP);
		this.interval.looked(now + LookInterval.WARY_NANOS - 1, 0);
		assertThat(this.interval.nanos()).isEqualTo(HELD_UP);
		this.interval.looked(now + LookInterval.WARY_NANOS, 0);
		assertThat(this.interval.nanos()).isEqualTo(LookInterval.QUIET_NANOS);
		this.interval.looked(now + 10 * LookInterval.WARY_NANOS, 0);
		assertThat(this.interval.nanos()).isEqualTo(LookInterval.QUIET_NANOS);
	}

	/** Leaves of random lengths at random times, and whoever looks at them. */
	@Test
	void noticesEachHoldUpWithinTheLongestInterval() {
		long seed = System.nanoTime();
		SplittableRandom random = new SplittableRandom(seed);
		long now = 0;
		long left = 0;
		long noticed = 0;
		for (int i = 0; i < 10_000; i++) {
			left = now + random.nextLong(3 * LookInterval.QUIET_NANOS);
			while (now - left < HELD_UP) {
				this.interval.looked(now, Math.max(0, now - left));
				now += this.interval.nanos();
			}
			noticed = now - left;
			assertThat(noticed).as("seed %s", seed).isLessThanOrEqualTo(LookInterval.QUIET_NANOS);
			this.interval.looked(now, noticed);
			now += random.nextBoolean() ? this.interval.nanos() : 2 * LookInterval.WARY_NANOS;
			this.interval.looked(now, 0);
		}
	}

}
