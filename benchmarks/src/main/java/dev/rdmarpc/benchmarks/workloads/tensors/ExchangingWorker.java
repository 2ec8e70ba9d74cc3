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

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;

import org.jspecify.annotations.Nullable;

/**
 * A worker for tensors of one type. Its gradients are the same in each step, but for the
 * first number, which is the step: a sum that is left over from an earlier one is wrong.
 *
 * @param <T> the type of tensors
 */
public final class ExchangingWorker<T> implements Worker {

	/** Calls at the same time: enough to keep the connections busy. */
	private static final int OUTSTANDING = 8;

	private final TensorMemory<T> memory;

	private final List<? extends ParameterCalls<T>> servers;

	private final List<Integer> placement;

	private final int workers;

	private final List<T> gradients = new ArrayList<>();

	/**
	 * Makes the gradients.
	 * @param memory for the gradients, and of the sums
	 * @param servers that have the tensors
	 * @param model the tensors
	 * @param index of this worker, from 0
	 * @param workers how many there are
	 */
	public ExchangingWorker(TensorMemory<T> memory, List<? extends ParameterCalls<T>> servers, Model model, int index,
			int workers) {
		this.memory = memory;
		this.servers = servers;
		this.placement = model.placement(servers.size());
		this.workers = workers;
		for (int tensor = 0; tensor < model.sizes().size(); tensor++) {
			T gradient = memory.allocate(model.sizes().get(tensor));
			FloatBuffer numbers = memory.bytes(gradient).asFloatBuffer();
			while (numbers.hasRemaining()) {
				numbers.put(value(index, tensor));
			}
			this.gradients.add(gradient);
		}
	}

	/** Small whole numbers, of which sums are exact. */
	private static float value(int worker, int tensor) {
		return 1 + tensor + 1000 * worker;
	}

	@Override
	public Step step(int step, boolean thorough) {
		int count = this.gradients.size();
		for (T gradient : this.gradients) {
			this.memory.bytes(gradient).putFloat(0, step);
		}
		long begun = System.nanoTime();
		overlap(count, (i) -> {
			int tensor = count - 1 - i;
			return server(tensor).push(step, tensor, this.gradients.get(tensor));
		});
		long[] first = new long[1];
		overlap(count, (tensor) -> server(tensor).pull(step, tensor).thenAccept((sum) -> {
			if (tensor == 0) {
				first[0] = System.nanoTime() - begun;
			}
			try {
				check(step, tensor, this.memory.bytes(sum), thorough);
			}
			finally {
				this.memory.release(sum);
			}
		}));
		return new Step(System.nanoTime() - begun, first[0]);
	}

	private ParameterCalls<T> server(int tensor) {
		return this.servers.get(this.placement.get(tensor));
	}

	/** Makes calls in their order, some at the same time, and waits for all of them. */
	private static void overlap(int count, IntFunction<CompletableFuture<?>> call) {
		Semaphore free = new Semaphore(OUTSTANDING);
		AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
		for (int i = 0; i < count && failure.get() == null; i++) {
			acquire(free, 1);
			call.apply(i).whenComplete((reply, problem) -> {
				if (problem != null) {
					failure.compareAndSet(null, problem);
				}
				free.release();
			});
		}
		acquire(free, OUTSTANDING);
		Throwable problem = failure.get();
		if (problem != null) {
			throw new CompletionException(problem);
		}
	}

	private static void acquire(Semaphore free, int permits) {
		try {
			if (!free.tryAcquire(permits, 60, TimeUnit.SECONDS)) {
				throw new IllegalStateException("a call has not ended within a minute");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("was interrupted", ex);
		}
	}

	private void check(int step, int tensor, ByteBuffer bytes, boolean thorough) {
		FloatBuffer numbers = bytes.asFloatBuffer();
		int last = numbers.limit() - 1;
		float expected = 0;
		for (int worker = 0; worker < this.workers; worker++) {
			expected += value(worker, tensor);
		}
		boolean right = numbers.get(0) == (float) step * this.workers && numbers.get(last) == expected
				&& numbers.get(last / 2 + 1) == expected;
		for (int i = 1; thorough && i < last; i++) {
			right &= numbers.get(i) == expected;
		}
		if (!right) {
			throw new IllegalStateException("the sum of tensor " + tensor + " in step " + step + " begins with "
					+ numbers.get(0) + " and ends with " + numbers.get(last) + " (expected: " + step * this.workers
					+ " and " + expected + ")");
		}
	}

	@Override
	public void close() {
		this.gradients.forEach(this.memory::release);
		this.gradients.clear();
	}

}
