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

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/**
 * Knows the addresses of a target, which may change: a name service or a registry.
 *
 * <p>
 * A client owns its resolver. It asks on first use, when a connection is lost or cannot
 * be made, when the interval has passed, and when it is told of a change; one thread at a
 * time.
 */
@FunctionalInterface
public interface AddressResolver extends AutoCloseable {

	/**
	 * Returns all addresses. May block; called on a thread that waits for nothing else.
	 * Unresolved ones are resolved for each attempt to connect. If there is none, or it
	 * throws, the addresses that were known so far remain.
	 * @throws Exception if they cannot be found out now; its message is for people
	 */
	List<InetSocketAddress> resolve() throws Exception;

	/**
	 * The zone of an address, such as a data center, for clients that prefer their own.
	 * Called for each of the addresses when they have been resolved, before the next
	 * time.
	 * @return an empty string if it is not known
	 */
	default String zone(InetSocketAddress address) {
		return "";
	}

	/** After what time to ask again at the latest; zero for never. */
	default Duration refreshInterval() {
		return Duration.ZERO;
	}

	/**
	 * Says whom to tell that the addresses may have changed. Called once, before the
	 * first question.
	 * @param changed may be run at any time, by any thread; does not block
	 */
	default void onChange(Runnable changed) {
	}

	/** Nobody will ask any more. */
	@Override
	default void close() {
	}

}
