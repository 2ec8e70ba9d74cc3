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

package dev.rdmarpc.boot.autoconfigure;

import io.github.resilience4j.bulkhead.BulkheadRegistry;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.ratelimiter.RateLimiterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import dev.rdmarpc.boot.resilience.BulkheadInterceptor;
import dev.rdmarpc.boot.resilience.CircuitBreakerInterceptor;
import dev.rdmarpc.boot.resilience.RateLimiterInterceptor;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of Resilience4j's circuit breakers,
 * bulkheads and rate limiters around the calls of clients.
 */
@AutoConfiguration(
		afterName = { "io.github.resilience4j.springboot.circuitbreaker.autoconfigure.CircuitBreakerAutoConfiguration",
				"io.github.resilience4j.springboot.bulkhead.autoconfigure.BulkheadAutoConfiguration",
				"io.github.resilience4j.springboot.ratelimiter.autoconfigure.RateLimiterAutoConfiguration" })
public final class RdmaResilienceAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(CircuitBreakerRegistry.class)
	@ConditionalOnBean(type = "io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry")
	static class CircuitBreakers {

		@Bean
		@ConditionalOnMissingBean
		CircuitBreakerInterceptor rdmaCircuitBreakerInterceptor(CircuitBreakerRegistry breakers) {
			return new CircuitBreakerInterceptor(breakers);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(RateLimiterRegistry.class)
	@ConditionalOnBean(type = "io.github.resilience4j.ratelimiter.RateLimiterRegistry")
	static class RateLimiters {

		@Bean
		@ConditionalOnMissingBean
		RateLimiterInterceptor rdmaRateLimiterInterceptor(RateLimiterRegistry limiters) {
			return new RateLimiterInterceptor(limiters);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(BulkheadRegistry.class)
	@ConditionalOnBean(type = "io.github.resilience4j.bulkhead.BulkheadRegistry")
	static class Bulkheads {

		@Bean
		@ConditionalOnMissingBean
		BulkheadInterceptor rdmaBulkheadInterceptor(BulkheadRegistry bulkheads) {
			return new BulkheadInterceptor(bulkheads);
		}

	}

}
