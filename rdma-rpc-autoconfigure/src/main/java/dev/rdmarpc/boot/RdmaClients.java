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

import java.util.Map;
import java.util.function.BiConsumer;

import dev.rdmarpc.rpc.RpcClient;

/**
 * The clients of an application, one per target. {@link ImportRdmaClients} asks it for
 * proxies; so may whoever knows targets only at run time.
 *
 * <p>
 * Thread-safe. The clients belong to it; do not close them.
 */
public interface RdmaClients {

	/** The client of a target, made when it is first asked for. */
	RpcClient client(String target);

	/** The clients made so far by the names of their targets. */
	Map<String, RpcClient> clients();

	/**
	 * Gives each client, with the name of its target, to a consumer: those made so far at
	 * once, others when they are made. To be overridden where there are others.
	 */
	default void onClient(BiConsumer<String, RpcClient> consumer) {
		clients().forEach(consumer);
	}

	/** A proxy of a service at a target. */
	default <T> T proxy(String target, Class<T> type) {
		return client(target).proxy(type);
	}

}
