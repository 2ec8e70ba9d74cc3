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

package dev.rdmarpc.benchmarks.polling;

import java.util.Locale;

/**
 * What a client has measured.
 *
 * @param calls answered calls
 * @param nanos how long it took
 * @param medianNanos half of the calls took no longer
 * @param slowNanos 99 % of the calls took no longer
 */
record Figures(long calls, long nanos, long medianNanos, long slowNanos) {

	static Figures parse(String line) {
		String[] words = line.split(" ", -1);
		return new Figures(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]),
				Long.parseLong(words[3]));
	}

	String toLine() {
		return String.format(Locale.ROOT, "%d %d %d %d", this.calls, this.nanos, this.medianNanos, this.slowNanos);
	}

	double callsPerSecond() {
		return this.calls * 1e9 / this.nanos;
	}

}
