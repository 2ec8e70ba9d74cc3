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

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class OutlierDetectorTests {

	private static final Duration BASE = Duration.ofSeconds(30);

	private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - BASE.toNanos());

	private final OutlierDetector detector = new OutlierDetector(OutlierOptions.DEFAULTS, this.now::get);

	private List<OutlierDetector.Observed> observe(int count) {
		return IntStream.range(0, count).mapToObj((i) -> this.detector.observe("address " + i)).toList();
	}

	private static void fail(OutlierDetector.Observed address, int times) {
		IntStream.range(0, times).forEach((i) -> address.failed());
	}

	private void pass(Duration time) {
		this.now.addAndGet(time.toNanos());
	}

	@Test
	void failuresInARowEject() {
		OutlierDetector.Observed address = observe(2).get(0);
		fail(address, 4);
		address.succeeded();
		fail(address, 4);
		assertThat(address.isEjected()).isFalse();
		address.failed();
		assertThat(address.isEjected()).isTrue();
		assertThat(address.ejections()).isEqualTo(1);
		pass(BASE.minusNanos(1));
		assertThat(address.isEjected()).isTrue();
		pass(Duration.ofNanos(1));
		assertThat(address.isEjected()).isFalse();
		fail(address, 4);
		assertThat(address.isEjected()).as("failures are counted anew").isFalse();
	}

	@Test
	void whatHappensWhileItIsLeftOutIsNotCounted() {
		OutlierDetector.Observed address = observe(2).get(0);
		fail(address, 50);
		assertThat(address.ejections()).isEqualTo(1);
		pass(BASE);
		address.failed();
		assertThat(address.isEjected()).isFalse();
	}

	@Test
	void timesGrowUpToTheMaximumAndAreForgiven() {
		OutlierDetector.Observed address = observe(2).get(0);
		for (int times : new int[] { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10 }) {
			fail(address, 5);
			pass(BASE.multipliedBy(times).minusNanos(1));
			assertThat(address.isEjected()).as("ejection %d", times).isTrue();
			pass(Duration.ofNanos(1));
			assertThat(address.isEjected()).as("ejection %d", times).isFalse();
		}
		pass(BASE.multipliedBy(11));
		fail(address, 5);
		pass(BASE.multipliedBy(2));
		assertThat(address.isEjected()).as("after 11 such times without failures, twice the time at most").isFalse();
	}

	@Test
	void atMostHalfIsLeftOut() {
		List<OutlierDetector.Observed> all = observe(5);
		all.forEach((address) -> fail(address, 5));
		assertThat(all).extracting(OutlierDetector.Observed::isEjected)
			.containsExactly(true, true, false, false, false);
		pass(BASE);
		all.get(4).failed();
		assertThat(all.get(4).isEjected()).as("when there is room").isTrue();
		OutlierDetector.Observed alone = new OutlierDetector(OutlierOptions.DEFAULTS, this.now::get).observe("alone");
		fail(alone, 100);
		assertThat(alone.isEjected()).isFalse();
	}

	@Test
	void addressesThatHaveGoneDoNotCount() {
		List<OutlierDetector.Observed> all = observe(2);
		fail(all.get(0), 5);
		all.get(0).forget();
		OutlierDetector.Observed successor = this.detector.observe("successor");
		fail(successor, 5);
		assertThat(successor.isEjected()).isTrue();
	}

	@Test
	void zeroFailuresMeanNever() {
		OutlierDetector off = new OutlierDetector(OutlierOptions.DEFAULTS.withConsecutiveFailures(0), this.now::get);
		List<OutlierDetector.Observed> all = List.of(off.observe("a"), off.observe("b"));
		all.forEach((address) -> fail(address, 1000));
		assertThat(all).noneMatch(OutlierDetector.Observed::isEjected);
	}

	@Test
	void optionsThatMakeNoSenseAreRefused() {
		OutlierOptions options = OutlierOptions.DEFAULTS;
		assertThatIllegalArgumentException().isThrownBy(() -> options.withConsecutiveFailures(-1))
			.withMessageContaining("-1 failures");
		assertThatIllegalArgumentException().isThrownBy(() -> options.withEjectionTime(Duration.ZERO, BASE));
		assertThatIllegalArgumentException().isThrownBy(() -> options.withEjectionTime(BASE, Duration.ofSeconds(1)))
			.withMessageContaining("PT30S to PT1S");
		assertThatIllegalArgumentException().isThrownBy(() -> new OutlierOptions(1, BASE, BASE, 101))
			.withMessageContaining("101 percent");
	}

}
