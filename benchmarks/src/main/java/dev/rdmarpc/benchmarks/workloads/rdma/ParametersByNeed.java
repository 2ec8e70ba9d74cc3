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

package dev.rdmarpc.benchmarks.workloads.rdma;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.benchmarks.workloads.tensors.Model;
import dev.rdmarpc.benchmarks.workloads.tensors.ParameterCalls;
import dev.rdmarpc.rpc.CallOptions;
import dev.rdmarpc.rpc.Priority;

/**
 * Calls that say how soon a tensor is needed: those of the first eighth of the model's
 * bytes are urgent, those of its second half are background work, and of one class the
 * tensor that is needed first has the earliest deadline.
 *
 * @param <T> what a tensor is
 * @param proxies for each tensor, its server with its options
 */
record ParametersByNeed<T>(List<ParameterCalls<T>> proxies) implements ParameterCalls<T> {

	private static final Duration FIRST_DEADLINE = Duration.ofSeconds(50);

	/** Longer than a step, as deadlines count from when a call is made. */
	private static final Duration NEXT_DEADLINE = Duration.ofSeconds(2);

	/** The tensors of a server, which may be any of the model. */
	static <T> ParametersByNeed<T> of(Model model, ParameterCalls<T> server) {
		List<ParameterCalls<T>> proxies = new ArrayList<>();
		long bytes = 0;
		for (int tensor = 0; tensor < model.sizes().size(); tensor++) {
			bytes += model.sizes().get(tensor);
			proxies.add(CallOptions.deadline(FIRST_DEADLINE.plus(NEXT_DEADLINE.multipliedBy(tensor)))
				.withPriority(priority(bytes, model.totalBytes()))
				.on(server));
		}
		return new ParametersByNeed<>(List.copyOf(proxies));
	}

	private static Priority priority(long bytes, long total) {
		if (8 * bytes <= total) {
			return Priority.HIGH;
		}
		return (2 * bytes <= total) ? Priority.NORMAL : Priority.LOW;
	}

	@Override
	public CompletableFuture<Integer> push(int step, int tensor, T gradient) {
		return this.proxies.get(tensor).push(step, tensor, gradient);
	}

	@Override
	public CompletableFuture<T> pull(int step, int tensor) {
		return this.proxies.get(tensor).pull(step, tensor);
	}

}
