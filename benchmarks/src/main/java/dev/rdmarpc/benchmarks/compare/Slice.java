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

/**
 * What one slice of a workload measured: the client's part from its own process, usage
 * summed over both processes.
 *
 * @param calls answered calls
 * @param elapsedNanos from the first call to the last reply
 * @param p50Nanos median time of a call
 * @param p99Nanos 99th percentile
 * @param p999Nanos 99.9th percentile
 * @param usage what the calls cost
 */
public record Slice(long calls, long elapsedNanos, long p50Nanos, long p99Nanos, long p999Nanos, ProcessUsage usage) {

	/** Adds the usage of the other process. */
	public Slice plus(ProcessUsage other) {
		return new Slice(this.calls, this.elapsedNanos, this.p50Nanos, this.p99Nanos, this.p999Nanos,
				this.usage.plus(other));
	}

	/** The rate of answered calls. */
	public double callsPerSecond() {
		return this.calls * 1e9 / this.elapsedNanos;
	}

	/** The line a client process prints. */
	public String toLine() {
		return String.join(" ", Long.toString(this.calls), Long.toString(this.elapsedNanos),
				Long.toString(this.p50Nanos), Long.toString(this.p99Nanos), Long.toString(this.p999Nanos),
				Long.toString(this.usage.cpuNanos()), Long.toString(this.usage.allocatedBytes()),
				Long.toString(this.usage.copiedBytes()));
	}

	/** Reads {@link #toLine()}. */
	public static Slice parse(String line) {
		String[] words = line.split(" ", -1);
		if (words.length != 8) {
			throw new IllegalArgumentException("slice '" + line + "' (expected: 8 numbers)");
		}
		long[] values = new long[words.length];
		for (int i = 0; i < words.length; i++) {
			values[i] = Long.parseLong(words[i]);
		}
		return new Slice(values[0], values[1], values[2], values[3], values[4],
				new ProcessUsage(values[5], values[6], values[7]));
	}

}
