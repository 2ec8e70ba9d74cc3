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

package dev.rdmarpc.rpc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import dev.rdmarpc.Await;
import dev.rdmarpc.rpc.DeliveryFile.Deliveries;
import dev.rdmarpc.rpc.DeliveryFile.Tally;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that make calls while rails go and come back: half of them calls that must not
 * be delivered twice, the others some that may be repeated, and never fail.
 */
final class DeliveryLoad {

	private static final int CALLERS = 4;

	private static final int CALLS = 100;

	private final AtomicLong ids = new AtomicLong();

	private final AtomicInteger answers = new AtomicInteger();

	private final AtomicInteger asked = new AtomicInteger();

	private final Queue<RpcException> failures = new ConcurrentLinkedQueue<>();

	private final List<CompletableFuture<Void>> callers = new ArrayList<>();

	private volatile boolean stopping;

	DeliveryLoad(RpcClient client) {
		Deliveries deliveries = CallOptions.deadline(Duration.ofSeconds(60)).on(client.proxy(Deliveries.class));
		for (int i = 0; i < CALLERS; i++) {
			this.callers.add(RpcFixture.inThread(() -> deliver(deliveries)));
			this.callers.add(RpcFixture.inThread(() -> ask(deliveries)));
		}
	}

	private Void deliver(Deliveries deliveries) {
		while (!this.stopping) {
			long id = this.ids.incrementAndGet();
			try {
				deliveries.deliver(id);
				this.answers.incrementAndGet();
			}
			catch (RpcException ex) {
				this.failures.add(ex);
			}
		}
		return null;
	}

	private Void ask(Deliveries deliveries) {
		while (!this.stopping) {
			assertThat(deliveries.ask(4711)).isEqualTo(4711);
			this.asked.incrementAndGet();
		}
		return null;
	}

	void awaitMoreCalls() {
		int delivered = this.answers.get();
		int repeatable = this.asked.get();
		Await.until(() -> {
			this.callers.forEach((caller) -> caller.getNow(null));
			return this.answers.get() > delivered + CALLS && this.asked.get() > repeatable + CALLS;
		});
	}

	/**
	 * Ends the calls. What was outstanding when a rail went may have failed, and nothing
	 * else.
	 * @param losses how often one went
	 */
	void end(DeliveryFile file, int losses) throws Exception {
		this.stopping = true;
		for (CompletableFuture<Void> caller : this.callers) {
			caller.get(60, TimeUnit.SECONDS);
		}
		Tally delivered = file.tally(1, this.ids.get() + 1);
		assertThat(delivered.again()).as("calls delivered twice").isZero();
		assertThat(delivered.calls()).isBetween(this.answers.get(), this.answers.get() + this.failures.size());
		assertThat(this.failures.size()).as("failures %s", this.failures).isLessThanOrEqualTo(losses * CALLERS);
		assertThat(this.failures).allSatisfy((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.UNAVAILABLE));
	}

}
