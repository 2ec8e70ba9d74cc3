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

package dev.rdmarpc.verbs.iwarp.rdmap;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.support.EngineProtectionDomain.RegionFactory;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/**
 * The steering tags of a device: a sparse table from 24-bit index to region.
 *
 * <p>
 * An STag is an index and an 8-bit key. Indices are drawn at random within blocks of 256
 * that are themselves placed at random and added while more than half of the entries are
 * in use, so the table grows with the number of live regions only. The key under an index
 * is drawn at random from those that it has not had yet, until it has had all 256. Index
 * 0 is never used.
 *
 * <p>
 * Implementation notes. The table is a radix tree of two levels of blocks below the root,
 * 256 entries each. Look-ups take no lock: blocks are published through
 * {@link AtomicReferenceArray} and never removed. Changes hold the table's lock.
 */
public final class StagTable {

	private static final int FANOUT = 256;

	private static final int MIN_BLOCKS = 16;

	private final AtomicReferenceArray<@Nullable AtomicReferenceArray<@Nullable Block>> root = new AtomicReferenceArray<>(
			FANOUT);

	private final ReentrantLock lock = new ReentrantLock();

	private final List<Integer> blockNumbers = new ArrayList<>();

	private final RandomSource random;

	private int size;

	public StagTable(SecureRandom secureRandom) {
		this.random = new RandomSource(secureRandom);
	}

	/** The region under an STag, or {@code null}. */
	@Nullable RegisteredMemory lookup(int stag) {
		Block block = block(stag >>> 16);
		if (block == null) {
			return null;
		}
		RegisteredMemory region = block.regions.get(stag >>> 8 & 0xFF);
		return (region != null && region.remoteKey() == stag) ? region : null;
	}

	/** Adds the region that the factory makes for a fresh STag and base address. */
	public RegisteredMemory add(RegionFactory factory) {
		this.lock.lock();
		try {
			growIfHalfFull();
			while (true) {
				int drawn = this.random.nextInt();
				int number = this.blockNumbers.get((drawn >>> 16) % this.blockNumbers.size());
				int entry = drawn & 0xFF;
				Block block = block(number);
				if (block == null || block.regions.get(entry) != null || (number == 0 && entry == 0)) {
					continue;
				}
				int key = block.nextKey(entry, this.random);
				long base = this.random.nextLong() & 0x7FFF_FFFF_FFFF_F000L;
				RegisteredMemory region = factory.create(number << 16 | entry << 8 | key, base);
				block.regions.set(entry, region);
				this.size++;
				return region;
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Removes a region; idempotent. */
	public void remove(RegisteredMemory region) {
		this.lock.lock();
		try {
			int stag = region.remoteKey();
			Block block = block(stag >>> 16);
			int entry = stag >>> 8 & 0xFF;
			if (block != null && block.regions.get(entry) == region) {
				block.regions.set(entry, null);
				this.size--;
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Regions registered at present. */
	int size() {
		this.lock.lock();
		try {
			return this.size;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void growIfHalfFull() {
		int blocks = this.blockNumbers.size();
		if (blocks >= MIN_BLOCKS && this.size < blocks * FANOUT / 2) {
			return;
		}
		if (blocks == FANOUT * FANOUT) {
			throw new VerbsException(VerbsError.LIMIT_EXCEEDED, this.size + " memory regions are registered already");
		}
		int number = this.random.nextInt() & 0xFFFF;
		while (block(number) != null) {
			number = number + 1 & 0xFFFF;
		}
		AtomicReferenceArray<@Nullable Block> level = this.root.get(number >>> 8);
		if (level == null) {
			level = new AtomicReferenceArray<>(FANOUT);
			this.root.set(number >>> 8, level);
		}
		level.set(number & 0xFF, new Block());
		this.blockNumbers.add(number);
	}

	private @Nullable Block block(int number) {
		AtomicReferenceArray<@Nullable Block> level = this.root.get(number >>> 8);
		return (level != null) ? level.get(number & 0xFF) : null;
	}

	private static final class Block {

		private final AtomicReferenceArray<@Nullable RegisteredMemory> regions = new AtomicReferenceArray<>(FANOUT);

		/** A bit for each key of each entry. */
		private final long[] used = new long[FANOUT * FANOUT / Long.SIZE];

		int nextKey(int entry, RandomSource random) {
			int left = FANOUT;
			for (int i = 0; i < FANOUT / Long.SIZE; i++) {
				left -= Long.bitCount(this.used[word(entry, 0) + i]);
			}
			int skipped = (random.nextInt() & Integer.MAX_VALUE) % left;
			int key = 0;
			while (isUsed(entry, key) || skipped-- > 0) {
				key++;
			}
			if (left == 1) {
				Arrays.fill(this.used, word(entry, 0), word(entry + 1, 0), 0);
			}
			this.used[word(entry, key)] |= 1L << key;
			return key;
		}

		private boolean isUsed(int entry, int key) {
			return (this.used[word(entry, key)] & 1L << key) != 0;
		}

		private static int word(int entry, int key) {
			return (entry * FANOUT + key) / Long.SIZE;
		}

	}

}
