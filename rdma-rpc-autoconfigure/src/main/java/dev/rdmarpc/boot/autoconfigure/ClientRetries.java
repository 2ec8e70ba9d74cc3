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
import java.util.Set;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.boot.autoconfigure.ClientSettings.Setting;
import dev.rdmarpc.boot.autoconfigure.MethodEntries.Source;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Client;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.ClientMethod;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Retry;
import dev.rdmarpc.boot.retry.RetrySettings;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * The retries of the calls of one target, from where {@link MethodEntries} finds them,
 * else the built-in ones.
 *
 * @param entries what properties set
 */
record ClientRetries(MethodEntries entries) {

	private static final String GROUP = "retry";

	private static final double BUDGET = 0.2;

	private static final int MOST_RETRIES = 100;

	ClientRetries(String target, RdmaRpcProperties properties) {
		this(new MethodEntries(target, properties));
	}

	/** Checks all settings, also those of methods. */
	void check() {
		settings();
		budget();
		this.entries.forEach((service, method) -> settings(sources(service, method)));
		this.entries.notOfMethods(GROUP, "budget", ClientMethod::retry, Retry::budget);
	}

	/** The settings of all methods that have none of their own. */
	RetrySettings settings() {
		return settings(sources(null, null));
	}

	/** The settings of a method. */
	RetrySettings settings(MethodDescriptor method) {
		this.entries.checkNames(method);
		return settings(sources(MethodEntries.serviceOf(method), method.name()));
	}

	/** How many retries each call permits. */
	double budget() {
		Setting<Double> budget = MethodEntries.find(sources(null, null), GROUP, "budget", Retry::budget, BUDGET);
		PropertyCheck.that(budget.value() > 0 && budget.value() <= 10, budget.name(), budget.value(),
				"more than 0, at most 10");
		return budget.value();
	}

	private List<Source<Retry>> sources(@Nullable String service, @Nullable String method) {
		return this.entries.sources(service, method, GROUP, ClientMethod::retry, Client::retry);
	}

	private static RetrySettings settings(List<Source<Retry>> sources) {
		RetrySettings defaults = RetrySettings.DEFAULTS;
		Setting<Integer> retries = MethodEntries.find(sources, GROUP, "max-retries", Retry::maxRetries,
				defaults.maxRetries());
		PropertyCheck.range(retries.name(), retries.value(), 0, MOST_RETRIES);
		Setting<Duration> delay = MethodEntries.find(sources, GROUP, "delay", Retry::delay, defaults.delay());
		PropertyCheck.notNegative(delay.name(), delay.value());
		Setting<Double> multiplier = MethodEntries.find(sources, GROUP, "multiplier", Retry::multiplier,
				defaults.multiplier());
		PropertyCheck.that(multiplier.value() >= 1 && multiplier.value() <= MOST_RETRIES, multiplier.name(),
				multiplier.value(), "from 1 to " + MOST_RETRIES);
		Setting<Duration> jitter = MethodEntries.find(sources, GROUP, "jitter", Retry::jitter, defaults.jitter());
		PropertyCheck.notNegative(jitter.name(), jitter.value());
		Setting<Duration> maxDelay = MethodEntries.find(sources, GROUP, "max-delay", Retry::maxDelay,
				defaults.maxDelay());
		PropertyCheck.positive(maxDelay.name(), maxDelay.value());
		PropertyCheck.that(maxDelay.value().compareTo(delay.value()) >= 0, maxDelay.name(), maxDelay.value(),
				"not less than delay, which is " + delay.value());
		Setting<Set<RpcStatus>> statuses = MethodEntries.find(sources, GROUP, "statuses", Retry::statuses,
				defaults.statuses());
		PropertyCheck.that(!statuses.value().contains(RpcStatus.OK), statuses.name(), statuses.value(),
				"statuses of failures");
		return new RetrySettings(retries.value(), delay.value(), multiplier.value(), jitter.value(), maxDelay.value(),
				statuses.value());
	}

}
