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

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionInfo;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ConnectionRequest;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairListener;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.QueuePairState;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkRequest;

import static org.assertj.core.api.Assertions.assertThat;

/** Two peers at one shared receive queue, of which one sends more than it may. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReceiveAllowanceTests {

	private static final int RECEIVES = 16;

	private final VerbsDevice device = new IwarpProvider(IwarpOptions.DEFAULTS).openDevice(null);

	private final ProtectionDomain domain = this.device.allocateProtectionDomain();

	private final CompletionQueue completions = this.device.createCompletionQueue(256);

	private final SharedReceiveQueue shared = this.domain.createSharedReceiveQueue(64, 1);

	private final MemoryRegion target = this.domain.registerMemory(ByteBuffer.allocateDirect(64), Endpoint.ALL_ACCESS);

	private final WorkCompletion[] polled = { new WorkCompletion() };

	private final List<QueuePair> received = new ArrayList<>();

	private final Endpoint greedy = new Endpoint(new IwarpProvider(IwarpOptions.DEFAULTS).openDevice(null), 64, 1);

	private final Endpoint modest = new Endpoint(new IwarpProvider(IwarpOptions.DEFAULTS).openDevice(null), 64, 1);

	private QueuePair fromGreedy;

	private QueuePair fromModest;

	@BeforeEach
	void connect() throws InterruptedException {
		LinkedBlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();
		try (ConnectionListener listener = this.device.listen(
				new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ListenOptions.DEFAULTS, requests::add)) {
			this.fromGreedy = connect(this.greedy, listener, requests);
			this.fromModest = connect(this.modest, listener, requests);
		}
		WorkRequest request = new WorkRequest(1);
		for (int i = 0; i < RECEIVES; i++) {
			this.shared.postReceive(request.receive(i).addSegment(this.target, 0, 64));
		}
	}

	private QueuePair connect(Endpoint from, ConnectionListener listener, LinkedBlockingQueue<ConnectionRequest> asked)
			throws InterruptedException {
		CompletableFuture<ConnectionInfo> connected = from.device.connect(from.queuePair, listener.localAddress(),
				ConnectOptions.DEFAULTS);
		ConnectionRequest request = asked.poll(10, TimeUnit.SECONDS);
		assertThat(request).isNotNull();
		QueuePair pair = this.domain
			.createQueuePair(new QueuePairOptions(this.completions, this.shared, 8, 1, 1, 1, QueuePairListener.NONE));
		ConnectedPair.get(request.accept(pair, ConnectOptions.DEFAULTS));
		ConnectedPair.get(connected);
		return pair;
	}

	@AfterEach
	void close() {
		this.greedy.close();
		this.greedy.device.close();
		this.modest.close();
		this.modest.device.close();
		this.fromGreedy.close();
		this.fromModest.close();
		this.device.close();
	}

	@Test
	void peerTakesNoMoreThanItMayThoughMoreArePosted() {
		this.fromGreedy.allowReceives(4);
		this.fromGreedy.allowReceives(3);
		this.fromGreedy.allowReceives(-1);
		send(this.greedy, 20);
		pollUntil(() -> this.fromGreedy.state() == QueuePairState.ERROR && this.received.size() >= 6);
		assertThat(this.received).containsOnly(this.fromGreedy).hasSize(6);
		assertThat(this.fromGreedy.fault().detail()).contains("no buffer");
		assertThat(this.shared.posted()).isEqualTo(RECEIVES - 6);
		send(this.modest, 3);
		pollUntil(() -> this.received.size() == 9);
		assertThat(this.fromModest.state()).isEqualTo(QueuePairState.READY_TO_SEND);
	}

	@Test
	void whatIsAllowedLaterCounts() {
		this.fromGreedy.allowReceives(2);
		send(this.greedy, 2);
		pollUntil(() -> this.received.size() == 2);
		this.fromGreedy.allowReceives(5);
		send(this.greedy, 5);
		pollUntil(() -> this.received.size() == 7);
		assertThat(this.fromGreedy.state()).isEqualTo(QueuePairState.READY_TO_SEND);
	}

	@Test
	void withoutAWordThereIsNoLimit() {
		send(this.greedy, RECEIVES);
		pollUntil(() -> this.received.size() == RECEIVES);
		assertThat(this.fromGreedy.state()).isEqualTo(QueuePairState.READY_TO_SEND);
	}

	private static void send(Endpoint from, int count) {
		MemoryRegion source = from.register(64);
		for (int i = 0; i < count; i++) {
			from.queuePair.postSend(from.request.send(i).addSegment(source, 0, 8));
		}
		from.queuePair.ringDoorbell();
	}

	private void pollUntil(BooleanSupplier condition) {
		Endpoint.pollUntil(() -> {
			if (this.completions.poll(this.polled) > 0 && this.polled[0].isSuccess()) {
				this.received.add(this.polled[0].queuePair());
			}
			return condition.getAsBoolean();
		}, this.greedy, this.modest);
	}

}
