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

package dev.rdmarpc.memory;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Waits for what happens in the background. */
final class Eventually {

	private Eventually() {
	}

	static void isTrue(String what, BooleanSupplier condition) {
		isThere(what, () -> condition.getAsBoolean() ? what : null);
	}

	static <T> T isThere(String what, Supplier<@Nullable T> source) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
		for (;;) {
			T found = source.get();
			if (found != null) {
				return found;
			}
			assertThat(System.nanoTime() - deadline).as(what).isNegative();
			LockSupport.parkNanos(100_000);
		}
	}

}
