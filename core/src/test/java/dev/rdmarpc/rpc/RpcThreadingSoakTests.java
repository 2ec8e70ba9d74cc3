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

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers and continuations that do at random what users' code may do, over three
 * servers that call each other, beside a client whose calls hardly notice.
 * {@code -Drdma.test.threading.seconds} says for how long;
 * {@code -Drdma.test.threading.seed} repeats what they do.
 */
@Timeout(value = 4, unit = TimeUnit.HOURS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcThreadingSoakTests {

	private static final long SEED = Long.getLong("rdma.test.threading.seed", System.nanoTime());

	private static final Duration LENGTH = Duration.ofSeconds(Integer.getInteger("rdma.test.threading.seconds", 15));

	private static final int SERVERS = 3;

	private static final int PHASES = 10;

	private static final int CALLERS = 4;

	/** How many calls without a thread that waits may be outstanding. */
	private static final int MOST_OUTSTANDING = 32;

	private static final long PAUSE_NANOS = 500_000;

	/** Below it the scheduler of a busy machine is measured. */
	private static final long LEAST_NANOS = Duration.ofMillis(2).toNanos();

	/** Where quiet calls take as long, others use the machine and nothing can be said. */
	private static final long NOISE_NANOS = Duration.ofMillis(10).toNanos();

	private static final Duration PATIENCE = TestEnvironment.patience(Duration.ofSeconds(30));

	private final ExecutorService helpers = Executors.newFixedThreadPool(64, (task) -> {
		Thread thread = new Thread(task, "helper-of-the-test");
		thread.setDaemon(true);
		return thread;
	});

	private final List<RandomWorker> works = new ArrayList<>();

	private final List<RpcNode> nodes = new ArrayList<>();

	private final Semaphore outstanding = new Semaphore(MOST_OUTSTANDING);

	private final Map<String, AtomicLong> outcomes = new ConcurrentSkipListMap<>();

	private volatile boolean active;

	private volatile boolean ended;

	@AfterEach
	void end() {
		this.ended = true;
		this.helpers.shutdown();
	}

	@Test
	void callsHardlyNoticeWhatUsersCodeDoes() throws Exception {
		Set<Thread> before = new HashSet<>(Thread.getAllStackTraces().keySet());
		RpcNode caller = new RpcNode();
		RpcNode spared = new RpcNode().serve(RandomWork.class, new RandomWorker(this.helpers));
		RpcNode control = new RpcNode();
		List<RpcClient> clients = startServers(caller);
		GoodClient good = new GoodClient(caller.client(this.nodes.get(0)));
		GoodClient other = new GoodClient(control.client(spared));
		List<Thread> threads = startCallers(clients);
		List<Long> quiet = new ArrayList<>();
		List<Long> busy = new ArrayList<>();
		List<Long> besides = new ArrayList<>();
		callFor(LENGTH.dividedBy(PHASES), good, other);
		for (int i = 0; i < PHASES; i++) {
			this.active = i % 2 == 1;
			callFor(LENGTH.dividedBy(4L * PHASES), good, other);
			callFor(LENGTH.multipliedBy(3).dividedBy(4L * PHASES), good, other);
			(this.active ? busy : quiet).add(good.percentile());
			if (this.active) {
				besides.add(other.percentile());
			}
		}
		this.ended = true;
		for (Thread thread : threads) {
			thread.join(2 * PATIENCE.toMillis());
			assertThat(thread.isAlive())
				.as("%s waits for ever, seed %d, at %s", thread, SEED, List.of(thread.getStackTrace()))
				.isFalse();
		}
		assertThat(this.outstanding.tryAcquire(MOST_OUTSTANDING, 2 * PATIENCE.toSeconds(), TimeUnit.SECONDS))
			.as("all futures end, seed %d: %s", SEED, this.outcomes)
			.isTrue();
		System.out.println("seed " + SEED + ": " + good.calls + " calls beside " + this.outcomes + "; p99 in us: quiet "
				+ micros(quiet) + ", busy " + micros(busy) + ", spared " + micros(besides));
		this.works.forEach((work) -> assertThat(work.wrong).as("seed %d", SEED).isEmpty());
		assertThat(this.outcomes.keySet()).as("outcomes, seed %d: %s", SEED, this.outcomes)
			.noneMatch((outcome) -> outcome.startsWith("wrong"));
		RpcFixture.awaitTrue(() -> clients.stream().allMatch((client) -> client.metrics().outstandingCalls() == 0)
				&& this.nodes.stream().allMatch((node) -> node.server().activeCalls() == 0));
		List<RpcNode> all = new ArrayList<>(List.of(caller, control, spared));
		all.addAll(this.nodes);
		all.forEach((node) -> assertThat(node.transport.problems()).as("seed %d", SEED).isEmpty());
		RpcNode.close(all);
		this.helpers.shutdown();
		RpcFixture.awaitTrue(() -> startedSince(before).isEmpty());
		long noise = Math.max(Collections.max(quiet), Collections.max(besides));
		if (noise <= NOISE_NANOS) {
			assertThat(median(busy))
				.as("p99 beside users' code, at most three times the quiet one, in ns, seed %d", SEED)
				.isLessThanOrEqualTo(3 * Math.max(LEAST_NANOS, noise));
		}
	}

	private List<RpcClient> startServers(RpcNode caller) {
		for (int i = 0; i < SERVERS; i++) {
			this.works.add(new RandomWorker(this.helpers));
			Random random = new Random(SEED - 2 - i);
			this.nodes.add(new RpcNode().serve(RandomWork.class, this.works.get(i), UnaryOperator.identity(),
					(server) -> server.observer(new RandomObserver(random))));
		}
		List<RpcClient> clients = new ArrayList<>();
		for (int i = 0; i < SERVERS; i++) {
			RpcClient next = this.nodes.get(i).client(this.nodes.get((i + 1) % SERVERS));
			clients.add(next);
			this.works.get(i).next(next.proxy(RandomWork.class));
		}
		for (int i = 0; i < SERVERS; i++) {
			clients.add(caller.client(this.nodes.get(i)));
		}
		return clients;
	}

	/** Threads that call the servers, and one that interrupts them. */
	private List<Thread> startCallers(List<RpcClient> clients) {
		List<Thread> callers = new ArrayList<>();
		for (int i = 0; i < CALLERS; i++) {
			Random random = new Random(SEED + i);
			List<RandomWork> targets = clients.subList(SERVERS, 2 * SERVERS)
				.stream()
				.map((client) -> client.proxy(RandomWork.class))
				.toList();
			callers.add(new Thread(() -> whileRunning(() -> callAtRandom(targets, random)), "caller-at-random-" + i));
		}
		List<Thread> threads = new ArrayList<>(callers);
		Random random = new Random(SEED - 1);
		threads.add(new Thread(() -> whileRunning(() -> {
			LockSupport.parkNanos(random.nextInt(10_000_000));
			callers.get(random.nextInt(CALLERS)).interrupt();
		}), "interrupter"));
		threads.forEach(Thread::start);
		return threads;
	}

	private void whileRunning(Runnable step) {
		while (!this.ended) {
			if (this.active) {
				step.run();
			}
			else {
				LockSupport.parkNanos(1_000_000);
			}
			Thread.interrupted();
		}
	}

	private void callAtRandom(List<RandomWork> targets, Random random) {
		boolean hasty = random.nextInt(10) == 0;
		CallOptions options = CallOptions
			.deadline(hasty ? Duration.ofNanos(100_000 + random.nextInt(5_000_000)) : PATIENCE);
		int number = random.nextInt(SERVERS);
		RandomWork target = options.on(targets.get(number));
		RandomWorker work = this.works.get(number);
		RandomWork.Order order = new RandomWork.Order(random.nextLong(), random.nextInt(4));
		if (random.nextInt(3) == 0) {
			callAndWait(target, work, order, hasty);
		}
		else if (this.outstanding.tryAcquire()) {
			callLater(target, work, order, hasty, random);
		}
		LockSupport.parkNanos(random.nextInt(2_000_000));
	}

	private void callAndWait(RandomWork target, RandomWorker work, RandomWork.Order order, boolean hasty) {
		try {
			boolean inline = order.seed() % 2 == 0;
			work.check(order, inline ? target.inline(order) : target.anywhere(order));
			count("answered");
		}
		catch (Throwable ex) {
			count(outcome(ex, hasty));
		}
	}

	private void callLater(RandomWork target, RandomWorker work, RandomWork.Order order, boolean hasty, Random random) {
		CompletableFuture<Integer> future;
		Random later = new Random(random.nextLong());
		try {
			future = random.nextBoolean() ? target.later(order) : target.laterInline(order);
		}
		catch (Throwable ex) {
			this.outstanding.release();
			count(outcome(ex, hasty));
			return;
		}
		future.thenApply((value) -> {
			work.check(order, value);
			RandomWorker.act(later);
			if (later.nextInt(4) == 0) {
				work.call(new RandomWork.Order(later.nextLong(), 1), later);
			}
			if (later.nextInt(10) == 0) {
				RandomWorker.fire(later);
			}
			return value;
		}).whenComplete((value, failure) -> {
			this.outstanding.release();
			count((failure != null) ? outcome(failure, hasty) : "answered later");
			RandomWorker.fire(later);
		});
		if (random.nextInt(10) == 0) {
			LockSupport.parkNanos(random.nextInt(1_000_000));
			future.cancel(true);
		}
	}

	/** How a call ended; as wrong, if it must not end so. */
	private static String outcome(Throwable thrown, boolean hasty) {
		Throwable failure = (thrown instanceof CompletionException && thrown.getCause() != null) ? thrown.getCause()
				: thrown;
		if (!(failure instanceof RpcException rpc)) {
			boolean meant = "thrown by the test".equals(failure.getMessage())
					|| failure instanceof CancellationException;
			return (meant ? "" : "wrong: ") + failure.getClass().getSimpleName();
		}
		boolean right = switch (rpc.status()) {
			case CANCELLED, NOT_FOUND -> true;
			case DEADLINE_EXCEEDED -> hasty;
			case UNKNOWN -> rpc.detail().startsWith("the handler failed, reference ");
			default -> false;
		};
		return right ? rpc.status().name() : "wrong: " + rpc.getMessage();
	}

	private void count(String outcome) {
		this.outcomes.computeIfAbsent(outcome, (name) -> new AtomicLong()).incrementAndGet();
	}

	private static void callFor(Duration time, GoodClient good, GoodClient other) {
		good.begin();
		other.begin();
		long begin = System.nanoTime();
		while (System.nanoTime() - begin < time.toNanos()) {
			good.call();
			other.call();
			LockSupport.parkNanos(PAUSE_NANOS);
		}
	}

	private static Set<Thread> startedSince(Set<Thread> before) {
		Set<Thread> now = new HashSet<>(Thread.getAllStackTraces().keySet());
		now.removeAll(before);
		now.removeIf((thread) -> !thread.getName().contains("rdma"));
		return now;
	}

	private static long median(List<Long> values) {
		return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
	}

	private static List<Long> micros(List<Long> nanos) {
		return nanos.stream().map((value) -> value / 1000).toList();
	}

	/** Takes its time now and then, and throws. */
	private record RandomObserver(Random random) implements CallObserver, CallObservation {

		@Override
		public CallObservation callStarted(MethodDescriptor method, String peer, CallMetadata metadata) {
			actOrFire();
			return this;
		}

		@Override
		public Scope openScope() {
			actOrFire();
			return this::actOrFire;
		}

		@Override
		public void callEnded(RpcStatus status, @Nullable Throwable error) {
			actOrFire();
		}

		private void actOrFire() {
			int kind = this.random.nextInt(200);
			if (kind == 0) {
				LockSupport.parkNanos(this.random.nextInt(5_000_000));
			}
			else if (kind < 10) {
				RandomWorker.fire(this.random);
			}
		}

	}

	/** Calls one after the other and checks every answer. */
	private static final class GoodClient {

		private final RandomWork target;

		private final List<Long> taken = new ArrayList<>();

		private long calls;

		GoodClient(RpcClient client) {
			this.target = CallOptions.deadline(PATIENCE).on(client.proxy(RandomWork.class));
		}

		void begin() {
			this.taken.clear();
		}

		void call() {
			String text = "call " + this.calls++;
			long start = System.nanoTime();
			String answer = (this.calls % 2 == 0) ? this.target.echo(text) : this.target.plain(text);
			this.taken.add(System.nanoTime() - start);
			assertThat(answer).as("seed %d", SEED).isEqualTo(text);
		}

		/** The 99th percentile of what calls have taken. */
		long percentile() {
			this.taken.sort(null);
			return this.taken.get(this.taken.size() * 99 / 100);
		}

	}

}
