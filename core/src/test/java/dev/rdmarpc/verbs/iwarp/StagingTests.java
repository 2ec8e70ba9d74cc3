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
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.ConnectOptions;
import dev.rdmarpc.verbs.ConnectionListener;
import dev.rdmarpc.verbs.ListenOptions;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairFault;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.WorkCompletion;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.iwarp.rdmap.StagingMemory;
import dev.rdmarpc.verbs.iwarp.wire.DdpUntaggedFlyweight;
import dev.rdmarpc.verbs.iwarp.wire.Fpdu;
import dev.rdmarpc.verbs.iwarp.wire.MpaFrameFlyweight;

import static org.assertj.core.api.Assertions.assertThat;

/** What peers have begun: little memory, a bound, and an end for the eldest. */
class StagingTests {

	private static final int STAGING_BYTES = IwarpOptions.MIN_STAGING_BYTES;

	private final IwarpDevice device = (IwarpDevice) new IwarpProvider(
			IwarpOptions.DEFAULTS.withStagingBytes(STAGING_BYTES).withSocketBuffers(16 * 1024, 16 * 1024))
		.openDevice(null);

	private final IwarpProtectionDomain domain = (IwarpProtectionDomain) this.device.allocateProtectionDomain();

	private final IwarpCompletionQueue completionQueue = (IwarpCompletionQueue) this.device.createCompletionQueue(4096);

	private final List<QueuePair> queuePairs = new ArrayList<>();

	private final List<QueuePairFault> faults = new ArrayList<>();

	private final List<RawPeer> peers = new ArrayList<>();

	private final MemoryRegion region = this.domain.registerMemory(ByteBuffer.allocateDirect(1 << 20),
			Endpoint.ALL_ACCESS);

	private final WorkCompletion[] polled = { new WorkCompletion() };

	private int received;

	private final ConnectionListener listener = this.device.listen(
			new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ListenOptions.DEFAULTS,
			(request) -> request.accept(queuePair(), ConnectOptions.DEFAULTS));

	private QueuePair queuePair() {
		QueuePair queuePair = this.domain.createQueuePair(new QueuePairOptions(this.completionQueue, null, 256, 4, 1, 1,
				(ended, fault) -> this.faults.add(fault)));
		queuePair.postReceive(new WorkRequest(1).receive(1).addSegment(this.region, 0, 100_000));
		this.queuePairs.add(queuePair);
		return queuePair;
	}

	@AfterEach
	void close() throws IOException {
		this.listener.close();
		for (RawPeer peer : this.peers) {
			peer.close();
		}
		this.queuePairs.forEach(QueuePair::close);
		assertThat(this.completionQueue.stagingBytes()).as("outstanding").isZero();
		this.completionQueue.close();
		this.region.close();
		this.domain.close();
		this.device.close();
	}

	private RawPeer established(boolean crcEnabled) throws IOException {
		RawPeer peer = new RawPeer(this.listener.localAddress());
		this.peers.add(peer);
		peer.write(
				MpaFrameFlyweight.encodeEnhanced(true, crcEnabled ? MpaFrameFlyweight.FLAG_CRC : 0, 4, 4, new byte[0]));
		assertThat(peer.readMpaFrame().rejected()).isFalse();
		return peer.crcEnabled(crcEnabled);
	}

	private void pollUntil(BooleanSupplier condition) {
		long deadline = System.nanoTime() + Endpoint.DEADLINE.toNanos();
		while (!condition.getAsBoolean()) {
			if (this.completionQueue.poll(this.polled) == 1 && this.polled[0].status() == WorkStatus.SUCCESS) {
				this.received++;
			}
			assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
		}
	}

	@Test
	void fiveBytesTakeTheLeastBlock() throws Exception {
		for (int i = 0; i < 50; i++) {
			established(false).write(new byte[] { (byte) 0xFF, (byte) 0xF0, 0x41, 0x43, 0 });
		}
		pollUntil(() -> this.completionQueue.stagingBytes() == 50 * StagingMemory.LEAST_BYTES);
		assertThat(this.device.stagingBytes()).isEqualTo(50 * StagingMemory.LEAST_BYTES);
		assertThat(this.device.maxStagingBytes()).isEqualTo(STAGING_BYTES);
		assertThat(this.faults).isEmpty();
	}

	@Test
	void whatIsKeptGrowsWithWhatArrives() throws Exception {
		RawPeer peer = established(true);
		MemoryRegion target = this.domain.registerMemory(ByteBuffer.allocateDirect(60_000),
				EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
		byte[] payload = new byte[60_000];
		Arrays.fill(payload, (byte) 7);
		byte[] frame = Fpdu.frame(Fpdu.write(target.remoteKey(), target.remoteAddress(), payload), true);
		int sent = 0;
		for (int bytes = 100; bytes < frame.length; bytes *= 3) {
			peer.write(Arrays.copyOfRange(frame, sent, bytes));
			sent = bytes;
			int least = bytes;
			pollUntil(() -> this.completionQueue.stagingBytes() >= least);
			assertThat(this.completionQueue.stagingBytes())
				.isLessThanOrEqualTo(Math.max(StagingMemory.LEAST_BYTES, 2 * bytes));
		}
		peer.write(Arrays.copyOfRange(frame, sent, frame.length));
		pollUntil(() -> this.completionQueue.stagingBytes() == 0);
		assertThat(target.memory().slice(0, 60_000)).isEqualTo(ByteBuffer.wrap(payload));
		target.close();
	}

	@Test
	void theEldestEndsWhenAllIsUsedUpAndThoseThatGoOnDoNot() throws Exception {
		int attackers = 3 * STAGING_BYTES / (64 * 1024);
		byte[] beginning = Arrays.copyOf(Fpdu.frame(Fpdu.write(1, 0, new byte[60_000]), true), 40_000);
		RawPeer good = established(true);
		byte[] frame = Fpdu.frame(Fpdu.send(1, new byte[3000]), true);
		for (int i = 0; i < attackers; i++) {
			established(true).write(beginning);
			if (i == attackers - 2) {
				good.write(Arrays.copyOf(frame, 2000));
			}
			int begun = i + 1;
			pollUntil(() -> this.faults.size() + this.completionQueue.stagingBytes() / (64 * 1024) == begun);
		}
		pollUntil(() -> this.faults.size() >= attackers - STAGING_BYTES / (64 * 1024));
		assertThat(this.faults).allSatisfy((fault) -> assertThat(fault.detail()).contains("is used up"));
		good.write(Arrays.copyOfRange(frame, 2000, frame.length));
		pollUntil(() -> this.received == 1);
		assertThat(this.faults).hasSizeLessThan(attackers);
		assertThat(this.peers.get(1).readTerminate().remaining()).isPositive();
	}

	@Test
	void whatASocketDoesNotTakeIsKeptInBlocksAndArrivesWhole() throws Exception {
		RawPeer reader = established(false);
		int count = 200;
		int bytes = 4000;
		for (int i = 0; i < count * bytes; i++) {
			this.region.memory().put(i, (byte) ((i * 31) >> 4));
		}
		reader.segment(Fpdu.send(1, new byte[1]));
		pollUntil(() -> this.received == 1);
		QueuePair queuePair = this.queuePairs.get(0);
		for (int i = 0; i < count; i++) {
			queuePair.postSend(new WorkRequest(1).send(i).addSegment(this.region, i * bytes, bytes));
		}
		queuePair.ringDoorbell();
		for (int i = 0; i < 100; i++) {
			this.completionQueue.poll(this.polled);
		}
		assertThat(this.completionQueue.stagingBytes()).as("kept for a peer that does not read")
			.isBetween(1, 64 * 1024);
		AtomicBoolean arrived = new AtomicBoolean();
		BooleanSupplier over = () -> arrived.get() && this.completionQueue.stagingBytes() == 0;
		Thread poller = new Thread(() -> pollUntil(over), "poller");
		poller.start();
		for (int i = 0; i < count; i++) {
			ByteBuffer segment = reader.readSegment();
			assertThat(segment.slice(DdpUntaggedFlyweight.HEADER_BYTES, bytes))
				.isEqualTo(this.region.memory().slice(i * bytes, bytes));
		}
		arrived.set(true);
		poller.join(Endpoint.DEADLINE.toMillis());
		assertThat(poller.isAlive()).isFalse();
	}

}
