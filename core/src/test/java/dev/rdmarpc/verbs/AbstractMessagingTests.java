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

import java.nio.ByteBuffer;
import java.util.Set;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** Sends and receives. */
abstract class AbstractMessagingTests extends AbstractVerbsTests {

	AbstractMessagingTests(VerbsFixture fixture) {
		super(fixture);
	}

	@Test
	void aSendArrivesInThePostedReceive() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(1001);
		GuardedMemory sink = this.fixture.right().memory(1001);
		long received = pair.right().receive(sink.all());
		long sent = pair.left().send(source.all());
		Completed send = pair.awaitSuccess(pair.left(), sent);
		Completed receive = pair.awaitSuccess(pair.right(), received);
		assertThat(send.opcode()).isEqualTo(WorkOpcode.SEND);
		assertThat(receive).isEqualTo(new Completed(received, WorkStatus.SUCCESS, WorkOpcode.RECEIVE, 1001, 0));
		sink.assertHolds(0, source, 0, 1001);
		source.assertUntouched();
	}

	@Test
	void bothSidesSend() {
		ConnectedPair pair = this.fixture.connect().greet();
		for (int i = 0; i < 100; i++) {
			sendAndCheck(pair, between(0, 5000));
			sendAndCheck(pair.reversed(), between(0, 5000));
		}
	}

	private void sendAndCheck(ConnectedPair pair, int length) {
		GuardedMemory source = pair.left().side().memory(length + 1);
		GuardedMemory sink = pair.right().side().memory(length + 1);
		long received = pair.right().receive(sink.all());
		long sent = pair.left().send(source.segment(1, length));
		pair.awaitSuccess(pair.left(), sent);
		assertThat(pair.awaitSuccess(pair.right(), received).byteLength()).isEqualTo(length);
		sink.assertHolds(0, source, 1, length);
		sink.assertUntouchedExcept(sink.segment(0, length));
	}

	@Test
	void aShorterMessageLeavesTheRestOfTheReceiveAlone() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(100);
		GuardedMemory sink = this.fixture.right().memory(5000);
		long received = pair.right().receive(sink.segment(1000, 3000));
		pair.awaitSuccess(pair.left(), pair.left().send(source.all()));
		assertThat(pair.awaitSuccess(pair.right(), received).byteLength()).isEqualTo(100);
		sink.assertHolds(1000, source, 0, 100);
		sink.assertUntouchedExcept(sink.segment(1000, 100));
	}

	@Test
	void anEmptySendCompletesAReceiveWithoutSegments() {
		ConnectedPair pair = this.fixture.connect();
		long received = pair.right().receive();
		Completed send = pair.awaitSuccess(pair.left(), pair.left().send());
		assertThat(send.byteLength()).isZero();
		assertThat(pair.awaitSuccess(pair.right(), received).byteLength()).isZero();
	}

	@Test
	void emptySegmentsAreAllowedAnywhere() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(64);
		GuardedMemory sink = this.fixture.right().memory(64);
		long empty = pair.right().receive(sink.segment(64, 0));
		long full = pair.right()
			.receive(sink.segment(3, 0), sink.segment(10, 7), sink.segment(64, 0), sink.segment(20, 5));
		pair.awaitSuccess(pair.left(), pair.left().send(source.segment(64, 0)));
		pair.awaitSuccess(pair.left(), pair.left()
			.send(source.segment(1, 5), source.segment(0, 0), source.segment(30, 7), source.segment(64, 0)));
		assertThat(pair.awaitSuccess(pair.right(), empty).byteLength()).isZero();
		assertThat(pair.awaitSuccess(pair.right(), full).byteLength()).isEqualTo(12);
		sink.assertHolds(10, source, 1, 5);
		sink.assertHolds(15, source, 30, 2);
		sink.assertHolds(20, source, 32, 5);
		sink.assertUntouchedExcept(sink.segment(10, 7), sink.segment(20, 5));
	}

	@Test
	void sendsGatherAndReceivesScatter() {
		DeviceLimits limits = this.fixture.left().limits();
		int most = Math.min(16, Math.min(limits.maxSendSegments(), limits.maxReceiveSegments()));
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withSegments(most));
		for (int round = 0; round < TestEnvironment.rounds(200, 40); round++) {
			int length = someLength(round);
			GuardedMemory source = this.fixture.left().memory(length + between(1, 300));
			GuardedMemory sink = this.fixture.right().memory(length + between(1, 300));
			Segment[] from = scattered(source, length, between(1, most));
			Segment[] into = scattered(sink, length, between(1, most));
			long received = pair.right().receive(into);
			pair.awaitSuccess(pair.left(), pair.left().send(from));
			assertThat(pair.awaitSuccess(pair.right(), received).byteLength()).isEqualTo(length);
			assertThat(gathered(sink, into)).isEqualTo(gathered(source, from));
			sink.assertUntouchedExcept(into);
			source.close();
			sink.close();
		}
	}

	@Test
	void aSendTakesTheSameBytesSeveralTimes() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(3000);
		GuardedMemory sink = this.fixture.right().memory(9000);
		long received = pair.right().receive(sink.all());
		pair.awaitSuccess(pair.left(), pair.left().send(source.all(), source.all(), source.all()));
		pair.awaitSuccess(pair.right(), received);
		for (int i = 0; i < 3; i++) {
			sink.assertHolds(i * 3000, source, 0, 3000);
		}
	}

	@Test
	void sendsOfEverySizeArrive() {
		sendEverySize(WorkOpcode.SEND);
	}

	@Test
	void solicitedSendsOfEverySizeArrive() {
		sendEverySize(WorkOpcode.SEND_SOLICITED);
	}

	@Test
	void sendsWithInvalidateOfEverySizeArrive() {
		Assumptions.assumeTrue(this.fixture.left().limits().sendWithInvalidate(), "no Sends that invalidate");
		sendEverySize(WorkOpcode.SEND_WITH_INVALIDATE);
	}

	private void sendEverySize(WorkOpcode opcode) {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(largestBytes() + 4096);
		GuardedMemory sink = this.fixture.right().memory(largestBytes() + 4096);
		for (int size : sizes()) {
			Segment from = source.segment(between(0, 4096), size);
			Segment into = sink.segment(between(0, 4096), size);
			GuardedMemory lent = this.fixture.right().lent(pair.right(), 1, AccessFlag.REMOTE_READ);
			long received = pair.right().receive(into);
			long sent = switch (opcode) {
				case SEND -> pair.left().send(from);
				case SEND_SOLICITED -> pair.left().sendSolicited(from);
				default -> pair.left().sendWithInvalidate(lent.region().remoteKey(), from);
			};
			assertThat(pair.awaitSuccess(pair.left(), sent).opcode()).isEqualTo(opcode);
			assertThat(pair.awaitSuccess(pair.right(), received).byteLength()).isEqualTo(size);
			assertThat(lent.region().isValid()).isEqualTo(opcode != WorkOpcode.SEND_WITH_INVALIDATE);
			sink.assertHolds(into.offsetBytes(), source, from.offsetBytes(), size);
			lent.close();
		}
		source.assertUntouched();
	}

	@Test
	void aLargeMessageIsGatheredAndScattered() {
		DeviceLimits limits = this.fixture.left().limits();
		int most = Math.min(16, Math.min(limits.maxSendSegments(), limits.maxReceiveSegments()));
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withSegments(most));
		GuardedMemory source = this.fixture.left().memory(largestBytes() + 1000);
		GuardedMemory sink = this.fixture.right().memory(largestBytes() + 1000);
		Segment[] from = scattered(source, largestBytes(), most);
		Segment[] into = scattered(sink, largestBytes(), most);
		long received = pair.right().receive(into);
		pair.awaitSuccess(pair.left(), pair.left().send(from));
		assertThat(pair.awaitSuccess(pair.right(), received).byteLength()).isEqualTo(largestBytes());
		assertThat(gathered(sink, into).mismatch(gathered(source, from))).isNegative();
		sink.assertUntouchedExcept(into);
	}

	@Test
	void unsignaledSendsCompleteInSilence() {
		ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withDepths(8, 64));
		GuardedMemory source = this.fixture.left().memory(640);
		GuardedMemory sink = this.fixture.right().memory(640);
		for (int round = 0; round < TestEnvironment.rounds(50, 10); round++) {
			for (int i = 0; i < 8; i++) {
				pair.right().receive(sink.segment(i * 80, 80));
			}
			for (int i = 0; i < 7; i++) {
				pair.left()
					.post(pair.left().request().send(pair.left().nextId()).unsignaled(), source.segment(i * 80, 80));
			}
			long last = pair.left().send(source.segment(560, 80));
			int arrived = 8 * (round + 1);
			pair.awaitSuccess(pair.left(), last);
			this.fixture.await("all messages", () -> pair.right().receives().completedCount() == arrived);
			assertThat(pair.left().sends().completedCount()).isEqualTo(round + 1);
			sink.assertHolds(0, source, 0, 640);
			sink.reset();
		}
	}

	@Test
	void aDoorbellIsNotNeededByThoseWhoPoll() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(10);
		GuardedMemory sink = this.fixture.right().memory(10);
		long received = pair.right().receive(sink.all());
		long sent = pair.left().post(pair.left().request().send(pair.left().nextId()), source.all());
		pair.awaitSuccess(pair.left(), sent);
		pair.awaitSuccess(pair.right(), received);
		sink.assertHolds(0, source, 0, 10);
	}

	@Test
	void aSolicitedSendIsReceivedLikeAnyOther() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(77);
		GuardedMemory sink = this.fixture.right().memory(77);
		long received = pair.right().receive(sink.all());
		long sent = pair.left().sendSolicited(source.all());
		assertThat(pair.awaitSuccess(pair.left(), sent).opcode()).isEqualTo(WorkOpcode.SEND_SOLICITED);
		assertThat(pair.awaitSuccess(pair.right(), received).byteLength()).isEqualTo(77);
		sink.assertHolds(0, source, 0, 77);
	}

	@Test
	void aSendWithInvalidateRevokesTheRegion() {
		Assumptions.assumeTrue(this.fixture.left().limits().sendWithInvalidate(), "no Sends that invalidate");
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(77);
		GuardedMemory sink = this.fixture.right().memory(77);
		GuardedMemory lent = this.fixture.right()
			.lent(pair.right(), 500, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
		pair.awaitSuccess(pair.left(), pair.left().read(lent.remote(), this.fixture.left().memory(500).all()));
		assertThat(lent.region().isValid()).isTrue();
		int key = lent.region().remoteKey();
		long received = pair.right().receive(sink.all());
		Completed send = pair.awaitSuccess(pair.left(), pair.left().sendWithInvalidate(key, source.all()));
		Completed receive = pair.awaitSuccess(pair.right(), received);
		assertThat(send.opcode()).isEqualTo(WorkOpcode.SEND_WITH_INVALIDATE);
		assertThat(receive.invalidatedKey()).isEqualTo(key);
		assertThat(receive.byteLength()).isEqualTo(77);
		sink.assertHolds(0, source, 0, 77);
		assertThat(lent.region().isValid()).isFalse();
		GuardedMemory late = this.fixture.left().memory(500);
		this.fixture.awaitStatus(pair.left(),
				pair.left().read(new RemoteRegion(lent.region().remoteAddress(), key, 500), late.all()),
				WorkStatus.REMOTE_ACCESS_ERROR);
		pair.assertRefusedByRight(WorkStatus.REMOTE_ACCESS_ERROR);
		late.assertUntouched();
	}

	@Test
	void aLargeSendWithInvalidateRevokesTheRegion() {
		Assumptions.assumeTrue(this.fixture.left().limits().sendWithInvalidate(), "no Sends that invalidate");
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(3_000_001);
		GuardedMemory sink = this.fixture.right().memory(3_000_001);
		GuardedMemory lent = this.fixture.right().lent(pair.right(), 1, AccessFlag.REMOTE_READ);
		long received = pair.right().receive(sink.all());
		pair.awaitSuccess(pair.left(), pair.left().sendWithInvalidate(lent.region().remoteKey(), source.all()));
		assertThat(pair.awaitSuccess(pair.right(), received).invalidatedKey()).isEqualTo(lent.region().remoteKey());
		sink.assertHolds(0, source, 0, 3_000_001);
		assertThat(lent.region().isValid()).isFalse();
	}

	@Test
	void anInvalidatedRegionMayBeRegisteredAgain() {
		Assumptions.assumeTrue(this.fixture.left().limits().sendWithInvalidate(), "no Sends that invalidate");
		ConnectedPair pair = this.fixture.connect();
		ByteBuffer memory = ByteBuffer.allocateDirect(100);
		GuardedMemory sink = this.fixture.left().memory(100);
		for (int round = 0; round < TestEnvironment.rounds(300, 30); round++) {
			memory.putInt(0, round);
			MemoryRegion region = this.fixture.right()
				.domain()
				.registerMemory(memory, Set.of(AccessFlag.REMOTE_READ), pair.right().queuePair());
			pair.awaitSuccess(pair.left(), pair.left().read(region.remoteRegion(0, 100), sink.all()));
			long received = pair.right().receive();
			pair.left().sendWithInvalidate(region.remoteKey());
			assertThat(pair.awaitSuccess(pair.right(), received).invalidatedKey()).isEqualTo(region.remoteKey());
			assertThat(region.isValid()).isFalse();
			assertThat(sink.view().getInt(0)).isEqualTo(Integer.reverseBytes(round));
			region.close();
		}
	}

}
