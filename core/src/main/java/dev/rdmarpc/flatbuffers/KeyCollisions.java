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

package dev.rdmarpc.flatbuffers;

import java.math.BigInteger;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.Set;
import java.util.UUID;

/**
 * Bounds the work of hash tables on the keys that are read into one: how many different
 * keys have the same hash code, times what it takes to compare them.
 *
 * <h2>Implementation notes</h2>
 *
 * <p>
 * The tables of the class library find keys of one hash code by comparing, if they can be
 * compared, and otherwise by asking each for equality, the more the longer. So each key
 * is charged with those that are there before it. A table of its own counts them, by open
 * addressing; a random number keeps peers from choosing hash codes that meet in it.
 */
final class KeyCollisions {

	/** Keys that are few enough to be compared with each other. */
	static final int FEW_KEYS = 16;

	/**
	 * Classes whose objects hash tables order, since they are comparable to their own
	 * class and not only to one above it, and which are compared in little time.
	 */
	private static final Set<Class<?>> ORDERED = Set.of(Boolean.class, Byte.class, Short.class, Character.class,
			Integer.class, Long.class, Float.class, Double.class, String.class, URI.class, UUID.class, BigInteger.class,
			Instant.class, Duration.class, LocalTime.class, OffsetTime.class, OffsetDateTime.class, Year.class,
			YearMonth.class, MonthDay.class, ZoneOffset.class);

	private static final int SEED = new SecureRandom().nextInt();

	/** Heap per key, about. */
	static final int KEY_BYTES = 16;

	private final int[] hashes;

	private final int[] counts;

	private int place;

	/** Creates an object for a hash table without keys. */
	KeyCollisions(int keys) {
		int places = Integer.highestOneBit(keys + keys / 2) << 1;
		this.hashes = new int[places];
		this.counts = new int[places];
	}

	/**
	 * Whether the class library finds keys of a class fast even if all hash codes are
	 * equal, or nobody can choose them.
	 */
	static boolean areHarmless(Class<?> keys) {
		return keys.isEnum() || keys.isArray() || ORDERED.contains(keys);
	}

	/**
	 * A key is about to be put.
	 * @return how many different keys of the same hash code there are
	 */
	int count(Object key) {
		int hash = key.hashCode();
		int at = (hash ^ SEED) * 0x85EBCA6B;
		at = (at ^ (at >>> 13)) * 0xC2B2AE35;
		at = (at ^ (at >>> 16)) & (this.hashes.length - 1);
		while (this.counts[at] != 0 && this.hashes[at] != hash) {
			at = (at + 1) & (this.hashes.length - 1);
		}
		this.hashes[at] = hash;
		this.place = at;
		return this.counts[at];
	}

	/** The key was not there before. */
	void added() {
		this.counts[this.place]++;
	}

}
