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

package dev.rdmarpc.tools.ping;

import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Initiator and responder as two processes, as an operator starts them. */
class TwoProcessTests {

	@ParameterizedTest
	@CsvSource({ "16, off", "64, required", "65536, off", "65536, required" })
	void bothEndWithStatusZero(String size, String crc) throws Exception {
		try (PingProcess responder = PingProcess.start("--listen", "127.0.0.1:0", "-V", "--connections", "1");
				PingProcess initiator = PingProcess.start("127.0.0.1:" + responder.awaitPort(), "-V", "-S", size, "-C",
						"300", "--warm-up", "0", "--crc", crc)) {
			initiator.await(Pattern.compile("^300 pings of " + size + " bytes returned as they were sent"));
			initiator.await(Pattern.compile("^round trip in us"));
			assertThat(initiator.awaitExit()).isZero();
			responder
				.await(Pattern.compile(": 300 pings with " + 300L * Integer.parseInt(size) + " bytes, ended in order"));
			assertThat(responder.awaitExit()).isZero();
		}
	}

	@Test
	void theInitiatorSaysThatTheResponderWasKilled() throws Exception {
		try (PingProcess responder = PingProcess.start("--listen", "127.0.0.1:0");
				PingProcess initiator = PingProcess.start("127.0.0.1:" + responder.awaitPort(), "-C", "1000000000")) {
			initiator.await(Pattern.compile("^pinging"));
			responder.kill();
			initiator.await(Pattern.compile("^rdma-ping: the (peer|connection) .* while waiting for .*ping \\d+ of "));
			assertThat(initiator.awaitExit()).isEqualTo(1);
		}
	}

	@Test
	void theResponderSaysThatTheInitiatorWasKilledAndServesTheNext() throws Exception {
		try (PingProcess responder = PingProcess.start("--listen", "127.0.0.1:0", "--connections", "2")) {
			String target = "127.0.0.1:" + responder.awaitPort();
			try (PingProcess initiator = PingProcess.start(target, "-C", "1000000000")) {
				initiator.await(Pattern.compile("^pinging"));
				initiator.kill();
			}
			responder.await(Pattern.compile("127\\.0\\.0\\.1:\\d+: \\d+ pings with \\d+ bytes, "));
			try (PingProcess next = PingProcess.start(target, "-C", "10")) {
				assertThat(next.awaitExit()).isZero();
			}
			responder.await(Pattern.compile(": 110 pings with 7040 bytes, ended in order"));
			responder.awaitExit();
		}
	}

}
