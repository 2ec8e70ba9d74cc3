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

import java.time.Duration;
import java.util.Locale;

import dev.rdmarpc.transport.PollingMode;
import dev.rdmarpc.transport.PollingOptions;

/**
 * How the loops of both processes wait.
 *
 * @param name as it is written: {@code busy}, {@code adaptive}, {@code event}, or the
 * fixed time polled in microseconds
 */
record Waiting(String name) {

	PollingOptions options() {
		if (Character.isDigit(this.name.charAt(0))) {
			return new PollingOptions(PollingMode.FIXED, Duration.ofNanos(Long.parseLong(this.name) * 1000).toNanos());
		}
		return new PollingOptions(PollingMode.valueOf(this.name.toUpperCase(Locale.ROOT)),
				PollingOptions.DEFAULTS.spinMaxNanos());
	}

}
