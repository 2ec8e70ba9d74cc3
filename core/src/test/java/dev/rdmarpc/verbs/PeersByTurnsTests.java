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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;
import dev.rdmarpc.verbs.shm.SharedMemoryProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Peers whose messages complete in one queue have their turns: what one of them has sent
 * at once does not come before all of another's. An adapter reports in the order of
 * arrival.
 */
class PeersByTurnsTests {

	private static final int MESSAGES = 64;

	private static final int SHARE = 16;

	static Stream<VerbsProvider> providers() {
		return Stream.of(new IwarpProvider(), new SharedMemoryProvider());
	}

	@ParameterizedTest
	@MethodSource("providers")
	void aMessageIsNotBehindAllOfAnotherPeer(VerbsProvider provider) throws Exception {
		for (int flood = 0; flood < 2; flood++) {
			try (Peers peers = new Peers(provider, 2)) {
				peers.send(flood, MESSAGES);
				peers.send(1 - flood, 1);
				List<QueuePair> senders = peers.receive(MESSAGES + 1);
				assertThat(senders.indexOf(peers.served.get(1 - flood))).as("messages before the other peer's one")
					.isBetween(0, SHARE);
			}
		}
	}

	@ParameterizedTest
	@MethodSource("providers")
	void whoIsAloneHasAllTurns(VerbsProvider provider) throws Exception {
		try (Peers peers = new Peers(provider, 1)) {
			peers.send(0, MESSAGES);
			assertThat(peers.receive(1)).as("the first that are there").hasSizeGreaterThan(SHARE);
		}
	}

	/** Peers of one completion queue. */
	private static final class Peers implements AutoCloseable {

		private final VerbsDevice device;

		private final VerbsDevice servedDevice;

		private final CompletionQueue servedQueue;

		private final CompletionQueue queue;

		private final List<QueuePair> peers = new ArrayList<>();

		private final List<QueuePair> served = new ArrayList<>();

		private final WorkCompletion[] completions = new WorkCompletion[2 * MESSAGES];

		private final WorkRequest request = new WorkRequest(1);

		Peers(VerbsProvider provider, int count) throws Exception {
			this.device = provider.openDevice(null);
			this.servedDevice = provider.openDevice(null);
			Arrays.setAll(this.completions, (i) -> new WorkCompletion());
			ProtectionDomain domain = this.device.allocateProtectionDomain();
			ProtectionDomain servedDomain = this.servedDevice.allocateProtectionDomain();
			this.queue = this.device.createCompletionQueue(count * MESSAGES);
			this.servedQueue = this.servedDevice.createCompletionQueue(2 * count * MESSAGES);
			MemoryRegion region = servedDomain.registerMemory(ByteBuffer.allocateDirect(MESSAGES),
					EnumSet.of(AccessFlag.LOCAL_WRITE));
			for (int i = 0; i < count; i++) {
				this.peers.add(create(domain, this.queue));
				this.served.add(create(servedDomain, this.servedQueue));
				connect(i);
				for (int receive = 0; receive < MESSAGES; receive++) {
					this.served.get(i).postReceive(this.request.receive(receive).addSegment(region, receive, 1));
				}
			}
		}

		private static QueuePair create(ProtectionDomain domain, CompletionQueue queue) {
			return domain.createQueuePair(new QueuePairOptions(queue, null, MESSAGES, MESSAGES, 1, 1, (pair, fault) -> {
			}));
		}

		private void connect(int index) throws Exception {
			CompletableFuture<CompletableFuture<ConnectionInfo>> accepted = new CompletableFuture<>();
			try (ConnectionListener listener = this.servedDevice.listen(
					new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ListenOptions.DEFAULTS,
					(asked) -> accepted.complete(asked.accept(this.served.get(index), ConnectOptions.DEFAULTS)))) {
				this.device.connect(this.peers.get(index), listener.localAddress(), ConnectOptions.DEFAULTS)
					.get(10, TimeUnit.SECONDS);
				accepted.get(10, TimeUnit.SECONDS).get(10, TimeUnit.SECONDS);
			}
		}

		/** Sends messages that have left when this returns. */
		void send(int index, int count) {
			QueuePair peer = this.peers.get(index);
			for (int i = 0; i < count; i++) {
				assertThat(peer.postSend(this.request.send(i))).isEqualTo(PostResult.POSTED);
			}
			peer.ringDoorbell();
			long begin = System.nanoTime();
			for (int left = 0; left < count;) {
				left += this.queue.poll(this.completions);
				assertInTime(begin);
			}
		}

		/** Polls once; returns from whom the messages are. */
		List<QueuePair> poll() {
			List<QueuePair> senders = new ArrayList<>();
			int count = this.servedQueue.poll(this.completions);
			for (int i = 0; i < count; i++) {
				assertThat(this.completions[i].isSuccess()).isTrue();
				senders.add(this.completions[i].queuePair());
			}
			return senders;
		}

		List<QueuePair> receive(int count) {
			List<QueuePair> senders = new ArrayList<>();
			long begin = System.nanoTime();
			while (senders.size() < count) {
				senders.addAll(poll());
				assertInTime(begin);
			}
			return senders;
		}

		private static void assertInTime(long begin) {
			assertThat(System.nanoTime() - begin).as("in time")
				.isLessThan(TestEnvironment.patience(Duration.ofSeconds(10)).toNanos());
		}

		@Override
		public void close() {
			this.served.forEach(QueuePair::close);
			this.peers.forEach(QueuePair::close);
			this.device.close();
			this.servedDevice.close();
		}

	}

}
