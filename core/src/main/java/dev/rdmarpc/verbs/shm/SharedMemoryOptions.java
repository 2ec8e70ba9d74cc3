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

package dev.rdmarpc.verbs.shm;

import java.nio.file.Path;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.shm.ring.RingDescriptor;

/**
 * The settings of a shared-memory provider; immutable, validated when made.
 *
 * @param directory where processes meet: listeners have their sockets there, connections
 * their memory while they are set up. {@code null} for one of the user's below
 * {@code /dev/shm}
 * @param group name or number of a group whose members may meet there, {@code null} for
 * the user alone
 * @param ringBytes memory of a connection for each direction at most, a power of two; the
 * side that listens takes less, down to 256 KiB, where a connection would need more than
 * a 512th of what is free in the directory
 * @param maxQueuePairs queue pairs open at once on a device
 * @param maxReadDepth RDMA Reads outstanding in one direction of a connection
 * @param drainTimeout how long an orderly disconnect waits until the peer has taken what
 * was posted
 * @param trust which peers may read memory that this process has opened for them without
 * this process's help; they must say the same of it
 */
public record SharedMemoryOptions(@Nullable Path directory, @Nullable String group, int ringBytes, int maxQueuePairs,
		int maxReadDepth, Duration drainTimeout, SharedMemoryTrust trust) {

	/** The least {@link #ringBytes()}. */
	public static final int MIN_RING_BYTES = RingDescriptor.MIN_RING_BYTES;

	/** The greatest {@link #ringBytes()}. */
	public static final int MAX_RING_BYTES = RingDescriptor.MAX_RING_BYTES;

	/** The greatest {@link #maxReadDepth()}. */
	public static final int MAX_READ_DEPTH = 1024;

	/** The default settings. */
	public static final SharedMemoryOptions DEFAULTS = new SharedMemoryOptions(null, null, 1024 * 1024, 65536, 128,
			Duration.ofSeconds(5), SharedMemoryTrust.NONE);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public SharedMemoryOptions {
		check(group == null || !group.isBlank(), "group", "nothing", "the name or number of a group");
		check(RingDescriptor.isCapacity(ringBytes), "ringBytes", ringBytes,
				"a power of two from " + MIN_RING_BYTES + " to " + MAX_RING_BYTES);
		check(maxQueuePairs >= 1 && maxQueuePairs <= 1 << 24, "maxQueuePairs", maxQueuePairs, "1 to " + (1 << 24));
		check(maxReadDepth >= 1 && maxReadDepth <= MAX_READ_DEPTH, "maxReadDepth", maxReadDepth,
				"1 to " + MAX_READ_DEPTH);
		check(!drainTimeout.isNegative(), "drainTimeout", drainTimeout, "not negative");
	}

	private static void check(boolean valid, String name, Object value, String expected) {
		if (!valid) {
			throw new IllegalArgumentException(name + " of " + value + " (expected: " + expected + ")");
		}
	}

	/** These settings with another {@link #directory()}. */
	public SharedMemoryOptions withDirectory(Path directory) {
		return new SharedMemoryOptions(directory, this.group, this.ringBytes, this.maxQueuePairs, this.maxReadDepth,
				this.drainTimeout, this.trust);
	}

	/** These settings with a {@link #group()} that is let in. */
	public SharedMemoryOptions withGroup(String group) {
		return new SharedMemoryOptions(this.directory, group, this.ringBytes, this.maxQueuePairs, this.maxReadDepth,
				this.drainTimeout, this.trust);
	}

	/** These settings with another {@link #ringBytes()}. */
	public SharedMemoryOptions withRingBytes(int ringBytes) {
		return new SharedMemoryOptions(this.directory, this.group, ringBytes, this.maxQueuePairs, this.maxReadDepth,
				this.drainTimeout, this.trust);
	}

	/** These settings with other limits of a device. */
	public SharedMemoryOptions withLimits(int maxQueuePairs, int maxReadDepth) {
		return new SharedMemoryOptions(this.directory, this.group, this.ringBytes, maxQueuePairs, maxReadDepth,
				this.drainTimeout, this.trust);
	}

	/** These settings with another {@link #drainTimeout()}. */
	public SharedMemoryOptions withDrainTimeout(Duration drainTimeout) {
		return new SharedMemoryOptions(this.directory, this.group, this.ringBytes, this.maxQueuePairs,
				this.maxReadDepth, drainTimeout, this.trust);
	}

	/** These settings with another {@link #trust()}. */
	public SharedMemoryOptions withTrust(SharedMemoryTrust trust) {
		return new SharedMemoryOptions(this.directory, this.group, this.ringBytes, this.maxQueuePairs,
				this.maxReadDepth, this.drainTimeout, trust);
	}

}
