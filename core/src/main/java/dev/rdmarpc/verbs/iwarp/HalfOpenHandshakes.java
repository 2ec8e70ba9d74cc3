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

package dev.rdmarpc.verbs.iwarp;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The handshakes of a listener whose request has not come yet, the oldest first. When
 * there are too many, the oldest go: those of the source that has its share already, then
 * those of all. A peer that sends its request at once is through long before it is the
 * oldest, so those that send nothing keep nobody out. A handshake of TLS takes both sides
 * longer: it counts as new again whenever it has come further, and while many have, of
 * which the oldest is not old, others are better left in the backlog. On the connection
 * thread.
 *
 * <p>
 * Implementation notes. What waits in the backlog waits for all sources, so no source may
 * bring that about alone: there are many only if they are more than one may have. Those
 * that have not come further do not count, from however many sources they come, since to
 * say nothing costs their peers nothing; they are given up for others instead. Those that
 * have cost their peers the rate at which a source may begin handshakes. A burst of one
 * source beyond its share costs that source its oldest ones, and nobody else anything.
 * Where handshakes take long, those that came further of late, or have only just begun,
 * are spared, since a client may well begin a hundred at once; the places of all bound
 * them, and those beyond the share make no listener wait.
 */
final class HalfOpenHandshakes {

	/** What part of the places one source may have. */
	private static final int SHARES = 4;

	/** What one source may have at least. */
	private static final int LEAST_OF_ONE_SOURCE = 16;

	/** For how long one is spared that has not come further. */
	private static final long FRESH_NANOS = 500_000_000;

	/** The same for one that has. */
	private static final long ADVANCING_NANOS = 2_000_000_000;

	private final int most;

	private final int mostOfOneSource;

	private final boolean slow;

	private final Set<MpaResponder> all = new LinkedHashSet<>();

	/** Those that have come further, the one that has not for longest first. */
	private final Set<MpaResponder> advancing = new LinkedHashSet<>();

	private final Map<InetAddress, Set<MpaResponder>> bySource = new HashMap<>();

	/**
	 * Creates an empty set.
	 * @param most how many there may be
	 * @param slow whether they take more than one message each way
	 */
	HalfOpenHandshakes(int most, boolean slow) {
		this.most = most;
		this.slow = slow;
		this.mostOfOneSource = Math.max(most / SHARES, LEAST_OF_ONE_SOURCE);
	}

	/**
	 * Adds a handshake and gives up those for which there is no room then.
	 * @param others how many places are taken by handshakes whose request has come
	 */
	void add(MpaResponder responder, int others) {
		this.all.add(responder);
		Set<MpaResponder> ofSource = this.bySource.computeIfAbsent(responder.source(),
				(source) -> new LinkedHashSet<>());
		ofSource.add(responder);
		MpaResponder oldest = ofSource.iterator().next();
		if (ofSource.size() > this.mostOfOneSource && !isSpared(oldest)) {
			giveUp(oldest);
		}
		else if (this.all.size() + others > this.most) {
			tryGiveUpOldest();
		}
	}

	private boolean isSpared(MpaResponder responder) {
		long nanos = this.advancing.contains(responder) ? ADVANCING_NANOS : FRESH_NANOS;
		return this.slow && System.nanoTime() - responder.progressNanos() < nanos;
	}

	/** Notes that a handshake has come further. */
	void progressed(MpaResponder responder) {
		Set<MpaResponder> ofSource = this.bySource.get(responder.source());
		if (ofSource != null && this.all.remove(responder)) {
			this.all.add(responder);
			ofSource.remove(responder);
			ofSource.add(responder);
			this.advancing.remove(responder);
			this.advancing.add(responder);
		}
	}

	/**
	 * Whether there are many that have come further, all of them since a moment. What one
	 * source has beyond its share does not count.
	 */
	boolean areMany(long sinceNanos) {
		int many = Math.max(this.most / 2, this.mostOfOneSource);
		return this.advancing.size() > many && this.advancing.iterator().next().progressNanos() - sinceNanos > 0
				&& withinShares() > many;
	}

	private long withinShares() {
		return this.bySource.values()
			.stream()
			.mapToLong((ofSource) -> Math.min(ofSource.stream().filter(this.advancing::contains).count(),
					this.mostOfOneSource))
			.sum();
	}

	int size() {
		return this.all.size();
	}

	/** Gives the oldest up; returns false if there is none. */
	boolean tryGiveUpOldest() {
		if (this.all.isEmpty()) {
			return false;
		}
		giveUp(this.all.iterator().next());
		return true;
	}

	private void giveUp(MpaResponder responder) {
		remove(responder);
		responder.giveUp();
	}

	/** Removes a handshake whose request has come, or that is over. */
	void remove(MpaResponder responder) {
		if (this.all.remove(responder)) {
			this.advancing.remove(responder);
			this.bySource.computeIfPresent(responder.source(), (source, ofSource) -> {
				ofSource.remove(responder);
				return ofSource.isEmpty() ? null : ofSource;
			});
		}
	}

}
