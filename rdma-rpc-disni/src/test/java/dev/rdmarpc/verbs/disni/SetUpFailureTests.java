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
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.Await;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
	void nobodyListensOnAnAddressThatIsNotResolved() {
		InetSocketAddress address = InetSocketAddress.createUnresolved("nowhere", 1);
		assertThatThrownBy(() -> this.device.listen(address, ListenOptions.DEFAULTS, (request) -> {
		})).isInstanceOfSatisfying(VerbsException.class, (failure) -> {
			assertThat(failure.error()).isEqualTo(VerbsError.ADDRESS_NOT_AVAILABLE);
			assertThat(failure).hasMessageContaining("is not resolved");
		});
	}

	@ParameterizedTest
	@MethodSource("failures")
	void aListenerThatFailsToListenLeavesNothing(Throwable failure) {
		this.adapter.fail("localAddress", failure);
		assertThatThrownBy(() -> this.device.listen(FakeAdapter.ADDRESS, ListenOptions.DEFAULTS, (request) -> {
		})).hasRootCause(failure);
		assertThat(hasIds()).isFalse();
	}

	@ParameterizedTest
	@MethodSource("failures")
	void whoConnectsIsToldAtOnceWhatHasFailed(Throwable failure) {
		this.adapter.fail("createQueuePair", failure);
		assertFailsBecauseOf(failure, this.device.connect(this.queuePair, FakeAdapter.ADDRESS, PATIENT));
	}

	@ParameterizedTest
	@MethodSource("failures")
	void whoAcceptsIsToldAtOnceWhatHasFailed(Throwable failure) throws Exception {
		CompletableFuture<CompletableFuture<ConnectionInfo>> accepted = new CompletableFuture<>();
		ListenOptions patient = new ListenOptions(1, 1, 1, Duration.ofHours(1).toNanos());
		this.device.listen(FakeAdapter.ADDRESS, patient,
				(request) -> accepted.complete(request.accept(this.queuePair, PATIENT)));
		this.adapter.fail("createQueuePair", failure);
		this.adapter.happen(ConnectionEventType.CONNECT_REQUEST, 77, 1);
		assertFailsBecauseOf(failure, accepted.get(30, TimeUnit.SECONDS));
	}

	@ParameterizedTest
	@MethodSource("failures")
	void whoHasAcceptedIsToldAtOnceWhatHasFailed(Throwable failure) throws Exception {
		CompletableFuture<CompletableFuture<ConnectionInfo>> accepted = new CompletableFuture<>();
		ListenOptions patient = new ListenOptions(1, 1, 1, Duration.ofHours(1).toNanos());
		this.device.listen(FakeAdapter.ADDRESS, patient,
				(request) -> accepted.complete(request.accept(this.queuePair, PATIENT)));
		this.adapter.fail("localAddress", failure);
		this.adapter.happen(ConnectionEventType.CONNECT_REQUEST, 77, 1);
		assertFailsBecauseOf(failure, accepted.get(30, TimeUnit.SECONDS));
	}

	static List<Throwable> failures() {
		return List.of(new OutOfMemoryError("made up"), new IllegalStateException("made up"));
	}

	private void assertFailsBecauseOf(Throwable failure, CompletableFuture<ConnectionInfo> connection) {
		assertThatThrownBy(() -> connection.get(30, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class)
			.hasRootCause(failure)
			.cause()
			.isInstanceOfSatisfying(VerbsException.class,
					(told) -> assertThat(told.error()).isEqualTo(VerbsError.DEVICE_ERROR));
		assertThat(this.queuePair.state()).isEqualTo(QueuePairState.INITIALIZED);
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
