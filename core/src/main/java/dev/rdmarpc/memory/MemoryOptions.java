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

/**
 * The settings of a {@link RegisteredMemory}.
 *
 * @param initialBytes registered from the beginning and kept; a multiple of
 * {@link #PAGE_BYTES}
 * @param maxBytes the budget: the pool never has more direct memory, what it has given
 * back and the garbage collector has not yet freed included; a multiple of
 * {@link #PAGE_BYTES}. The process needs as much direct memory
 * ({@code -XX:MaxDirectMemorySize}) and one page more per extent; where it has less, a
 * pool has that budget
 * @param extentBytes by how much the pool grows and shrinks; a multiple of
 * {@link #PAGE_BYTES}. Larger requests get extents of their own
 * @param threadCacheBytes free memory a thread may keep for itself, 0 for none. All
 * threads together keep at most a quarter of maxBytes
 * @param allocationTimeout how long {@link RegisteredMemory#allocate(int)} waits for
 * others to release while nothing large is, as {@link Patience} says; 0 for not at all
 * @param leakDetection how hard to look for buffers that are never released
 * @param registrationCacheBytes how much of the users' own memory stays registered when
 * it is not in use, see {@link RegisteredMemory#register}
 * @param retention how long an extent that nobody uses, and that the pool could give
 * back, stays registered for the next who needs it
 */
public record MemoryOptions(long initialBytes, long maxBytes, int extentBytes, int threadCacheBytes,
		Duration allocationTimeout, LeakDetection leakDetection, long registrationCacheBytes, Duration retention) {

	/** The unit in which extents are divided; extents begin at multiples of it. */
	public static final int PAGE_BYTES = 4096;

	/** The largest extent. */
	public static final int MAX_EXTENT_BYTES = 1 << 30;

	/**
	 * A budget of 256 MiB, of which 16 are registered at once, in extents of 4 MiB; 1 MiB
	 * per thread's cache; 100 ms until an allocation fails; no search for leaks; 64 MiB
	 * of users' memory kept registered, and unused extents for a second.
	 */
	public static final MemoryOptions DEFAULTS = new MemoryOptions(16L << 20, 256L << 20, 4 << 20, 1 << 20,
			Duration.ofMillis(100), LeakDetection.DISABLED, 64L << 20, Duration.ofSeconds(1));

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public MemoryOptions {
		check(maxBytes >= PAGE_BYTES && maxBytes % PAGE_BYTES == 0, "maxBytes " + maxBytes,
				"a positive multiple of " + PAGE_BYTES);
		check(initialBytes >= 0 && initialBytes <= maxBytes && initialBytes % PAGE_BYTES == 0,
				"initialBytes " + initialBytes, "a multiple of " + PAGE_BYTES + " from 0 to maxBytes " + maxBytes);
		check(extentBytes >= PAGE_BYTES && extentBytes <= MAX_EXTENT_BYTES && extentBytes % PAGE_BYTES == 0,
				"extentBytes " + extentBytes,
				"a multiple of " + PAGE_BYTES + " from " + PAGE_BYTES + " to " + MAX_EXTENT_BYTES);
		check(threadCacheBytes >= 0, "threadCacheBytes " + threadCacheBytes, "at least 0");
		check(!allocationTimeout.isNegative(), "allocationTimeout " + allocationTimeout, "at least 0");
		check(registrationCacheBytes >= 0, "registrationCacheBytes " + registrationCacheBytes, "at least 0");
		check(!retention.isNegative(), "retention " + retention, "at least 0");
	}

	private static void check(boolean condition, String value, String expected) {
		if (!condition) {
			throw new IllegalArgumentException(value + " (expected: " + expected + ")");
		}
	}

	/** These options with another beginning. */
	public MemoryOptions withInitialBytes(long bytes) {
		return new MemoryOptions(bytes, this.maxBytes, this.extentBytes, this.threadCacheBytes, this.allocationTimeout,
				this.leakDetection, this.registrationCacheBytes, this.retention);
	}

	/** These options with another budget; what is there initially does not exceed it. */
	public MemoryOptions withMaxBytes(long bytes) {
		return new MemoryOptions(Math.min(this.initialBytes, bytes), bytes, this.extentBytes, this.threadCacheBytes,
				this.allocationTimeout, this.leakDetection, this.registrationCacheBytes, this.retention);
	}

	/**
	 * These options with a budget that Java lets the process have, if it is less, so that
	 * shares of it are of what there can be. Those of which not even the beginning can be
	 * had stay as they are, to fail with it.
	 */
	public MemoryOptions withinDirectMemory() {
		long most = DirectMemory.mostBytes(this.extentBytes);
		return (most < this.maxBytes && most >= Math.max(PAGE_BYTES, this.initialBytes)) ? withMaxBytes(most) : this;
	}

	/** These options, growing and shrinking by another size. */
	public MemoryOptions withExtentBytes(int bytes) {
		return new MemoryOptions(this.initialBytes, this.maxBytes, bytes, this.threadCacheBytes, this.allocationTimeout,
				this.leakDetection, this.registrationCacheBytes, this.retention);
	}

	/** These options with other caches of threads. */
	public MemoryOptions withThreadCacheBytes(int bytes) {
		return new MemoryOptions(this.initialBytes, this.maxBytes, this.extentBytes, bytes, this.allocationTimeout,
				this.leakDetection, this.registrationCacheBytes, this.retention);
	}

	/** These options with another wait for others to release. */
	public MemoryOptions withAllocationTimeout(Duration timeout) {
		return new MemoryOptions(this.initialBytes, this.maxBytes, this.extentBytes, this.threadCacheBytes, timeout,
				this.leakDetection, this.registrationCacheBytes, this.retention);
	}

	/** These options with another search for leaks. */
	public MemoryOptions withLeakDetection(LeakDetection detection) {
		return new MemoryOptions(this.initialBytes, this.maxBytes, this.extentBytes, this.threadCacheBytes,
				this.allocationTimeout, detection, this.registrationCacheBytes, this.retention);
	}

	/** These options with another cache of registrations of users' memory. */
	public MemoryOptions withRegistrationCacheBytes(long bytes) {
		return new MemoryOptions(this.initialBytes, this.maxBytes, this.extentBytes, this.threadCacheBytes,
				this.allocationTimeout, this.leakDetection, bytes, this.retention);
	}

	/** These options, keeping extents that nobody uses for another time. */
	public MemoryOptions withRetention(Duration time) {
		return new MemoryOptions(this.initialBytes, this.maxBytes, this.extentBytes, this.threadCacheBytes,
				this.allocationTimeout, this.leakDetection, this.registrationCacheBytes, time);
	}

}
