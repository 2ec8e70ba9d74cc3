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

package dev.rdmarpc.sample.load;

import java.time.Duration;
import java.util.Map;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.Assert;
import org.springframework.util.unit.DataSize;

/**
 * The load generator.
 *
 * @param enabled Whether to generate load once the application is ready.
 * @param threads Threads that call, each with one call outstanding.
 * @param rate Calls per second of all threads together. 0 for as many as possible.
 * @param warmup Time before measuring begins.
 * @param duration Time to measure. 0 for as long as the application runs.
 * @param keys Keys in use.
 * @param dimensions Features of a vector.
 * @param blobSize Size of a large value.
 * @param mix Relative frequency of operations: get, get-async, put, multi-get, scan,
 * put-blob, get-blob.
 * @param exit Whether to end the application when the load has ended.
 */
@ConfigurationProperties("load")
public record LoadProperties(@DefaultValue("false") boolean enabled, @DefaultValue("4") int threads,
		@DefaultValue("0") int rate, @DefaultValue("2s") Duration warmup, @DefaultValue("0s") Duration duration,
		@DefaultValue("10000") int keys, @DefaultValue("32") int dimensions, @DefaultValue("1MB") DataSize blobSize,
		@DefaultValue Map<Operation, Integer> mix, @DefaultValue("false") boolean exit) {

	private static final Map<Operation, Integer> DEFAULT_MIX = Map.of(Operation.GET, 70, Operation.GET_ASYNC, 5,
			Operation.PUT, 17, Operation.MULTI_GET, 5, Operation.SCAN, 1, Operation.PUT_BLOB, 1, Operation.GET_BLOB, 1);

	/**
	 * Checks the bounds.
	 * @throws IllegalArgumentException naming the property, its value and what was
	 * expected
	 */
	public LoadProperties {
		check(threads >= 1 && threads <= 1024, "load.threads", threads, "1 to 1024");
		check(rate >= 0, "load.rate", rate, "at least 0");
		check(keys >= 1, "load.keys", keys, "at least 1");
		check(dimensions >= 0, "load.dimensions", dimensions, "at least 0");
		check(!warmup.isNegative(), "load.warmup", warmup, "not negative");
		check(!duration.isNegative(), "load.duration", duration, "not negative");
		mix = mix.isEmpty() ? DEFAULT_MIX : Map.copyOf(mix);
		int total = mix.values().stream().mapToInt(Integer::intValue).sum();
		check(total > 0 && mix.values().stream().allMatch((weight) -> weight >= 0), "load.mix", mix,
				"weights of at least 0, one of them positive");
	}

	private static void check(boolean valid, String property, Object value, String expected) {
		Assert.isTrue(valid, () -> property + " = " + value + " (expected: " + expected + ")");
	}

	/** What the load generator may call. */
	public enum Operation {

		/** One vector, waited for. */
		GET,

		/** One vector, by a future. */
		GET_ASYNC,

		/** A new version of one vector. */
		PUT,

		/** Sixteen vectors. */
		MULTI_GET,

		/** A page of fifty vectors. */
		SCAN,

		/** A large value to the store. */
		PUT_BLOB,

		/** A large value from the store. */
		GET_BLOB

	}

}
