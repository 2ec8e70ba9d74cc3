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

package dev.rdmarpc.balancing;

import java.util.List;

/**
 * Takes the same address for the same key: of the available ones that with the highest
 * hash of key and address (rendezvous hashing; Thaler and Ravishankar, 1998). An address
 * that comes or goes changes the place of its own keys only, and its keys spread over all
 * others. All clients that name the addresses alike agree.
 */
final class ConsistentHash implements LoadBalancer {

	private final LoadBalancer withoutKey = new RoundRobin();

	@Override
	public int pick(List<? extends Candidate> candidates, long key) {
		if (key == NO_KEY) {
			return this.withoutKey.pick(candidates, key);
		}
		int best = NONE;
		long highest = Long.MIN_VALUE;
		for (int i = 0; i < candidates.size(); i++) {
			Candidate candidate = candidates.get(i);
			long weight = mixed(key ^ mixed(candidate.name().hashCode()));
			if ((best == NONE || weight > highest) && candidate.isAvailable()) {
				best = i;
				highest = weight;
			}
		}
		return best;
	}

	/** The finalizer of MurmurHash3, by Austin Appleby; in the public domain. */
	private static long mixed(long value) {
		long mixed = value;
		mixed = (mixed ^ (mixed >>> 33)) * 0xff51afd7ed558ccdL;
		mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
		return mixed ^ (mixed >>> 33);
	}

}
