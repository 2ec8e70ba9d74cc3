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

package dev.rdmarpc.memory;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Threads that release what others allocated. */
@Tag("slow")
class MemoryConcurrencyTests {

	private static final int THREADS = 4;

	private static final int SLOTS = 256;

	private final ExecutorService executor = Executors.newFixedThreadPool(THREADS);

	@AfterEach
	void threadsEnd() throws Exception {
		this.executor.shutdownNow();
		assertThat(this.executor.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "1, 0, 64", "2, 16384, 64", "3, 1048576, 64", "4, 1048576, 8", "5, 65536, 6" })
	void contentSurvivesTheExchangeBetweenThreads(long seed, int threadCacheBytes, int maxMegabytes) throws Exception {
		RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes((long) maxMegabytes << 20)
			.withInitialBytes(1 << 20)
			.withExtentBytes(1 << 20)
			.withThreadCacheBytes(threadCacheBytes)
			.withAllocationTimeout(Duration.ZERO));
		RecordingHook hook = new RecordingHook();
		AtomicReferenceArray<@Nullable RegisteredBuffer> shared = new AtomicReferenceArray<>(SLOTS);
		List<Callable<Void>> tasks = new ArrayList<>();
		for (int thread = 0; thread < THREADS; thread++) {
			SplittableRandom random = new SplittableRandom(seed * THREADS + thread);
			tasks.add(() -> exchange(memory, shared, random, "seed " + seed));
		}
		List<Future<Void>> running = tasks.stream().map(this.executor::submit).toList();
		for (int turn = 0; turn < 20; turn++) {
			memory.attach(hook).close();
		}
		for (Future<Void> task : running) {
			task.get(60, TimeUnit.SECONDS);
		}
		for (int slot = 0; slot < SLOTS; slot++) {
			releaseChecked(shared.getAndSet(slot, null), "seed " + seed);
		}
		assertThat(memory.metrics().outstanding()).as("seed " + seed).isZero();
		assertThat(memory.metrics().allocatedBytes()).as("seed " + seed).isZero();
		assertThat(hook.regions).isEmpty();
		memory.close();
	}

	private static @Nullable Void exchange(RegisteredMemory memory,
			AtomicReferenceArray<@Nullable RegisteredBuffer> shared, SplittableRandom random, String where) {
		for (int step = 0; step < 60_000; step++) {
			int length = 16 + random.nextInt(64 << random.nextInt(12));
			RegisteredBuffer buffer = memory.tryAllocate(length);
			if (buffer != null) {
				long content = random.nextLong();
				ByteBuffer view = buffer.buffer();
				view.putLong(0, content);
				view.putLong(length - Long.BYTES, content);
			}
			releaseChecked(shared.getAndSet(random.nextInt(SLOTS), buffer), where);
		}
		return null;
	}

	private static void releaseChecked(@Nullable RegisteredBuffer buffer, String where) {
		if (buffer != null) {
			ByteBuffer view = buffer.buffer();
			assertThat(view.getLong(0)).as(where).isEqualTo(view.getLong(view.limit() - Long.BYTES));
			assertThat(buffer.release()).as(where).isTrue();
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2 })
	void manyReferencesEndWithExactlyOneRelease(long seed) throws Exception {
		RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS);
		for (int turn = 0; turn < 200; turn++) {
			RegisteredBuffer buffer = memory.allocate(1000);
			List<Future<Integer>> running = new ArrayList<>();
			for (int thread = 0; thread < THREADS; thread++) {
				buffer.retain();
				SplittableRandom random = new SplittableRandom((seed * 1000 + turn) * THREADS + thread);
				running.add(this.executor.submit(() -> retainAndRelease(buffer, random)));
			}
			int last = buffer.release() ? 1 : 0;
			for (Future<Integer> task : running) {
				last += task.get(20, TimeUnit.SECONDS);
			}
			assertThat(last).as("seed " + seed + ", turn " + turn).isOne();
			assertThat(memory.metrics().outstanding()).isZero();
		}
		memory.close();
	}

	/** Works with slices and references, and releases one of its own in the end. */
	private static int retainAndRelease(RegisteredBuffer buffer, SplittableRandom random) {
		for (int step = 0; step < 100; step++) {
			RegisteredBuffer held = random.nextBoolean() ? buffer.retain() : buffer.slice(random.nextInt(1000), 0);
			held.release();
		}
		return buffer.release() ? 1 : 0;
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3 })
	void waitersAlwaysGetWhatOthersRelease(long seed) throws Exception {
		RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(1 << 20)
			.withInitialBytes(1 << 20)
			.withExtentBytes(1 << 20)
			.withThreadCacheBytes(64 << 10)
			.withAllocationTimeout(Duration.ofSeconds(60)));
		List<Future<?>> running = new ArrayList<>();
		for (int thread = 0; thread < THREADS; thread++) {
			SplittableRandom random = new SplittableRandom(seed * THREADS + thread);
			running.add(this.executor.submit(() -> {
				for (int step = 0; step < 2000; step++) {
					memory.allocate(1 + random.nextInt(600 << 10)).release();
				}
			}));
		}
		for (Future<?> task : running) {
			task.get(60, TimeUnit.SECONDS);
		}
		assertThat(memory.metrics().failures()).as("seed " + seed).isZero();
		assertThat(memory.metrics().outstanding()).isZero();
		memory.close();
	}

}
