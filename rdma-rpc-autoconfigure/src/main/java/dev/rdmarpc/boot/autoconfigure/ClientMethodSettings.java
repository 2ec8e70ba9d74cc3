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

package dev.rdmarpc.boot.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.boot.autoconfigure.ClientSettings.Setting;
import dev.rdmarpc.boot.autoconfigure.MethodEntries.Source;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Client;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.ClientMethod;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Hedging;
import dev.rdmarpc.rpc.HedgingOptions;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.MethodOptions;

/**
 * Deadlines of single methods and hedging of the calls of one target, from where
 * {@link MethodEntries} finds them, else the built-in ones.
 *
 * @param entries what properties set
 */
record ClientMethodSettings(MethodEntries entries) {

	private static final String GROUP = "hedging";

	private static final Duration DELAY = Duration.ofMillis(50);

	private static final int BUDGET_PERCENT = 10;

	ClientMethodSettings(String target, RdmaRpcProperties properties) {
		this(new MethodEntries(target, properties));
	}

	/** Checks all settings, also those of methods. */
	void check() {
		hedging();
		budget();
		this.entries.forEach((service, method) -> {
			hedging(hedgings(service, method));
			deadline(service, method);
		});
		this.entries.notOfMethods(GROUP, "budget", ClientMethod::hedging, Hedging::budget);
	}

	/**
	 * The settings of a method.
	 * @throws org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException
	 * if properties have this very method hedged, but it cannot be
	 */
	MethodOptions of(MethodDescriptor method) {
		this.entries.checkNames(method);
		String service = MethodEntries.serviceOf(method);
		return new MethodOptions(deadline(service, method.name()), hedging(method, hedgings(service, method.name())));
	}

	/** Those of all methods that have none of their own, or {@code null} for none. */
	@Nullable HedgingOptions hedging() {
		return hedging(hedgings(null, null));
	}

	/** How many attempts of hedged calls each call permits, beyond its first. */
	double budget() {
		Setting<Integer> percent = MethodEntries.find(hedgings(null, null), GROUP, "budget", Hedging::budget,
				BUDGET_PERCENT);
		PropertyCheck.range(percent.name(), percent.value(), 1, 100);
		return percent.value() / 100.0;
	}

	private @Nullable Duration deadline(String service, String method) {
		List<Source<Duration>> sources = this.entries.sources(service, method, "deadline", ClientMethod::deadline,
				(client) -> null);
		return sources.isEmpty() ? null : PropertyCheck.notNegative(sources.get(0).name(), sources.get(0).value());
	}

	/** What is set for others as well does not mean those that cannot be hedged. */
	private static @Nullable HedgingOptions hedging(MethodDescriptor method, List<Source<Hedging>> sources) {
		HedgingOptions hedging = hedging(sources);
		if (hedging == null) {
			return null;
		}
		String problem = HedgingOptions.problemOf(method);
		if (problem == null) {
			return hedging;
		}
		if (!sources.isEmpty() && sources.get(0).ofMethod()) {
			PropertyCheck.that(false, sources.get(0).name(), hedging,
					HedgingOptions.EXPECTED + ", but " + method + " " + problem);
		}
		return null;
	}

	private List<Source<Hedging>> hedgings(@Nullable String service, @Nullable String method) {
		return this.entries.sources(service, method, GROUP, ClientMethod::hedging, Client::hedging);
	}

	private static @Nullable HedgingOptions hedging(List<Source<Hedging>> sources) {
		Setting<Integer> attempts = MethodEntries.find(sources, GROUP, "max-attempts", Hedging::maxAttempts, 1);
		PropertyCheck.range(attempts.name(), attempts.value(), 1, HedgingOptions.MOST_ATTEMPTS);
		Setting<Duration> delay = MethodEntries.find(sources, GROUP, "delay", Hedging::delay, DELAY);
		PropertyCheck.notNegative(delay.name(), delay.value());
		return (attempts.value() > 1) ? new HedgingOptions(attempts.value(), delay.value()) : null;
	}

}
