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

class OutstandingCallsTests {

	private final OutstandingCalls calls = new OutstandingCalls();

	@Test
	void tellsNoneFromOneAndOneFromSeveral() {
		assertNumber(0);
		for (int number = 1; number <= 5; number++) {
			this.calls.started();
			assertNumber(number);
		}
		for (int number = 4; number >= 0; number--) {
			this.calls.finished();
			assertNumber(number);
		}
	}

	private void assertNumber(int number) {
		assertThat(this.calls.count()).isEqualTo(number);
		assertThat(this.calls.areAny()).isEqualTo(number > 0);
		assertThat(this.calls.areSeveral()).isEqualTo(number > 1);
	}

}
