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

/** The load balancers that are known by name. */
public enum LoadBalancing {

	/** To each address in turn. */
	ROUND_ROBIN,

	/** To the address with the fewest outstanding calls of this client. */
	LEAST_OUTSTANDING,

	/**
	 * Calls with the same key to the same address, as long as it is available; calls
	 * without a key in turn.
	 */
	CONSISTENT_HASH;

	/** Makes one for a client. */
	public LoadBalancer create() {
		return switch (this) {
			case ROUND_ROBIN -> new RoundRobin();
			case LEAST_OUTSTANDING -> new LeastOutstanding();
			case CONSISTENT_HASH -> new ConsistentHash();
		};
	}

}
