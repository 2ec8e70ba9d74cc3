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

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

import static org.assertj.core.api.Assertions.assertThat;

/** What callers and logs read of a connection that could not be made. */
class RejectionTextTests {

	@Test
	void wordsOfAPeerAreInOneLine() {
		byte[] words = "no\r\n2026 INFO paid\u001b[2J".getBytes(StandardCharsets.US_ASCII);
		assertThat(RdmaTransport
			.describe(new VerbsException(VerbsError.CONNECTION_REJECTED, "rejected by its peer", null, words)))
			.isEqualTo("rejected by its peer: no??2026 INFO paid?[2J");
	}

}
