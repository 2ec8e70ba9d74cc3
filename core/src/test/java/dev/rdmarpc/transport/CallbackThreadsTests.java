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

package dev.rdmarpc.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.Await;

import static org.assertj.core.api.Assertions.assertThat;

class CallbackThreadsTests {

	private final AtomicBoolean mayWait = new AtomicBoolean();

	private final List<Runnable> left = new ArrayList<>();

	private final CountDownLatch release = new CountDownLatch(1);

	private final CallbackThreads threads = new CallbackThreads(1, this.mayWait::get, this.left::add);

	@AfterEach
	void close() {
		this.release.countDown();
		this.threads.close();
	}

	@Test
	void beyondTheirNumberOnlyWhoMayWaitRunsUsersCode() {
		AtomicReference<Thread> first = new AtomicReference<>();
		this.threads.execute(() -> {
			first.set(Thread.currentThread());
			Await.latch(this.release);
		});
		Await.until(() -> first.get() != null);
		assertThat(first.get().getName()).isEqualTo("rdma-rpc-callback-1");
		AtomicReference<Thread> second = new AtomicReference<>();
		this.threads.execute(() -> second.set(Thread.currentThread()));
		assertThat(second).as("run by a thread that drives, perhaps").hasValue(null);
		assertThat(this.left).hasSize(1);
		this.mayWait.set(true);
		this.threads.execute(() -> second.set(Thread.currentThread()));
		assertThat(second).hasValue(Thread.currentThread());
		assertThat(this.left).hasSize(1);
	}

}
