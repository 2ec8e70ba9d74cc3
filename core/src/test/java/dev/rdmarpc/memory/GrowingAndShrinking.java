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

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process whose pool grows and shrinks again and again. Prints how many turns failed
 * and how much direct memory the process had at most.
 */
public final class GrowingAndShrinking {

	static final int TURNS = 40;

	static final int MAX_BYTES = 64 << 20;

	private static final int EXTENT_BYTES = 4 << 20;

	private GrowingAndShrinking() {
	}

	public static void main(String[] args) {
		boolean mixed = args[0].equals("mixed");
		RegisteredMemory memory = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(MAX_BYTES)
			.withInitialBytes(0)
			.withExtentBytes(EXTENT_BYTES)
			.withRetention(Duration.ZERO)
			.withAllocationTimeout(Duration.ofSeconds(60)));
		int failures = 0;
		long peak = 0;
		String failure = "";
		for (int turn = 0; turn < TURNS; turn++) {
			List<RegisteredBuffer> all = new ArrayList<>();
			int bytes = mixed ? EXTENT_BYTES * (1 + turn % 5) : EXTENT_BYTES;
			try {
				for (int count = (mixed ? MAX_BYTES / 2 : MAX_BYTES) / bytes; count > 0; count--) {
					all.add(memory.allocate(bytes));
				}
			}
			catch (MemoryExhaustedException ex) {
				failures++;
				failure = ex.getMessage();
			}
			peak = Math.max(peak, directBytes());
			all.forEach(RegisteredBuffer::release);
			awaitShrunk(memory);
		}
		memory.close();
		System.out.println(failures + " " + peak + " " + failure);
	}

	private static long directBytes() {
		return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)
			.stream()
			.filter((pool) -> pool.getName().equals("direct"))
			.mapToLong(BufferPoolMXBean::getMemoryUsed)
			.sum();
	}

	private static void awaitShrunk(RegisteredMemory memory) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
		while (memory.metrics().registeredBytes() > 6 * EXTENT_BYTES) {
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException(memory.metrics().registeredBytes() + " bytes are still registered");
			}
			LockSupport.parkNanos(100_000);
		}
	}

}
