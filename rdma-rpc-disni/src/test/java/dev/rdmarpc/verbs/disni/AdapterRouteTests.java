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

package dev.rdmarpc.verbs.disni;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class AdapterRouteTests {

	@Test
	void addressesAreToldFromNames() {
		assertThat(new String[] { "10.0.2.15", "192.168.0.1", "::1", "fe80::1%eth0", "2001:db8::7" })
			.allMatch(AdapterRoute::isAddress);
		assertThat(new String[] { "mlx5_0", "siw0", "rxe0", "rocep1s0f0", "ibp0", "irdma-2", "bnxt_re0" })
			.noneMatch(AdapterRoute::isAddress);
	}

}
