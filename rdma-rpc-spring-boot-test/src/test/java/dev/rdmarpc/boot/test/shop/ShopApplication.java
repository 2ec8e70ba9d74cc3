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

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaService;

/** Serves prices, and shows those of another server; clients are on the main class. */
@SpringBootApplication
@ImportRdmaClients(target = "prices", types = ShopApplication.Prices.class)
public class ShopApplication {

	/** A service. */
	public interface Prices {

		int priceOf(String article);

	}

	@RdmaService
	static class PriceTable implements Prices {

		@Override
		public int priceOf(String article) {
			return article.length();
		}

	}

	@RestController
	static class PriceController {

		private final Prices prices;

		PriceController(@Qualifier("prices") Prices prices) {
			this.prices = prices;
		}

		@GetMapping("/prices/{article}")
		int priceOf(@PathVariable("article") String article) {
			return this.prices.priceOf(article);
		}

	}

}
