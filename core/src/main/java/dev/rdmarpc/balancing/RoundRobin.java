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
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Takes the addresses in turn.
 *
 * <p>
 * Implementation notes. Whoever meets an address that is not available takes the next
 * number of the common counter instead of the next address, because the neighbor of that
 * address would otherwise get the calls of both. Clients begin at random, so that those
 * that start together do not go round together.
 */
final class RoundRobin implements LoadBalancer {

	private final AtomicInteger next = new AtomicInteger(ThreadLocalRandom.current().nextInt());

	@Override
	public int pick(List<? extends Candidate> candidates, long key) {
		int size = candidates.size();
		for (int tries = 0; tries < size; tries++) {
			int i = Math.floorMod(this.next.getAndIncrement(), size);
			if (candidates.get(i).isAvailable()) {
				return i;
			}
		}
		return firstAvailable(candidates);
	}

	@Override
	public boolean usesKeys() {
		return false;
	}

	/** Other threads may have taken the numbers of those that are available. */
	private static int firstAvailable(List<? extends Candidate> candidates) {
		for (int i = 0; i < candidates.size(); i++) {
			if (candidates.get(i).isAvailable()) {
				return i;
			}
		}
		return NONE;
	}

}
