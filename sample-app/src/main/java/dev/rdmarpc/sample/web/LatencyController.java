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

package dev.rdmarpc.sample.web;

import java.util.Map;

import org.springframework.context.annotation.Profile;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import dev.rdmarpc.rpc.Priority;

/** The latencies of all calls since the start, for the heat map of the page. */
@RestController
@Profile("!server")
class LatencyController {

	private final CallLatencies latencies;

	LatencyController(CallLatencies latencies) {
		this.latencies = latencies;
	}

	@GetMapping("/latencies")
	Latencies latencies() {
		return new Latencies(CallLatencies.bounds(), this.latencies.counts(), this.latencies.byPriority());
	}

	/**
	 * Counts by time.
	 *
	 * @param fromMicros the shortest time of each bucket
	 * @param counts the calls in each bucket
	 * @param byPriority the calls of each priority
	 */
	record Latencies(double[] fromMicros, long[] counts, Map<Priority, Long> byPriority) {

	}

}
