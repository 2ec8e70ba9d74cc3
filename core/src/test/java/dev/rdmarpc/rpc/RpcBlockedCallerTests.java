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

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.transport.ChannelOptions;

import static org.assertj.core.api.Assertions.assertThat;

/** Threads in blocking calls: what they cost while they wait, and what they get done. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcBlockedCallerTests {

	private static final Duration WINDOW = Duration.ofSeconds(1);

	private static final int WINDOWS = 5;

	/** How much of one processor those may use that only wait, and all around them. */
	private static final double IDLE_SHARE = 0.15;

	private static final int PHASES = 7;

	private static final Duration PHASE = Duration.ofMillis(400);

	private final Porter porter = new Porter();

	private final RpcNode server = new RpcNode().serve(Door.class, this.porter,
			(options) -> options.withLimits(64, 1 << 16).withChannel(manyCalls(options.channel())),
			UnaryOperator.identity());

	private final RpcNode node = new RpcNode();

	private final RpcClient client = this.node.client("door", () -> this.server.server().address(),
			(options) -> options.withChannel(manyCalls(options.channel())));

	private final Guest guest = this.client.proxy(Door.class.getName(), Guest.class);

	@AfterEach
	void nothingIsLeft() {
		this.porter.open();
		RpcNode.close(List.of(this.node, this.server));
	}

	@Test
	void platformThreadsThatOnlyWaitUseNoProcessor() throws Exception {
		waitTogether(200, (task) -> {
			Thread thread = new Thread(task);
			thread.start();
			return thread;
		});
	}

	@Test
	void virtualThreadsThatOnlyWaitUseNoProcessor() throws Exception {
		Method start = startOfVirtualThreads();
		waitTogether(10_000, (task) -> {
			try {
				return (Thread) start.invoke(null, task);
			}
			catch (ReflectiveOperationException ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	private void waitTogether(int count, Function<Runnable, Thread> start) throws Exception {
		assertThat(this.guest.greet("warm")).isEqualTo("warm");
		AtomicInteger answered = new AtomicInteger();
		Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			String name = "guest " + i;
			threads.add(start.apply(() -> {
				try {
					if (this.guest.pass(name).equals(name)) {
						answered.incrementAndGet();
					}
				}
				catch (Throwable ex) {
					failures.add(ex);
				}
			}));
		}
		RpcFixture.awaitTrue(() -> this.porter.waiting.size() == count || !failures.isEmpty());
		assertThat(failures).isEmpty();
		double least = Double.MAX_VALUE;
		for (int i = 0; i < WINDOWS; i++) {
			long begin = System.nanoTime();
			Map<Long, Long> before = processorNanos();
			assertThat(new CountDownLatch(1).await(WINDOW.toNanos(), TimeUnit.NANOSECONDS)).isFalse();
			long used = 0;
			for (Map.Entry<Long, Long> each : processorNanos().entrySet()) {
				used += each.getValue() - before.getOrDefault(each.getKey(), 0L);
			}
			least = Math.min(least, used / (double) (System.nanoTime() - begin));
		}
		System.out.println(count + " threads that wait use " + least + " of a processor");
		assertThat(answered).hasValue(0);
		this.porter.open();
		for (Thread thread : threads) {
			thread.join(TestEnvironment.patience(Duration.ofSeconds(60)).toMillis());
		}
		assertThat(failures).isEmpty();
		assertThat(answered).hasValue(count);
		assertThat(least).as("share of one processor that %d waiting threads and all around them use", count)
			.isLessThan(IDLE_SHARE);
	}

	/**
	 * What each thread that lives has used; those of the virtual machine do not count.
	 */
	private static Map<Long, Long> processorNanos() {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		Map<Long, Long> nanos = new HashMap<>();
		for (long id : threads.getAllThreadIds()) {
			long used = threads.getThreadCpuTime(id);
			if (used >= 0) {
				nanos.put(id, used);
			}
		}
		return nanos;
	}

	/**
	 * Phases with one thread and with many alternate, so that both see the same machine.
	 */
	@Test
	void manyThreadsMakeNoFewerCallsThanOne() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(16);
		try {
			List<Long> one = new ArrayList<>();
			List<Long> many = new ArrayList<>();
			callsIn(threads, 1);
			callsIn(threads, 16);
			for (int i = 0; i < PHASES; i++) {
				one.add(callsIn(threads, 1));
				many.add(callsIn(threads, 16));
			}
			System.out.println("blocking calls in " + PHASE + ": of one thread " + one + ", of 16 " + many);
			assertThat((double) median(many)).as("calls of 16 threads %s, of one %s", many, one)
				.isGreaterThan(0.8 * median(one));
		}
		finally {
			threads.shutdown();
		}
	}

	private long callsIn(ExecutorService threads, int count) throws Exception {
		long end = System.nanoTime() + PHASE.toNanos();
		List<Future<Long>> calls = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			calls.add(threads.submit(() -> {
				long made = 0;
				while (System.nanoTime() - end < 0) {
					assertThat(this.guest.greet("hello")).isEqualTo("hello");
					made++;
				}
				return made;
			}));
		}
		long sum = 0;
		for (Future<Long> each : calls) {
			sum += each.get(60, TimeUnit.SECONDS);
		}
		return sum;
	}

	private static long median(List<Long> values) {
		return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
	}

	private static ChannelOptions manyCalls(ChannelOptions options) {
		return options.withLimits(options.maxMessageBytes(), 1 << 15);
	}

	private static Method startOfVirtualThreads() {
		try {
			return Thread.class.getMethod("startVirtualThread", Runnable.class);
		}
		catch (NoSuchMethodException ex) {
			return Assumptions.abort("no virtual threads before Java 21");
		}
	}

	/** As the server sees it. */
	interface Door {

		@RdmaMethod(inline = true)
		CompletableFuture<String> pass(String name);

		@RdmaMethod(inline = true)
		String greet(String name);

	}

	/** As its callers see it. */
	interface Guest {

		String pass(String name);

		String greet(String name);

	}

	/** Lets nobody pass before the test does. */
	private static final class Porter implements Door {

		private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

		@Override
		public CompletableFuture<String> pass(String name) {
			CompletableFuture<String> passes = new CompletableFuture<>();
			this.waiting.add(() -> passes.complete(name));
			return passes;
		}

		@Override
		public String greet(String name) {
			return name;
		}

		void open() {
			for (Runnable next = this.waiting.poll(); next != null; next = this.waiting.poll()) {
				next.run();
			}
		}

	}

}
