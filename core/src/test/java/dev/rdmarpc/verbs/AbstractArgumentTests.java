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

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Set;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Wrong arguments are told apart and refused at once, with nothing changed. */
abstract class AbstractArgumentTests extends AbstractVerbsTests {

	AbstractArgumentTests(VerbsFixture fixture) {
		super(fixture);
	}

	private QueuePairOptions options(int sendDepth, int receiveDepth, int sendSegments, int receiveSegments) {
		return new QueuePairOptions(this.fixture.left().collector(8).queue(), null, sendDepth, receiveDepth,
				sendSegments, receiveSegments, QueuePairListener.NONE);
	}

	private void assertQueuePairRefused(VerbsError error, QueuePairOptions options) {
		assertFails(error, () -> this.fixture.left().domain().createQueuePair(options));
	}

	@Test
	void memoryMustBeDirectAndNotEmpty() {
		ProtectionDomain domain = this.fixture.left().domain();
		assertFails(VerbsError.INVALID_ARGUMENT, () -> domain.registerMemory(ByteBuffer.allocate(100), Set.of()));
		assertFails(VerbsError.INVALID_ARGUMENT, () -> domain.registerMemory(ByteBuffer.allocateDirect(0), Set.of()));
		assertFails(VerbsError.INVALID_ARGUMENT,
				() -> domain.registerMemory(ByteBuffer.allocateDirect(100).position(100), Set.of()));
	}

	@Test
	void readOnlyMemoryCannotBeRegisteredForWriting() {
		ProtectionDomain domain = this.fixture.left().domain();
		ByteBuffer readOnly = ByteBuffer.allocateDirect(100).asReadOnlyBuffer();
		assertFails(VerbsError.INVALID_ARGUMENT, () -> domain.registerMemory(readOnly, Set.of(AccessFlag.LOCAL_WRITE)));
		assertFails(VerbsError.INVALID_ARGUMENT,
				() -> domain.registerMemory(readOnly, Set.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE)));
	}

	@Test
	void completionQueuesHaveACapacityWithinTheLimit() {
		VerbsDevice device = this.fixture.left().device();
		assertFails(VerbsError.INVALID_ARGUMENT, () -> device.createCompletionQueue(0));
		assertFails(VerbsError.INVALID_ARGUMENT, () -> device.createCompletionQueue(-1));
		int most = device.limits().maxCompletionQueueEntries();
		device.createCompletionQueue(1).close();
		if (most < Integer.MAX_VALUE) {
			assertFails(VerbsError.LIMIT_EXCEEDED, () -> device.createCompletionQueue(most + 1));
		}
	}

	@Test
	void queuePairsHaveDepthsWithinTheLimits() {
		DeviceLimits limits = this.fixture.left().limits();
		assertQueuePairRefused(VerbsError.INVALID_ARGUMENT, options(0, 1, 1, 1));
		assertQueuePairRefused(VerbsError.INVALID_ARGUMENT, options(-1, 1, 1, 1));
		assertQueuePairRefused(VerbsError.INVALID_ARGUMENT, options(1, -1, 1, 1));
		assertQueuePairRefused(VerbsError.INVALID_ARGUMENT, options(1, 1, -1, 1));
		assertQueuePairRefused(VerbsError.INVALID_ARGUMENT, options(1, 1, 1, -1));
		assertQueuePairRefused(VerbsError.LIMIT_EXCEEDED, options(limits.maxSendQueueDepth() + 1, 1, 1, 1));
		assertQueuePairRefused(VerbsError.LIMIT_EXCEEDED, options(1, limits.maxReceiveQueueDepth() + 1, 1, 1));
		assertQueuePairRefused(VerbsError.LIMIT_EXCEEDED, options(1, 1, limits.maxSendSegments() + 1, 1));
		assertQueuePairRefused(VerbsError.LIMIT_EXCEEDED, options(1, 1, 1, limits.maxReceiveSegments() + 1));
	}

	@Test
	void queuePairsUseObjectsOfTheirOwnDeviceAndDomain() {
		QueuePairOptions foreignQueue = new QueuePairOptions(this.fixture.right().collector(8).queue(), null, 4, 4, 1,
				1, QueuePairListener.NONE);
		assertQueuePairRefused(VerbsError.INVALID_ARGUMENT, foreignQueue);
		ProtectionDomain other = this.fixture.left().device().allocateProtectionDomain();
		QueuePairOptions foreignReceives = new QueuePairOptions(this.fixture.left().collector(8).queue(),
				other.createSharedReceiveQueue(4, 1), 4, 4, 1, 1, QueuePairListener.NONE);
		assertQueuePairRefused(VerbsError.INVALID_ARGUMENT, foreignReceives);
	}

	@Test
	void sharedReceiveQueuesHaveDepthsWithinTheLimits() {
		DeviceLimits limits = this.fixture.left().limits();
		ProtectionDomain domain = this.fixture.left().domain();
		assertFails(VerbsError.INVALID_ARGUMENT, () -> domain.createSharedReceiveQueue(0, 1));
		assertFails(VerbsError.INVALID_ARGUMENT, () -> domain.createSharedReceiveQueue(1, -1));
		assertFails(VerbsError.LIMIT_EXCEEDED,
				() -> domain.createSharedReceiveQueue(limits.maxReceiveQueueDepth() + 1, 1));
		assertFails(VerbsError.LIMIT_EXCEEDED,
				() -> domain.createSharedReceiveQueue(1, limits.maxReceiveSegments() + 1));
	}

	@Test
	void requestsHaveNoMoreSegmentsThanTheQueuePairTakes() {
		EndpointOptions options = EndpointOptions.DEFAULTS.withSegments(2);
		ConnectedPair pair = this.fixture.connect(options);
		GuardedMemory memory = this.fixture.left().memory(100);
		Segment[] three = { memory.segment(0, 1), memory.segment(1, 1), memory.segment(2, 1) };
		QueuePair queuePair = pair.left().queuePair();
		assertFails(VerbsError.LIMIT_EXCEEDED,
				() -> queuePair.postSend(Segment.addAll(new WorkRequest(3).send(1), three)));
		assertFails(VerbsError.LIMIT_EXCEEDED,
				() -> queuePair.postSend(Segment.addAll(new WorkRequest(3).read(1, 0, 0), three)));
		assertFails(VerbsError.LIMIT_EXCEEDED,
				() -> queuePair.postReceive(Segment.addAll(new WorkRequest(3).receive(1), three)));
		pair.greet();
		assertThat(queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
	}

	@Test
	void aSharedReceiveQueueTakesNoMoreSegmentsThanItWasCreatedFor() {
		SharedReceives receives = this.fixture.left().sharedReceives(4);
		GuardedMemory memory = this.fixture.left().memory(100);
		Segment[] three = { memory.segment(0, 1), memory.segment(1, 1), memory.segment(2, 1) };
		assertFails(VerbsError.LIMIT_EXCEEDED,
				() -> receives.queue().postReceive(Segment.addAll(new WorkRequest(3).receive(1), three)));
		assertFails(VerbsError.INVALID_ARGUMENT, () -> receives.queue().postReceive(new WorkRequest(0).send(1)));
		assertThat(receives.queue().posted()).isZero();
	}

	@Test
	void receivesAndSendsAreNotMixedUp() {
		ConnectedPair pair = this.fixture.connect();
		QueuePair queuePair = pair.left().queuePair();
		assertFails(VerbsError.INVALID_ARGUMENT, () -> queuePair.postSend(new WorkRequest(0).receive(1)));
		assertFails(VerbsError.INVALID_ARGUMENT, () -> queuePair.postReceive(new WorkRequest(0).send(1)));
		assertFails(VerbsError.INVALID_ARGUMENT, () -> queuePair.postReceive(new WorkRequest(0).read(1, 2, 3)));
		pair.greet();
	}

	@Test
	void aQueuePairWithASharedReceiveQueueTakesNoReceivesOfItsOwn() {
		SharedReceives receives = this.fixture.left().sharedReceives(4);
		VerbsEndpoint endpoint = this.fixture.left()
			.endpoint(EndpointOptions.DEFAULTS.withSegments(2).withSharedReceives(receives));
		assertFails(VerbsError.INVALID_ARGUMENT, () -> endpoint.queuePair().postReceive(new WorkRequest(0).receive(1)));
		assertThat(receives.queue().posted()).isZero();
	}

	@Test
	void queuePairsAreBounded() {
		int most = this.fixture.left().limits().maxQueuePairs();
		Assumptions.assumeTrue(most <= 5000, "too many to try");
		QueuePairOptions options = options(1, 1, 1, 1);
		for (int i = 0; i < most; i++) {
			this.fixture.left().domain().createQueuePair(options);
		}
		assertQueuePairRefused(VerbsError.LIMIT_EXCEEDED, options);
	}

	@Test
	void anUnresolvedAddressIsUnreachable() {
		VerbsEndpoint left = this.fixture.left().endpoint();
		assertThat(this.fixture
			.awaitFailure(this.fixture.left()
				.device()
				.connect(left.queuePair(), InetSocketAddress.createUnresolved("nowhere.invalid", 1),
						this.fixture.connectOptions()))
			.error()).isEqualTo(VerbsError.UNREACHABLE);
	}

	@Test
	void devicesThatCannotHaveTlsRefuseIt() {
		VerbsDevice device = this.fixture.left().device();
		Assumptions.assumeFalse(device.supportsTls(), "a device with TLS");
		VerbsEndpoint left = this.fixture.left().endpoint();
		TlsOptions tls = TlsOptions.of(() -> {
			throw new IllegalStateException("asked for certificates");
		});
		assertFails(VerbsError.INVALID_ARGUMENT,
				() -> device.listen(this.fixture.anyPort(), ListenOptions.DEFAULTS.withTls(tls), (request) -> {
				}));
		assertFails(VerbsError.INVALID_ARGUMENT, () -> device.connect(left.queuePair(), this.fixture.anyPort(),
				this.fixture.connectOptions().withTls(tls)));
	}

}
