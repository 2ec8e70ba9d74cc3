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

package dev.rdmarpc.boot.guide;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.boot.RdmaService;

@RdmaService
class PriceTable implements Prices {

	private final Map<String, Price> prices = Map.of("pear", new Price("pear", new BigDecimal("0.40"), Instant.EPOCH));

	@Override
	public Optional<Price> find(String article) {
		return Optional.ofNullable(this.prices.get(article));
	}

	@Override
	public CompletableFuture<List<Price>> findAll(List<String> articles) {
		return CompletableFuture.completedFuture(articles.stream().flatMap((name) -> find(name).stream()).toList());
	}

}
