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

package dev.rdmarpc.benchmarks.jmh;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

/**
 * Allocators under two threads: sets of live buffers of 64 bytes to 64 KiB, every size
 * range equally frequent, of which one after the other is replaced at random. Each new
 * buffer is written at both ends. The threads are of the kind that Netty's caches work
 * best with.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Threads(2)
@Fork(jvmArgsAppend = { "-Djmh.executor=CUSTOM", "-Djmh.executor.class=dev.rdmarpc.benchmarks.jmh.NettyThreads" })
public class AllocatorBenchmark {

	private static final int LIVE = 256;

	private static final int SIZES = 4096;

	/** A thread replaces buffers of its own. */
	@Benchmark
	public void churn(Common common, Live live) {
		int slot = live.nextSlot();
		Object old = live.buffers[slot];
		if (old != null) {
			common.memory.release(old);
		}
		live.buffers[slot] = common.memory.allocate(live.nextSize());
	}

	/** Threads replace each other's buffers, so half of the releases are remote. */
	@Benchmark
	public void exchange(Common common, Live live) {
		Object old = common.shared.getAndSet(live.nextSlot(), common.memory.allocate(live.nextSize()));
		if (old != null) {
			common.memory.release(old);
		}
	}

	/** What all threads use. */
	@State(Scope.Benchmark)
	public static class Common {

		/** Where memory comes from; MALLOC must be asked for. */
		@Param({ "REGISTERED", "REGISTERED_UNCACHED", "NETTY", "NETTY_UNCACHED", "REGISTER_EACH" })
		public AllocatorKind allocator = AllocatorKind.REGISTERED;

		private BenchmarkMemory memory = BenchmarkMemory.NONE;

		private final AtomicReferenceArray<@Nullable Object> shared = new AtomicReferenceArray<>(LIVE);

		/** Those of all threads. */
		private final List<@Nullable Object[]> own = new ArrayList<>();

		private int threads;

		/** Opens the allocator. */
		@Setup
		public void open() {
			this.memory = this.allocator.open();
		}

		/** Releases what is live and closes it. */
		@TearDown
		public void close() {
			for (int slot = 0; slot < LIVE; slot++) {
				release(this.shared.getAndSet(slot, null));
			}
			this.own.forEach((buffers) -> Arrays.stream(buffers).forEach(this::release));
			this.memory.close();
		}

		private void release(@Nullable Object buffer) {
			if (buffer != null) {
				this.memory.release(buffer);
			}
		}

		/** Adds the buffers of a thread; returns its number. */
		synchronized int add(@Nullable Object[] buffers) {
			this.own.add(buffers);
			return ++this.threads;
		}

	}

	/** What one thread uses. */
	@State(Scope.Thread)
	public static class Live {

		private final @Nullable Object[] buffers = new Object[LIVE];

		private final int[] sizes = new int[SIZES];

		private int next;

		private int random;

		/** Draws the sizes, the same ones in each run. */
		@Setup
		public void draw(Common common) {
			SplittableRandom random = new SplittableRandom(common.add(this.buffers));
			for (int index = 0; index < SIZES; index++) {
				int range = random.nextInt(10);
				this.sizes[index] = (64 << range) + random.nextInt((64 << range) + 1);
			}
			this.random = random.nextInt() | 1;
		}

		int nextSize() {
			return this.sizes[this.next++ & (SIZES - 1)];
		}

		int nextSlot() {
			int value = this.random;
			value ^= value << 13;
			value ^= value >>> 17;
			value ^= value << 5;
			this.random = value;
			return value & (LIVE - 1);
		}

	}

}
