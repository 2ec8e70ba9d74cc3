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
import org.springframework.test.context.TestPropertySource;

import dev.rdmarpc.boot.test.LocalRdmaPort;
import dev.rdmarpc.boot.test.shop.ShopApplication.Prices;
import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;

/** The test has chosen the port. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "rdma.rpc.client.prices.port=0")
@TestPropertySource(properties = """
		shop.name=some
		rdma.rpc.server.port: 17471
		""")
class ChosenPortTests {

	@LocalRdmaPort
	private int port;

	@Autowired
	private RpcServer server;

	@Autowired
	@Qualifier("prices")
	private Prices prices;

	@Test
	void theServerHasThatPort() {
		assertThat(this.port).isEqualTo(17471).isEqualTo(this.server.port());
		assertThat(this.prices.priceOf("pear")).isEqualTo(4);
	}

}
