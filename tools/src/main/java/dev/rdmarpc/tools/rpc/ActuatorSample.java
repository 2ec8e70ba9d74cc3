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

import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What the endpoint {@code rdma} said at one time. What it does not say counts as 0.
 *
 * @param nanos when
 * @param said the answer
 */
record ActuatorSample(long nanos, Map<?, ?> said) {

	/** The names of the columns. */
	static final String HEADER = String.format(Locale.ROOT, "%-9s %6s %6s %6s %6s %9s %9s %9s %9s %8s %6s", "server",
			"conn", "serve", "calls", "loops", "frame/s", "sent MB/s", "recv MB/s", "read MB/s", "mem MB", "fault");

	private static final double MEGA = 1e6;

	/** Whether an answer can be that of the endpoint. */
	static boolean isEndpoint(Map<?, ?> said) {
		return said.containsKey("loops") && said.containsKey("provider");
	}

	/** What has happened since another time, in a line. */
	String lineSince(ActuatorSample before) {
		double seconds = (this.nanos - before.nanos) / 1e9;
		Map<?, ?> server = map(this.said.get("server"));
		long calls = sum("clients", "pool", "outstandingCalls");
		return String.format(Locale.ROOT, "%-9s %6d %6d %6d %6d %9.0f %9.2f %9.2f %9.2f %8.1f %6d",
				(server.get("state") instanceof String state) ? ServicesCommand.printable(state) : "-",
				number(server.get("connections")) + sum("clients", "pool", "open"), number(server.get("activeCalls")),
				calls, list(this.said.get("loops")).size(),
				(grown(before, "sentFrames") + grown(before, "receivedFrames")) / seconds,
				grown(before, "sentBytes") / seconds / MEGA, grown(before, "receivedBytes") / seconds / MEGA,
				grown(before, "readBytes") / seconds / MEGA,
				number(map(this.said.get("memory")).get("allocated")) / MEGA, list(this.said.get("problems")).size());
	}

	/** Loops that have started or ended meanwhile make no rate negative. */
	private long grown(ActuatorSample before, String counter) {
		return Math.max(0, sum("loops", null, counter) - before.sum("loops", null, counter));
	}

	private long sum(String members, @Nullable String part, String counter) {
		long sum = 0;
		for (Object member : list(this.said.get(members))) {
			Map<?, ?> owner = (part != null) ? map(map(member).get(part)) : map(member);
			sum += number(owner.get(counter));
		}
		return sum;
	}

	private static long number(@Nullable Object value) {
		return (value instanceof Number number) ? number.longValue() : 0;
	}

	private static List<?> list(@Nullable Object value) {
		return (value instanceof List<?> list) ? list : List.of();
	}

	private static Map<?, ?> map(@Nullable Object value) {
		return (value instanceof Map<?, ?> map) ? map : Map.of();
	}

}
