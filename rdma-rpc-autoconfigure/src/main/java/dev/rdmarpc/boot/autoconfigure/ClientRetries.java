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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Client;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.ClientMethod;
import dev.rdmarpc.boot.autoconfigure.RdmaRpcProperties.Retry;
import dev.rdmarpc.boot.retry.RetrySettings;
import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * The retries of the calls of one target: those of single methods, of its own entry, of
 * the default entry and the built-in ones, in this order.
 *
 * @param target the name of the target
 * @param properties all properties
 */
record ClientRetries(String target, RdmaRpcProperties properties) {

	private static final double BUDGET = 0.2;

	private static final int MOST_RETRIES = 100;

	/** Checks all settings, also those of methods. */
	void check() {
		settings();
		budget();
		for (String entry : entries()) {
			methods(entry)
				.forEach((service, methods) -> methods.forEach((method, set) -> settings(sources(service, method))));
		}
	}

	/** The settings of all methods that have none of their own. */
	RetrySettings settings() {
		return settings(sources(null, null));
	}

	/** The settings of a method. */
	RetrySettings settings(MethodDescriptor method) {
		String service = simple(method.service());
		checkNames(service, method.javaMethod().getDeclaringClass());
		return settings(sources(service, method.name()));
	}

	/** How many retries each call permits. */
	double budget() {
		Setting<Double> budget = find(sources(null, null), "budget", Retry::budget, BUDGET);
		PropertyCheck.that(budget.value() > 0 && budget.value() <= 10, budget.name(), budget.value(),
				"more than 0, at most 10");
		return budget.value();
	}

	private RetrySettings settings(List<Source> sources) {
		RetrySettings defaults = RetrySettings.DEFAULTS;
		Setting<Integer> retries = find(sources, "max-retries", Retry::maxRetries, defaults.maxRetries());
		PropertyCheck.range(retries.name(), retries.value(), 0, MOST_RETRIES);
		Setting<Duration> delay = find(sources, "delay", Retry::delay, defaults.delay());
		PropertyCheck.notNegative(delay.name(), delay.value());
		Setting<Double> multiplier = find(sources, "multiplier", Retry::multiplier, defaults.multiplier());
		PropertyCheck.that(multiplier.value() >= 1 && multiplier.value() <= MOST_RETRIES, multiplier.name(),
				multiplier.value(), "from 1 to " + MOST_RETRIES);
		Setting<Duration> jitter = find(sources, "jitter", Retry::jitter, defaults.jitter());
		PropertyCheck.notNegative(jitter.name(), jitter.value());
		Setting<Duration> maxDelay = find(sources, "max-delay", Retry::maxDelay, defaults.maxDelay());
		PropertyCheck.positive(maxDelay.name(), maxDelay.value());
		PropertyCheck.that(maxDelay.value().compareTo(delay.value()) >= 0, maxDelay.name(), maxDelay.value(),
				"not less than delay, which is " + delay.value());
		Setting<Set<RpcStatus>> statuses = find(sources, "statuses", Retry::statuses, defaults.statuses());
		PropertyCheck.that(!statuses.value().contains(RpcStatus.OK), statuses.name(), statuses.value(),
				"statuses of failures");
		return new RetrySettings(retries.value(), delay.value(), multiplier.value(), jitter.value(), maxDelay.value(),
				statuses.value());
	}

	/** Entries, the nearest first. */
	private List<String> entries() {
		return this.target.equals(RdmaRpcProperties.DEFAULT_CLIENT) ? List.of(this.target)
				: List.of(this.target, RdmaRpcProperties.DEFAULT_CLIENT);
	}

	private Map<String, Map<String, ClientMethod>> methods(String entry) {
		Client client = this.properties.client().get(entry);
		return (client != null && client.methods() != null) ? client.methods() : Map.of();
	}

	private List<Source> sources(@Nullable String service, @Nullable String method) {
		List<Source> sources = new ArrayList<>();
		if (service != null && method != null) {
			for (String entry : entries()) {
				methods(entry).forEach((ofService, methods) -> methods.forEach((name, set) -> {
					if (isSame(ofService, service) && isSame(name, method) && set.retry() != null) {
						sources.add(new Source(nameOf(entry) + "methods." + ofService + "." + name + ".retry.",
								set.retry()));
					}
				}));
			}
		}
		for (String entry : entries()) {
			Client client = this.properties.client().get(entry);
			if (client != null && client.retry() != null) {
				sources.add(new Source(nameOf(entry) + "retry.", client.retry()));
			}
		}
		return sources;
	}

	/** Names of methods that the service does not have are misspelt. */
	private void checkNames(String service, Class<?> type) {
		if (!isSame(type.getSimpleName(), service)) {
			return;
		}
		Set<String> known = new LinkedHashSet<>();
		Arrays.stream(type.getMethods()).forEach((method) -> known.add(method.getName()));
		for (String entry : entries()) {
			methods(entry).forEach((ofService, methods) -> methods.keySet().forEach((name) -> {
				if (isSame(ofService, service) && known.stream().noneMatch((each) -> isSame(each, name))) {
					Optional<String> meant = NearMiss.of(name, known);
					PropertyCheck.that(false, nameOf(entry) + "methods." + ofService + "." + name, "…", "a method of "
							+ type.getName() + meant.map((each) -> ", such as '" + each + "'").orElse(""));
				}
			}));
		}
	}

	private static String nameOf(String entry) {
		return "rdma.rpc.client." + entry + ".";
	}

	private static String simple(String service) {
		return service.substring(Math.max(service.lastIndexOf('.'), service.lastIndexOf('$')) + 1);
	}

	/** Whether two names are the same in the relaxed forms of properties. */
	private static boolean isSame(String one, String other) {
		return relaxed(one).equals(relaxed(other));
	}

	private static String relaxed(String name) {
		return name.replace("-", "").replace("_", "").toLowerCase(Locale.ROOT);
	}

	private static <T> Setting<T> find(List<Source> sources, String setting, Function<Retry, @Nullable T> getter,
			T fallback) {
		for (Source source : sources) {
			T value = getter.apply(source.retry());
			if (value != null) {
				return new Setting<>(source.prefix() + setting, value);
			}
		}
		return new Setting<>(nameOf(RdmaRpcProperties.DEFAULT_CLIENT) + "retry." + setting, fallback);
	}

	private record Source(String prefix, Retry retry) {

	}

	private record Setting<T>(String name, T value) {

	}

}
