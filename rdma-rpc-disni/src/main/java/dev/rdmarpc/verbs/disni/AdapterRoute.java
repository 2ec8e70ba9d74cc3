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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Finds the adapter through which an address is reached.
 */
final class AdapterRoute {

	private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*(%.+)?");

	private static final int ANY_PORT = 1;

	private static final int TIMEOUT_MILLIS = 2000;

	private AdapterRoute() {
	}

	/** Whether a name is an address in numbers, and not that of an adapter. */
	static boolean isAddress(String name) {
		return ADDRESS.matcher(name).matches();
	}

	/** The handle of the adapter on the route to an address, 0 if there is none. */
	static long to(InetAddress address, AdapterVerbs verbs) throws IOException {
		try (ConnectionVerbs connections = verbs.openConnections()) {
			long id = connections.createId();
			try {
				connections.resolveAddress(id, new InetSocketAddress(address, ANY_PORT), TIMEOUT_MILLIS);
				return awaitAdapter(id, connections);
			}
			finally {
				connections.closeId(id);
			}
		}
	}

	private static long awaitAdapter(long id, ConnectionVerbs connections) throws IOException {
		ConnectionEvent event = new ConnectionEvent();
		long deadline = System.nanoTime() + 2 * TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS);
		for (long remaining = 1; remaining > 0; remaining = deadline - System.nanoTime()) {
			if (connections.awaitEvent(event, remaining)) {
				return (event.type() == ConnectionEventType.ADDRESS_RESOLVED) ? connections.adapterOf(id) : 0;
			}
		}
		return 0;
	}

}
