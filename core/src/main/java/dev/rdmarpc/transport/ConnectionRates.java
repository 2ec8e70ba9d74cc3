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

package dev.rdmarpc.transport;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How often the peers of each address connect. An address may begin as many connections
 * as it may have per second at once, and is then held to that rate. Of addresses that
 * have not connected for long nothing is known any more.
 *
 * <p>
 * Thread-safe, by a lock that is held for one look-up.
 *
 * <p>
 * Implementation notes. This is the generic cell rate algorithm: of each address it keeps
 * when its next connection would be due if they came evenly.
 */
final class ConnectionRates {

	static final int MAX_SOURCES = 4096;

	private static final long SECOND_NANOS = 1_000_000_000;

	private final long intervalNanos;

	private final long burstNanos;

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<InetAddress, Long> due = new LinkedHashMap<>(16, 0.75f, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<InetAddress, Long> eldest) {
			return size() > MAX_SOURCES;
		}

	};

	/**
	 * Begins with nothing known.
	 * @param perSecond how many connections one address may begin, on average
	 */
	ConnectionRates(int perSecond) {
		this.intervalNanos = SECOND_NANOS / Math.min(perSecond, SECOND_NANOS);
		this.burstNanos = this.intervalNanos * (perSecond - 1L);
	}

	/** Whether an address may begin a connection now; if so, it is counted. */
	boolean tryBegin(InetAddress source, long nowNanos) {
		this.lock.lock();
		try {
			Long known = this.due.get(source);
			long next = (known != null && known - nowNanos > 0) ? known : nowNanos;
			if (next - nowNanos > this.burstNanos) {
				return false;
			}
			this.due.put(source, next + this.intervalNanos);
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** How many addresses it knows something of. */
	int sources() {
		this.lock.lock();
		try {
			return this.due.size();
		}
		finally {
			this.lock.unlock();
		}
	}

}
