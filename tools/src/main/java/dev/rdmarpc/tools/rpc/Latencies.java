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

package dev.rdmarpc.tools.rpc;

import java.util.Locale;

import org.HdrHistogram.Histogram;

/** How long calls took. */
final class Latencies {

	private static final double[] PERCENTILES = { 50, 90, 99, 99.9 };

	private static final int DIGITS = 3;

	private Latencies() {
	}

	/** An empty histogram of nanoseconds, which grows. */
	static Histogram histogram() {
		return new Histogram(DIGITS);
	}

	/** The line that a reader wants. */
	static String line(Histogram nanos) {
		StringBuilder line = new StringBuilder("latency in us:");
		append(line, "min", nanos.getMinValue());
		for (double percentile : PERCENTILES) {
			append(line, "p" + ((percentile % 1 == 0) ? String.valueOf((int) percentile) : String.valueOf(percentile)),
					nanos.getValueAtPercentile(percentile));
		}
		append(line, "max", nanos.getMaxValue());
		return line.toString();
	}

	private static void append(StringBuilder line, String name, long nanos) {
		line.append(String.format(Locale.ROOT, "  %s %.1f", name, nanos / 1000.0));
	}

}
