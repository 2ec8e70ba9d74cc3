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

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** A client and a server of methods that take streams. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class AbstractRpcRequestStreamTests {

	static Flow.Publisher<Long> numbers(int many) {
		return new FeedService.Numbers<>(many, (number) -> (long) number, () -> {
		});
	}

	static Flow.Publisher<Feed.Item> items(int many, String text) {
		return new FeedService.Numbers<>(many, (number) -> new Feed.Item(number, text), () -> {
		});
	}

	static Flow.Publisher<Feed.Item> endless(AtomicInteger cancelled) {
		return new FeedService.Numbers<>(Integer.MAX_VALUE, (number) -> new Feed.Item(number, "endless"),
				cancelled::incrementAndGet);
	}

	static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Ends by asserting that both sides have given everything back. */
	static void taking(Check check) throws Exception {
		taking(UnaryOperator.identity(), check);
	}

	static void taking(UnaryOperator<RpcServerOptions> options, Check check) throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			IntakeService service = new IntakeService();
			fixture.server.stop();
			fixture.client.close();
			fixture.server = fixture.startServer(options.apply(RpcFixture.serverOptions(0)), Intake.class, service);
			fixture.client = fixture.newClient(fixture.server, UnaryOperator.identity());
			check.check(fixture.client.proxy(Intake.class), service, fixture);
			RpcFixture
				.awaitTrue(() -> fixture.server.activeCalls() == 0 && fixture.client.metrics().outstandingCalls() == 0);
		}
	}

	/** What a test does. */
	interface Check {

		void check(Intake intake, IntakeService service, RpcFixture fixture) throws Exception;

	}

}
