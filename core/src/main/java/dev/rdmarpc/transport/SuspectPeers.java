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
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import dev.rdmarpc.logging.RateLimitedLogger;
import dev.rdmarpc.verbs.SourceAddress;

/**
 * Remembers, for people, which addresses have had connections turned away or given up,
 * and says so in the log. The log gets one line in ten seconds, whoever it is about; what
 * is remembered tells of the others. Of many addresses, those are remembered that were
 * seen last; those of one IPv6 network count as one, as for limits. Thread-safe; throws
 * nothing.
 */
final class SuspectPeers {

	/** How many addresses are remembered. */
	static final int MAX_PEERS = 256;

	private final RateLimitedLogger rejections = new RateLimitedLogger(LoggerFactory.getLogger(SuspectPeers.class));

	private final RateLimitedLogger ends = new RateLimitedLogger(LoggerFactory.getLogger(SuspectPeers.class));

	private final LongAdder givenUp = new LongAdder();

	private final ReentrantLock lock = new ReentrantLock();

	/** Guarded by the lock. */
	private final Map<InetAddress, SuspectPeer> peers = new LinkedHashMap<>(16, 0.75f, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<InetAddress, SuspectPeer> eldest) {
			return size() > MAX_PEERS;
		}

	};

	/** A connection was rejected because of a limit. */
	void rejected(InetSocketAddress remote, String why) {
		note(remote, true, why);
		this.rejections.log(Level.WARN, "Rejected a connection from {}: {}", remote, why);
	}

	/** A connection was given up because of what its peer has done, or has not. */
	void givenUp(@Nullable InetSocketAddress remote, String why) {
		this.givenUp.increment();
		note(remote, false, why);
		this.ends.log(Level.WARN, "Gave up a connection from {}: {}", remote, why);
	}

	private void note(@Nullable InetSocketAddress remote, boolean rejection, String why) {
		if (remote == null || remote.isUnresolved()) {
			return;
		}
		InetAddress address = SourceAddress.of(remote.getAddress());
		this.lock.lock();
		try {
			SuspectPeer known = this.peers.get(address);
			long rejected = (known != null) ? known.rejected() : 0;
			long ended = (known != null) ? known.givenUp() : 0;
			this.peers.put(address, new SuspectPeer(address, rejected + (rejection ? 1 : 0),
					ended + (rejection ? 0 : 1), why, Instant.now()));
		}
		catch (OutOfMemoryError ex) {
			// the counters and the end of the connection are more important
		}
		finally {
			this.lock.unlock();
		}
	}

	/** How many connections were given up. */
	long givenUp() {
		return this.givenUp.sum();
	}

	/** The addresses, first those of which most was turned away or given up. */
	List<SuspectPeer> all() {
		this.lock.lock();
		try {
			return this.peers.values()
				.stream()
				.sorted(Comparator.comparingLong(SuspectPeer::total).reversed())
				.toList();
		}
		finally {
			this.lock.unlock();
		}
	}

}
