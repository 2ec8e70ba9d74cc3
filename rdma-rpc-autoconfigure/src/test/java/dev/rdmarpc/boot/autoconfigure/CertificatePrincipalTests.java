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

package dev.rdmarpc.boot.autoconfigure;

import javax.security.auth.x500.X500Principal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.transport.PeerRejectedException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Which part of a subject is the caller's name. */
class CertificatePrincipalTests {

	private static String commonName(String subject) {
		return CertificatePrincipal.commonName(new X500Principal(subject)).getName();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			CN=alice                                | alice
			CN=alice, CN=Users, DC=example, DC=com  | alice
			OU=Sales, CN=alice, CN=Users            | alice
			C=DE+CN=alice, CN=Users, DC=example     | alice
			CN="alice, CN=bob", CN=Users            | alice, CN=bob
			""")
	void theMostSpecificCommonNameIsTheCallers(String subject, String expected) {
		assertThat(commonName(subject)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "CN=#04020102, CN=Users", "CN=alice+CN=bob, CN=Users" })
	void whatIsNotOneTextIsRefused(String subject) {
		assertThatExceptionOfType(PeerRejectedException.class).isThrownBy(() -> commonName(subject))
			.withMessageContaining("no name that can be read");
	}

	@Test
	void aSubjectNeedsACommonName() {
		assertThatExceptionOfType(PeerRejectedException.class).isThrownBy(() -> commonName("O=example, C=DE"))
			.withMessageContaining("no common name");
	}

}
