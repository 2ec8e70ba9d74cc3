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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * A worker for tensors of one type. Its gradients are the same in each step, but for the
 * first number, which is the step: a sum that is left over from an earlier one is wrong.
 *
 * @param <T> the type of tensors
 */
public final class ExchangingWorker<T> implements Worker {

	private final TensorMemory<T> memory;

	private final List<? extends ParameterCalls<T>> servers;

	private final List<Integer> placement;

	private final int workers;

	private final long[] forwardNanos;

	private final List<T> gradients = new ArrayList<>();

	/**
	 * Makes the gradients.
	 * @param memory for the gradients, and of the sums
	 * @param servers that have the tensors
	 * @param model the tensors
	 * @param index of this worker, from 0
	 * @param workers how many there are
	 * @param forward how long a forward pass takes; a backward pass takes twice as long
	 */
	public ExchangingWorker(TensorMemory<T> memory, List<? extends ParameterCalls<T>> servers, Model model, int index,
			int workers, Duration forward) {
		this.memory = memory;
		this.servers = servers;
		this.placement = model.placement(servers.size());
		this.workers = workers;
		this.forwardNanos = model.forwardNanos(forward.toNanos());
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
		long[] arrivals = new long[count];
		List<CompletableFuture<Void>> exchanges = new ArrayList<>();
		long begun = System.nanoTime();
		long ready = begun;
		CompletableFuture<Void> failed = new CompletableFuture<>();
		for (int tensor = count - 1; tensor >= 0 && !failed.isDone(); tensor--) {
			ready += 2 * this.forwardNanos[tensor];
			awaitTime(ready);
			exchanges.add(exchange(step, tensor, thorough, arrivals).whenComplete((done, problem) -> {
				if (problem != null) {
					failed.completeExceptionally(problem);
				}
			}));
		}
		await(CompletableFuture.anyOf(failed, CompletableFuture.allOf(exchanges.toArray(CompletableFuture[]::new))));
		long end = ready;
		long last = ready;
		for (int tensor = 0; tensor < count; tensor++) {
			end = Math.max(end, arrivals[tensor]) + this.forwardNanos[tensor];
			last = Math.max(last, arrivals[tensor]);
		}
		return new Step(end - begun, Math.max(0, arrivals[0] - ready), last - ready);
	}

	private CompletableFuture<Void> exchange(int step, int tensor, boolean thorough, long[] arrivals) {
		ParameterCalls<T> server = server(tensor);
		return server.push(step, tensor, this.gradients.get(tensor))
			.thenCompose((length) -> server.pull(step, tensor))
			.thenAccept((sum) -> {
				arrivals[tensor] = System.nanoTime();
				try {
					check(step, tensor, this.memory.bytes(sum), thorough);
				}
				finally {
					this.memory.release(sum);
				}
			});
	}

	private static void awaitTime(long nanoTime) {
		for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

	private ParameterCalls<T> server(int tensor) {
		return this.servers.get(this.placement.get(tensor));
	}

	private static void await(CompletableFuture<?> exchanges) {
		try {
			exchanges.get(60, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			throw new CompletionException(ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new IllegalStateException("not all tensors have been exchanged within a minute", ex);
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
