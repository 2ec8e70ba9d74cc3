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

package dev.rdmarpc.rpc;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;

import dev.rdmarpc.transport.Rail;

/**
 * Which rails of its transport a client uses, and how.
 *
 * @param providers names of their providers, in order of preference; empty for all, in
 * the order of the transport
 * @param attemptTimeout how long setting up a connection may take on a rail while there
 * is another one to be tried, and the handshake again; those of the channel are the limit
 * @param betterInterval how often a better rail than the one in use is tried
 */
public record RailOptions(List<String> providers, Duration attemptTimeout, Duration betterInterval) {

	/** All rails, 1 s for each, a better one every 10 s. */
	public static final RailOptions DEFAULTS = new RailOptions(List.of(), Rail.ATTEMPT_TIMEOUT, Duration.ofSeconds(10));

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public RailOptions {
		providers = List.copyOf(providers);
		if (providers.stream().anyMatch(String::isBlank) || new HashSet<>(providers).size() < providers.size()) {
			throw new IllegalArgumentException("providers " + providers + " (expected: names, each once)");
		}
		check("attempt timeout", attemptTimeout);
		check("interval", betterInterval);
	}

	private static void check(String what, Duration value) {
		if (value.isNegative() || value.isZero()) {
			throw new IllegalArgumentException(what + " " + value + " (expected: positive)");
		}
	}

	/** These options with other rails. */
	public RailOptions withProviders(List<String> names) {
		return new RailOptions(names, this.attemptTimeout, this.betterInterval);
	}

	/** These options with other times. */
	public RailOptions withTimes(Duration attempt, Duration better) {
		return new RailOptions(this.providers, attempt, better);
	}

}
