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

package dev.rdmarpc.benchmarks.compare;

import java.util.Map;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

@EnabledOnOs(OS.LINUX)
class ProcessThreadsTests {

	@Test
	void seesWhichThreadHasAProcessorAndHowLong() throws InterruptedException {
		CountDownLatch end = new CountDownLatch(1);
		Thread busy = new Thread(() -> {
			while (end.getCount() > 0) {
				Thread.onSpinWait();
			}
		}, "kept busy");
		ProcessThreads before = ProcessThreads.of(ProcessHandle.current().pid());
		busy.start();
		String busiest = "";
		boolean running = false;
		while (!running || !busiest.contains("kept busy")) {
			ProcessThreads now = ProcessThreads.of(ProcessHandle.current().pid());
			running = now.isRunning();
			busiest = now.busiestSince(before, 1_000_000_000L);
		}
		end.countDown();
		busy.join();
		assertThat(busiest).startsWith(" (").contains(" %").endsWith(")");
	}

	@Test
	void ofAProcessThatIsNotThereAreNone() {
		ProcessThreads none = ProcessThreads.of(Long.MAX_VALUE);
		assertThat(none.threads()).isEmpty();
		assertThat(none.isRunning()).isFalse();
		assertThat(none.busiestSince(new ProcessThreads(Map.of()), 1)).isEmpty();
	}

}
