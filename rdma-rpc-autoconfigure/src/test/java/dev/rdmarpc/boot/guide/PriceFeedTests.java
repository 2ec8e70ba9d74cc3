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
import java.time.Instant;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.rpc.RpcServer;

import static org.assertj.core.api.Assertions.assertThat;

/** The service of the guide that uses Reactor, in an application that calls itself. */
@SpringBootTest(properties = { "rdma.rpc.server.port=0", "rdma.rpc.server.address=127.0.0.1",
		"rdma.rpc.client.default.port=0", "rdma.rpc.memory.leak-detection=paranoid" })
class PriceFeedTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@Autowired
	@Qualifier("prices")
	private PriceFeed feed;

	@Autowired
	private RpcServer server;

	@Autowired
	private RdmaClients clients;

	@AfterEach
	void nothingIsOutstanding() {
		long begin = System.nanoTime();
		while (this.server.activeCalls() > 0 || this.clients.client("prices").metrics().outstandingCalls() > 0) {
			assertThat(System.nanoTime() - begin).as("outstanding for too long").isLessThan(PATIENCE.toNanos());
			Thread.onSpinWait();
		}
	}

	@Test
	void reportedPricesReachThoseWhoFollowThem() {
		StepVerifier.create(this.feed.changes("pear"), 1)
			.then(() -> assertThat(
					this.feed.report(Flux.just(price("pear", "0.40"), price("plum", "0.20"), price("pear", "0.45")))
						.block(PATIENCE))
				.isEqualTo(3))
			.expectNext(price("pear", "0.40"))
			.thenRequest(1)
			.expectNext(price("pear", "0.45"))
			.thenCancel()
			.verify(PATIENCE);
		StepVerifier.create(this.feed.latest("plum"))
			.expectNext(price("plum", "0.20"))
			.expectComplete()
			.verify(PATIENCE);
		StepVerifier.create(this.feed.latest("quince").timeout(Duration.ofMillis(50)))
			.expectError(TimeoutException.class)
			.verify(PATIENCE);
	}

	private static Price price(String article, String amount) {
		return new Price(article, new BigDecimal(amount), Instant.EPOCH);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(PriceTicker.class)
	@ImportRdmaClients(target = "prices", types = PriceFeed.class)
	static class Application {

	}

}
