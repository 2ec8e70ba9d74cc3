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

package dev.rdmarpc;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/** Waits for what others bring about, which fails only if something hangs. */
public final class Await {

	private static final long PATIENCE_NANOS = TestEnvironment.patience(Duration.ofSeconds(30)).toNanos();

	private static final long PAUSE_NANOS = 200_000;

	private Await() {
	}

	/** Waits until something is true. */
	public static void until(BooleanSupplier condition) {
		long begin = System.nanoTime();
		while (!condition.getAsBoolean()) {
			assertThat(System.nanoTime() - begin).as("condition not met in time").isLessThan(PATIENCE_NANOS);
			LockSupport.parkNanos(PAUSE_NANOS);
		}
	}

	/** Waits for a latch where no exception may be declared. */
	public static void latch(CountDownLatch latch) {
		try {
			assertThat(latch.await(4 * PATIENCE_NANOS, TimeUnit.NANOSECONDS)).as("latch in time").isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
