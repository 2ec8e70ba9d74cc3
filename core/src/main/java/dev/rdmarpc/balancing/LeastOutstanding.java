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

/**
 * Takes the address with the fewest outstanding calls: of all if they are few, otherwise
 * the better of two random ones (Mitzenmacher, "The Power of Two Choices in Randomized
 * Load Balancing", 2001), which need not look at each of hundreds for every call.
 */
final class LeastOutstanding implements LoadBalancer {

	private static final int FEW = 8;

	@Override
	public int pick(List<? extends Candidate> candidates, long key) {
		int size = candidates.size();
		if (size > FEW) {
			int one = available(candidates);
			int other = available(candidates);
			return (one == NONE || other == NONE) ? Math.max(one, other)
					: (candidates.get(other).outstandingCalls() < candidates.get(one).outstandingCalls()) ? other : one;
		}
		return fewest(candidates);
	}

	@Override
	public boolean usesKeys() {
		return false;
	}

	/**
	 * One of those with the fewest, each as likely as the others: beginning anywhere and
	 * taking the first would give the neighbor of one that is not available the calls of
	 * both.
	 */
	private static int fewest(List<? extends Candidate> candidates) {
		int best = NONE;
		int fewest = Integer.MAX_VALUE;
		int equal = 0;
		for (int i = 0; i < candidates.size(); i++) {
			Candidate candidate = candidates.get(i);
			int calls = candidate.isAvailable() ? candidate.outstandingCalls() : Integer.MAX_VALUE;
			if (calls < fewest) {
				best = i;
				fewest = calls;
				equal = 1;
			}
			else if (calls == fewest && best != NONE && ThreadLocalRandom.current().nextInt(++equal) == 0) {
				best = i;
			}
		}
		return best;
	}

	/** A random available one; one that is found in order if few are. */
	private static int available(List<? extends Candidate> candidates) {
		int size = candidates.size();
		int from = ThreadLocalRandom.current().nextInt(size);
		for (int tries = 1; tries < FEW && !candidates.get(from).isAvailable(); tries++) {
			from = ThreadLocalRandom.current().nextInt(size);
		}
		for (int n = 0; n < size; n++) {
			int i = (from + n) % size;
			if (candidates.get(i).isAvailable()) {
				return i;
			}
		}
		return NONE;
	}

}
