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

import java.io.Closeable;

/** A worker of a training step, which computes nothing; used by one thread. */
public interface Worker extends Closeable {

	/**
	 * Makes a backward pass, which has the gradient of the last tensor first, gives each
	 * gradient when there is one, and gets its sum as soon as it has been taken. When the
	 * forward pass would end, which needs the sums in their order, is reckoned from their
	 * arrivals. The passes are an accelerator's: they take time and no processor.
	 * @param step greater than the one before
	 * @param thorough whether to look at each number of the sums
	 * @return what it took
	 * @throws IllegalStateException if a sum is wrong
	 */
	Step step(int step, boolean thorough);

	@Override
	void close();

	/**
	 * What a step took.
	 *
	 * @param nanos from the begin of the backward pass to the end of the forward pass
	 * @param firstNanos from the end of the backward pass until the sum was there that
	 * the forward pass needs first
	 * @param allNanos from there until all sums were there
	 */
	record Step(long nanos, long firstNanos, long allNanos) {

	}

}
