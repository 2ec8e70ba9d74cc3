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

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a peer must not do: each attempt ends the connection with the right status on both
 * sides, changes no byte and leaks none. The requester of a Write may see success first,
 * as its completion only says that the bytes were handed over.
 */
abstract class AbstractProtectionTests extends AbstractVerbsTests {

	private static final int LENGTH = 1000;

	AbstractProtectionTests(VerbsFixture fixture) {
		super(fixture);
	}

	private GuardedMemory exposed() {
		return this.fixture.right().memory(LENGTH, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
	}

	private void assertReadRefused(RemoteRegion source) {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory sink = this.fixture.left().memory((int) source.lengthBytes());
		long read = pair.left().read(source, sink.all());
		long behind = pair.left().send();
		this.fixture.awaitStatus(pair.left(), read, WorkStatus.REMOTE_ACCESS_ERROR);
		WorkStatus status = this.fixture.awaitCompletion(pair.left(), behind).status();
		if (this.fixture.explainsFaults()) {
			assertThat(status).as("an adapter may have sent it before it heard of the refusal")
				.isEqualTo(WorkStatus.FLUSHED);
		}
		pair.assertRefusedByRight(WorkStatus.REMOTE_ACCESS_ERROR);
		sink.assertUntouched();
	}

	private void assertWriteRefused(RemoteRegion sink) {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory source = this.fixture.left().memory((int) sink.lengthBytes());
		long received = pair.right().receive();
		long write = pair.left().write(sink, source.all());
		WorkStatus status = this.fixture.awaitCompletion(pair.left(), write).status();
		if (this.fixture.explainsFaults()) {
			assertThat(status).isIn(WorkStatus.SUCCESS, WorkStatus.REMOTE_ACCESS_ERROR);
		}
		pair.assertRefusedByRight(WorkStatus.REMOTE_ACCESS_ERROR);
		this.fixture.awaitStatus(pair.right(), received, WorkStatus.FLUSHED);
	}

	private void assertBothRefused(RemoteRegion region, GuardedMemory memory) {
		assertReadRefused(region);
		assertWriteRefused(region);
		memory.assertUntouched();
	}

	@Test
	void aWrongKeyIsRefused() {
		GuardedMemory memory = exposed();
		for (int wrong : new int[] { 0x0100_0000, 0x0000_0100, 0x7fff_ff00, ~0 }) {
			int key = memory.region().remoteKey() ^ wrong;
			assertBothRefused(new RemoteRegion(memory.region().remoteAddress(), key, 100), memory);
		}
	}

	@Test
	void aKeyThatWasNeverGivenOutIsRefused() {
		GuardedMemory memory = exposed();
		for (int key : new int[] { 0, 1, -1 }) {
			assertThat(memory.region().remoteKey()).isNotEqualTo(key);
			assertBothRefused(new RemoteRegion(memory.region().remoteAddress(), key, 100), memory);
		}
	}

	@Test
	void aKeyOfAnotherGenerationIsRefused() {
		GuardedMemory memory = exposed();
		for (int wrong : new int[] { 0x01, 0x80, 0xff }) {
			int key = memory.region().remoteKey() ^ wrong;
			assertBothRefused(new RemoteRegion(memory.region().remoteAddress(), key, 100), memory);
		}
	}

	@Test
	void aDeregisteredRegionIsRefused() {
		GuardedMemory memory = exposed();
		RemoteRegion remote = memory.remote();
		memory.close();
		assertThat(memory.region().isValid()).isFalse();
		assertBothRefused(remote, memory);
	}

	@Test
	void theKeyOfADeregisteredRegionDoesNotNameItsSuccessors() {
		GuardedMemory first = exposed();
		RemoteRegion remote = first.remote();
		first.close();
		for (int i = 0; i < 1000; i++) {
			GuardedMemory next = exposed();
			assertThat(next.region().remoteKey()).isNotEqualTo(remote.key());
			if (i % 100 != 0) {
				next.close();
			}
			else {
				assertBothRefused(new RemoteRegion(next.region().remoteAddress(), remote.key(), LENGTH), next);
			}
		}
	}

	@Test
	void accessBehindTheEndIsRefused() {
		GuardedMemory memory = exposed();
		long address = memory.region().remoteAddress();
		int key = memory.region().remoteKey();
		assertBothRefused(new RemoteRegion(address + LENGTH, key, 1), memory);
		assertBothRefused(new RemoteRegion(address + LENGTH, key, 100), memory);
		assertBothRefused(new RemoteRegion(address + LENGTH + 1_000_000, key, 100), memory);
	}

	/** A Write may be cut into segments, of which the first are still inside. */
	@Test
	void accessAcrossTheEndIsRefused() {
		for (int excess : new int[] { 1, 50, LENGTH }) {
			GuardedMemory memory = exposed();
			long address = memory.region().remoteAddress() + LENGTH - 50;
			RemoteRegion across = new RemoteRegion(address, memory.region().remoteKey(), 50 + excess);
			assertReadRefused(across);
			memory.assertUntouched();
			assertWriteRefused(across);
			memory.assertUntouchedExcept(memory.segment(LENGTH - 50, 50));
			memory.assertGuardsIntact();
		}
	}

	@Test
	void accessBeforeTheStartIsRefused() {
		GuardedMemory memory = exposed();
		long address = memory.region().remoteAddress();
		int key = memory.region().remoteKey();
		assertBothRefused(new RemoteRegion(address - 1, key, 1), memory);
		assertBothRefused(new RemoteRegion(address - 1, key, 100), memory);
		assertBothRefused(new RemoteRegion(address - 1000, key, 2000), memory);
	}

	@Test
	void anAddressThatWrapsIsRefused() {
		GuardedMemory memory = exposed();
		long address = memory.region().remoteAddress();
		int key = memory.region().remoteKey();
		assertBothRefused(new RemoteRegion(-8, key, 100), memory);
		assertBothRefused(new RemoteRegion(-1, key, 2), memory);
		assertBothRefused(new RemoteRegion(Long.MAX_VALUE, key, 100), memory);
		assertBothRefused(new RemoteRegion(Long.MIN_VALUE, key, 100), memory);
		assertBothRefused(new RemoteRegion(address + (1L << 32), key, 100), memory);
	}

	@Test
	void aLargeWriteBeyondTheEndStaysInsideTheRegion() {
		GuardedMemory memory = this.fixture.right().memory(3 << 20, AccessFlag.REMOTE_WRITE);
		assertWriteRefused(
				new RemoteRegion(memory.region().remoteAddress(), memory.region().remoteKey(), (3 << 20) + 7));
		memory.assertGuardsIntact();
	}

	@Test
	void aLargeReadBeyondTheEndBringsNothing() {
		GuardedMemory memory = this.fixture.right().memory(3 << 20, AccessFlag.REMOTE_READ);
		assertReadRefused(
				new RemoteRegion(memory.region().remoteAddress(), memory.region().remoteKey(), (3 << 20) + 7));
	}

	@Test
	void aReadWithoutPermissionIsRefused() {
		Assumptions.assumeTrue(this.fixture.checksPermissionToRead(),
				"the device serves Reads of every region of the protection domain");
		assertReadRefused(this.fixture.right().memory(LENGTH, AccessFlag.LOCAL_WRITE).remote());
		assertReadRefused(this.fixture.right().memory(LENGTH, AccessFlag.REMOTE_WRITE).remote());
		assertReadRefused(this.fixture.right().memory(LENGTH).remote());
	}

	@Test
	void aWriteWithoutPermissionIsRefused() {
		for (AccessFlag[] access : new AccessFlag[][] { { AccessFlag.LOCAL_WRITE }, { AccessFlag.REMOTE_READ },
				{ AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ }, {} }) {
			GuardedMemory memory = this.fixture.right().memory(LENGTH, access);
			assertWriteRefused(memory.remote());
			memory.assertUntouched();
		}
	}

	@Test
	void aKeyOfAnotherProtectionDomainIsRefused() {
		ProtectionDomain other = this.fixture.right().device().allocateProtectionDomain();
		GuardedMemory memory = this.fixture.right()
			.memoryIn(other, LENGTH, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
		assertBothRefused(memory.remote(), memory);
	}

	@Test
	void aReceiveBufferIsNotOpenToThePeer() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory sink = this.fixture.right().memory(LENGTH);
		long received = pair.right().receive(sink.all());
		pair.left().write(sink.remote(), this.fixture.left().memory(LENGTH).all());
		pair.assertRefusedByRight(WorkStatus.REMOTE_ACCESS_ERROR);
		this.fixture.awaitStatus(pair.right(), received, WorkStatus.FLUSHED);
		sink.assertUntouched();
	}

	@Test
	void aMessageLongerThanItsReceiveIsRefused() {
		for (int tooMuch : new int[] { 1, 100, 100_000, 3 << 20 }) {
			ConnectedPair pair = this.fixture.connect();
			GuardedMemory sink = this.fixture.right().memory(LENGTH);
			long received = pair.right().receive(sink.segment(100, 300), sink.segment(500, 200));
			long next = pair.right().receive(sink.segment(900, 100));
			pair.left().send(this.fixture.left().memory(500 + tooMuch).all());
			this.fixture.awaitStatus(pair.right(), received, WorkStatus.LOCAL_LENGTH_ERROR);
			this.fixture.awaitStatus(pair.right(), next, WorkStatus.FLUSHED);
			pair.awaitEnd();
			assertThat(pair.right().fault()).extracting(QueuePairFault::status, QueuePairFault::origin)
				.containsExactly(WorkStatus.LOCAL_LENGTH_ERROR, QueuePairFault.Origin.LOCAL);
			if (this.fixture.explainsFaults()) {
				assertThat(pair.left().fault()).extracting(QueuePairFault::status, QueuePairFault::origin)
					.containsExactly(WorkStatus.REMOTE_INVALID_REQUEST, QueuePairFault.Origin.REMOTE);
			}
			sink.assertUntouchedExcept(sink.segment(100, 300), sink.segment(500, 200));
		}
	}

	@Test
	void aSendThatFindsNoReceiveIsRefused() {
		for (int length : new int[] { 0, 1, 1000, 1 << 20 }) {
			ConnectedPair pair = this.fixture.connect();
			pair.left().send(this.fixture.left().memory(length + 1).segment(1, length));
			pair.assertRefusedByRight(WorkStatus.REMOTE_INVALID_REQUEST);
		}
	}

	@Test
	void oneSendTooManyFailsAfterTheOthersHaveArrived() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory sink = this.fixture.right().memory(800);
		GuardedMemory source = this.fixture.left().memory(900);
		for (int i = 0; i < 8; i++) {
			pair.right().receive(sink.segment(i * 100, 100));
		}
		for (int i = 0; i < 9; i++) {
			pair.left().send(source.segment(i * 100, 100));
		}
		pair.assertRefusedByRight(WorkStatus.REMOTE_INVALID_REQUEST);
		assertThat(pair.right().receives().completed()).hasSize(8).allMatch(Completed::isSuccess);
		sink.assertHolds(0, source, 0, 800);
	}

	@Test
	void invalidatingWhatIsNotOneOfThePeersRegionsIsRefused() {
		Assumptions.assumeTrue(this.fixture.left().limits().sendWithInvalidate(), "no Sends that invalidate");
		GuardedMemory memory = exposed();
		ProtectionDomain other = this.fixture.right().device().allocateProtectionDomain();
		GuardedMemory foreign = this.fixture.right().memoryIn(other, LENGTH, AccessFlag.REMOTE_READ);
		GuardedMemory lent = this.fixture.right()
			.lent(this.fixture.connect().right(), LENGTH, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
		for (int key : new int[] { memory.region().remoteKey() ^ 1, memory.region().remoteKey() ^ 0x100, 0,
				foreign.region().remoteKey(), memory.region().remoteKey(), lent.region().remoteKey() }) {
			ConnectedPair pair = this.fixture.connect();
			long received = pair.right().receive();
			pair.left().sendWithInvalidate(key);
			assertThat(this.fixture.awaitCompletion(pair.right(), received).isSuccess()).isFalse();
			pair.assertRefusedByRight(WorkStatus.REMOTE_ACCESS_ERROR);
		}
		assertThat(memory.region().isValid()).isTrue();
		assertThat(foreign.region().isValid()).isTrue();
		assertThat(lent.region().isValid()).isTrue();
	}

	@Test
	void whatIsLentToOnePeerIsClosedToTheOthers() {
		Assumptions.assumeTrue(this.fixture.left().limits().boundRegions(),
				"the device opens a region to all peers of the protection domain");
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory lent = this.fixture.right()
			.lent(pair.right(), LENGTH, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
		assertBothRefused(lent.remote(), lent);
		GuardedMemory sink = this.fixture.left().memory(LENGTH);
		pair.awaitSuccess(pair.left(), pair.left().read(lent.remote(), sink.all()));
		sink.assertHolds(0, lent, 0, LENGTH);
		long received = pair.right().receive();
		pair.left().write(lent.remote(), this.fixture.left().memory(LENGTH).all());
		pair.awaitSuccess(pair.left(), pair.left().send());
		pair.awaitSuccess(pair.right(), received);
	}

	/** A queue pair's peer goes with its connection: the region is nobody's then. */
	@Test
	void whatWasLentToAPeerThatHasLeftIsClosedToAll() {
		Assumptions.assumeTrue(this.fixture.left().limits().boundRegions(),
				"the device opens a region to all peers of the protection domain");
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory lent = this.fixture.right().lent(pair.right(), LENGTH, AccessFlag.REMOTE_READ);
		pair.left().queuePair().disconnect();
		pair.awaitEnd();
		pair.right().close();
		assertReadRefused(lent.remote());
		lent.assertUntouched();
	}

	/** Over iWARP a Read Request tells the peer a key that permits it to write. */
	@Test
	void whatAReadHasToldThePeerIsOfNoUseOnceTheReadHasEnded() {
		for (int length : new int[] { 1, 100, 100_000 }) {
			ConnectedPair pair = this.fixture.connect().greet();
			GuardedMemory source = this.fixture.right().memory(length, AccessFlag.REMOTE_READ);
			GuardedMemory sink = this.fixture.left().memory(length);
			long before = this.fixture.left().device().readSinks();
			long read = pair.left().read(source.remote(), sink.all());
			int[] keys = this.fixture.keysToldBy(sink.region());
			assertThat(keys).hasSize((int) (this.fixture.left().device().readSinks() - before));
			pair.awaitSuccess(pair.left(), read);
			assertThat(this.fixture.keysToldBy(sink.region())).isEmpty();
			for (int key : keys) {
				ConnectedPair other = this.fixture.connect().greet().reversed();
				RemoteRegion told = new RemoteRegion(sink.region().remoteAddress(), key, length);
				other.left().write(told, other.left().side().memory(length).all());
				other.awaitEnd();
			}
			sink.assertHolds(0, source, 0, length);
		}
	}

	@Test
	void whatWasDoneBeforeAnAttemptIsNotLost() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory memory = exposed();
		GuardedMemory sink = this.fixture.left().memory(LENGTH);
		long read = pair.left().read(memory.remote(), sink.all());
		long bad = pair.left()
			.read(new RemoteRegion(memory.region().remoteAddress(), ~memory.region().remoteKey(), 10),
					sink.segment(0, 10));
		pair.awaitSuccess(pair.left(), read);
		this.fixture.awaitStatus(pair.left(), bad, WorkStatus.REMOTE_ACCESS_ERROR);
		pair.assertRefusedByRight(WorkStatus.REMOTE_ACCESS_ERROR);
		sink.assertHolds(0, memory, 0, LENGTH);
	}

	@Test
	void anUnsignaledRequestThatIsRefusedCompletes() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory memory = this.fixture.right().memory(LENGTH, AccessFlag.REMOTE_READ);
		GuardedMemory sink = this.fixture.left().memory(LENGTH);
		WorkRequest request = pair.left().request();
		request.read(pair.left().nextId(), memory.remote().address() + 1, memory.remote().key()).unsignaled();
		long refused = pair.left().post(request, sink.all());
		this.fixture.awaitStatus(pair.left(), refused, WorkStatus.REMOTE_ACCESS_ERROR);
		pair.assertRefusedByRight(WorkStatus.REMOTE_ACCESS_ERROR);
		sink.assertUntouched();
	}

}
