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

package dev.rdmarpc.benchmarks.workloads.tensors;

import java.util.concurrent.CompletableFuture;

/**
 * The calls of one server by one worker.
 *
 * @param <T> the type of tensors
 */
public interface ParameterCalls<T> {

	/**
	 * Gives a gradient, which is borrowed until the call ends; answered with its length.
	 */
	CompletableFuture<Integer> push(int step, int tensor, T gradient);

	/**
	 * Gets the sum of all workers' gradients, when they have given them. The caller owns
	 * it.
	 */
	CompletableFuture<T> pull(int step, int tensor);

}
