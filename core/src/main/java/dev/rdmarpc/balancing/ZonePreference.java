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

import java.util.ArrayList;
import java.util.List;

/**
 * Calls to candidates in the zone of the client, as another balancer chooses among them.
 * If none of these is available, that balancer chooses among all.
 *
 * <p>
 * Thread-safe.
 *
 * <p>
 * Implementation notes. The candidates in the zone are remembered with the list that they
 * are from, and found again when there is another list, which there is whenever a zone
 * has changed.
 */
public final class ZonePreference implements LoadBalancer {

	private final String zone;

	private final LoadBalancer balancer;

	private volatile Near near = new Near(List.of(), List.of(), new int[0]);

	/**
	 * Creates a load balancer for one client.
	 * @param zone of the client
	 * @param balancer chooses among those that are equally near
	 */
	public ZonePreference(String zone, LoadBalancer balancer) {
		this.zone = zone;
		this.balancer = balancer;
	}

	@Override
	public int pick(List<? extends Candidate> candidates, long key) {
		Near known = near(candidates);
		List<? extends Candidate> own = known.own();
		if (own.size() == candidates.size() || !isAnyAvailable(own)) {
			return this.balancer.pick(candidates, key);
		}
		int picked = this.balancer.pick(own, key);
		return (picked >= 0 && picked < own.size()) ? known.indexes()[picked] : this.balancer.pick(candidates, key);
	}

	/** One that takes turns is to be asked once for each call. */
	private static boolean isAnyAvailable(List<? extends Candidate> own) {
		for (int i = 0; i < own.size(); i++) {
			if (own.get(i).isAvailable()) {
				return true;
			}
		}
		return false;
	}

	@SuppressWarnings("ReferenceEquality") // an equal list takes no longer to look
											// through
	private Near near(List<? extends Candidate> candidates) {
		Near known = this.near;
		if (known.all() == candidates) {
			return known;
		}
		List<Integer> indexes = new ArrayList<>();
		for (int i = 0; i < candidates.size(); i++) {
			if (candidates.get(i).zone().equals(this.zone)) {
				indexes.add(i);
			}
		}
		Near found = new Near(candidates, indexes.stream().map(candidates::get).toList(),
				indexes.stream().mapToInt(Integer::intValue).toArray());
		this.near = found;
		return found;
	}

	@Override
	public boolean usesKeys() {
		return this.balancer.usesKeys();
	}

	/**
	 * The candidates in the zone.
	 *
	 * @param all candidates
	 * @param own those in the zone
	 * @param indexes where these are among all
	 */
	private record Near(List<? extends Candidate> all, List<? extends Candidate> own, int[] indexes) {

	}

}
