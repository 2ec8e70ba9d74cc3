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

import java.util.Set;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import dev.rdmarpc.boot.test.shop.ShopApplication.Prices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A slice whose test does not replace the client. */
@WebMvcTest
class SliceTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	@Qualifier("prices")
	private Prices prices;

	@Test
	void startsWithoutClients() {
		assertThat(this.mvc.get().uri("/prices/pear").exchange()).hasFailed()
			.failure()
			.rootCause()
			.hasMessage("no client for prices.shopApplication.Prices: this test does not configure RDMA "
					+ "(expected: @MockitoBean for Prices, or @SpringBootTest)");
		assertThatIllegalStateException().isThrownBy(() -> this.prices.priceOf("pear"));
		assertThat(Set.of(this.prices)).contains(this.prices);
		assertThat(this.prices).hasToString("no client for prices.shopApplication.Prices");
	}

}
