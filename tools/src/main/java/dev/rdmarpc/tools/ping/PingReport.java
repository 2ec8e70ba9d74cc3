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

package dev.rdmarpc.tools.ping;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

import org.HdrHistogram.Histogram;

import dev.rdmarpc.verbs.ConnectionInfo;

/**
 * What an initiator has found out.
 *
 * @param connection what was agreed on
 * @param plan what was done
 * @param nanos duration of the pings that were measured
 * @param latencies of each of them, in nanoseconds
 */
record PingReport(ConnectionInfo connection, PingPlan plan, long nanos, Histogram latencies) {

	private static final String[] PERCENTILES = { "50", "90", "99", "99.9" };

	/** Prints it for a reader. */
	void print(PrintWriter out) {
		double seconds = this.nanos / (double) TimeUnit.SECONDS.toNanos(1);
		out.printf(Locale.ROOT, "%d pings of %d bytes returned%s in %.3f s, %.0f pings/s%n", this.plan.count(),
				this.plan.sizeBytes(), this.plan.validate() ? " as they were sent" : "", seconds,
				this.plan.count() / seconds);
		StringBuilder line = new StringBuilder("round trip in us:");
		append(line, "min", this.latencies.getMinValue());
		for (String percentile : PERCENTILES) {
			append(line, "p" + percentile, this.latencies.getValueAtPercentile(Double.parseDouble(percentile)));
		}
		append(line, "max", this.latencies.getMaxValue());
		out.println(line);
		out.flush();
	}

	private static void append(StringBuilder line, String name, long nanos) {
		line.append(String.format(Locale.ROOT, "  %s %.1f", name, nanos / 1000.0));
	}

}
