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
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How much memory mixed traffic takes in the long run. Time is counted in steps, in each
 * of which by day a buffer is allocated, by night in every fourth.
 */
@Tag("slow")
class MemoryFragmentationTests {

	private static final int HOURS = 7 * 24;

	private static final int STEPS_PER_HOUR = 25_000;

	private final PriorityQueue<Use> uses = new PriorityQueue<>();

	private final RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(512L << 20)
		.withInitialBytes(0)
		.withExtentBytes(4 << 20)
		.withAllocationTimeout(Duration.ZERO)
		.withRetention(Duration.ZERO));

	private long live;

	private long livePeak;

	private long registeredPeak;

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3 })
	void weekOfMixedTrafficEndsWithinAQuarterMoreThanItsPeak(long seed) {
		SplittableRandom random = new SplittableRandom(seed);
		long step = 0;
		for (int hour = 0; hour < HOURS; hour++) {
			Mix mix = Mix.values()[random.nextInt(Mix.values().length)];
			boolean day = hour % 24 >= 8 && hour % 24 < 20;
			for (long end = step + STEPS_PER_HOUR; step < end; step++) {
				if (day || step % 4 == 0) {
					allocate(mix.length(random), step + lifetime(random));
				}
				release(step);
			}
		}
		Eventually.isTrue("what is registered in the end is within the peak and a quarter, seed " + seed,
				() -> this.memory.metrics().registeredBytes() <= this.livePeak * 5 / 4);
		assertThat(this.registeredPeak).as("registered at most, seed %d", seed)
			.isLessThanOrEqualTo(this.livePeak * 3 / 2);
		release(Long.MAX_VALUE);
		assertThat(this.memory.metrics().outstanding()).isZero();
		Eventually.isTrue("next to nothing is registered when nothing is in use, seed " + seed,
				() -> this.memory.metrics().registeredBytes() <= 8L << 20);
		this.memory.close();
	}

	/** Most buffers live as long as a call, some for minutes, a few for hours. */
	private static int lifetime(SplittableRandom random) {
		int kind = random.nextInt(100);
		return random.nextInt((kind < 90) ? 500 : (kind < 99) ? STEPS_PER_HOUR / 2 : 6 * STEPS_PER_HOUR);
	}

	private void allocate(int lengthBytes, long until) {
		RegisteredBuffer buffer = this.memory.allocate(lengthBytes);
		this.uses.add(new Use(buffer, until));
		this.live += lengthBytes;
		this.livePeak = Math.max(this.livePeak, this.live);
		this.registeredPeak = Math.max(this.registeredPeak, this.memory.metrics().registeredBytes());
	}

	private void release(long step) {
		for (Use use = this.uses.peek(); use != null && use.until <= step; use = this.uses.peek()) {
			this.uses.remove();
			this.live -= use.buffer.length();
			use.buffer.release();
		}
	}

	@Test
	void memoryFollowsTheLoad() {
		SplittableRandom random = new SplittableRandom(4);
		for (int burst = 0; burst < 3; burst++) {
			List<RegisteredBuffer> all = new ArrayList<>();
			for (long bytes = 0; bytes < (200 << 20); bytes += all.get(all.size() - 1).length()) {
				all.add(this.memory.allocate(Mix.EVERYTHING.length(random)));
			}
			while (!all.isEmpty()) {
				int index = random.nextInt(all.size());
				RegisteredBuffer last = all.remove(all.size() - 1);
				((index < all.size()) ? all.set(index, last) : last).release();
			}
			Eventually.isTrue("next to nothing is registered after burst " + burst,
					() -> this.memory.metrics().registeredBytes() <= 8L << 20);
		}
		this.memory.close();
	}

	private record Use(RegisteredBuffer buffer, long until) implements Comparable<Use> {

		@Override
		public int compareTo(Use other) {
			return Long.compare(this.until, other.until);
		}

	}

	/** What sizes an hour brings. */
	private enum Mix {

		SMALL_CALLS {
			@Override
			int length(SplittableRandom random) {
				return 16 + random.nextInt(1000);
			}
		},

		FRAMES {
			@Override
			int length(SplittableRandom random) {
				return 1024 * (1 + random.nextInt(16));
			}
		},

		DOCUMENTS {
			@Override
			int length(SplittableRandom random) {
				return 5000 + random.nextInt(100_000);
			}
		},

		PICTURES {
			@Override
			int length(SplittableRandom random) {
				return (random.nextInt(10) == 0) ? 100_000 + random.nextInt(2 << 20) : 200 + random.nextInt(4000);
			}
		},

		EVERYTHING {
			@Override
			int length(SplittableRandom random) {
				int range = random.nextInt(12);
				return (32 << range) + random.nextInt(32 << range);
			}
		};

		abstract int length(SplittableRandom random);

	}

}
