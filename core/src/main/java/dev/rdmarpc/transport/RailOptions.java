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

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

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
	public static final RailOptions DEFAULTS = new RailOptions(List.of(), Duration.ofSeconds(1),
			Duration.ofSeconds(10));

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

	/**
	 * The rails of a transport that connections may use.
	 * @param channel what they are made with
	 * @return in order of preference, at least one
	 * @throws IllegalArgumentException if the transport has none of the providers asked
	 * for, or none that can protect the connections
	 * @throws VerbsException with {@link VerbsError#INVALID_ARGUMENT} if TLS is asked for
	 * and no provider of the transport can have it
	 */
	public List<Rail> choose(RdmaTransport transport, ChannelOptions channel) {
		transport.checkSecurity(channel);
		List<Rail> usable = transport.rails(channel);
		if (this.providers.isEmpty()) {
			return usable;
		}
		List<Rail> chosen = new ArrayList<>();
		for (String name : this.providers) {
			if (transport.rails().stream().noneMatch((rail) -> rail.name().equals(name))) {
				throw new IllegalArgumentException("provider " + name
						+ " of a client (expected: one of the transport's, " + transport.rails() + ")");
			}
			usable.stream().filter((rail) -> rail.name().equals(name)).forEach(chosen::add);
		}
		if (chosen.isEmpty()) {
			throw new IllegalArgumentException("providers " + this.providers
					+ " of a client with TLS (expected: one that can have it, of " + usable + ")");
		}
		return List.copyOf(chosen);
	}

}
