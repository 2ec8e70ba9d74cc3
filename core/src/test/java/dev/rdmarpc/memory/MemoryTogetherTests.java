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

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Several small buffers allocated together. */
class MemoryTogetherTests {

	private static final int EXTENT_BYTES = 256 << 10;

	private static final MemoryOptions OPTIONS = MemoryOptions.DEFAULTS.withMaxBytes(4 * EXTENT_BYTES)
		.withInitialBytes(EXTENT_BYTES)
		.withExtentBytes(EXTENT_BYTES)
		.withThreadCacheBytes(64 << 10)
		.withAllocationTimeout(Duration.ZERO);

	private final RegisteredMemory memory = RegisteredMemory.create(OPTIONS);

	private final @Nullable RegisteredBuffer[] buffers = new RegisteredBuffer[16];

	@AfterEach
	void nothingIsOutstanding() {
		assertThat(this.memory.metrics().outstanding()).isZero();
		assertThat(this.memory.metrics().allocatedBytes()).isZero();
		this.memory.close();
	}

	private List<RegisteredBuffer> allocated(int count) {
		return Stream.of(this.buffers).limit(count).map(Objects::requireNonNull).toList();
	}

	@Test
	void areAsManyAsAskedForAndApart() {
		assertThat(this.memory.tryAllocate(200, this.buffers, 12)).isEqualTo(12);
		assertThat(this.memory.metrics().outstanding()).isEqualTo(12);
		assertThat(Arrays.asList(this.buffers).subList(12, 16)).containsOnlyNulls();
		List<RegisteredBuffer> all = allocated(12);
		for (int i = 0; i < all.size(); i++) {
			assertThat(all.get(i).length()).isEqualTo(200);
			assertThat(all.get(i).references()).isOne();
			all.get(i).buffer().putInt(0, i).putInt(196, i);
		}
		for (int i = 0; i < all.size(); i++) {
			assertThat(all.get(i).buffer().getInt(0)).isEqualTo(i);
			assertThat(all.get(i).buffer().getInt(196)).isEqualTo(i);
			all.get(i).release();
		}
	}

	@Test
	void areFewerWhenTheBudgetIsSpent() {
		List<RegisteredBuffer> most = Stream.generate(() -> this.memory.allocate(EXTENT_BYTES)).limit(3).toList();
		int count = 0;
		int got;
		ArrayDeque<RegisteredBuffer> all = new ArrayDeque<>();
		do {
			got = this.memory.tryAllocate(1024, this.buffers, 16);
			all.addAll(allocated(got));
			count += got;
		}
		while (got > 0);
		assertThat(count).as("of 256 KiB").isBetween(200, 256);
		assertThat(all.stream().distinct().count()).isEqualTo(count);
		all.forEach(RegisteredBuffer::release);
		most.forEach(RegisteredBuffer::release);
	}

	@Test
	void isOneWhereLeaksAreLookedFor() {
		try (RegisteredMemory watched = RegisteredMemory.create(OPTIONS.withLeakDetection(LeakDetection.PARANOID))) {
			assertThat(watched.tryAllocate(100, this.buffers, 16)).isOne();
			allocated(1).get(0).release();
		}
	}

	@Test
	void areSmall() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.memory.tryAllocate(1025, this.buffers, 16))
			.withMessageContaining("1025");
		assertThatIllegalArgumentException().isThrownBy(() -> this.memory.tryAllocate(-1, this.buffers, 16));
	}

	@Test
	void areNotOfClosedMemory() {
		this.memory.close();
		assertThatIllegalStateException().isThrownBy(() -> this.memory.tryAllocate(100, this.buffers, 16));
	}

}
