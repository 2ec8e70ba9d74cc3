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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What limits that go by memory are. */
class PeerLimitsTests {

	private static final long MEMORY = 4L << 30;

	private static final int MESSAGE = 1 << 24;

	@Test
	void thoseByDefaultAreShares() {
		PeerLimits limits = PeerLimits.DEFAULTS.within(MEMORY, MESSAGE);
		assertThat(limits.principal().maxRequestBytes()).isEqualTo(3L << 30);
		assertThat(limits.maxReplyBytes()).isEqualTo(2L << 30);
		assertThat(PeerLimits.DEFAULTS.within(1 << 20, MESSAGE).maxReplyBytes()).isEqualTo(MESSAGE);
		assertThat(PeerLimits.DEFAULTS.within(1, 1).principal().maxRequestBytes()).isOne();
	}

	@Test
	void thoseThatAreChosenStay() {
		PeerLimits chosen = PeerLimits.DEFAULTS.withPrincipal(new PrincipalLimits(1, 2, 192L << 20))
			.withMaxReplyBytes(5);
		assertThat(chosen.within(1 << 20, MESSAGE)).isEqualTo(chosen);
		assertThat(PeerLimits.NONE.within(MEMORY, MESSAGE)).isEqualTo(PeerLimits.NONE);
	}

	@Test
	void lessThanNothingIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new PrincipalLimits(1, 1, -1))
			.withMessageContaining("-1 bytes in requests (expected: at least 0)");
	}

}
