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

package dev.rdmarpc.benchmarks.compare;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import org.jspecify.annotations.Nullable;

/**
 * What this process has used since it started.
 *
 * <p>
 * Processor time has the resolution of the platform's process clock, 10 ms on Linux.
 * Allocation covers all threads that ever ran from Java 21 on; before, it is the sum over
 * threads that are alive, so a thread that ended takes its share away.
 *
 * @param cpuNanos processor time of all threads, those of the virtual machine included
 * @param allocatedBytes bytes allocated on the heap
 * @param copiedBytes bytes of messages copied from memory to memory by the framework, or
 * {@link #UNKNOWN}
 */
public record ProcessUsage(long cpuNanos, long allocatedBytes, long copiedBytes) {

	/** The number of bytes copied where nobody counts them. */
	public static final long UNKNOWN = -1;

	private static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory
		.getOperatingSystemMXBean();

	private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	private static final @Nullable Method TOTAL_ALLOCATED = findTotalAllocated();

	private static @Nullable Method findTotalAllocated() {
		try {
			return ThreadMXBean.class.getMethod("getTotalThreadAllocatedBytes");
		}
		catch (NoSuchMethodException ex) {
			return null;
		}
	}

	/**
	 * Reads the counters.
	 * @param copiedBytes what the framework has copied so far, or {@link #UNKNOWN}
	 */
	public static ProcessUsage now(long copiedBytes) {
		return new ProcessUsage(SYSTEM.getProcessCpuTime(), allocated(), copiedBytes);
	}

	/** The difference to an earlier reading. */
	public ProcessUsage since(ProcessUsage earlier) {
		return new ProcessUsage(this.cpuNanos - earlier.cpuNanos, this.allocatedBytes - earlier.allocatedBytes,
				isKnown(earlier) ? this.copiedBytes - earlier.copiedBytes : UNKNOWN);
	}

	/** The sum of two differences. */
	public ProcessUsage plus(ProcessUsage other) {
		return new ProcessUsage(this.cpuNanos + other.cpuNanos, this.allocatedBytes + other.allocatedBytes,
				isKnown(other) ? this.copiedBytes + other.copiedBytes : UNKNOWN);
	}

	/** The bytes the calling thread allocates on the heap while it runs an action. */
	public static long allocatedBy(Runnable action) {
		long thread = Thread.currentThread().getId();
		long before = THREADS.getThreadAllocatedBytes(thread);
		action.run();
		return THREADS.getThreadAllocatedBytes(thread) - before;
	}

	private boolean isKnown(ProcessUsage other) {
		return this.copiedBytes >= 0 && other.copiedBytes >= 0;
	}

	private static long allocated() {
		if (TOTAL_ALLOCATED != null) {
			try {
				return (long) TOTAL_ALLOCATED.invoke(THREADS);
			}
			catch (ReflectiveOperationException ex) {
				throw new IllegalStateException("cannot read the allocation counter", ex);
			}
		}
		long sum = 0;
		for (long bytes : THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds())) {
			sum += Math.max(0, bytes);
		}
		return sum;
	}

}
