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
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The pool against a trivial allocator: a map of what is in use. */
@Tag("slow")
class MemoryModelTests {

	private static final int MAX_BYTES = 24 << 20;

	/** What is in use in each extent: offset to end. */
	private final IdentityHashMap<ByteBuffer, TreeMap<Integer, Integer>> used = new IdentityHashMap<>();

	private final List<Block> live = new ArrayList<>();

	private long usedBytes;

	@ParameterizedTest
	@CsvSource({ "1, 0, DISABLED", "2, 65536, DISABLED", "3, 1048576, DISABLED", "4, 65536, SIMPLE",
			"5, 1048576, PARANOID" })
	void nothingOverlapsAndEverythingComesBack(long seed, int threadCacheBytes, LeakDetection leakDetection) {
		RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(MAX_BYTES)
			.withInitialBytes(1 << 20)
			.withExtentBytes(1 << 20)
			.withThreadCacheBytes(threadCacheBytes)
			.withAllocationTimeout(Duration.ZERO)
			.withLeakDetection(leakDetection));
		RecordingHook hook = new RecordingHook();
		memory.attach(hook);
		Random random = new Random(seed);
		int steps = (leakDetection == LeakDetection.DISABLED) ? 60_000 : 10_000;
		for (int step = 0; step < steps; step++) {
			String where = "seed " + seed + ", step " + step;
			boolean growing = step / 4000 % 2 == 0;
			if (random.nextInt(100) < (growing ? 60 : 40)) {
				allocate(memory, random, where);
			}
			else if (!this.live.isEmpty()) {
				release(random, where);
			}
			if (step % 1000 == 0) {
				assertThat(memory.metrics().allocatedBytes()).as(where).isEqualTo(this.usedBytes);
				assertThat(memory.metrics().outstanding()).as(where).isEqualTo(this.live.size());
				Eventually.isTrue("what is counted is registered, " + where,
						() -> hook.registeredBytes() == memory.metrics().registeredBytes());
				assertThat(memory.metrics().registeredBytes()).as(where)
					.isBetween(this.usedBytes + memory.metrics().cachedBytes(), (long) MAX_BYTES);
			}
		}
		while (!this.live.isEmpty()) {
			release(random, "seed " + seed + ", end");
		}
		assertThat(memory.metrics().outstanding()).isZero();
		assertThat(memory.metrics().allocatedBytes()).isZero();
		this.used.clear();
		RegisteredBuffer all = Eventually.isThere("all memory in one piece again, seed " + seed,
				() -> memory.tryAllocate(MAX_BYTES));
		assertThat(all.release()).isTrue();
		memory.close();
		assertThat(hook.regions).isEmpty();
	}

	private void allocate(RegisteredMemory memory, Random random, String where) {
		int length = random.nextInt((32 << random.nextInt(14)) + 1);
		RegisteredBuffer buffer = memory.tryAllocate(length);
		if (buffer == null) {
			assertThat(this.usedBytes).as(where + ": declined").isGreaterThan(MAX_BYTES / 2);
			return;
		}
		assertThat(buffer.length()).as(where).isEqualTo(length);
		assertThat(buffer.capacity()).as(where).isGreaterThanOrEqualTo(length);
		int begin = buffer.offset();
		int end = begin + buffer.capacity();
		assertThat(end).as(where).isLessThanOrEqualTo(buffer.memory().capacity());
		TreeMap<Integer, Integer> extent = this.used.computeIfAbsent(buffer.memory(), (key) -> new TreeMap<>());
		Map.Entry<Integer, Integer> before = extent.lowerEntry(end);
		assertThat(before == null || before.getValue() <= begin).as("%s: %s overlaps %s", where, buffer, before)
			.isTrue();
		extent.put(begin, end);
		this.usedBytes += buffer.capacity();
		long content = random.nextLong();
		this.live.add(new Block(buffer, content));
		ByteBuffer view = buffer.buffer();
		Random bytes = new Random(content);
		while (view.hasRemaining()) {
			view.put((byte) bytes.nextInt());
			view.position(Math.min(view.limit(), view.position() + bytes.nextInt(512)));
		}
	}

	private void release(Random random, String where) {
		Block block = this.live.remove(random.nextInt(this.live.size()));
		RegisteredBuffer buffer = block.buffer;
		ByteBuffer view = buffer.buffer();
		Random bytes = new Random(block.content);
		while (view.hasRemaining()) {
			assertThat(view.get()).as(where + ": content").isEqualTo((byte) bytes.nextInt());
			view.position(Math.min(view.limit(), view.position() + bytes.nextInt(512)));
		}
		TreeMap<Integer, Integer> extent = this.used.get(buffer.memory());
		assertThat(extent.remove(buffer.offset())).as(where).isNotNull();
		this.usedBytes -= buffer.capacity();
		assertThat(buffer.release()).as(where).isTrue();
	}

	private record Block(RegisteredBuffer buffer, long content) {

	}

}
