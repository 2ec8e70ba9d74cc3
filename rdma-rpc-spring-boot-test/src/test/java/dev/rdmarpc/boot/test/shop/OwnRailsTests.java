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

package dev.rdmarpc.boot.test.shop;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.SpringBootTest;

import dev.rdmarpc.boot.test.AutoConfigureRdmaRpc;
import dev.rdmarpc.boot.test.shop.ShopApplication.Prices;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;

/** The application has chosen its rails and device, which tests need not have. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE,
		args = { "--rdma.rpc.providers=shm,iwarp", "--rdma.rpc.device=mlx5_0" })
@AutoConfigureRdmaRpc
class OwnRailsTests {

	@Autowired
	private RdmaTransport transport;

	@Autowired
	@Qualifier("prices")
	private Prices prices;

	@Test
	void aTestHasThoseThatAreEverywhere() {
		assertThat(this.transport.selection().provider().name()).isEqualTo("iwarp");
		assertThat(this.transport.rails()).hasSize(1);
		assertThat(this.prices.priceOf("pear")).isEqualTo(4);
	}

}
