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

import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What a process must not do with its own memory: requests fail where they were made. */
abstract class AbstractLocalProtectionTests extends AbstractVerbsTests {

	private static final int LENGTH = 1000;

	AbstractLocalProtectionTests(VerbsFixture fixture) {
		super(fixture);
	}

	private void assertFailsAtHome(ConnectedPair pair, long id) {
		long behind = pair.left().send();
		this.fixture.awaitStatus(pair.left(), id, WorkStatus.LOCAL_PROTECTION_ERROR);
		this.fixture.awaitStatus(pair.left(), behind, WorkStatus.FLUSHED);
		pair.awaitEnd();
		assertThat(pair.left().fault()).extracting(QueuePairFault::status, QueuePairFault::origin)
			.containsExactly(WorkStatus.LOCAL_PROTECTION_ERROR, QueuePairFault.Origin.LOCAL);
		assertThat(pair.left().fault().detail()).isNotBlank();
		if (this.fixture.explainsFaults()) {
			assertThat(pair.right().fault().origin()).isNotEqualTo(QueuePairFault.Origin.LOCAL);
		}
	}

	/** Tries segments as the source of a Send and of a Write. */
	private void assertCannotBeSent(Segment... segments) {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory sink = this.fixture.right().memory(8 * LENGTH);
		long received = pair.right().receive(sink.all());
		assertFailsAtHome(pair, pair.left().send(segments));
		assertThat(this.fixture.awaitCompletion(pair.right(), received).isSuccess()).isFalse();

		pair = this.fixture.connect();
		GuardedMemory lent = this.fixture.right().memory(8 * LENGTH, AccessFlag.REMOTE_WRITE);
		assertFailsAtHome(pair, pair.left().write(lent.remote(), segments));
	}

	/** Tries segments as the sink of a Read and as a receive. */
	private void assertCannotBeFilled(Segment... segments) {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory lent = this.fixture.right().memory(8 * LENGTH, AccessFlag.REMOTE_READ);
		assertFailsAtHome(pair, pair.left().read(lent.remote(), segments));

		pair = this.fixture.connect().greet().reversed();
		GuardedMemory source = pair.left().side().memory(100);
		long received = pair.right().receive(segments);
		pair.left().send(source.all());
		this.fixture.awaitStatus(pair.right(), received, WorkStatus.LOCAL_PROTECTION_ERROR);
		pair.awaitEnd();
		assertThat(pair.right().fault()).extracting(QueuePairFault::status, QueuePairFault::origin)
			.containsExactly(WorkStatus.LOCAL_PROTECTION_ERROR, QueuePairFault.Origin.LOCAL);
		if (this.fixture.explainsFaults()) {
			assertThat(pair.left().fault().origin()).isEqualTo(QueuePairFault.Origin.REMOTE);
		}
	}

	private void assertUseless(GuardedMemory memory, Segment segment) {
		assertCannotBeSent(segment);
		assertCannotBeFilled(segment);
		memory.assertUntouched();
	}

	@Test
	void aSegmentBeyondTheEndOfItsRegionFails() {
		GuardedMemory memory = this.fixture.left().memory(LENGTH);
		assertUseless(memory, memory.segment(0, LENGTH + 1));
		assertUseless(memory, memory.segment(LENGTH, 100));
		assertUseless(memory, memory.segment(LENGTH - 99, 100));
		assertUseless(memory, memory.segment(LENGTH + 1, 100));
	}

	@Test
	void aSegmentBeforeTheStartOfItsRegionFails() {
		GuardedMemory memory = this.fixture.left().memory(LENGTH);
		assertUseless(memory, memory.segment(-1, 100));
		assertUseless(memory, memory.segment(-100, 100));
	}

	@Test
	void aSegmentWhoseEndOverflowsFails() {
		GuardedMemory memory = this.fixture.left().memory(LENGTH);
		assertUseless(memory, memory.segment(Integer.MAX_VALUE, Integer.MAX_VALUE));
		assertUseless(memory, memory.segment(100, Integer.MAX_VALUE));
		assertUseless(memory, memory.segment(Integer.MIN_VALUE, 100));
	}

	@Test
	void aSegmentOfNegativeLengthFails() {
		GuardedMemory memory = this.fixture.left().memory(LENGTH);
		assertUseless(memory, memory.segment(100, -1));
		assertUseless(memory, memory.segment(100, Integer.MIN_VALUE));
	}

	@Test
	void oneBadSegmentAmongGoodOnesFails() {
		GuardedMemory memory = this.fixture.left().memory(LENGTH);
		Segment[] segments = { memory.segment(0, 10), memory.segment(20, 10), memory.segment(LENGTH - 10, 11) };
		assertCannotBeSent(segments);
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory lent = this.fixture.right().memory(LENGTH, AccessFlag.REMOTE_READ);
		assertFailsAtHome(pair, pair.left().read(lent.remote(), segments));
		memory.assertUntouched();
	}

	@Test
	void aDeregisteredRegionFails() {
		GuardedMemory memory = this.fixture.left().memory(LENGTH, AccessFlag.REMOTE_WRITE);
		memory.close();
		memory.close();
		assertUseless(memory, memory.all());
	}

	@Test
	void aRegionDeregisteredAfterItsReceiveWasPostedFails() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory sink = this.fixture.right().memory(LENGTH);
		long received = pair.right().receive(sink.all());
		sink.close();
		pair.left().send(this.fixture.left().memory(LENGTH).all());
		this.fixture.awaitStatus(pair.right(), received, WorkStatus.LOCAL_PROTECTION_ERROR);
		pair.awaitEnd();
		sink.assertUntouched();
	}

	@Test
	void aRegionOfAnotherProtectionDomainFails() {
		ProtectionDomain other = this.fixture.left().device().allocateProtectionDomain();
		GuardedMemory memory = this.fixture.left().memoryIn(other, LENGTH, AccessFlag.LOCAL_WRITE);
		assertUseless(memory, memory.all());
	}

	@Test
	void aRegionOfAnotherDeviceFails() {
		GuardedMemory memory = this.fixture.right().memory(LENGTH);
		assertUseless(memory, memory.all());
	}

	@Test
	void aRegionWithoutLocalWriteCannotBeFilled() {
		GuardedMemory memory = this.fixture.left().memoryIn(this.fixture.left().domain(), LENGTH);
		assertCannotBeFilled(memory.all());
		GuardedMemory readable = this.fixture.left().memory(LENGTH, AccessFlag.REMOTE_READ);
		assertCannotBeFilled(readable.all());
		memory.assertUntouched();
		readable.assertUntouched();
	}

	@Test
	void aRegionWithoutLocalWriteCanBeSent() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory memory = this.fixture.left().memoryIn(this.fixture.left().domain(), LENGTH);
		GuardedMemory sink = this.fixture.right().memory(LENGTH);
		long received = pair.right().receive(sink.all());
		pair.awaitSuccess(pair.left(), pair.left().send(memory.all()));
		pair.awaitSuccess(pair.right(), received);
		sink.assertHolds(0, memory, 0, LENGTH);
	}

	@Test
	void anInvalidatedRegionIsOfNoMoreUseToItsOwner() {
		Assumptions.assumeTrue(this.fixture.left().limits().sendWithInvalidate(), "no Sends that invalidate");
		ConnectedPair pair = this.fixture.connect().greet();
		GuardedMemory memory = this.fixture.left()
			.lent(pair.left(), LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
		long received = pair.left().receive();
		pair.right().sendWithInvalidate(memory.region().remoteKey());
		pair.awaitSuccess(pair.left(), received);
		assertThat(memory.region().isValid()).isFalse();
		assertUseless(memory, memory.all());
	}

	@Test
	void whatWasPostedBeforeABadRequestStillArrives() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory(LENGTH);
		GuardedMemory sink = this.fixture.right().memory(LENGTH);
		long received = pair.right().receive(sink.all());
		long good = pair.left().send(source.all());
		long bad = pair.left().send(source.segment(0, LENGTH + 1));
		pair.awaitSuccess(pair.left(), good);
		this.fixture.awaitStatus(pair.left(), bad, WorkStatus.LOCAL_PROTECTION_ERROR);
		pair.awaitSuccess(pair.right(), received);
		sink.assertHolds(0, source, 0, LENGTH);
		pair.awaitEnd();
	}

	@Test
	void aRequestLongerThanTheDeviceTakesFails() {
		DeviceLimits limits = this.fixture.left().limits();
		int segments = Math.min(limits.maxSendSegments(), limits.maxReceiveSegments());
		Assumptions.assumeTrue(limits.maxMessageBytes() < (long) segments * LARGEST_BYTES, "no request can be as long");
		GuardedMemory memory = this.fixture.left().memory(LARGEST_BYTES);
		Segment[] tooMuch = Stream.generate(memory::all)
			.limit(limits.maxMessageBytes() / LARGEST_BYTES + 1)
			.toArray(Segment[]::new);
		GuardedMemory lent = this.fixture.right().memory(LENGTH, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
		for (WorkOpcode opcode : new WorkOpcode[] { WorkOpcode.SEND, WorkOpcode.WRITE, WorkOpcode.READ }) {
			ConnectedPair pair = this.fixture.connect(EndpointOptions.DEFAULTS.withSegments(segments));
			long id = switch (opcode) {
				case SEND -> pair.left().send(tooMuch);
				case WRITE -> pair.left().write(lent.remote(), tooMuch);
				default -> pair.left().read(lent.remote(), tooMuch);
			};
			this.fixture.awaitStatus(pair.left(), id, WorkStatus.LOCAL_LENGTH_ERROR);
			pair.awaitEnd();
			assertThat(pair.left().fault()).extracting(QueuePairFault::status, QueuePairFault::origin)
				.containsExactly(WorkStatus.LOCAL_LENGTH_ERROR, QueuePairFault.Origin.LOCAL);
		}
		lent.assertUntouched();
	}

	@Test
	void anUnsignaledRequestThatFailsCompletes() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory memory = this.fixture.left().memory(LENGTH);
		long bad = pair.left()
			.post(pair.left().request().send(pair.left().nextId()).unsignaled(), memory.segment(1, LENGTH));
		assertFailsAtHome(pair, bad);
	}

}
