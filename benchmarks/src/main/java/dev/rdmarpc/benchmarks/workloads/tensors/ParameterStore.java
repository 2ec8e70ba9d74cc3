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
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * What a parameter server does: sums the gradients of each tensor and hands the sum out
 * when all workers have given theirs. Any thread.
 *
 * <p>
 * Implementation notes. There are two sums of each tensor, of even and of odd steps: a
 * worker may give its gradient of the next step while another one still receives the sum
 * of this one. It gives one of the step after only when it has received all sums of the
 * next one, to which the other worker has contributed after it had received all of this
 * step. So nobody reads a sum that is being replaced.
 *
 * @param <T> the type of tensors
 */
public final class ParameterStore<T> implements ParameterCalls<T>, Closeable {

	private final TensorMemory<T> memory;

	private final int workers;

	private final Map<Integer, Sum<T>> sums = new ConcurrentHashMap<>();

	/**
	 * Creates a store without tensors.
	 * @param memory for the sums
	 * @param workers how many give gradients
	 */
	public ParameterStore(TensorMemory<T> memory, int workers) {
		this.memory = memory;
		this.workers = workers;
	}

	@Override
	public CompletableFuture<Integer> push(int step, int tensor, T gradient) {
		ByteBuffer bytes = this.memory.bytes(gradient);
		int length = bytes.remaining();
		sum(step, tensor).add(step, bytes);
		return CompletableFuture.completedFuture(length);
	}

	/** The sum remains the store's. */
	@Override
	public CompletableFuture<T> pull(int step, int tensor) {
		return sum(step, tensor).future(step);
	}

	private Sum<T> sum(int step, int tensor) {
		return this.sums.computeIfAbsent(2 * tensor + step % 2, (key) -> new Sum<>(this.memory, this.workers));
	}

	/** Gives back the memory of the sums; when no call is outstanding. */
	@Override
	public void close() {
		this.sums.values().forEach(Sum::release);
		this.sums.clear();
	}

	/** A tensor's sum of one step after the other. */
	private static final class Sum<T> {

		private final TensorMemory<T> memory;

		private final int workers;

		private @Nullable T value;

		private int step = -1;

		private int given;

		private CompletableFuture<T> complete = new CompletableFuture<>();

		Sum(TensorMemory<T> memory, int workers) {
			this.memory = memory;
			this.workers = workers;
		}

		void add(int toStep, ByteBuffer gradient) {
			CompletableFuture<T> done;
			T sum;
			synchronized (this) {
				begin(toStep);
				if (this.value == null) {
					this.value = this.memory.allocate(gradient.remaining());
				}
				sum = this.value;
				ByteBuffer bytes = this.memory.bytes(sum);
				if (bytes.remaining() != gradient.remaining()) {
					throw new IllegalArgumentException(
							"a gradient of " + gradient.remaining() + " bytes (expected: " + bytes.remaining() + ")");
				}
				if (this.given++ == 0) {
					bytes.put(gradient);
				}
				else {
					add(bytes.asFloatBuffer(), gradient.asFloatBuffer());
				}
				if (this.given < this.workers) {
					return;
				}
				done = this.complete;
			}
			done.complete(sum);
		}

		private static void add(FloatBuffer sum, FloatBuffer more) {
			for (int i = 0; i < sum.limit(); i++) {
				sum.put(i, sum.get(i) + more.get(i));
			}
		}

		synchronized CompletableFuture<T> future(int ofStep) {
			begin(ofStep);
			return this.complete;
		}

		private void begin(int other) {
			if (other < this.step) {
				throw new IllegalStateException("step " + other + " (expected: not before " + this.step + ")");
			}
			if (other > this.step) {
				this.step = other;
				this.given = 0;
				this.complete = new CompletableFuture<>();
			}
		}

		synchronized void release() {
			T released = this.value;
			this.value = null;
			if (released != null) {
				this.memory.release(released);
			}
		}

	}

}
