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

package dev.rdmarpc.verbs.iwarp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.wire.DdpControl;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** Queue pairs that are closed while they hold receives of a shared receive queue. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClosedWithReceivesTests {

	private static final int RECEIVES = 8;

	private final VerbsDevice device = new IwarpProvider(IwarpOptions.DEFAULTS).openDevice(null);

	private final ProtectionDomain domain = this.device.allocateProtectionDomain();

	private final SharedReceiveQueue shared = this.domain.createSharedReceiveQueue(RECEIVES, 1);

	private final MemoryRegion target = this.domain.registerMemory(ByteBuffer.allocateDirect(64), Endpoint.ALL_ACCESS);

	private final WorkCompletion[] polled = { new WorkCompletion() };

	private final List<Reported> reported = new ArrayList<>();

	private final List<RawPeer> peers = new ArrayList<>();

	@AfterEach
	void close() throws IOException {
		for (RawPeer peer : this.peers) {
			peer.close();
		}
		this.device.close();
	}

	private QueuePair connect(CompletionQueue completions) throws IOException, InterruptedException {
		LinkedBlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();
		try (ConnectionListener listener = this.device.listen(
				new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ListenOptions.DEFAULTS, requests::add)) {
			RawPeer peer = new RawPeer(listener.localAddress());
			this.peers.add(peer);
			peer.write(MpaFrameFlyweight.encode(true, 0, MpaFrameFlyweight.REVISION_1, new byte[0]));
			ConnectionRequest request = requests.poll(10, TimeUnit.SECONDS);
			assertThat(request).isNotNull();
			QueuePair pair = this.domain
				.createQueuePair(new QueuePairOptions(completions, this.shared, 8, 1, 1, 1, QueuePairListener.NONE));
			ConnectedPair.get(request.accept(pair, ConnectOptions.DEFAULTS));
			peer.readMpaFrame();
			return pair;
		}
	}

	private void post(int count) {
		WorkRequest request = new WorkRequest(1);
		for (int i = 0; i < count; i++) {
			this.shared.postReceive(request.receive(i).addSegment(this.target, 0, 64));
		}
	}

	private void poll(CompletionQueue completions) {
		if (completions.poll(this.polled) > 0) {
			WorkCompletion completion = this.polled[0];
			this.reported.add(new Reported(completion.id(), completion.status(), completion.queuePair()));
		}
	}

	private static void until(BooleanSupplier condition, Runnable step) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - deadline).as("in time").isNegative();
			step.run();
		}
	}

	@Test
	void whatTheyHadTakenIsReported() throws Exception {
		try (CompletionQueue completions = this.device.createCompletionQueue(16)) {
			QueuePair pair = connect(completions);
			post(RECEIVES);
			for (int i = 1; i <= 3; i++) {
				this.peers.get(0).segment(Fpdu.send(i, new byte[8]));
			}
			this.peers.get(0).segment(Fpdu.untagged(false, DdpControl.OPCODE_SEND, 0, 0, 4, 0, new byte[8]));
			until(() -> this.shared.posted() == RECEIVES - 4, () -> completions.poll(new WorkCompletion[0]));
			pair.close();
			until(() -> this.reported.size() == 4, () -> poll(completions));
			assertThat(this.reported).extracting(Reported::id, Reported::status, Reported::pair)
				.containsExactly(tuple(0L, WorkStatus.SUCCESS, pair), tuple(1L, WorkStatus.SUCCESS, pair),
						tuple(2L, WorkStatus.SUCCESS, pair), tuple(3L, WorkStatus.FLUSHED, pair));
			assertThat(completions.poll(this.polled)).isZero();
		}
		this.shared.close();
	}

	@Test
	void whatTheyHadTakenIsReportedOnceThereIsRoom() throws Exception {
		try (CompletionQueue completions = this.device.createCompletionQueue(1)) {
			QueuePair closed = connect(completions);
			QueuePair other = connect(completions);
			post(2);
			this.peers.get(0).segment(Fpdu.untagged(false, DdpControl.OPCODE_SEND, 0, 0, 1, 0, new byte[8]));
			until(() -> this.shared.posted() == 1, () -> completions.poll(new WorkCompletion[0]));
			this.peers.get(1).segment(Fpdu.send(1, new byte[8]));
			until(() -> this.shared.posted() == 0, () -> completions.poll(new WorkCompletion[0]));
			closed.close();
			until(() -> this.reported.size() == 2, () -> poll(completions));
			assertThat(this.reported).extracting(Reported::id, Reported::status, Reported::pair)
				.containsExactly(tuple(1L, WorkStatus.SUCCESS, other), tuple(0L, WorkStatus.FLUSHED, closed));
			other.close();
		}
		this.shared.close();
	}

	/** A copy of a completion. */
	private record Reported(long id, WorkStatus status, QueuePair pair) {

	}

}
