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

import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.rpc.CallMetadata;
import dev.rdmarpc.rpc.Priority;
import dev.rdmarpc.rpc.ServiceDescriptor;
import dev.rdmarpc.sample.store.FeatureStore;

import static org.assertj.core.api.Assertions.assertThat;

/** The buckets of the heat map. */
class CallLatenciesTests {

	@Test
	void everyTimeIsInTheBucketWithTheNextLowerBound() {
		long seed = ThreadLocalRandom.current().nextLong();
		SplittableRandom random = new SplittableRandom(seed);
		double[] bounds = CallLatencies.bounds();
		for (int i = 0; i < 100_000; i++) {
			long nanos = random.nextLong(1L << random.nextInt(1, 40));
			int bucket = CallLatencies.bucketOf(nanos);
			double micros = Math.max(1, nanos / 1_000);
			assertThat(micros).as("seed %d, %d ns", seed, nanos).isGreaterThanOrEqualTo(bounds[bucket]);
			if (bucket < CallLatencies.BUCKETS - 1) {
				assertThat(micros).as("seed %d, %d ns", seed, nanos).isLessThan(bounds[bucket + 1]);
			}
		}
	}

	@Test
	void callsAreCountedByThePriorityOfTheirMethod() {
		CallLatencies latencies = new CallLatencies();
		ServiceDescriptor store = ServiceDescriptor.of(FeatureStore.class, new FlatBuffersCodec());
		store.methods().forEach((method) -> latencies.callStarted(method, "features", new CallMetadata()));
		assertThat(latencies.byPriority()).containsEntry(Priority.HIGH, 1L)
			.containsEntry(Priority.LOW, 1L)
			.containsEntry(Priority.NORMAL, store.methods().size() - 2L);
	}

	@Test
	void callsAreCounted() {
		CallLatencies latencies = new CallLatencies();
		latencies.record(0);
		latencies.record(999);
		latencies.record(3_500);
		latencies.record(TimeUnit.HOURS.toNanos(1));
		assertThat(latencies.counts()).hasSize(CallLatencies.BUCKETS).contains(2, 1, 1);
		assertThat(latencies.counts()[0]).isEqualTo(2);
		assertThat(latencies.counts()[CallLatencies.bucketOf(3_500)]).isOne();
		assertThat(latencies.counts()[CallLatencies.BUCKETS - 1]).isOne();
	}

}
