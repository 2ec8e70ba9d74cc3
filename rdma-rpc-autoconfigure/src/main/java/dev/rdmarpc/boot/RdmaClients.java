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

package dev.rdmarpc.boot;

import java.time.Duration;
import java.util.Map;
import java.util.function.BiConsumer;

import dev.rdmarpc.rpc.RpcClient;

/**
 * The clients of an application, one per target. {@link ImportRdmaClients} gets its
 * proxies from it, and so can code that knows targets only at run time.
 *
 * <p>
 * Thread-safe. It owns the clients; callers must not close them.
 */
public interface RdmaClients {

	/** The client of a target, created on the first request for it. */
	RpcClient client(String target);

	/** The clients created so far, by the names of their targets. */
	Map<String, RpcClient> clients();

	/**
	 * Passes each client, with the name of its target, to a consumer: existing clients at
	 * once, later ones when they are created. Override this if clients are created later.
	 */
	default void onClient(BiConsumer<String, RpcClient> consumer) {
		clients().forEach(consumer);
	}

	/**
	 * Changes the default deadline of the calls to a target, from the next call on, until
	 * the application ends.
	 * @param deadline zero for none
	 * @throws IllegalArgumentException if it is negative
	 */
	default void defaultDeadline(String target, Duration deadline) {
		client(target).defaultDeadline(deadline);
	}

	/** A proxy for a service at a target. */
	default <T> T proxy(String target, Class<T> type) {
		return client(target).proxy(type);
	}

}
