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

package dev.rdmarpc.memory;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows buffers from allocation to release and reports those that become unreachable in
 * between. Exists only where leak detection is switched on. Thread-safe.
 */
final class LeakDetector {

	private static final Logger logger = LoggerFactory.getLogger(LeakDetector.class);

	/** One of so many allocations is followed with {@link LeakDetection#SIMPLE}. */
	static final int SAMPLING = 128;

	private final boolean everything;

	private final Set<Track> open = ConcurrentHashMap.newKeySet();

	private final ReferenceQueue<Object> unreachable = new ReferenceQueue<>();

	/** Hash codes of the stacks that were logged: each place is logged once. */
	private final Set<Integer> reported = ConcurrentHashMap.newKeySet();

	private final AtomicLong leaks = new AtomicLong();

	private LeakDetector(boolean everything) {
		this.everything = everything;
	}

	/** The detector for a setting; none when it is off. */
	static @Nullable LeakDetector of(LeakDetection detection) {
		return (detection != LeakDetection.DISABLED) ? new LeakDetector(detection == LeakDetection.PARANOID) : null;
	}

	/** Begins to follow a buffer that is being allocated, if it is its turn. */
	@Nullable Track follow(Object buffer, int lengthBytes) {
		if (!this.everything && ThreadLocalRandom.current().nextInt(SAMPLING) != 0) {
			return null;
		}
		report();
		Track track = new Track(buffer, lengthBytes, this.unreachable);
		this.open.add(track);
		return track;
	}

	/** Ends following a buffer that is being released. */
	void end(Track track) {
		track.clear();
		this.open.remove(track);
	}

	/** Reports the buffers that were found unreachable since the last time. */
	void report() {
		for (Reference<?> found = this.unreachable.poll(); found != null; found = this.unreachable.poll()) {
			if (found instanceof Track track && this.open.remove(track)) {
				this.leaks.incrementAndGet();
				if (this.reported.add(Arrays.hashCode(track.site.getStackTrace()))) {
					logger.error("A buffer of {} bytes was never released. Last touched: {}", track.lengthBytes,
							track.hints(), track.site);
				}
			}
		}
	}

	/** How many buffers were found so far. */
	long leaks() {
		report();
		return this.leaks.get();
	}

	/** Where the buffers were allocated that are followed now; at most so many. */
	List<Throwable> sites(int limit) {
		List<Throwable> sites = new ArrayList<>();
		for (Track track : this.open) {
			if (sites.size() == limit) {
				break;
			}
			sites.add(track.site);
		}
		return sites;
	}

	/** Where a buffer was allocated, and where it has been since. Thread-safe. */
	static final class Track extends PhantomReference<Object> {

		private static final int MAX_HINTS = 8;

		private final int lengthBytes;

		/** Has the stack of the allocation. */
		private final Throwable site;

		private final ArrayDeque<String> hints = new ArrayDeque<>();

		Track(Object buffer, int lengthBytes, ReferenceQueue<Object> unreachable) {
			super(buffer, unreachable);
			this.lengthBytes = lengthBytes;
			this.site = new Throwable(lengthBytes + " bytes allocated by " + Thread.currentThread().getName());
		}

		synchronized void touch(Object hint) {
			if (this.hints.size() == MAX_HINTS) {
				this.hints.removeFirst();
			}
			this.hints.addLast(String.valueOf(hint));
		}

		/** The last hints, the latest at the end. */
		synchronized List<String> hints() {
			return List.copyOf(this.hints);
		}

	}

}
