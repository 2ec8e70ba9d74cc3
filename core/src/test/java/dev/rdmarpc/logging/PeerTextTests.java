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

package dev.rdmarpc.logging;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What peers say cannot pass for lines of the log. */
class PeerTextTests {

	@Test
	void textIsOneLine() {
		assertThat(PeerText.oneLine("voll\r\n2026 INFO paid\u001b[2J\u0085\u2028\u2029, größer"))
			.isEqualTo("voll??2026 INFO paid?[2J???, größer");
	}

	@Test
	void whatIsShownIsShortAndAscii() {
		assertThat(PeerText.shown("a\nb ü")).isEqualTo("a?b ?");
		assertThat(PeerText.shown("x".repeat(301))).hasSize(301).endsWith("x…");
	}

}
