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

import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Hand-over of blocks from one thread to another, through a cache or a size class. */
final class BlockHandOverStress {

	private static final int ANOTHER = -1;

	private static final MemoryOptions OPTIONS = MemoryOptions.DEFAULTS.withMaxBytes(512L << 20)
		.withInitialBytes(4 << 20);

	private static final Extents EXTENTS = new Extents(OPTIONS, new Registrar(), () -> 0, () -> {
	});

	private static final SizeClassPool[] POOLS = { new SizeClassPool(new Nowhere(), EXTENTS, 0, OPTIONS.maxBytes()) };

	static {
		EXTENTS.open();
	}

	private BlockHandOverStress() {
	}

	private static RegisteredBuffer block() {
		RegisteredBuffer block = POOLS[0].take(true);
		while (block == null) {
			EXTENTS.grow(1, EXTENTS.added());
			block = POOLS[0].take(true);
		}
		write(block, 0);
		return block;
	}

	private static void write(RegisteredBuffer block, int content) {
		block.boundExtent().memory().putInt(offset(block), content);
	}

	private static int read(RegisteredBuffer block) {
		return block.boundExtent().memory().getInt(offset(block));
	}

	/** Makes a block of the pool a buffer, which knows where it is. */
	private static int offset(RegisteredBuffer block) {
		block.activate(Integer.BYTES);
		return block.offset();
	}

	/** Two threads use one cache, as virtual ones do. */
	@JCStressTest
	@Outcome(id = "0, -1", expect = Expect.ACCEPTABLE, desc = "not yet there")
	@Outcome(id = "0, 7", expect = Expect.ACCEPTABLE, desc = "handed over with its content")
	@Outcome(expect = Expect.FORBIDDEN, desc = "content lost, or bytes miscounted")
	@State
	public static class ThroughACache {

		private final ThreadCache cache = new ThreadCache(EXTENTS, POOLS, 1 << 20);

		private final RegisteredBuffer block = block();

		private @Nullable RegisteredBuffer taken;

		@Actor
		public void give() {
			write(this.block, 7);
			this.cache.lock();
			this.cache.give(this.block, 0, false);
			this.cache.unlock();
		}

		@Actor
		public void take(II_Result result) {
			this.cache.lock();
			RegisteredBuffer block = this.cache.take(0, true);
			this.cache.unlock();
			this.taken = block;
			result.r2 = (block == this.block) ? read(block) : ANOTHER;
		}

		@Arbiter
		public void count(II_Result result) {
			this.cache.lock();
			if (this.taken != null) {
				this.cache.give(this.taken, 0, false);
			}
			this.cache.flushAll();
			result.r1 = this.cache.bytes();
			this.cache.unlock();
		}

	}

	/** Whoever finds a cache locked goes elsewhere; two are never in it. */
	@JCStressTest
	@Outcome(id = { "1, 1", "1, 2", "2, 1", "1, 0", "0, 1" }, expect = Expect.ACCEPTABLE, desc = "one after the other")
	@Outcome(expect = Expect.FORBIDDEN, desc = "both at once")
	@State
	public static class TryLock {

		private final ThreadCache cache = new ThreadCache(EXTENTS, POOLS, 0);

		@Actor
		public void first(II_Result result) {
			result.r1 = enter();
		}

		@Actor
		public void second(II_Result result) {
			result.r2 = enter();
		}

		/** The number of those who were in before, plus one; 0 if it was locked. */
		private int enter() {
			if (!this.cache.tryLock()) {
				return 0;
			}
			this.cache.countAllocation(0);
			int entered = (int) this.cache.allocations();
			this.cache.unlock();
			return entered;
		}

	}

	/** A remote release: one thread gives to the size class what the other takes. */
	@JCStressTest
	@Outcome(id = "0, -1", expect = Expect.ACCEPTABLE, desc = "another block")
	@Outcome(id = "0, 7", expect = Expect.ACCEPTABLE, desc = "handed over with its content")
	@Outcome(expect = Expect.FORBIDDEN, desc = "content lost")
	@State
	public static class ThroughASizeClass {

		private final RegisteredBuffer block = block();

		private @Nullable RegisteredBuffer taken;

		@Actor
		public void give() {
			write(this.block, 7);
			POOLS[0].give(this.block);
		}

		@Actor
		public void take(II_Result result) {
			RegisteredBuffer block = POOLS[0].take(true);
			this.taken = block;
			result.r2 = (block == this.block) ? read(block) : ANOTHER;
		}

		@Arbiter
		public void giveBack() {
			if (this.taken != null) {
				POOLS[0].give(this.taken);
			}
		}

	}

	/** Two threads never get the same block. */
	@JCStressTest
	@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "different blocks")
	@Outcome(expect = Expect.FORBIDDEN, desc = "the same block twice")
	@State
	public static class TwoTakers {

		private @Nullable RegisteredBuffer first;

		private @Nullable RegisteredBuffer second;

		@Actor
		public void first() {
			this.first = block();
		}

		@Actor
		public void second() {
			this.second = block();
		}

		@Arbiter
		public void compare(II_Result result) {
			result.r1 = (this.first == this.second) ? 1 : 0;
			POOLS[0].give(Objects.requireNonNull(this.first));
			POOLS[0].give(Objects.requireNonNull(this.second));
		}

	}

}
