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

import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import javax.management.JMException;
import javax.management.ObjectName;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** Providers, devices, and what closing each object means for those made of it. */
abstract class AbstractLifecycleTests extends AbstractVerbsTests {

	AbstractLifecycleTests(VerbsFixture fixture) {
		super(fixture);
	}

	@Test
	void aProviderIntroducesItself() {
		VerbsProvider provider = this.fixture.provider();
		assertThat(provider.name()).matches("[a-z][a-z0-9-]*");
		assertThat(provider.preference()).isPositive();
		assertThat(provider.availability().available()).isTrue();
		assertThat(provider.availability().reason()).isNotBlank();
		assertThat(provider.deviceNames()).isNotEmpty().doesNotHaveDuplicates();
	}

	@Test
	void aProviderIsFoundThroughTheServiceLoader() {
		assertThat(ServiceLoader.load(VerbsProvider.class)).extracting(VerbsProvider::name)
			.contains(this.fixture.provider().name());
	}

	@Test
	void devicesAreOpenedByName() {
		for (String name : this.fixture.provider().deviceNames()) {
			try (VerbsDevice device = this.fixture.provider().openDevice(name)) {
				assertThat(device.name()).isEqualTo(name);
			}
		}
		assertFails(VerbsError.NO_SUCH_DEVICE, () -> this.fixture.provider().openDevice("no-such-device"));
	}

	@Test
	void aDeviceRunsUntilItIsClosed() {
		VerbsDevice device = this.fixture.provider().openDevice(null);
		try (device) {
			assertThat(device.isRunning()).isTrue();
		}
		assertThat(device.isRunning()).isFalse();
		this.fixture.connect();
		assertThat(this.fixture.left().device().isRunning()).isTrue();
	}

	@Test
	void limitsAreUsable() {
		DeviceLimits limits = this.fixture.left().limits();
		assertThat(limits.maxQueuePairs()).isPositive();
		assertThat(limits.maxCompletionQueueEntries()).isPositive();
		assertThat(limits.maxSendQueueDepth()).isPositive();
		assertThat(limits.maxReceiveQueueDepth()).isPositive();
		assertThat(limits.maxSendSegments()).isPositive();
		assertThat(limits.maxReceiveSegments()).isPositive();
		assertThat(limits.maxReadDepth()).isPositive();
		assertThat(limits.maxMessageBytes()).isGreaterThanOrEqualTo(LEAST_LARGEST_BYTES);
		assertThat(this.fixture.left().device().limits()).isEqualTo(limits);
	}

	@Test
	void aRegionIsTheBytesFromPositionToLimit() {
		ByteBuffer memory = ByteBuffer.allocateDirect(1000);
		memory.position(100).limit(350);
		try (MemoryRegion region = this.fixture.left()
			.domain()
			.registerMemory(memory, Set.of(AccessFlag.LOCAL_WRITE))) {
			assertThat(memory.position()).isEqualTo(100);
			assertThat(memory.limit()).isEqualTo(350);
			assertThat(region.lengthBytes()).isEqualTo(250);
			assertThat(region.isValid()).isTrue();
			assertThat(region.memory().capacity()).isEqualTo(250);
			assertThat(region.memory().isDirect()).isTrue();
			region.memory().put(249, (byte) 42);
			assertThat(memory.get(349)).isEqualTo((byte) 42);
			memory.clear();
			assertThat(region.lengthBytes()).isEqualTo(250);
			RemoteRegion part = region.remoteRegion(50, 200);
			assertThat(part).isEqualTo(new RemoteRegion(region.remoteAddress() + 50, region.remoteKey(), 200));
		}
	}

	@Test
	void aRegionMayOverlapAnother() {
		ConnectedPair pair = this.fixture.connect();
		ByteBuffer memory = ByteBuffer.allocateDirect(100);
		Set<AccessFlag> access = Set.of(AccessFlag.REMOTE_READ);
		MemoryRegion first = this.fixture.right().domain().registerMemory(memory.duplicate().limit(60), access);
		MemoryRegion second = this.fixture.right().domain().registerMemory(memory.duplicate().position(40), access);
		assertThat(first.remoteKey()).isNotEqualTo(second.remoteKey());
		memory.putLong(48, 0x0102030405060708L);
		GuardedMemory sink = this.fixture.left().memory(16);
		pair.awaitSuccess(pair.left(), pair.left().read(first.remoteRegion(48, 8), sink.segment(0, 8)));
		first.close();
		pair.awaitSuccess(pair.left(), pair.left().read(second.remoteRegion(8, 8), sink.segment(8, 8)));
		sink.assertHolds(0, memory.slice(48, 8));
		sink.assertHolds(8, memory.slice(48, 8));
	}

	@Test
	void readOnlyMemoryMayBeLentForReading() {
		ConnectedPair pair = this.fixture.connect();
		ByteBuffer memory = ByteBuffer.allocateDirect(8).putLong(0, 4711);
		MemoryRegion region = this.fixture.right()
			.domain()
			.registerMemory(memory.asReadOnlyBuffer(), Set.of(AccessFlag.REMOTE_READ));
		GuardedMemory sink = this.fixture.left().memory(8);
		pair.awaitSuccess(pair.left(), pair.left().read(region.remoteRegion(0, 8), sink.all()));
		sink.assertHolds(0, memory);
	}

	@Test
	void closingAProtectionDomainClosesWhatIsInIt() {
		ConnectedPair pair = this.fixture.connect();
		GuardedMemory memory = this.fixture.right().memory(100, AccessFlag.REMOTE_READ);
		pair.right().leaveUnaccounted();
		this.fixture.right().domain().close();
		this.fixture.right().domain().close();
		assertThat(pair.right().state()).isEqualTo(QueuePairState.CLOSED);
		assertThat(memory.region().isValid()).isFalse();
		this.fixture.awaitSettled(pair.left());
		assertFails(VerbsError.CLOSED,
				() -> this.fixture.right().domain().registerMemory(ByteBuffer.allocateDirect(1), Set.of()));
	}

	@Test
	void closingADeviceClosesEverything() {
		ConnectedPair pair = this.fixture.connect().greet();
		TestListener listener = this.fixture.listen(ListenOptions.DEFAULTS);
		InetSocketAddress address = listener.address();
		GuardedMemory memory = this.fixture.right().memory(100, AccessFlag.REMOTE_READ);
		VerbsDevice device = this.fixture.right().device();
		VerbsEndpoint pending = this.fixture.right().endpoint();
		TestListener unanswering = new TestListener(this.fixture.left().device(), this.fixture.anyPort(),
				ListenOptions.DEFAULTS);
		CompletableFuture<ConnectionInfo> connecting = device.connect(pending.queuePair(), unanswering.address(),
				this.fixture.connectOptions());
		unanswering.awaitRequest();
		pair.right().leaveUnaccounted();
		pair.right().collector().handsOff(true);
		pending.collector().handsOff(true);
		device.close();
		device.close();
		assertThat(pair.right().state()).isEqualTo(QueuePairState.CLOSED);
		assertThat(memory.region().isValid()).isFalse();
		assertFails(VerbsError.CLOSED, device::allocateProtectionDomain);
		assertFails(VerbsError.CLOSED, () -> device.createCompletionQueue(1));
		assertFails(VerbsError.CLOSED,
				() -> device.listen(this.fixture.anyPort(), ListenOptions.DEFAULTS, (request) -> {
				}));
		assertFails(VerbsError.CLOSED,
				() -> pair.right().collector().queue().poll(new WorkCompletion[] { new WorkCompletion() }));
		assertFails(VerbsError.CLOSED, () -> pair.right().queuePair().postSend(new WorkRequest(0).send(1)));
		this.fixture.awaitFailure(connecting);
		this.fixture.awaitSettled(pair.left());
		unanswering.close();
		TestListener successor = new TestListener(this.fixture.left().device(), address, ListenOptions.DEFAULTS);
		successor.close();
	}

	@Test
	void closingACompletionQueueFailsItsQueuePairs() {
		ConnectedPair first = this.fixture.connect();
		ConnectedPair second = this.fixture.connect();
		first.right().receive();
		first.right().collector().close();
		this.fixture.awaitSettled(first.left());
		this.fixture.await("the error of the queue pair", () -> first.right().state() == QueuePairState.ERROR);
		first.right().close();
		second.greet();
	}

	@Test
	void aClosedQueuePairRefusesWorkAndMayBeClosedAgain() {
		ConnectedPair pair = this.fixture.connect();
		pair.left().close();
		pair.left().close();
		assertThat(pair.left().state()).isEqualTo(QueuePairState.CLOSED);
		assertFails(VerbsError.CLOSED, () -> pair.left().queuePair().postSend(new WorkRequest(0).send(1)));
		assertFails(VerbsError.CLOSED, () -> pair.left().queuePair().postReceive(new WorkRequest(0).receive(1)));
		this.fixture.awaitSettled(pair.right());
	}

	@Test
	void devicesOpenedTwiceAreIndependent() {
		VerbsDevice first = this.fixture.openDevice();
		VerbsDevice second = this.fixture.openDevice();
		ConnectedPair pair = this.fixture.connect();
		first.close();
		pair.greet();
		assertThat(second.allocateProtectionDomain().device()).isSameAs(second);
	}

	@Test
	void bothEndsOfAConnectionMayBeOnOneDevice() {
		VerbsEndpoint left = this.fixture.right().endpoint();
		VerbsEndpoint right = this.fixture.right().endpoint();
		ConnectedPair pair = this.fixture.connect(left, right);
		GuardedMemory source = this.fixture.right().memory(100);
		GuardedMemory sink = this.fixture.right().memory(100, AccessFlag.REMOTE_WRITE);
		pair.left().write(sink.remote(), source.all());
		pair.greet();
		sink.assertHolds(0, source, 0, 100);
	}

	@Test
	void bothEndsMayShareOneCompletionQueue() {
		CompletionCollector collector = this.fixture.right().collector(256);
		EndpointOptions options = EndpointOptions.DEFAULTS.withCollector(collector);
		List<VerbsEndpoint> ends = List.of(this.fixture.right().endpoint(options),
				this.fixture.right().endpoint(options));
		ConnectedPair pair = this.fixture.connect(ends.get(0), ends.get(1)).greet();
		MessageStream there = new MessageStream(pair, 100_000, 16);
		MessageStream back = new MessageStream(pair.reversed(), 100_000, 16);
		for (int i = 0; i < TestEnvironment.rounds(200, 40); i++) {
			there.send(between(8, 100_000), false);
			back.send(between(8, 100_000), false);
		}
		there.finish();
		back.finish();
	}

	@Test
	void nothingIsLeftBehindByThoseWhoClose() {
		this.fixture.connect().greet();
		int threadsBefore = 0;
		long filesBefore = 0;
		int rounds = TestEnvironment.rounds(60, 24);
		for (int round = 0; round < rounds; round++) {
			VerbsSide side = new VerbsSide(this.fixture, "passing", this.fixture.provider().openDevice(null));
			for (int i = 0; i < 3; i++) {
				VerbsEndpoint left = side.endpoint();
				VerbsEndpoint right = this.fixture.right().endpoint();
				ConnectedPair pair = this.fixture.connect(left, right).greet();
				left.close();
				this.fixture.awaitSettled(right);
				right.close();
				pair.right().collector().close();
				left.collector().close();
			}
			side.device().close();
			if (round == rounds / 3) {
				threadsBefore = Thread.activeCount();
				filesBefore = openFiles();
			}
		}
		int threadsAllowed = threadsBefore + 2;
		long filesAllowed = filesBefore + 10;
		this.fixture.await("threads and files to be released",
				() -> Thread.activeCount() <= threadsAllowed && openFiles() <= filesAllowed);
	}

	private static long openFiles() {
		try {
			return (long) ManagementFactory.getPlatformMBeanServer()
				.getAttribute(new ObjectName(ManagementFactory.OPERATING_SYSTEM_MXBEAN_NAME),
						"OpenFileDescriptorCount");
		}
		catch (JMException ex) {
			return 0;
		}
	}

}
