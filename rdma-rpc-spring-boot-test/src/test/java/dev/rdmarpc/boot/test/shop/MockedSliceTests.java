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
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import dev.rdmarpc.boot.test.shop.ShopApplication.Prices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;

/** A slice whose test replaces the client. */
@WebMvcTest
class MockedSliceTests {

	@Autowired
	private MockMvcTester mvc;

	@MockitoBean
	@Qualifier("prices")
	private Prices prices;

	@Test
	void callsTheMock() {
		given(this.prices.priceOf("pear")).willReturn(7);
		assertThat(this.mvc.get().uri("/prices/pear")).hasStatusOk().hasBodyTextEqualTo("7");
	}

}
