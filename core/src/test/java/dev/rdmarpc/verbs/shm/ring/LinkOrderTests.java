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

package dev.rdmarpc.verbs.shm.ring;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.WorkStatus;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ReceiveSource;
import dev.rdmarpc.verbs.support.RegisteredMemory;
import dev.rdmarpc.verbs.support.Registration;
import dev.rdmarpc.verbs.support.WorkQueue;

import static org.assertj.core.api.Assertions.assertThat;

/** Two links on one memory: Sends go before answers to Reads. */
class LinkOrderTests {

	private static final int RING_BYTES = 1 << 20;

	private static final int READ_BYTES = 100_000;

	private final ByteBuffer bytes = ByteBuffer.allocateDirect((int) RingDescriptor.totalBytes(RING_BYTES))
		.order(ByteOrder.nativeOrder());

	private final Side reader = new Side(0);

	private final Side owner = new Side(1);

	@AfterEach
	void nothingIsOutstanding() {
		assertThat(this.reader.sends.headEnded()).isTrue();
		assertThat(this.reader.link.isIdle()).isTrue();
		assertThat(this.owner.link.isIdle()).isTrue();
	}

	/** Stands for an object that is compared and never called. */
	private static <T> T none(Class<T> type) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, args) -> {
				throw new UnsupportedOperationException(method.toString());
			}));
	}

	@Test
	void answersToReadsStayInTheRingBehindASend() throws Exception {
		this.reader.postReads(this.owner);
		this.reader.postReceive(7);
		this.reader.link.flush();
		this.owner.sends.queue().post(new WorkRequest(1).send(1));
		this.owner.link.flush();
		this.owner.link.advance();
		this.reader.link.advance();
		assertThat(this.reader.received).containsExactly(7L);
		assertThat(this.reader.sends.headEnded()).isFalse();
		this.reader.link.advance();
	}

	@Test
	void answersToReadsAreWrittenAStepAfterASendHasCome() throws Exception {
		this.reader.postReads(this.owner);
		this.owner.postReceive(7);
		this.reader.sends.queue().post(new WorkRequest(1).send(1));
		this.reader.link.flush();
		this.owner.link.advance();
		assertThat(this.owner.received).containsExactly(7L);
		assertThat(this.owner.link.isIdle()).isFalse();
		assertThat(this.owner.link.tryFallAsleep()).as("sleeps on what it has put off").isFalse();
		this.reader.link.advance();
		assertThat(this.reader.sends.headEnded()).isFalse();
		this.owner.link.advance();
		this.reader.link.advance();
	}

	@Test
	void answersToReadsAreWrittenAndPlacedAStepAtATime() throws Exception {
		int reads = 4;
		for (int i = 0; i < reads / 2; i++) {
			this.reader.postReads(this.owner);
		}
		this.reader.link.flush();
		this.owner.link.advance();
		assertThat(this.owner.link.isStalled()).isFalse();
		assertThat(this.owner.link.isIdle()).as("all is written in one step").isFalse();
		assertThat(this.owner.link.isPostponed()).isTrue();
		assertThat(this.owner.link.tryFallAsleep()).as("sleeps on what it has put off").isFalse();
		this.owner.link.advance();
		assertThat(this.owner.link.isIdle()).isTrue();
		assertThat(this.owner.link.isPostponed()).isFalse();
		assertThat(this.owner.link.tryFallAsleep()).isTrue();
		this.reader.link.advance();
		assertThat(this.reader.link.isConsumed()).as("all is placed in one step").isFalse();
		assertThat(this.reader.link.tryFallAsleep()).as("sleeps on what is there").isFalse();
		this.reader.link.advance();
		assertThat(this.reader.link.isConsumed()).isTrue();
	}

	@Test
	void theRestOfTheRingIsSkippedWithinAStepAndCountsForNothing() throws Exception {
		int sent = 5000;
		for (int i = 0; i < sent; i++) {
			this.reader.postReceive(i);
			this.owner.postSend(i);
			this.owner.link.flush();
			this.reader.link.advance();
			assertThat(this.reader.received).hasSize(i + 1);
			this.reader.link.advance();
			assertThat(this.owner.sends.headEnded()).isTrue();
			this.owner.sends.queue().release();
		}
		int headers = (sent + sent * 64 / (64 * 1024)) * RingDescriptor.HEADER_BYTES;
		assertThat(this.owner.link.copiedBytes()).isEqualTo(headers + sent * RingDescriptor.UNIT_BYTES);
		assertThat(this.reader.link.copiedBytes()).isEqualTo(sent * 8L);
		this.reader.postSend(0);
		this.reader.link.flush();
	}

	@Test
	void aPeerThatWritesNothingButPaddingsIsLeftAfterAStep() throws Exception {
		OutboundRing hostile = new OutboundRing(new SharedMemory(this.bytes, RING_BYTES, 1));
		int payload = 4096 - RingDescriptor.HEADER_BYTES;
		int written = 0;
		while (hostile.tryClaim(payload, payload) == payload) {
			hostile.commit(RingDescriptor.PADDING, 0, 0, 0, 0, 0, payload);
			written += 4096;
		}
		hostile.publish();
		assertThat(written).isEqualTo(RING_BYTES);
		this.reader.link.advance();
		assertThat(this.reader.link.isConsumed()).as("all is skipped in one step").isFalse();
		for (int i = 0; i < 3; i++) {
			this.reader.link.advance();
		}
		assertThat(this.reader.link.tryFallAsleep()).isTrue();
		this.reader.postSend(0);
		this.reader.link.flush();
	}

	/** What a queue pair is to its link. */
	private final class Side implements LinkOwner, ReceiveSource {

		private final ProtectionDomain domain = none(ProtectionDomain.class);

		private final RegionTable regions = new RegionTable(new SecureRandom());

		private final SendQueue sends = new SendQueue(new WorkQueue(4, 1));

		private final WorkQueue receives = new WorkQueue(4, 1);

		private final List<Long> received = new ArrayList<>();

		private final RegisteredMemory region;

		private final Link link;

		Side(int side) {
			Registration registration = Registration.of(ByteBuffer.allocateDirect(READ_BYTES),
					EnumSet.allOf(AccessFlag.class));
			this.region = this.regions.add((key, base) -> new RegisteredMemory(this.domain, registration, null, key,
					base, RegisteredMemory::invalidate));
			this.link = new Link(new SharedMemory(LinkOrderTests.this.bytes, RING_BYTES, side), 4, 4,
					new PeerAccess(this.regions, this.domain, none(QueuePair.class)), this.sends, this, this);
		}

		void postReads(Side other) {
			for (int i = 0; i < 2; i++) {
				this.sends.queue()
					.post(new WorkRequest(1).read(i, other.region.remoteAddress(), other.region.remoteKey())
						.addSegment(this.region, 0, READ_BYTES));
			}
		}

		void postSend(long id) {
			this.sends.queue().post(new WorkRequest(1).send(id).addSegment(this.region, 0, 8));
		}

		void postReceive(long id) {
			this.receives.post(new WorkRequest(1).receive(id).addSegment(this.region, 0, 8));
		}

		@Override
		public boolean tryTakeReceive(PostedReceive receive) {
			if (this.receives.isEmpty()) {
				return false;
			}
			receive.take(this.receives);
			return true;
		}

		@Override
		public int maxReceiveSegments() {
			return this.receives.maxSegments();
		}

		@Override
		public boolean hasRoom() {
			return true;
		}

		@Override
		public void received(long id, long receivedBytes, int invalidatedKey, boolean solicited) {
			this.received.add(id);
		}

		@Override
		public void wakePeer() {
			// nobody sleeps here
		}

		@Override
		public void peerEnded(WorkStatus status, String detail) {
			throw new AssertionError(status + ": " + detail);
		}

	}

}
