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

package dev.rdmarpc.grpc;

import java.util.HashSet;
import java.util.Set;

import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** When a connection ends whose caller does not heed that it should, in virtual time. */
class FarewellTests {

	private static final long PATIENCE = 1000;

	private final Set<Integer> arriving = new HashSet<>();

	private boolean sending;

	private final Farewell farewell = new Farewell(PATIENCE, () -> new HashSet<>(this.arriving), () -> this.sending);

	@Test
	void nothingEndsBeforeAGoodbye() {
		Assertions.assertThat(this.farewell.tick(0, 0)).isFalse();
		Assertions.assertThat(this.farewell.tick(10 * PATIENCE, 0)).isFalse();
		Assertions.assertThat(this.farewell.admits(1)).isTrue();
	}

	@Test
	void aConnectionWithoutCallsEndsAfterTheTime() {
		this.farewell.say();
		Assertions.assertThat(this.farewell.tick(5, 0)).isFalse();
		Assertions.assertThat(this.farewell.tick(4 + PATIENCE, 0)).isFalse();
		Assertions.assertThat(this.farewell.tick(5 + PATIENCE, 0)).isTrue();
	}

	@Test
	void callsAreTakenForAWhileAndThenRefused() {
		this.farewell.say();
		this.farewell.tick(0, 1);
		this.farewell.tick(PATIENCE - 1, 1);
		Assertions.assertThat(this.farewell.admits(1)).isTrue();
		this.farewell.tick(PATIENCE, 1);
		Assertions.assertThat(this.farewell.admits(2)).isFalse();
		Assertions.assertThat(this.farewell.answers()).as("refusals are told").isTrue();
		Assertions.assertThat(this.farewell.refused()).isOne();
	}

	@Test
	void aCallThatWasTakenIsWaitedFor() {
		this.farewell.say();
		this.farewell.tick(0, 1);
		long now = PATIENCE;
		for (int i = 0; i < 100; i++) {
			now += PATIENCE;
			Assertions.assertThat(this.farewell.tick(now, 1)).isFalse();
		}
		Assertions.assertThat(this.farewell.tick(now + PATIENCE - 1, 0)).isFalse();
		Assertions.assertThat(this.farewell.tick(now + PATIENCE, 0)).isTrue();
	}

	@Test
	void theLastRepliesAreSentFirstAndNothingElse() {
		this.farewell.say();
		this.sending = true;
		this.farewell.tick(0, 1);
		this.farewell.tick(PATIENCE, 1);
		this.farewell.tick(PATIENCE + 1, 0);
		Assertions.assertThat(this.farewell.answers()).isFalse();
		long now = 50 * PATIENCE;
		Assertions.assertThat(this.farewell.tick(now, 0)).isFalse();
		Assertions.assertThat(this.farewell.admits(3)).isFalse();
		this.sending = false;
		Assertions.assertThat(this.farewell.tick(now + 1, 0)).as("the peer may close it itself").isFalse();
		Assertions.assertThat(this.farewell.answers()).isTrue();
		this.sending = true;
		Assertions.assertThat(this.farewell.tick(now + PATIENCE, 0)).as("refusals do not count").isTrue();
	}

	@Test
	void whatHasBegunToArriveIsTakenOnce() {
		this.farewell.say();
		this.farewell.tick(0, 0);
		this.arriving.add(7);
		this.farewell.tick(PATIENCE, 0);
		this.arriving.add(8);
		Assertions.assertThat(this.farewell.tick(9 * PATIENCE, 0)).isFalse();
		Assertions.assertThat(this.farewell.admits(8)).isFalse();
		Assertions.assertThat(this.farewell.admits(7)).isTrue();
		Assertions.assertThat(this.farewell.admits(7)).isFalse();
		Assertions.assertThat(this.farewell.tick(10 * PATIENCE - 1, 0)).isFalse();
		Assertions.assertThat(this.farewell.tick(10 * PATIENCE, 0)).as("8 is not waited for").isTrue();
	}

	@Test
	void whatDoesNotArriveAnyMoreIsNotWaitedFor() {
		this.farewell.say();
		this.farewell.tick(0, 0);
		this.arriving.add(7);
		this.farewell.tick(PATIENCE, 0);
		this.arriving.clear();
		Assertions.assertThat(this.farewell.tick(2 * PATIENCE, 0)).isTrue();
		Assertions.assertThat(this.farewell.admits(7)).isFalse();
	}

}
