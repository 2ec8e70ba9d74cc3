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

import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.support.EngineProtectionDomain.RegionFactory;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * The regions of a device by their keys.
 *
 * <p>
 * A key is an index and, in its low bits, a count of the regions that have had the index,
 * which begins at random. An index is used again only after all others that are free, so
 * that a key that has become invalid does not soon name another region. The address of a
 * region is drawn at random.
 *
 * <p>
 * Implementation notes. Look-ups take no lock: the table is replaced when it grows, and
 * its entries are written before a key is known to anybody. A look-up in a table that is
 * just being replaced sees what was there when its key was made. Changes hold the monitor
 * of the table.
 */
public final class RegionTable {

	private static final int COUNT_BITS = 10;

	private static final int COUNT_MASK = (1 << COUNT_BITS) - 1;

	private static final int MAX_REGIONS = 1 << (Integer.SIZE - COUNT_BITS);

	private static final int FIRST_CAPACITY = 64;

	private final SplittableRandom random;

	private final ArrayDeque<Integer> free = new ArrayDeque<>();

	private volatile @Nullable RegisteredMemory[] regions = new RegisteredMemory[0];

	private int[] counts = new int[0];

	private final @Nullable WindowTable windows;

	/** Creates an empty table. */
	public RegionTable(SecureRandom secureRandom) {
		this(secureRandom, null);
	}

	/**
	 * Creates an empty table.
	 * @param windows shows peers the regions that they may read directly, {@code null} if
	 * there are none
	 */
	public RegionTable(SecureRandom secureRandom, @Nullable WindowTable windows) {
		this.random = new SplittableRandom(secureRandom.nextLong());
		this.windows = windows;
	}

	/** The place of a key's region. */
	static int index(int key) {
		return key >>> COUNT_BITS;
	}

	/** The region under a key, or {@code null}. */
	@Nullable RegisteredMemory lookup(int key) {
		@Nullable RegisteredMemory[] current = this.regions;
		int index = index(key);
		RegisteredMemory region = (index < current.length) ? current[index] : null;
		return (region != null && region.remoteKey() == key) ? region : null;
	}

	/** Adds the region that the factory makes for a fresh key and base address. */
	public synchronized RegisteredMemory add(RegionFactory factory) {
		if (this.free.isEmpty()) {
			grow();
		}
		int index = this.free.remove();
		this.counts[index]++;
		int key = index << COUNT_BITS | (this.counts[index] & COUNT_MASK);
		RegisteredMemory region = factory.create(key, this.random.nextLong() & 0x7FFF_FFFF_FFFF_F000L);
		@Nullable RegisteredMemory[] current = this.regions;
		current[index] = region;
		this.regions = current;
		if (this.windows != null) {
			this.windows.publish(index, region);
		}
		return region;
	}

	/**
	 * Ends the validity of a region, also for who reads it directly; idempotent.
	 */
	public void invalidate(RegisteredMemory region) {
		region.invalidate();
		if (this.windows != null && region.origin() != null) {
			revoke(region, this.windows);
		}
	}

	private synchronized void revoke(RegisteredMemory region, WindowTable shown) {
		int index = index(region.remoteKey());
		if (this.regions[index] == region) {
			shown.revoke(index);
		}
	}

	/** Removes a region that is not valid any more; idempotent. */
	public synchronized void remove(RegisteredMemory region) {
		int index = index(region.remoteKey());
		@Nullable RegisteredMemory[] current = this.regions;
		if (current[index] == region) {
			current[index] = null;
			this.free.add(index);
		}
	}

	private void grow() {
		int before = this.regions.length;
		int after = Math.max(FIRST_CAPACITY, 2 * before);
		if (after > MAX_REGIONS) {
			throw new VerbsException(VerbsError.LIMIT_EXCEEDED, before + " memory regions are registered already");
		}
		@Nullable RegisteredMemory[] grown = new RegisteredMemory[after];
		System.arraycopy(this.regions, 0, grown, 0, before);
		int[] grownCounts = new int[after];
		System.arraycopy(this.counts, 0, grownCounts, 0, before);
		for (int i = before; i < after; i++) {
			grownCounts[i] = this.random.nextInt();
			if (i > 0) {
				this.free.add(i);
			}
		}
		this.counts = grownCounts;
		this.regions = grown;
	}

}
