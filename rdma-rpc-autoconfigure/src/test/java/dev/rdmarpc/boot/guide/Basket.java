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
import java.time.Duration;
import java.util.List;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

@Component
class Basket {

	private final Prices prices;

	Basket(@Qualifier("prices") Prices prices) {
		this.prices = prices;
	}

	BigDecimal priceOf(String article) {
		return this.prices.find(article).map(Price::amount).orElse(BigDecimal.ZERO);
	}

	BigDecimal priceInTime(String article) {
		try {
			Prices hurried = CallOptions.deadline(Duration.ofMillis(500)).on(this.prices);
			return hurried.find(article).map(Price::amount).orElse(BigDecimal.ZERO);
		}
		catch (RpcException ex) {
			if (ex.status() == RpcStatus.UNAVAILABLE || ex.status() == RpcStatus.DEADLINE_EXCEEDED) {
				return BigDecimal.ZERO;
			}
			throw ex;
		}
	}

	List<String> suggestionsFor(String article) {
		try {
			return List.of(this.prices.find(article).orElseThrow().article());
		}
		catch (RpcException ex) {
			return ex.details(Suggestions.class).map(Suggestions::articles).orElse(List.of());
		}
	}

}
