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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.Await;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;

/** Connections and listeners whose set-up fails. */
class SetUpFailureTests {

	private static final ConnectOptions PATIENT = ConnectOptions.DEFAULTS.withTimeout(Duration.ofHours(1));

	private final FakeAdapter adapter = new FakeAdapter(PlainVerbs.attributes("iwp"));

	private final DisniDevice device = this.adapter.openDevice();

	private final CompletionQueue completionQueue = this.device.createCompletionQueue(16);

	private final QueuePair queuePair = this.device.allocateProtectionDomain()
		.createQueuePair(new QueuePairOptions(this.completionQueue, null, 4, 4, 1, 1, (failed, fault) -> {
		}));

	SetUpFailureTests() throws IOException {
	}

	@AfterEach
	void close() {
		this.device.close();
		this.adapter.close();
	}

	private boolean hasIds() {
		return this.adapter.open().stream().anyMatch(Long.class::isInstance);
	}

	/** An id's number may be another connection's by then. */
	@Test
	void anIdThatWasDestroyedUponTheAnswerIsNotDestroyedAgainLater() {
		this.adapter.keepSilent();
		CompletableFuture<ConnectionInfo> attempt = this.device.connect(this.queuePair, FakeAdapter.ADDRESS, PATIENT);
		Await.until(() -> this.adapter.calls().contains("connect"));
		attempt.cancel(false);
		Await.until(() -> this.adapter.calls().contains("fail"));
		assertThat(hasIds()).as("waits for the answer").isTrue();
		this.adapter.happen(ConnectionEventType.REJECTED, 1, 0);
		Await.until(() -> !hasIds());
		Await.until(() -> callsAfterTheIdWasClosed().size() > 1);
		assertThat(callsAfterTheIdWasClosed()).startsWith("awaitEvent", FakeAdapter.WAIT_FOR_EVER);
	}

	private List<String> callsAfterTheIdWasClosed() {
		List<String> calls = this.adapter.calls();
		return calls.subList(calls.lastIndexOf("closeId") + 1, calls.size());
	}

	@Test
	void aReceiveThatTheAdapterHadIsReportedAfterADisconnectDuringTheSetUp() {
		this.adapter.keepSilent();
		this.queuePair.postReceive(new WorkRequest(0).receive(5));
		this.device.connect(this.queuePair, FakeAdapter.ADDRESS, PATIENT);
		Await.until(() -> this.adapter.calls().contains("connect"));
		this.queuePair.disconnect();
		WorkCompletion[] records = { new WorkCompletion() };
		Await.until(() -> this.completionQueue.poll(records) == 1);
		assertThat(records[0].id()).isEqualTo(5);
		assertThat(records[0].status()).isEqualTo(WorkStatus.FLUSHED);
	}

}
