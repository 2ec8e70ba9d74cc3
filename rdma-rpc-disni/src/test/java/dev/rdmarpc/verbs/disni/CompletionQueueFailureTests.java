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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.ibm.disni.verbs.IbvQP;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.Await;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.ProtectionDomain;
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

/** A completion queue whose adapter fails, or that has no heap, at the wrong moment. */
class CompletionQueueFailureTests {

	private static final int REMOTE_ACCESS_ERROR = 10;

	/** As when there is no heap, but survived by JUnit. */
	private final Error failure = new InternalError("made up");

	private final FakeAdapter adapter = new FakeAdapter(PlainVerbs.attributes("fake"));

	private final DisniDevice device = this.adapter.openDevice();

	private final ProtectionDomain domain = this.device.allocateProtectionDomain();

	private final CompletionQueue completionQueue = this.device.createCompletionQueue(64);

	private final CountDownLatch disconnected = new CountDownLatch(1);

	CompletionQueueFailureTests() throws IOException {
	}

	@AfterEach
	void close() {
		this.device.close();
		this.adapter.close();
	}

	/** Connects a queue pair; the first one is the adapter's number 1. */
	private DisniQueuePair connect() throws Exception {
		QueuePair queuePair = this.domain.createQueuePair(new QueuePairOptions(this.completionQueue, null, 4, 4, 1, 1,
				(failed, fault) -> this.disconnected.countDown()));
		this.device.connect(queuePair, FakeAdapter.ADDRESS, ConnectOptions.DEFAULTS.withTimeout(Duration.ofHours(1)))
			.get(30, TimeUnit.SECONDS);
		return (DisniQueuePair) queuePair;
	}

	private void send(DisniQueuePair queuePair, long id) {
		assertThat(queuePair.postSend(new WorkRequest(0).send(id))).isEqualTo(PostResult.POSTED);
		queuePair.ringDoorbell();
	}

	private static WorkCompletion[] records(int count) {
		WorkCompletion[] records = new WorkCompletion[count];
		for (int i = 0; i < count; i++) {
			records[i] = new WorkCompletion();
		}
		return records;
	}

	@Test
	void aQueuePairIsClosedWhoseAdapterCannotBePolled() throws Exception {
		DisniQueuePair queuePair = connect();
		this.adapter.fail("poll", new IOException("made up"));
		queuePair.close();
		assertThat(queuePair.state()).isEqualTo(QueuePairState.CLOSED);
		assertThat(this.adapter.open()).noneMatch(IbvQP.class::isInstance);
	}

	@Test
	void whoseAdapterCannotBePolledHearsOfTheEndOfItsConnection() throws Exception {
		DisniQueuePair queuePair = connect();
		this.adapter.fail("poll", this.failure);
		this.adapter.happen(ConnectionEventType.DISCONNECTED, 1, 0);
		Await.latch(this.disconnected);
		assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
	}

	@Test
	void aDeviceIsReleasedOfWhichSomethingCannotBeClosed() throws Exception {
		connect();
		this.adapter.fail("destroyQueuePair", this.failure);
		assertThatThrownBy(this.device::close).isSameAs(this.failure);
		assertThat(this.adapter.calls()).contains("close", "release");
		assertThat(this.adapter.open()).singleElement().isInstanceOf(IbvQP.class);
	}

	@Test
	void whatWasTakenBeforePollingFailsIsReported() throws Exception {
		DisniQueuePair queuePair = connect();
		send(queuePair, 5);
		this.adapter.complete(1, WorkId.send(queuePair.generation(), 0), 0);
		((DisniCompletionQueue) this.completionQueue).drain();
		this.adapter.fail("poll", new IOException("made up"));
		WorkCompletion[] records = records(2);
		assertThat(this.completionQueue.poll(records)).isOne();
		assertThat(records[0].id()).isEqualTo(5);
		assertThatThrownBy(() -> this.completionQueue.poll(records)).isInstanceOfSatisfying(VerbsException.class,
				(told) -> assertThat(told.error()).isEqualTo(VerbsError.DEVICE_ERROR));
	}

	@Test
	void aQueuePairThatCannotTakeACompletionLeavesOthersTheirs() throws Exception {
		DisniQueuePair failing = connect();
		DisniQueuePair other = connect();
		send(failing, 5);
		send(other, 6);
		this.adapter.complete(1, WorkId.send(failing.generation(), 0), REMOTE_ACCESS_ERROR);
		this.adapter.complete(2, WorkId.send(other.generation(), 0), 0);
		this.adapter.fail("fail", this.failure);
		WorkCompletion[] records = records(4);
		assertThat(this.completionQueue.poll(records)).isEqualTo(2);
		assertThat(records[0].id()).isEqualTo(5);
		assertThat(records[0].status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
		assertThat(records[1].id()).isEqualTo(6);
		assertThat(records[1].status()).isEqualTo(WorkStatus.SUCCESS);
		assertThat(failing.state()).isEqualTo(QueuePairState.ERROR);
		assertThat(other.state()).isEqualTo(QueuePairState.READY_TO_SEND);
		Await.latch(this.disconnected);
	}

}
