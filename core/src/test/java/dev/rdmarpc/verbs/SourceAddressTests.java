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

package dev.rdmarpc.verbs;

import java.net.InetAddress;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class SourceAddressTests {

	@ParameterizedTest
	@CsvSource({ "192.0.2.7, 192.0.2.7", "::ffff:192.0.2.7, 192.0.2.7", "2001:db8:1:2:3:4:5:6, 2001:db8:1:2::",
			"2001:db8:1:2:ffff::1, 2001:db8:1:2::", "2001:db8:1:3::1, 2001:db8:1:3::", "fd00::1:2:3:4, fd00::",
			"fe80::1:2, fe80::1:2", "::1, ::1", "127.0.0.2, 127.0.0.2" })
	void aHostHasOneHoweverManyAddressesItHas(String address, String source) throws Exception {
		assertThat(SourceAddress.of(InetAddress.getByName(address))).isEqualTo(InetAddress.getByName(source));
	}

}
