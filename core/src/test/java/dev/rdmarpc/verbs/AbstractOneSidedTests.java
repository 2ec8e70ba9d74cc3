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

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** RDMA Read and RDMA Write. */
abstract class AbstractOneSidedTests extends AbstractVerbsTests {

	AbstractOneSidedTests(VerbsFixture fixture) {
		super(fixture);
	}

	private GuardedMemory exposed(int length) {
		return this.fixture.right().memory(length, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
	}

	/**
	 * After this the right has delivered, and so placed, all earlier Writes of the left.
	 */
	private void confirm(ConnectedPair pair) {
		pair.greet();
	}

	@Test
	void aReadFetchesThePeersBytes() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = exposed(3000);
		GuardedMemory sink = this.fixture.left().memory(3000);
		long read = pair.left().read(source.segment(1001, 999).remote(), sink.segment(7, 999));
		Completed completed = pair.awaitSuccess(pair.left(), read);
		assertThat(completed).isEqualTo(new Completed(read, WorkStatus.SUCCESS, WorkOpcode.READ, 999, 0));
		sink.assertHolds(7, source, 1001, 999);
		sink.assertUntouchedExcept(sink.segment(7, 999));
		source.assertUntouched();
		assertThat(pair.right().receives().completedCount()).isZero();
	}

	@Test
	void aWritePlacesBytesAtThePeer() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(3000);
		GuardedMemory sink = exposed(3000);
		long write = pair.left().write(sink.segment(13, 999).remote(), source.segment(1001, 999));
		assertThat(pair.awaitSuccess(pair.left(), write).opcode()).isEqualTo(WorkOpcode.WRITE);
		confirm(pair);
		sink.assertHolds(13, source, 1001, 999);
		sink.assertUntouchedExcept(sink.segment(13, 999));
	}

	@Test
	void theAcceptingSideReadsAndWritesToo() {
		ConnectedPair pair = this.fixture.connect().greet();
		GuardedMemory lent = this.fixture.left().memory(5000, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
		GuardedMemory source = this.fixture.right().memory(1000);
		GuardedMemory sink = this.fixture.right().memory(5000);
		pair.awaitSuccess(pair.right(), pair.right().write(lent.segment(100, 1000).remote(), source.all()));
		pair.awaitSuccess(pair.right(), pair.right().read(lent.remote(), sink.all()));
		sink.assertHolds(0, lent, 0, 5000);
		lent.assertHolds(100, source, 0, 1000);
		lent.assertUntouchedExcept(lent.segment(100, 1000));
	}

	@Test
	void aWriteIsThereWhenALaterSendIsDelivered() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(2_000_000);
		GuardedMemory sink = exposed(2_000_000);
		for (int round = 0; round < TestEnvironment.rounds(100, 20); round++) {
			int length = (round % 10 == 0) ? between(1_000_000, 2_000_000) : between(1, 20_000);
			int from = between(0, 2_000_000 - length);
			long received = pair.right().receive();
			pair.left().write(sink.segment(0, length).remote(), source.segment(from, length));
			pair.left().send();
			pair.awaitSuccess(pair.right(), received);
			sink.assertHolds(0, source, from, length);
		}
		this.fixture.await("all sends", () -> pair.left().sends().due() == 0);
	}

	@Test
	void aReadAfterAWriteSeesIt() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(100_000);
		GuardedMemory there = exposed(100_000);
		GuardedMemory back = this.fixture.left().memory(100_000);
		for (int round = 0; round < TestEnvironment.rounds(50, 10); round++) {
			int length = between(1, 100_000);
			int from = between(0, 100_000 - length);
			pair.left().write(there.segment(0, length).remote(), source.segment(from, length));
			pair.awaitSuccess(pair.left(),
					pair.left().read(there.segment(0, length).remote(), back.segment(0, length)));
			back.assertHolds(0, source, from, length);
		}
	}

	@Test
	void emptyReadsAndWritesComplete() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory lent = exposed(10);
		GuardedMemory local = this.fixture.left().memory(10);
		List<Long> ids = new ArrayList<>();
		ids.add(pair.left().read(lent.segment(5, 0).remote()));
		ids.add(pair.left().read(lent.segment(10, 0).remote(), local.segment(10, 0)));
		ids.add(pair.left().write(lent.segment(5, 0).remote()));
		ids.add(pair.left().write(lent.segment(10, 0).remote(), local.segment(0, 0), local.segment(10, 0)));
		for (long id : ids) {
			assertThat(pair.awaitSuccess(pair.left(), id).byteLength()).isZero();
		}
		confirm(pair);
		lent.assertUntouched();
		local.assertUntouched();
	}

	@Test
	void readsScatter() {
		int most = Math.min(16, this.fixture.left().limits().maxSendSegments());
		ConnectedPair pair = this.fixture.connect(segments(most));
		for (int round = 0; round < TestEnvironment.rounds(200, 40); round++) {
			int length = someLength(round);
			GuardedMemory source = exposed(length + 10);
			GuardedMemory sink = this.fixture.left().memory(length + between(1, 300));
			Segment[] into = scattered(sink, length, between(1, most));
			long read = pair.left().read(source.segment(3, length).remote(), into);
			assertThat(pair.awaitSuccess(pair.left(), read).byteLength()).isEqualTo(length);
			assertThat(gathered(sink, into)).isEqualTo(source.view(3, length));
			sink.assertUntouchedExcept(into);
			source.close();
			sink.close();
		}
	}

	@Test
	void writesGather() {
		int most = Math.min(16, this.fixture.left().limits().maxSendSegments());
		ConnectedPair pair = this.fixture.connect(segments(most));
		for (int round = 0; round < TestEnvironment.rounds(200, 40); round++) {
			int length = someLength(round);
			GuardedMemory source = this.fixture.left().memory(length + between(1, 300));
			GuardedMemory sink = exposed(length + 10);
			Segment[] from = scattered(source, length, between(1, most));
			pair.awaitSuccess(pair.left(), pair.left().write(sink.segment(3, length).remote(), from));
			confirm(pair);
			sink.assertHolds(3, gathered(source, from));
			sink.assertUntouchedExcept(sink.segment(3, length));
			source.close();
			sink.close();
		}
	}

	private EndpointOptions segments(int most) {
		return EndpointOptions.DEFAULTS.withSegments(Math.min(most, this.fixture.left().limits().maxReceiveSegments()));
	}

	@Test
	void readsOfEverySizeArrive() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = exposed(largestBytes() + 4096);
		GuardedMemory sink = this.fixture.left().memory(largestBytes() + 4096);
		for (int size : sizes()) {
			int from = between(0, 4096);
			int into = between(0, 4096);
			long read = pair.left().read(source.segment(from, size).remote(), sink.segment(into, size));
			assertThat(pair.awaitSuccess(pair.left(), read).byteLength()).isEqualTo(size);
			sink.assertHolds(into, source, from, size);
		}
		source.assertUntouched();
	}

	@Test
	void writesOfEverySizeArrive() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(largestBytes() + 4096);
		GuardedMemory sink = exposed(largestBytes() + 4096);
		for (int size : sizes()) {
			int from = between(0, 4096);
			int into = between(0, 4096);
			pair.awaitSuccess(pair.left(),
					pair.left().write(sink.segment(into, size).remote(), source.segment(from, size)));
			confirm(pair);
			sink.assertHolds(into, source, from, size);
		}
		source.assertUntouched();
	}

	@Test
	void moreReadsThanTheReadDepthWaitTheirTurn() {
		ConnectOptions shallow = new ConnectOptions(new byte[0], 2, 2, VerbsFixture.DEADLINE.toNanos());
		EndpointOptions options = EndpointOptions.DEFAULTS.withDepths(128, 8);
		ConnectedPair pair = this.fixture.connect(this.fixture.left().endpoint(options),
				this.fixture.right().endpoint(options), shallow, shallow);
		assertThat(pair.leftInfo().readDepth()).isBetween(1, 2);
		GuardedMemory source = exposed(128 * 3000);
		GuardedMemory sink = this.fixture.left().memory(128 * 3000);
		for (int i = 0; i < 128; i++) {
			RemoteRegion from = source.segment(i * 3000, 3000).remote();
			pair.left()
				.post(pair.left().request().read(pair.left().nextId(), from.address(), from.key()),
						sink.segment(i * 3000, 3000));
		}
		pair.left().queuePair().ringDoorbell();
		this.fixture.await("all reads", () -> pair.left().sends().completedCount() == 128);
		assertThat(pair.left().sends().completed()).allMatch(Completed::isSuccess);
		sink.assertHolds(0, source, 0, 128 * 3000);
	}

	@Test
	void bothSidesReadFromEachOtherAtOnce() {
		ConnectedPair pair = this.fixture.connect().greet();
		GuardedMemory leftLent = this.fixture.left().memory(6_000_000, AccessFlag.REMOTE_READ);
		GuardedMemory rightLent = exposed(6_000_000);
		GuardedMemory leftSink = this.fixture.left().memory(6_000_000);
		GuardedMemory rightSink = this.fixture.right().memory(6_000_000);
		for (int i = 0; i < 60; i++) {
			int from = i * 100_000;
			pair.left().read(rightLent.segment(from, 100_000).remote(), leftSink.segment(from, 100_000));
			pair.right().read(leftLent.segment(from, 100_000).remote(), rightSink.segment(from, 100_000));
		}
		this.fixture.await("all reads", () -> pair.left().sends().due() + pair.right().sends().due() == 0);
		assertThat(pair.left().sends().completed()).allMatch(Completed::isSuccess);
		assertThat(pair.right().sends().completed()).allMatch(Completed::isSuccess);
		leftSink.assertHolds(0, rightLent, 0, 6_000_000);
		rightSink.assertHolds(0, leftLent, 0, 6_000_000);
	}

	@Test
	void permissionsAreEnoughOneByOne() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory readable = this.fixture.right().memory(100, AccessFlag.REMOTE_READ);
		GuardedMemory writable = this.fixture.right().memory(100, AccessFlag.REMOTE_WRITE);
		GuardedMemory source = this.fixture.right().memoryIn(this.fixture.right().domain(), 100);
		GuardedMemory local = this.fixture.left().memory(100);
		long received = pair.right().receive(writable.all());
		pair.awaitSuccess(pair.left(), pair.left().send(local.all()));
		pair.awaitSuccess(pair.right(), received);
		pair.awaitSuccess(pair.left(), pair.left().write(writable.remote(), local.all()));
		pair.awaitSuccess(pair.left(), pair.left().read(readable.remote(), local.all()));
		GuardedMemory sink = this.fixture.left().memory(100);
		received = pair.left().receive(sink.all());
		pair.awaitSuccess(pair.right(), pair.right().send(source.all()));
		pair.awaitSuccess(pair.left(), received);
		sink.assertHolds(0, source, 0, 100);
		local.assertHolds(0, readable, 0, 100);
	}

}
