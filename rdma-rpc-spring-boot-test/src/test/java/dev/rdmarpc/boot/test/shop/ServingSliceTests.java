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
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import dev.rdmarpc.boot.test.AutoConfigureRdmaRpc;
import dev.rdmarpc.boot.test.LocalRdmaPort;
import dev.rdmarpc.boot.test.shop.ShopApplication.PriceTable;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;

/** A slice whose clients call a service among the test's beans. */
@WebMvcTest(properties = "rdma.rpc.client.prices.host=nowhere.invalid")
@AutoConfigureRdmaRpc
@Import(PriceTable.class)
class ServingSliceTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private RpcServer server;

	@Autowired
	private RdmaTransport transport;

	@LocalRdmaPort
	private int port;

	@Test
	void callsTheServerOfTheTest() {
		assertThat(this.mvc.get().uri("/prices/pear")).hasStatusOk().hasBodyTextEqualTo("4");
		assertThat(this.port).isEqualTo(this.server.port()).isNotEqualTo(7471);
		assertThat(this.server.isRunning()).isTrue();
		assertThat(this.transport.selection().provider().name()).isEqualTo("iwarp");
	}

}
