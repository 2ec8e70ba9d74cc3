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

package dev.rdmarpc.verbs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** How connections end, and what becomes of what was posted. */
abstract class AbstractDisconnectTests extends AbstractVerbsTests {

	AbstractDisconnectTests(VerbsFixture fixture) {
		super(fixture);
	}

	@Test
	void aDisconnectEndsBothSidesAndFlushesReceives() {
		ConnectedPair pair = this.fixture.connect();
		for (int i = 0; i < 10; i++) {
			pair.left().receive();
			pair.right().receive();
		}
		pair.left().queuePair().disconnect();
		pair.awaitEnd();
		assertThat(pair.left().receives().completed()).hasSize(10)
			.allMatch((completed) -> completed.status() == WorkStatus.FLUSHED);
		assertThat(pair.right().receives().completed()).hasSize(10)
			.allMatch((completed) -> completed.status() == WorkStatus.FLUSHED);
		assertThat(pair.left().fault().origin()).isEqualTo(QueuePairFault.Origin.DISCONNECT);
		assertThat(pair.right().fault().origin()).isEqualTo(QueuePairFault.Origin.DISCONNECT);
		assertThat(pair.left().fault().detail()).isNotBlank();
	}

	@Test
	void theAcceptingSideDisconnectsToo() {
		ConnectedPair pair = this.fixture.connect();
		pair.left().receive();
		pair.right().queuePair().disconnect();
		pair.awaitEnd();
		assertThat(pair.left().fault().origin()).isEqualTo(QueuePairFault.Origin.DISCONNECT);
		assertThat(pair.right().fault().origin()).isEqualTo(QueuePairFault.Origin.DISCONNECT);
	}

	@Test
	void bothSidesMayDisconnectAtOnceAndMoreThanOnce() {
		ConnectedPair pair = this.fixture.connect().greet();
		pair.left().queuePair().disconnect();
		pair.right().queuePair().disconnect();
		pair.left().queuePair().disconnect();
		pair.awaitEnd();
		pair.left().queuePair().disconnect();
		pair.left().close();
		pair.left().queuePair().disconnect();
	}

	@Test
	void whatWasPostedBeforeADisconnectIsSent() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(10 << 20);
		GuardedMemory sink = this.fixture.right().memory(10 << 20);
		GuardedMemory written = this.fixture.right().memory(5 << 20, AccessFlag.REMOTE_WRITE);
		for (int i = 0; i < 10; i++) {
			pair.right().receive(sink.segment(i << 20, 1 << 20));
		}
		pair.left().post(writeTo(pair, written.remote()), source.segment(12345, 5 << 20));
		for (int i = 0; i < 10; i++) {
			pair.left().post(pair.left().request().send(pair.left().nextId()), source.segment(i << 20, 1 << 20));
		}
		pair.left().queuePair().disconnect();
		pair.awaitEnd();
		assertThat(pair.left().sends().completed()).hasSize(11).allMatch(Completed::isSuccess);
		assertThat(pair.right().receives().completed()).hasSize(10).allMatch(Completed::isSuccess);
		sink.assertHolds(0, source, 0, 10 << 20);
		written.assertHolds(0, source, 12345, 5 << 20);
		assertThat(pair.left().fault().origin()).isEqualTo(QueuePairFault.Origin.DISCONNECT);
		assertThat(pair.right().fault().origin()).isEqualTo(QueuePairFault.Origin.DISCONNECT);
	}

	private WorkRequest writeTo(ConnectedPair pair, RemoteRegion sink) {
		return pair.left().request().write(pair.left().nextId(), sink.address(), sink.key());
	}

	@Test
	void readsPostedBeforeADisconnectAreAnswered() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.right().memory(8 << 20, AccessFlag.REMOTE_READ);
		GuardedMemory sink = this.fixture.left().memory(8 << 20);
		for (int i = 0; i < 32; i++) {
			pair.left().read(source.segment(i << 18, 1 << 18).remote(), sink.segment(i << 18, 1 << 18));
		}
		pair.left().queuePair().disconnect();
		pair.awaitEnd();
		assertThat(pair.left().sends().completed()).hasSize(32).allMatch(Completed::isSuccess);
		sink.assertHolds(0, source, 0, 8 << 20);
	}

	@Test
	void whatIsPostedAfterTheEndIsFlushed() {
		ConnectedPair pair = this.fixture.connect();
		pair.left().queuePair().disconnect();
		pair.awaitEnd();
		GuardedMemory memory = this.fixture.left().memory(100);
		for (int i = 0; i < 100; i++) {
			long sent = pair.left().send(memory.all());
			long received = pair.left().receive(memory.all());
			this.fixture.awaitStatus(pair.left(), sent, WorkStatus.FLUSHED);
			this.fixture.awaitStatus(pair.left(), received, WorkStatus.FLUSHED);
		}
		memory.assertUntouched();
	}

	@Test
	void unsignaledRequestsCompleteWhenFlushed() {
		ConnectedPair pair = this.fixture.connect();
		pair.left().queuePair().disconnect();
		pair.awaitEnd();
		long sent = pair.left().post(pair.left().request().send(pair.left().nextId()).unsignaled());
		this.fixture.awaitStatus(pair.left(), sent, WorkStatus.FLUSHED);
	}

	@Test
	void anAbruptCloseIsNoticedByThePeer() {
		ConnectedPair pair = this.fixture.connect();
		for (int i = 0; i < 10; i++) {
			pair.left().receive();
			pair.right().receive();
		}
		pair.left().close();
		assertThat(pair.left().state()).isEqualTo(QueuePairState.CLOSED);
		this.fixture.awaitSettled(pair.right());
		assertThat(pair.right().receives().completed()).hasSize(10).noneMatch(Completed::isSuccess);
	}

	@Test
	void nothingIsReportedAfterAClose() {
		ConnectedPair pair = this.fixture.connect();
		CompletionCollector collector = pair.right().collector().handsOff(true);
		for (int i = 0; i < 40; i++) {
			pair.right().receive();
		}
		for (int i = 0; i < 20; i++) {
			pair.left().send();
		}
		WorkCompletion[] one = { new WorkCompletion() };
		this.fixture.await("the first of twenty", () -> collector.queue().poll(one) == 1);
		pair.right().close();
		assertThat(collector.poll()).isZero();
		collector.handsOff(false);
		this.fixture.awaitSettled(pair.left());
		assertThat(collector.poll()).isZero();
	}

	@Test
	void aDisconnectInTheMiddleOfLargeSendsLosesNoCompletion() {
		endInTheMiddle(WorkOpcode.SEND);
	}

	@Test
	void aDisconnectInTheMiddleOfLargeWritesLosesNoCompletion() {
		endInTheMiddle(WorkOpcode.WRITE);
	}

	@Test
	void aDisconnectInTheMiddleOfLargeReadsLosesNoCompletion() {
		endInTheMiddle(WorkOpcode.READ);
	}

	/** The fixture sees to it that the counts add up and that no foreign byte changes. */
	private void endInTheMiddle(WorkOpcode opcode) {
		int size = 8 << 20;
		GuardedMemory local = this.fixture.left().memory(size);
		for (int round = 0; round < TestEnvironment.rounds(24, 4); round++) {
			ConnectedPair pair = this.fixture.connect();
			GuardedMemory remote = this.fixture.right().memory(size, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
			for (int i = 0; i < 8; i++) {
				pair.right().receive(remote.segment(i << 20, 1 << 20));
				switch (opcode) {
					case SEND -> pair.left().send(local.segment(i << 20, 1 << 20));
					case WRITE -> pair.left().write(remote.remote(), local.all());
					default -> pair.left().read(remote.remote(), local.all());
				}
			}
			int enough = between(0, 60);
			for (int i = 0; i < enough; i++) {
				this.fixture.progress();
			}
			int how = round % 4;
			VerbsEndpoint ender = (how % 2 == 0) ? pair.left() : pair.right();
			VerbsEndpoint other = (how % 2 == 0) ? pair.right() : pair.left();
			if (how < 2) {
				ender.queuePair().disconnect();
				this.fixture.awaitSettled(ender);
			}
			else {
				ender.close();
			}
			this.fixture.awaitSettled(other);
			for (Completed completed : other.sends().completed()) {
				assertThat(completed.status()).isIn(WorkStatus.SUCCESS, WorkStatus.CONNECTION_LOST, WorkStatus.FLUSHED);
			}
			pair.left().close();
			pair.right().close();
			remote.assertGuardsIntact();
			remote.close();
		}
	}

	@Test
	void aListenerMayCloseItsQueuePair() {
		AtomicReference<VerbsEndpoint> endpoint = new AtomicReference<>();
		CompletableFuture<Void> closed = new CompletableFuture<>();
		EndpointOptions options = EndpointOptions.DEFAULTS.withListener((queuePair, fault) -> {
			endpoint.get().close();
			closed.complete(null);
		});
		endpoint.set(this.fixture.right().endpoint(options));
		ConnectedPair pair = this.fixture.connect(this.fixture.left().endpoint(), endpoint.get());
		pair.right().receive();
		pair.left().queuePair().disconnect();
		this.fixture.awaitSettled(pair.left());
		this.fixture.awaitResult(closed);
		assertThat(pair.right().state()).isEqualTo(QueuePairState.CLOSED);
		assertThat(pair.right().disconnects()).isOne();
	}

	@Test
	void aListenerMayReadStateAndPost() {
		AtomicReference<String> seen = new AtomicReference<>();
		EndpointOptions options = EndpointOptions.DEFAULTS.withListener((queuePair, fault) -> {
			PostResult result = queuePair.postReceive(new WorkRequest(0).receive(4711));
			seen.set(queuePair.state() + " " + queuePair.fault() + " " + fault + " " + result);
		});
		ConnectedPair pair = this.fixture.connect(this.fixture.left().endpoint(),
				this.fixture.right().endpoint(options));
		CompletionCollector collector = pair.right().collector().handsOff(true);
		pair.left().queuePair().disconnect();
		WorkCompletion[] one = { new WorkCompletion() };
		this.fixture.await("the flush of what the listener posted", () -> collector.queue().poll(one) == 1);
		assertThat(one[0].id()).isEqualTo(4711);
		assertThat(one[0].status()).isEqualTo(WorkStatus.FLUSHED);
		QueuePairFault fault = pair.right().fault();
		this.fixture.await("the listener to have posted", () -> seen.get() != null);
		assertThat(seen).hasValue("ERROR " + fault + " " + fault + " POSTED");
		collector.handsOff(false);
	}

	@Test
	void theEndIsAnnouncedEvenIfNothingWasPosted() {
		ConnectedPair pair = this.fixture.connect();
		pair.left().queuePair().disconnect();
		pair.awaitEnd();
		assertThat(pair.left().disconnects()).isOne();
		assertThat(pair.right().disconnects()).isOne();
	}

	@Test
	void aDisconnectBeforeTheConnectionLeavesNothingBehind() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		left.receive();
		left.queuePair().disconnect();
		left.close();
		assertThat(left.state()).isEqualTo(QueuePairState.CLOSED);
		assertThat(left.disconnects()).isZero();
	}

}
