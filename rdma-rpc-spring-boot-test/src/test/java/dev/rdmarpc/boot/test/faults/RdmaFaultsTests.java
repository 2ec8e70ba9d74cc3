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

package dev.rdmarpc.boot.test.faults;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.annotation.DirtiesContext;

import dev.rdmarpc.Await;
import dev.rdmarpc.boot.ImportRdmaClients;
import dev.rdmarpc.boot.RdmaClients;
import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.boot.test.AutoConfigureRdmaRpc;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.ConnectionState;
import dev.rdmarpc.rpc.RdmaMethod;
import dev.rdmarpc.rpc.RpcClient;
import dev.rdmarpc.rpc.RpcServer;
import dev.rdmarpc.rpc.RpcStatus;

import static dev.rdmarpc.boot.test.RpcAssertions.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

/** What callers see of faults. */
@ExtendWith(RdmaFaultsTests.NothingOutstanding.class)
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE,
		properties = { "rdma.rpc.memory.leak-detection=paranoid", "rdma.rpc.client.depot.port=1",
				"rdma.rpc.client.depot.initial-backoff=30s", "rdma.rpc.client.depot.max-backoff=30s" })
@AutoConfigureRdmaRpc
@AutoConfigureRdmaFaults
@DirtiesContext
class RdmaFaultsTests {

	@Autowired
	private RdmaFaults faults;

	@Autowired
	@Qualifier("depot")
	private Depot depot;

	@Autowired
	private DepotService service;

	@Autowired
	private RdmaClients clients;

	@Autowired
	private RpcServer server;

	private static RegisteredMemory used;

	private long losses;

	private RpcClient client() {
		return this.clients.client("depot");
	}

	@BeforeEach
	void connect(@Autowired RegisteredMemory memory) {
		used = memory;
		assertThat(this.depot.stockOf("pears")).isEqualTo(5);
		this.service.calls.set(0);
		this.losses = client().metrics().losses();
	}

	@AfterEach
	void nothingIsInProgress() {
		this.faults.clear();
		Await.until(() -> this.server.activeCalls() == 0 && client().metrics().outstandingCalls() == 0);
	}

	@Test
	void aDelayedCallHitsItsDeadline() {
		this.faults.delay("depot", Duration.ofSeconds(20));
		Depot hasty = CallOptions.deadline(Duration.ofMillis(50)).on(this.depot);
		assertThatCall(() -> hasty.stockOf("pears")).failsWith(RpcStatus.DEADLINE_EXCEEDED);
		this.faults.clear("depot");
		assertThat(this.depot.stockOf("pears")).isEqualTo(5);
		assertThat(client().metrics().losses()).isEqualTo(this.losses);
	}

	@Test
	void repliesAreLateInTheirOrder() {
		this.faults.delay("depot", Duration.ofMillis(1), Duration.ofMillis(30));
		long begin = System.nanoTime();
		for (int i = 0; i < 5; i++) {
			assertThat(this.depot.stockOf("x".repeat(i))).isEqualTo(i);
		}
		assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(Duration.ofMillis(5).toNanos());
		assertThat(client().metrics().losses()).isEqualTo(this.losses);
	}

	@Test
	void aStalledCallEndsWhenTheFaultDoes() throws Exception {
		this.faults.stall("depot");
		CompletableFuture<Integer> late = this.depot.stockLater("pears");
		Await.until(() -> this.service.calls.get() == 1 && this.server.activeCalls() == 0);
		assertThat(late).isNotDone();
		this.faults.clear();
		Await.until(late::isDone);
		assertThat(late.get()).isEqualTo(5);
	}

	@Test
	void anIdempotentCallOutlivesItsConnection() {
		this.faults.cutAfter("depot", 0);
		assertThat(this.depot.stockOf("apples")).isEqualTo(6);
		assertThat(this.service.calls).hasValue(2);
		assertThat(this.faults.cuts("depot")).isOne();
	}

	@Test
	void aCallThatChangesSomethingIsMadeOnce() {
		this.faults.cutAfter("depot", 1);
		assertThat(this.depot.take("apples")).isEqualTo(6);
		assertThatCall(() -> this.depot.take("apples")).failsWith(RpcStatus.UNAVAILABLE)
			.hasDetailContaining("a fault of this test has cut the connection");
		assertThat(this.service.calls).hasValue(2);
		assertThat(this.faults.cuts("depot")).isOne();
		assertThat(this.depot.take("apples")).isEqualTo(6);
	}

	@Test
	void refusedConnectionsAreFollowedByAPause() {
		this.faults.refuse("depot");
		assertThat(this.depot.take("apples")).as("over the connection that there is").isEqualTo(6);
		this.faults.cut("depot");
		// before that the call might be sent, and be lost with the connection
		Await.until(() -> client().metrics().losses() > this.losses);
		assertThatCall(() -> this.depot.take("apples")).failsWith(RpcStatus.UNAVAILABLE)
			.hasDetailContaining("a fault of this test refuses connections to depot")
			.hasDetailContaining("next attempt in ");
		assertThat(client().state()).isEqualTo(ConnectionState.BACKOFF);
		assertThat(this.faults.refusals("depot")).isPositive();
		this.faults.clear();
		assertThat(this.depot.stockOf("apples")).isEqualTo(6);
	}

	@Test
	void otherTargetsHaveNoFaults() {
		assertThat(this.clients.proxy("other", Depot.class).stockOf("apples")).isEqualTo(6);
		this.faults.refuse("other");
		this.faults.cutRandomly("other", 1);
		this.faults.cut("other");
		assertThat(this.depot.stockOf("apples")).isEqualTo(6);
		assertThat(this.faults.cuts("depot")).isZero();
		assertThat(this.faults.refusals("depot")).isZero();
	}

	/** Asks when Spring has closed the application. */
	static final class NothingOutstanding implements AfterAllCallback {

		@Override
		public void afterAll(ExtensionContext test) {
			assertThat(used.metrics().outstanding()).isZero();
		}

	}

	/** A service of which some methods may be called again. */
	interface Depot {

		@RdmaMethod(idempotent = true)
		int stockOf(String article);

		CompletableFuture<Integer> stockLater(String article);

		int take(String article);

	}

	@RdmaService
	static class DepotService implements Depot {

		private final AtomicInteger calls = new AtomicInteger();

		@Override
		public int stockOf(String article) {
			this.calls.incrementAndGet();
			return article.length();
		}

		@Override
		public CompletableFuture<Integer> stockLater(String article) {
			return CompletableFuture.completedFuture(stockOf(article));
		}

		@Override
		public int take(String article) {
			return stockOf(article);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@ImportRdmaClients(target = "depot", types = Depot.class)
	@Import(DepotService.class)
	static class Application {

	}

}
