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
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.support.RegisteredMemory;
import dev.rdmarpc.verbs.support.Registration;

import static org.assertj.core.api.Assertions.assertThat;

/** What a window table shows, and what is made of one that is nonsense. */
class WindowTableTests {

	private static final int BYTES = 8192;

	private static final long QUEUE_PAIR = 17;

	private static final long DOMAIN = 19;

	private static final ExtentOrigin ORIGIN = new ExtentOrigin(3, 5);

	private final ByteBuffer table = ByteBuffer.allocateDirect(WindowDescriptor.TOTAL_BYTES)
		.order(ByteOrder.nativeOrder());

	private final RegionTable regions = new RegionTable(new SecureRandom(), new WindowTable(this.table));

	private final ByteBuffer extent = ByteBuffer.allocateDirect(BYTES + ExtentOrigin.SEAL_BYTES)
		.order(ByteOrder.nativeOrder())
		.putLong(BYTES, ORIGIN.seal());

	private final ProtectionDomain domain = grantee(ProtectionDomain.class, DOMAIN);

	private final QueuePair queuePair = grantee(QueuePair.class, QUEUE_PAIR);

	private final PeerWindows windows = reader(QUEUE_PAIR, DOMAIN);

	private static <T> T grantee(Class<T> type, long number) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type, Grantee.class },
				(proxy, method, args) -> number));
	}

	private PeerWindows reader(long queuePairNumber, long domainNumber) {
		return new PeerWindows(this.table, queuePairNumber, domainNumber,
				(pool, number) -> (pool == 3 && number == 5) ? this.extent : null);
	}

	private RegisteredMemory add(int offset, int length, @Nullable QueuePair borrower, Set<AccessFlag> access,
			@Nullable ExtentOrigin origin) {
		Registration asked = Registration.of(this.extent.duplicate().limit(offset + length).position(offset), access)
			.of(origin, offset);
		return this.regions.add((key, base) -> new RegisteredMemory(this.domain, asked, borrower, key, base,
				RegisteredMemory::invalidate));
	}

	private RegisteredMemory readable(int offset, int length) {
		return add(offset, length, this.queuePair, EnumSet.of(AccessFlag.REMOTE_READ), ORIGIN);
	}

	private boolean tryOpen(RegisteredMemory region) {
		return this.windows.tryOpen(region.remoteKey(), region.remoteAddress(), region.lengthBytes());
	}

	@Test
	void aWindowIsWhereItSays() {
		RegisteredMemory region = readable(4096, 1000);
		assertThat(this.windows.tryOpen(region.remoteKey(), region.remoteAddress() + 10, 990)).isTrue();
		assertThat(this.windows.offset()).isEqualTo(4106);
		assertThat(this.windows.memory()).isSameAs(this.extent);
		assertThat(this.windows.isStillOpen()).isTrue();
		assertThat(this.windows.isWhole()).isTrue();
		this.extent.putLong(BYTES, 0);
		assertThat(this.windows.isWhole()).isFalse();
	}

	@Test
	void nothingBesideAWindowIsOpen() {
		RegisteredMemory region = readable(4096, 1000);
		int key = region.remoteKey();
		long address = region.remoteAddress();
		assertThat(this.windows.tryOpen(key, address - 1, 10)).isFalse();
		assertThat(this.windows.tryOpen(key, address + 991, 10)).isFalse();
		assertThat(this.windows.tryOpen(key, address, 1001)).isFalse();
		assertThat(this.windows.tryOpen(key, address, 0)).isFalse();
		assertThat(this.windows.tryOpen(key, address, -1)).isFalse();
		assertThat(this.windows.tryOpen(key, address, Long.MAX_VALUE)).isFalse();
		assertThat(this.windows.tryOpen(key + 1, address, 10)).isFalse();
		assertThat(this.windows.tryOpen(-1, address, 10)).isFalse();
	}

	@Test
	void aWindowThatIsClosedMeanwhileIsNoticed() {
		RegisteredMemory region = readable(0, 1000);
		assertThat(tryOpen(region)).isTrue();
		this.regions.invalidate(region);
		assertThat(this.windows.isStillOpen()).isFalse();
		assertThat(tryOpen(region)).isFalse();
		this.regions.remove(region);
		this.regions.invalidate(region);
	}

	@Test
	void theNextRegionUnderAnIndexIsAnotherOne() {
		RegisteredMemory first = readable(0, 1000);
		assertThat(tryOpen(first)).isTrue();
		this.regions.invalidate(first);
		this.regions.remove(first);
		RegisteredMemory next = readable(0, 1000);
		while (RegionTable.index(next.remoteKey()) != RegionTable.index(first.remoteKey())) {
			assertThat(this.windows.isStillOpen()).isFalse();
			this.regions.remove(next);
			next = readable(0, 1000);
		}
		assertThat(this.windows.isStillOpen()).isFalse();
		this.regions.invalidate(first);
		assertThat(tryOpen(next)).as("invalidating what was there before").isTrue();
	}

	@Test
	void onlyWhatPeersMayReadAndWhoMayIsShown() {
		assertThat(tryOpen(add(0, 10, this.queuePair, EnumSet.of(AccessFlag.REMOTE_WRITE), ORIGIN))).isFalse();
		assertThat(tryOpen(add(0, 10, this.queuePair, EnumSet.of(AccessFlag.REMOTE_READ), null))).isFalse();
		assertThat(tryOpen(add(0, 10, null, EnumSet.of(AccessFlag.REMOTE_READ), ORIGIN))).isTrue();
		RegisteredMemory region = readable(0, 10);
		assertThat(reader(18, DOMAIN).tryOpen(region.remoteKey(), region.remoteAddress(), 10)).isFalse();
		assertThat(reader(QUEUE_PAIR, 18).tryOpen(region.remoteKey(), region.remoteAddress(), 10)).isTrue();
	}

	@Test
	void moreRegionsThanATableHoldsAreNotShown() {
		for (int i = 0; i < WindowDescriptor.RECORDS + 100; i++) {
			RegisteredMemory region = readable(0, 8);
			assertThat(tryOpen(region)).isEqualTo(RegionTable.index(region.remoteKey()) < WindowDescriptor.RECORDS);
		}
	}

	@Test
	void whateverAPeerWritesNothingOutsideItsMemoryIsOpen() {
		long seed = Long.getLong("rdmarpc.test.seed", 20261126L);
		Random random = new Random(seed);
		int opened = 0;
		for (int i = 0; i < 200_000; i++) {
			int at = WindowDescriptor.record(1);
			this.table.putLong(at, 1);
			this.table.putInt(at + WindowDescriptor.KEY, 1 << 10);
			this.table.putInt(at + WindowDescriptor.LENGTH, (int) some(random));
			this.table.putLong(at + WindowDescriptor.ADDRESS, some(random));
			this.table.putLong(at + WindowDescriptor.GRANTEE, QUEUE_PAIR);
			this.table.putLong(at + WindowDescriptor.POOL, 3);
			this.table.putLong(at + WindowDescriptor.EXTENT, 5);
			this.table.putLong(at + WindowDescriptor.OFFSET, some(random));
			long length = some(random);
			if (this.windows.tryOpen(1 << 10, some(random), length)) {
				opened++;
				assertThat(this.windows.offset()).as("seed %d", seed).isBetween(0, BYTES);
				assertThat(length).as("seed %d", seed).isBetween(1L, (long) BYTES - this.windows.offset());
			}
		}
		assertThat(opened).isPositive();
	}

	private static long some(Random random) {
		return switch (random.nextInt(4)) {
			case 0 -> random.nextInt(BYTES + 20) - 10;
			case 1 -> random.nextLong();
			case 2 -> Long.MAX_VALUE - random.nextInt(3);
			default -> Integer.MIN_VALUE + random.nextInt(3);
		};
	}

}
