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

package dev.rdmarpc.verbs.disni;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The connection thread with a connection manager that has nothing to tell. */
class ConnectionThreadTests {

	private final Semaphore wakeUps = new Semaphore(0);

	private final ConnectionThread thread = new ConnectionThread("test",
			(ConnectionVerbs) Proxy.newProxyInstance(ConnectionVerbs.class.getClassLoader(),
					new Class<?>[] { ConnectionVerbs.class }, (proxy, method, arguments) -> answer(method, arguments)));

	private @Nullable Object answer(Method method, Object[] arguments) throws InterruptedException {
		switch (method.getName()) {
			case "awaitEvent" -> {
				long timeoutNanos = (Long) arguments[1];
				boolean woken = this.wakeUps
					.tryAcquire((timeoutNanos >= 0) ? timeoutNanos : TimeUnit.MINUTES.toNanos(5), TimeUnit.NANOSECONDS);
				assertThat(woken || timeoutNanos >= 0).as("woken in the end").isTrue();
				return false;
			}
			case "wake" -> this.wakeUps.release();
			default -> assertThat(method.getName()).isEqualTo("close");
		}
		return null;
	}

	@AfterEach
	void shutDown() {
		this.thread.shutDown();
	}

	@Test
	void whatIsAskedForWhenSomethingIsDueIsDoneEvenIfNothingElseHappens() throws Exception {
		CompletableFuture<String> done = new CompletableFuture<>();
		this.thread.start();
		this.thread.execute(() -> this.thread.schedule(TimeUnit.MILLISECONDS.toNanos(1),
				() -> this.thread.execute(() -> done.complete("done"))));
		assertThat(done.get(30, TimeUnit.SECONDS)).isEqualTo("done");
	}

	@Test
	void whatIsDueIsDoneInItsOrderAndWhatWasCancelledNot() throws Exception {
		CompletableFuture<String> done = new CompletableFuture<>();
		StringBuilder order = new StringBuilder();
		this.thread.start();
		this.thread.execute(() -> {
			this.thread.schedule(TimeUnit.MILLISECONDS.toNanos(20), () -> done.complete(order.append('c').toString()));
			this.thread.schedule(TimeUnit.MILLISECONDS.toNanos(10), () -> order.append('b'));
			this.thread.schedule(TimeUnit.MILLISECONDS.toNanos(5), () -> order.append('x')).cancel();
			order.append('a');
		});
		assertThat(done.get(30, TimeUnit.SECONDS)).isEqualTo("abc");
	}

}
