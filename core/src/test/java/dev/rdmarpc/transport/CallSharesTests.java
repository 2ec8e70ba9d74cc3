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

/** How many calls a connection may have of those of a server. */
class CallSharesTests {

	private static int fill(CallShares shares) {
		int own = 0;
		while (shares.tryBegin(own)) {
			own++;
		}
		return own;
	}

	@Test
	void eachConnectionHasFourFifthsOfWhatOthersLeave() {
		CallShares shares = new CallShares(1000);
		assertThat(fill(shares)).isEqualTo(800);
		assertThat(fill(shares)).isEqualTo(160);
		assertThat(fill(shares)).isEqualTo(32);
		assertThat(shares.count()).as("what was refused does not count").isEqualTo(992);
		shares.end();
		assertThat(shares.tryBegin(800)).isFalse();
		assertThat(shares.tryBegin(0)).isTrue();
	}

	@Test
	void theMostIsChangedForThoseThatBegin() {
		CallShares shares = new CallShares(10);
		assertThat(fill(shares)).isEqualTo(8);
		shares.most(1);
		assertThat(shares.tryBegin(0)).isFalse();
		assertThat(shares.count()).isEqualTo(8);
		shares.most(Integer.MAX_VALUE);
		assertThat(shares.tryBegin(8)).isTrue();
	}

	@Test
	void oneCallMayBeginWhereThereMayBeOne() {
		CallShares shares = new CallShares(1);
		assertThat(fill(shares)).isOne();
		assertThat(shares.tryBegin(0)).isFalse();
		shares.end();
		assertThat(shares.tryBegin(0)).isTrue();
	}

}
