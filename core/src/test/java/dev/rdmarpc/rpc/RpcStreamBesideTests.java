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

package dev.rdmarpc.rpc;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Streams that share a queue pair. */
class RpcStreamBesideTests extends AbstractRpcRequestStreamTests {

	private static final int ROUNDS = 9;

	private static final int FAST = 20_000;

	private static final int TEXT = 1000;

	/**
	 * How much faster a stream may at most be alone. What is meant to be is 1.05, which
	 * the comparison measures; one that waited for the other would be thousands of times.
	 */
	private static final double MOST_LOST = 2;

	@Test
	void consumerOfOneMessageAtATimeDoesNotSlowDownTheStreamBesideIt() throws Exception {
		taking((intake, service, fixture) -> {
			fast(intake);
			long alone = Long.MAX_VALUE;
			long beside = Long.MAX_VALUE;
			for (int round = 0; round < ROUNDS; round++) {
				alone = Math.min(alone, fast(intake));
				Collector<Feed.Item> slow = new Collector<>(0);
				CompletableFuture<String> result = new CompletableFuture<>();
				service.handler = (items) -> {
					items.subscribe(slow);
					return result;
				};
				AtomicInteger published = new AtomicInteger();
				CompletableFuture<String> call = intake.handle(slowly(published));
				await(slow.subscribed);
				for (int message = 1; message <= 2; message++) {
					slow.request(1);
					beside = Math.min(beside, fast(intake));
					slow.awaitReceived(message);
					assertThat(published).hasValue(message);
				}
				result.complete("done");
				assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo("done");
			}
			assertThat((double) beside / alone).as("time beside %d ns to alone %d ns", beside, alone)
				.isLessThan(MOST_LOST);
		});
	}

	/** Takes many small messages, and returns how long that took, in nanoseconds. */
	private static long fast(Intake intake) {
		long start = System.nanoTime();
		assertThat(intake.sum(numbers(FAST))).isEqualTo((long) FAST * (FAST - 1) / 2);
		return System.nanoTime() - start;
	}

	private static Flow.Publisher<Feed.Item> slowly(AtomicInteger published) {
		return new FeedService.Numbers<>(Integer.MAX_VALUE, (number) -> {
			published.incrementAndGet();
			return new Feed.Item(number, "x".repeat(TEXT));
		}, () -> {
		});
	}

}
