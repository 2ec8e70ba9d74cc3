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
import java.util.EnumSet;
import java.util.Random;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;
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

/** A peer that writes anything into the memory: the link ends, and nothing else does. */
class HostileRingsTests {

	private static final int RING_BYTES = RingDescriptor.MIN_RING_BYTES;

	private static final int REGION_BYTES = 4096;

	private static final int GUARD_BYTES = 4096;

	private static final byte GUARD = 0x5A;

	private final ProtectionDomain domain = none(ProtectionDomain.class);

	private final QueuePair queuePair = none(QueuePair.class);

	private final ByteBuffer guarded = ByteBuffer.allocateDirect(REGION_BYTES + 2 * GUARD_BYTES);

	private final ByteBuffer bytes = ByteBuffer.allocateDirect((int) RingDescriptor.totalBytes(RING_BYTES))
		.order(ByteOrder.nativeOrder());

	private final RegionTable regions = new RegionTable(new SecureRandom());

	private final PeerAccess access = new PeerAccess(this.regions, this.domain, this.queuePair);

	private final RegisteredMemory region = region();

	/** Stands for an object that is compared and never called. */
	private static <T> T none(Class<T> type) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, args) -> {
				throw new UnsupportedOperationException(method.toString());
			}));
	}

	private RegisteredMemory region() {
		for (int i = 0; i < this.guarded.capacity(); i++) {
			this.guarded.put(i, GUARD);
		}
		ByteBuffer inside = this.guarded.duplicate().position(GUARD_BYTES).limit(GUARD_BYTES + REGION_BYTES);
		Registration registration = Registration.of(inside, EnumSet.allOf(AccessFlag.class));
		return this.regions.add((key, base) -> new RegisteredMemory(this.domain, registration, null, key, base,
				RegisteredMemory::invalidate));
	}

	@Test
	void whateverAPeerWritesIsConsumedOrRefused() {
		long seed = Long.getLong("rdmarpc.test.seed", 20261123L);
		Random random = new Random(seed);
		int refused = 0;
		int states = TestEnvironment.rounds(200_000, 20_000) * Integer.getInteger("rdmarpc.test.factor", 1);
		for (int i = 0; i < states; i++) {
			try {
				refused += tryState(random) ? 0 : 1;
			}
			catch (Throwable ex) {
				throw new AssertionError("state " + i + ", reproduce with -Drdmarpc.test.seed=" + seed, ex);
			}
		}
		assertGuards();
		assertThat(refused).as("states that were refused").isBetween(states / 10, states - states / 100);
	}

	private void assertGuards() {
		for (int i = 0; i < GUARD_BYTES; i++) {
			assertThat(this.guarded.get(i)).isEqualTo(GUARD);
			assertThat(this.guarded.get(GUARD_BYTES + REGION_BYTES + i)).isEqualTo(GUARD);
		}
	}

	/** Lets a link consume some records and some nonsense; returns whether it went on. */
	private boolean tryState(Random random) {
		clear();
		WorkQueue receives = new WorkQueue(4, 2);
		WorkQueue sends = new WorkQueue(4, 2);
		WorkRequest request = new WorkRequest(2);
		for (int i = 0; i < 4; i++) {
			receives.post(request.receive(i).addSegment(this.region, 0, 1024).addSegment(this.region, 2048, 64));
			sends.post((i % 2 == 0) ? request.read(i, 4711, 12).addSegment(this.region, 0, 1000)
					: request.send(i).addSegment(this.region, 100, 3000));
		}
		Link link = new Link(new SharedMemory(this.bytes, RING_BYTES, 0), 2, 2, this.access, new SendQueue(sends),
				source(receives), new Owner());
		try {
			OutboundRing ring = new OutboundRing(new SharedMemory(this.bytes, RING_BYTES, 1));
			for (int step = 0; step < 4; step++) {
				write(ring, random);
				ring.publish();
				disturb(random);
				link.advance();
				link.tryFallAsleep();
			}
			return true;
		}
		catch (LinkFailure ex) {
			link.end(ex);
			return false;
		}
	}

	/**
	 * A peer that takes no answer has this side wait for room, with a refused Read behind
	 * it and another record behind that.
	 */
	@Test
	void whatIsBehindARefusedReadKeepsNobodyAwake() throws Exception {
		Owner owner = new Owner();
		WorkQueue none = new WorkQueue(4, 2);
		Link link = new Link(new SharedMemory(this.bytes, RING_BYTES, 0), 2, 32, this.access, new SendQueue(none),
				source(none), owner);
		SharedMemory peer = new SharedMemory(this.bytes, RING_BYTES, 1);
		OutboundRing ring = new OutboundRing(peer);
		for (int i = 0; i < 2 * RING_BYTES / REGION_BYTES; i++) {
			request(ring, i, this.region.remoteKey(), REGION_BYTES);
		}
		request(ring, 99, this.region.remoteKey() + 1, 1);
		assertThat(ring.tryClaim(0, 0)).isZero();
		ring.commit(RingDescriptor.PADDING, 0, 0, 0, 0, 0, 0);
		ring.publish();
		for (int i = 0; i < 10; i++) {
			link.advance();
		}
		assertThat(link.isStalled()).isTrue();
		assertThat(link.tryFallAsleep()).isTrue();
		assertThat(link.isConsumed()).isTrue();
		peer.end(0, 0, "disconnected");
		assertThat(link.tryFallAsleep()).isFalse();
		link.advance();
		assertThat(owner.ends).isOne();
	}

	private void request(OutboundRing ring, int sequence, int key, int length) throws LinkFailure {
		assertThat(ring.tryClaim(0, 0)).isZero();
		ring.commit(RingDescriptor.READ_REQUEST, 0, sequence, key, this.region.remoteAddress(), length, 0);
	}

	private void clear() {
		for (int i = 0; i < RingDescriptor.CONTROL_BYTES; i += Long.BYTES) {
			this.bytes.putLong(i, 0);
		}
	}

	private void write(OutboundRing ring, Random random) throws LinkFailure {
		int records = random.nextInt(4);
		for (int i = 0; i < records; i++) {
			int payload = random.nextInt(1 << random.nextInt(11));
			if (ring.tryClaim(payload, payload) >= payload) {
				long address = this.region.remoteAddress() + random.nextInt(REGION_BYTES);
				int key = (random.nextInt(20) == 0) ? random.nextInt() : this.region.remoteKey();
				ring.commit(random.nextInt(6), random.nextInt(8), random.nextInt(5), key, address,
						random.nextInt(REGION_BYTES), payload);
			}
		}
	}

	private void disturb(Random random) {
		if (random.nextInt(3) != 0) {
			return;
		}
		int words = 1 + random.nextInt(3);
		for (int i = 0; i < words; i++) {
			int index = switch (random.nextInt(3)) {
				case 0 -> RingDescriptor.SIDE_BYTES + 8 * random.nextInt(RingDescriptor.SIDE_BYTES / 8);
				case 1 ->
					RingDescriptor.SIDE_BYTES + (random.nextBoolean() ? RingDescriptor.TAIL : RingDescriptor.HEAD);
				default -> RingDescriptor.CONTROL_BYTES + RING_BYTES + 8 * random.nextInt(512);
			};
			long word = switch (random.nextInt(3)) {
				case 0 -> random.nextLong();
				case 1 -> 32L * random.nextInt(2000);
				default -> random.nextInt();
			};
			this.bytes.putLong(index, word);
		}
	}

	private static ReceiveSource source(WorkQueue receives) {
		return new ReceiveSource() {

			@Override
			public boolean tryTakeReceive(PostedReceive receive) {
				if (receives.isEmpty()) {
					return false;
				}
				receive.take(receives);
				return true;
			}

			@Override
			public int maxReceiveSegments() {
				return receives.maxSegments();
			}

		};
	}

	/** Bears whatever it is told. */
	private static final class Owner implements LinkOwner {

		private int ends;

		@Override
		public boolean hasRoom() {
			return true;
		}

		@Override
		public void received(long id, long receivedBytes, int invalidatedKey, boolean solicited) {
			assertThat(receivedBytes).isBetween(0L, 1088L);
		}

		@Override
		public void wakePeer() {
			// nobody sleeps here
		}

		@Override
		public void peerEnded(WorkStatus status, String detail) {
			this.ends++;
			assertThat(detail.length()).isLessThanOrEqualTo(RingDescriptor.MAX_DETAIL_BYTES);
		}

	}

}
