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

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import dev.rdmarpc.boot.test.shop.ShopApplication.PriceController;
import dev.rdmarpc.boot.test.shop.ShopApplication.Prices;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;

import static dev.rdmarpc.boot.test.RpcAssertions.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;

/** A whole application whose client is a mock, while its service is served. */
@SpringBootTest
class MockedClientTests {

	@MockitoBean
	@Qualifier("prices")
	private Prices prices;

	@Autowired
	private PriceController controller;

	@Autowired
	private RpcServer server;

	@Test
	void theMockIsCalled() {
		given(this.prices.priceOf("pear")).willReturn(7);
		assertThat(this.controller.priceOf("pear")).isEqualTo(7);
		assertThat(this.server.isRunning()).isTrue();
	}

	@Test
	void aMissingArticleIsReported() {
		given(this.prices.priceOf("apple")).willThrow(new RpcException(RpcStatus.NOT_FOUND, "no such article"));
		assertThatCall(() -> this.controller.priceOf("apple")).failsWith(RpcStatus.NOT_FOUND)
			.hasDetail("no such article");
	}

	@Test
	void theMockFindsTheOptionsOfItsCall() {
		CallOptions options = CallOptions.deadline(Duration.ofMillis(5));
		given(this.prices.priceOf("pear")).will((call) -> (int) CallOptions.current().deadline().toMillis());
		assertThat(options.on(this.prices).priceOf("pear")).isEqualTo(5);
	}

}
