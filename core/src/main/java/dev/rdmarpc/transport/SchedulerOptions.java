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

package dev.rdmarpc.transport;

/**
 * How large transfers make way for other messages of the same connection.
 *
 * <p>
 * A large message is fetched slice by slice. What was asked for and is not there yet is
 * its window: all that can be ahead of a small message that is sent meanwhile. Between
 * the bounds, the window follows what the connection needs to stay busy, as it is
 * measured; a transfer that is alone has a multiple of it. What is sent in frames has
 * such a window while more urgent messages come, of at least twice the bound. The same
 * values as least and most switch that off.
 *
 * @param minSliceBytes length of a slice at least, from {@value #LEAST_SLICE_BYTES}
 * @param maxSliceBytes length of a slice at most, up to {@value #MOST_SLICE_BYTES}
 * @param minWindowBytes window at least, not less than {@code minSliceBytes}
 * @param maxWindowBytes window at most, up to {@value #MOST_WINDOW_BYTES}
 */
public record SchedulerOptions(int minSliceBytes, int maxSliceBytes, int minWindowBytes, int maxWindowBytes) {

	/** The smallest slice. */
	public static final int LEAST_SLICE_BYTES = 4096;

	/** The largest slice. */
	public static final int MOST_SLICE_BYTES = 1 << 20;

	/** The largest window. */
	public static final int MOST_WINDOW_BYTES = 1 << 28;

	/** Slices of 64 to 256 KiB, windows of 128 KiB to 4 MiB. */
	public static final SchedulerOptions DEFAULTS = new SchedulerOptions(64 * 1024, 256 * 1024, 128 * 1024, 4 << 20);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the value and what was expected
	 */
	public SchedulerOptions {
		check("smallest slice", minSliceBytes, LEAST_SLICE_BYTES, MOST_SLICE_BYTES);
		check("largest slice", maxSliceBytes, minSliceBytes, MOST_SLICE_BYTES);
		check("smallest window", minWindowBytes, minSliceBytes, MOST_WINDOW_BYTES);
		check("largest window", maxWindowBytes, minWindowBytes, MOST_WINDOW_BYTES);
	}

	private static void check(String what, int value, int min, int max) {
		if (value < min || value > max) {
			throw new IllegalArgumentException(what + " " + value + " (expected: " + min + " to " + max + ")");
		}
	}

}
