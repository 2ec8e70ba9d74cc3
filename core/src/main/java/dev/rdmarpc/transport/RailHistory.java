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

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * In which order connections to one address try the rails: that of preference, but those
 * last that have failed a while ago while another one worked. Thread-safe.
 */
public final class RailHistory {

	private final List<Rail> rails;

	private final long avoidNanos;

	private final Map<Rail, Long> failedNanos = new ConcurrentHashMap<>();

	/**
	 * Creates a history without failures.
	 * @param rails in order of preference
	 */
	public RailHistory(List<Rail> rails, RailOptions options) {
		this.rails = rails;
		this.avoidNanos = options.betterInterval().toNanos();
	}

	/** All rails, in the order in which to try them. */
	public List<Rail> order() {
		return this.rails.stream().sorted(Comparator.comparing(this::isAvoided)).toList();
	}

	/** The rails that are better than one, but for those that have failed just now. */
	public List<Rail> betterThan(String name) {
		return this.rails.subList(0, rank(name)).stream().filter((rail) -> !isAvoided(rail)).toList();
	}

	/** Whether there is a better rail than one. */
	public boolean isBest(String name) {
		return rank(name) == 0;
	}

	private int rank(String name) {
		for (int i = 0; i < this.rails.size(); i++) {
			if (this.rails.get(i).name().equals(name)) {
				return i;
			}
		}
		return 0;
	}

	private boolean isAvoided(Rail rail) {
		Long failed = this.failedNanos.get(rail);
		return failed != null && System.nanoTime() - failed < this.avoidNanos;
	}

	/** These have failed where others work. */
	public void avoid(Collection<Rail> failed) {
		failed.forEach((rail) -> this.failedNanos.put(rail, System.nanoTime()));
	}

}
