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

import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

import static org.assertj.core.api.Assertions.assertThat;

/** What is said of attempts that fail. */
class AttemptPausesTests {

	private final AttemptPauses pauses = new AttemptPauses(RpcClientOptions.DEFAULTS);

	@Test
	void theFirstFailureOfAnOutageIsAWarning() {
		assertThat(fail(false)).isEqualTo(Level.WARN);
		assertThat(fail(false)).isEqualTo(Level.DEBUG);
		this.pauses.succeeded();
		assertThat(fail(false)).isEqualTo(Level.WARN);
	}

	@Test
	void aPeerThatRestartsIsNewsFirstAndAWarningWhenItDoesNotComeBack() {
		assertThat(fail(true)).isEqualTo(Level.INFO);
		assertThat(fail(true)).isEqualTo(Level.DEBUG);
		assertThat(fail(false)).isEqualTo(Level.WARN);
		assertThat(fail(false)).isEqualTo(Level.DEBUG);
	}

	private Level fail(boolean restarting) {
		Level level = this.pauses.levelOfFailure(restarting);
		this.pauses.afterFailure(false);
		return level;
	}

}
