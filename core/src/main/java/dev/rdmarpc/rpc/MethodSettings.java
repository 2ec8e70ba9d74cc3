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
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * The settings that single methods have at a client. Thread-safe. Clients without any
 * look up nothing.
 */
final class MethodSettings {

	private final Function<MethodDescriptor, MethodOptions> source;

	/** Replaced, not added to. Like all that were asked for, they may be forgotten. */
	private volatile Map<MethodDescriptor, Settings> known = Map.of();

	/** Those that proxies still have; proxies can be made again and again. */
	private final Set<MethodDescriptor> asked = Collections.newSetFromMap(new WeakHashMap<>());

	MethodSettings(Function<MethodDescriptor, MethodOptions> source) {
		this.source = source;
	}

	/**
	 * Asks for the settings of the methods of a service.
	 * @throws IllegalArgumentException if a method is to be hedged that cannot be
	 */
	synchronized void add(ServiceDescriptor service) {
		Map<MethodDescriptor, Settings> all = new WeakHashMap<>(this.known);
		ask(service.methods(), all);
		this.asked.addAll(service.methods());
		this.known = all;
	}

	/**
	 * Asks again for the settings of all methods.
	 * @throws IllegalArgumentException if a method is to be hedged that cannot be;
	 * nothing has changed then
	 */
	synchronized void refresh() {
		Map<MethodDescriptor, Settings> all = new WeakHashMap<>();
		ask(this.asked, all);
		this.known = all;
	}

	/** The methods that were asked for. */
	synchronized List<MethodDescriptor> methods() {
		return List.copyOf(this.asked);
	}

	private void ask(Collection<MethodDescriptor> methods, Map<MethodDescriptor, Settings> all) {
		for (MethodDescriptor method : methods) {
			MethodOptions options = this.source.apply(method);
			if (options.hedging() != null) {
				checkHedging(method);
			}
			if (!options.equals(MethodOptions.NONE)) {
				all.put(method, new Settings(options.deadline(), options.hedging(), isEncodedEarly(method)));
			}
		}
	}

	private static void checkHedging(MethodDescriptor method) {
		String problem = HedgingOptions.problemOf(method);
		if (problem != null) {
			throw new IllegalArgumentException(
					"hedging of " + method + ", which " + problem + " (expected: " + HedgingOptions.EXPECTED + ")");
		}
	}

	/**
	 * Whether later attempts could not be made from the arguments: they can change once
	 * the first answer is there, and memory that is lent to the call goes back then.
	 */
	private static boolean isEncodedEarly(MethodDescriptor method) {
		return !method.stableArguments()
				|| Arrays.stream(method.javaMethod().getGenericParameterTypes()).anyMatch(HoldingTypes::include);
	}

	/** Those of a method, or {@code null} if it has none. */
	@Nullable Settings of(MethodDescriptor method) {
		Map<MethodDescriptor, Settings> all = this.known;
		return all.isEmpty() ? null : all.get(method);
	}

	/**
	 * The settings of one method.
	 *
	 * @param deadline of its calls, or {@code null}
	 * @param hedging of its calls, or {@code null}
	 * @param encodedEarly whether arguments of calls that are hedged are encoded before
	 * the first attempt
	 */
	record Settings(@Nullable Duration deadline, @Nullable HedgingOptions hedging, boolean encodedEarly) {

	}

}
