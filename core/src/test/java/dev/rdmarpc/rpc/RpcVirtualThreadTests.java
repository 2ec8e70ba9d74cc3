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

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Calls of threads that make one call each. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcVirtualThreadTests {

	private static final int CALLS = 4000;

	@Test
	void virtualThreadsShareTheMemoryTheyEncodeWith() throws Exception {
		Method start = start();
		try (RpcFixture fixture = new RpcFixture()) {
			assertThat(fixture.echo.echo("warm")).isEqualTo("warm");
			long before = directBuffers();
			AtomicInteger answered = new AtomicInteger();
			for (int wave = 0; wave < CALLS / 100; wave++) {
				List<Thread> threads = new ArrayList<>();
				for (int i = 0; i < 100; i++) {
					threads.add((Thread) start.invoke(null, (Runnable) () -> {
						if (fixture.echo.echo("x").equals("x")) {
							answered.incrementAndGet();
						}
					}));
				}
				for (Thread thread : threads) {
					thread.join();
				}
			}
			assertThat(answered).hasValue(CALLS);
			assertThat(directBuffers() - before).isLessThan(CALLS / 10);
		}
	}

	private static Method start() {
		try {
			return Thread.class.getMethod("startVirtualThread", Runnable.class);
		}
		catch (NoSuchMethodException ex) {
			return Assumptions.abort("no virtual threads before Java 21");
		}
	}

	private static long directBuffers() {
		return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)
			.stream()
			.filter((pool) -> pool.getName().equals("direct"))
			.mapToLong(BufferPoolMXBean::getCount)
			.sum();
	}

}
