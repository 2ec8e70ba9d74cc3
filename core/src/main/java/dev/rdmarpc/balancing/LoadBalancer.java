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
 * Decides which of several addresses a call goes to. {@link LoadBalancing} has the usual
 * ones.
 *
 * <p>
 * Each client has its own. Called for every call, by any thread, so it must neither block
 * nor wait; what it decides on may change meanwhile.
 */
@FunctionalInterface
public interface LoadBalancer {

	/** The key of calls that have none. */
	long NO_KEY = 0;

	/** What {@link #pick} returns if no candidate is available. */
	int NONE = -1;

	/**
	 * Chooses an available candidate.
	 * @param candidates all addresses, in an order that only changes with them; at least
	 * one
	 * @param key the same for all calls that belong together, or {@link #NO_KEY}
	 * @return the index of the candidate, or {@link #NONE}. If it is not available, the
	 * call goes to any other
	 */
	int pick(List<? extends Candidate> candidates, long key);

	/** Whether the keys of calls matter; if not, calls have none. Always the same. */
	default boolean usesKeys() {
		return true;
	}

}
