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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PingAddressTests {

	@ParameterizedTest
	@CsvSource({ "host, host, 7174", "host:1, host, 1", "10.0.0.1:65535, 10.0.0.1, 65535", "::1, ::1, 7174",
			"[::1], ::1, 7174", "[fe80::1%eth0]:80, fe80::1%eth0, 80", "1234, 1234, 7174" })
	void isTakenApart(String text, String host, int port) {
		assertThat(PingAddress.parse(text)).isEqualTo(new PingAddress(host, port));
	}

	@ParameterizedTest
	@CsvSource({ "1234, 0.0.0.0, 1234", "host, host, 7174", "host:0, host, 0" })
	void aNumberAloneIsAPortToListenOn(String text, String host, int port) {
		assertThat(PingAddress.parseLocal(text)).isEqualTo(new PingAddress(host, port));
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "", ":1", "host:", "host:x", "host:65536", "host:-1", "[::1", "[]:1", "[::1]x", "host:123456" })
	void whatIsNoneIsRefusedWithWhatWasExpected(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> PingAddress.parse(text))
			.withMessageContaining("'" + text + "'")
			.withMessageContaining("expected: HOST");
	}

	@Test
	void anUnknownHostIsNamed() {
		// a label is at most 63 characters long, so that no name server is asked for it
		String host = "x".repeat(64);
		assertThatExceptionOfType(PingException.class).isThrownBy(() -> PingAddress.parse(host).resolve())
			.withMessageContaining("'" + host + "'");
	}

}
