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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongBiFunction;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.ChannelOptions;
import dev.rdmarpc.transport.ClassMetrics;
import dev.rdmarpc.transport.RpcChannel;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * In what order large messages of several priorities are taken from one connection, and
 * replies that wait for credits, on whatever device.
 * {@code -Drdma.test.priorities.seconds} says for how long all classes are loaded: a
 * minute where the environment has {@code CI}, else 2 seconds, and so in the laboratory,
 * whose machines are slow.
 *
 * <p>
 * All that is compared is which came before which, as the handlers note it on the loop's
 * thread. A thread that is held up there, by the machine for instance, is replaced, and
 * what it has begun may be noted late, and what it has not goes to the executor. So only
 * what one thread of a loop has noted is compared with each other.
 */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcPriorityOrderTests {

	private static final boolean LABORATORY = System.getProperty(TestEnvironment.PROVIDER_PROPERTY) != null;

	private static final Duration LOADED = TestEnvironment.scaled(Duration.ofSeconds(
			Integer.getInteger("rdma.test.priorities.seconds", (System.getenv("CI") != null && !LABORATORY) ? 60 : 2)));

	private static final Duration DEADLINE = TestEnvironment.scaled(Duration.ofSeconds(30));

	private static final int LARGE = 4 << 20;

	private static final int MEDIUM = 1 << 20;

	/** How many messages are asked for before the one that is looked at. */
	private static final int BEFORE = 8;

	/** How often is tried at most what the machine can spoil. */
	private static final int ATTEMPTS = 100;

	/** Of each class. */
	private static final int OUTSTANDING = 2;

	/** Of how many uploads of each class it has to be known what has passed them. */
	private static final int LEAST_KNOWN = 5;

	/**
	 * A slice is passed at most 32 times by more urgent ones. That of the one may have 64
	 * KiB and those of the others 256: then 16 of it are passed by 128 messages. Others
	 * pass while it waits for its turn.
	 */
	private static final int MOST_BETWEEN = 256;

	/** What the names of those threads begin with that are no loop's. */
	private static final List<String> OTHER_THREADS = List.of("rdma-rpc-handler-", "rdma-rpc-callback-");

	/** So few that replies wait for more. */
	private static final ChannelOptions FEW_CREDITS = ChannelOptions.DEFAULTS.withCredits(ChannelOptions.MIN_CREDITS,
			ChannelOptions.MIN_CREDITS);

	/** How many replies come before those that are looked at: more than have credits. */
	private static final int REPLIES_BEFORE = 3 * ChannelOptions.MIN_CREDITS;

	/** So few more that none of the others has its turn before them. */
	private static final int REPLIES = REPLIES_BEFORE + 4;

	/** Too long to share a Send, and so the credit of another one. */
	private static final String LONG = "x".repeat(2000);

	private static final String NUMBER = "number";

	/** What has come, in this order. */
	private final Arrivals arrivals = new Arrivals();

	/** Where replies come. */
	private volatile @Nullable ChannelLoop clientLoop;

	/**
	 * One upload behind eight others. If the machine stops a thread at the wrong time
	 * they are over before it begins, or nobody knows in what order they came: then it is
	 * tried again.
	 */
	@Test
	void anUrgentUploadOvertakesOthersAndAnEqualOneDoesNot() throws Exception {
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Shelf.class, this.arrivals);
				RpcClient client = fixture.newClient(server, RpcPriorityOrderTests::onOneConnection)) {
			Shelf shelf = client.proxy(Shelf.class);
			RegisteredBuffer large = fixture.clientMemory.allocate(LARGE);
			shelf.put(0, large).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
			int known = 0;
			for (int i = 0; i < ATTEMPTS && known < 3; i++) {
				Comparison equal = upload(shelf, large, Priority.LOW);
				assertThat(equal.after()).as("overtaken by an equal one").isZero();
				known += (equal.before() > 0) ? 1 : 0;
			}
			assertThat(known).as("attempts with equal ones of which the order is known").isEqualTo(3);
			int overtaken = 0;
			for (int i = 0; i < ATTEMPTS && overtaken == 0; i++) {
				overtaken = upload(shelf, large, Priority.HIGH).after();
			}
			assertThat(overtaken).as("overtaken by an urgent one").isPositive();
			large.release();
		}
	}

	private static RpcClientOptions onOneConnection(RpcClientOptions options) {
		return options.withDefaultDeadline(DEADLINE).withQueuePairs(QueuePairPoolOptions.fixed(1));
	}

	/** Uploads after others, and returns in which order that came. */
	private Comparison upload(Shelf shelf, RegisteredBuffer large, Priority priority) throws Exception {
		this.arrivals.clear();
		List<CompletableFuture<Void>> uploads = new ArrayList<>();
		Shelf others = CallOptions.NONE.withPriority(Priority.LOW).on(shelf);
		for (int i = 0; i < BEFORE; i++) {
			uploads.add(others.put(i, large));
		}
		uploads.add(CallOptions.NONE.withPriority(priority).on(shelf).put(BEFORE, large));
		for (CompletableFuture<Void> upload : uploads) {
			upload.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
		}
		return compare(BEFORE);
	}

	/** How the last one came, which has that number, as far as it is known. */
	private Comparison compare(int number) {
		List<Arrival> order = this.arrivals.seen();
		assertThat(order).hasSize(number + 1);
		int at = 0;
		while (order.get(at).number() != number) {
			at++;
		}
		Arrival last = order.get(at);
		return new Comparison((int) order.subList(0, at).stream().filter(last::isComparable).count(),
				(int) order.subList(at + 1, order.size()).stream().filter(last::isComparable).count());
	}

	/**
	 * Replies behind others that wait for credits: the client grants none before all have
	 * been given. They have no deadlines, so that equal ones keep their order.
	 */
	@Test
	void anUrgentReplyOvertakesThoseThatWaitAndAnEqualOneDoesNot() throws Exception {
		Clerk clerk = new Clerk();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(RpcFixture.serverOptions(0).withChannel(FEW_CREDITS), Desk.class,
						clerk);
				RpcClient client = RpcClient.builder()
					.transport(fixture.clientTransport)
					.target(TestEnvironment.host(), server.port())
					.options(onOneConnection(RpcClientOptions.DEFAULTS).withDefaultDeadline(Duration.ZERO)
						.withChannel(FEW_CREDITS))
					.observer((method, peer, metadata) -> new Reply(metadata))
					.build()) {
			Desk desk = client.proxy(Desk.class);
			int known = 0;
			for (int i = 0; i < ATTEMPTS && known < 3; i++) {
				Comparison equal = reply(desk, clerk, server, Priority.LOW);
				assertThat(equal.after()).as("overtaken by an equal one").isZero();
				known += (equal.before() > 0) ? 1 : 0;
			}
			assertThat(known).as("attempts with equal ones of which the order is known").isEqualTo(3);
			assertThat(count(server, Priority.LOW, ClassMetrics::overtakings)).as("by equal ones").isZero();
			int overtaken = 0;
			for (int i = 0; i < ATTEMPTS && overtaken == 0; i++) {
				overtaken = reply(desk, clerk, server, Priority.HIGH).after();
			}
			assertThat(overtaken).as("overtaken by an urgent one").isPositive();
			assertCounted(server);
		}
	}

	/** Has replies wait, gives others then, and returns in which order they came. */
	private Comparison reply(Desk desk, Clerk clerk, RpcServer server, Priority priority) throws Exception {
		this.arrivals.clear();
		List<CompletableFuture<String>> replies = new ArrayList<>();
		for (int i = 0; i < REPLIES; i++) {
			CallOptions options = CallOptions.NONE.withMetadata(NUMBER, String.valueOf(i));
			replies.add(options.withPriority((i < REPLIES_BEFORE) ? Priority.LOW : priority).on(desk).ask(i));
		}
		RpcFixture.awaitTrue(() -> clerk.isAwaited(REPLIES));
		long before = count(server, Priority.LOW, ClassMetrics::queuedMessages);
		CountDownLatch release = RpcFixture.hold(Objects.requireNonNull(this.clientLoop));
		try {
			clerk.reply(0, REPLIES_BEFORE);
			RpcFixture.awaitTrue(() -> count(server, Priority.LOW, ClassMetrics::queuedMessages) > before);
			clerk.reply(REPLIES_BEFORE, REPLIES);
			awaitLoop(server);
		}
		finally {
			release.countDown();
		}
		RpcFixture.awaitTrue(() -> this.arrivals.count() == REPLIES);
		for (CompletableFuture<String> reply : replies) {
			assertThat(reply.get(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LONG);
		}
		return compare(REPLIES - 1);
	}

	/** Waits until the server's loop has done what it was given to do before. */
	private static void awaitLoop(RpcServer server) throws Exception {
		CompletableFuture.runAsync(() -> {
		}, server.channels().get(0).loop()::execute).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
	}

	/** Those who operate the server see who had to wait, and for whom. */
	private static void assertCounted(RpcServer server) throws Exception {
		awaitLoop(server);
		assertThat(count(server, Priority.LOW, ClassMetrics::waits)).as("waits")
			.isPositive()
			.isEqualTo(count(server, Priority.LOW, ClassMetrics::queuedMessages));
		assertThat(count(server, Priority.LOW, ClassMetrics::waitNanos)).as("time of waits").isPositive();
		assertThat(count(server, Priority.LOW, ClassMetrics::overtakings)).as("times overtaken").isPositive();
		assertThat(count(server, Priority.HIGH, ClassMetrics::overtakings)).as("urgent ones overtaken").isZero();
		assertThat(count(server, Priority.NORMAL, ClassMetrics::queuedMessages)).as("others queued").isZero();
		assertThat(count(server, Priority.NORMAL, ClassMetrics::overtakings)).as("others overtaken").isZero();
		for (Priority priority : Priority.values()) {
			assertThat(count(server, priority, ClassMetrics::slices)).as("slices of %s", priority).isZero();
		}
	}

	private static long count(RpcServer server, Priority priority, ToLongBiFunction<ClassMetrics, Integer> counter) {
		return counter.applyAsLong(server.channels().get(0).loop().metrics().classes(), priority.code());
	}

	@Test
	void noClassStarvesWhileAllAreLoaded() throws Exception {
		Loads loads = new Loads();
		try (RpcFixture fixture = new RpcFixture();
				RpcServer server = fixture.startServer(Shelf.class, this.arrivals);
				RpcClient client = fixture.newClient(server, RpcPriorityOrderTests::onOneConnection)) {
			Shelf shelf = client.proxy(Shelf.class);
			RegisteredBuffer medium = fixture.clientMemory.allocate(MEDIUM);
			long end = System.nanoTime() + LOADED.toNanos();
			List<CompletableFuture<Void>> running = new ArrayList<>();
			for (int i = 0; i < OUTSTANDING; i++) {
				for (Priority priority : Priority.values()) {
					CompletableFuture<Void> load = new CompletableFuture<>();
					running.add(load);
					loads.load(CallOptions.NONE.withPriority(priority).on(shelf), priority, medium, end, load);
				}
			}
			for (CompletableFuture<Void> load : running) {
				load.get(LOADED.plus(DEADLINE.multipliedBy(2)).toSeconds(), TimeUnit.SECONDS);
			}
			medium.release();
		}
		loads.check();
	}

	/** Takes uploads, as they come. */
	interface Shelf {

		@RdmaMethod(inline = true)
		CompletableFuture<Void> put(int number, RegisteredBuffer value);

	}

	/** Replies when it is told to. */
	interface Desk {

		CompletableFuture<String> ask(int number);

	}

	/**
	 * How many of the others came before and after the last one, as far as that is known.
	 */
	private record Comparison(int before, int after) {

	}

	/** An upload that has come. */
	private record Arrival(int number, Thread thread, boolean onLoop) {

		static Arrival here(int number) {
			Thread current = Thread.currentThread();
			return new Arrival(number, current, OTHER_THREADS.stream().noneMatch(current.getName()::startsWith));
		}

		/** Whether it is known which of the two came first. */
		boolean isComparable(Arrival other) {
			return this.onLoop && this.thread == other.thread;
		}

	}

	/** Notes on the loop's thread what has come. */
	private static final class Arrivals implements Shelf {

		private final List<Arrival> order = new ArrayList<>();

		@Override
		public CompletableFuture<Void> put(int number, RegisteredBuffer value) {
			add(number);
			return CompletableFuture.completedFuture(null);
		}

		void add(int number) {
			synchronized (this.order) {
				this.order.add(Arrival.here(number));
			}
		}

		List<Arrival> seen() {
			synchronized (this.order) {
				return List.copyOf(this.order);
			}
		}

		int count() {
			synchronized (this.order) {
				return this.order.size();
			}
		}

		void clear() {
			synchronized (this.order) {
				this.order.clear();
			}
		}

	}

	/** Keeps those who ask waiting. */
	private static final class Clerk implements Desk {

		private final Map<Integer, CompletableFuture<String>> asked = new ConcurrentHashMap<>();

		@Override
		public CompletableFuture<String> ask(int number) {
			return this.asked.computeIfAbsent(number, (key) -> new CompletableFuture<>());
		}

		/**
		 * Whether so many wait, of whom each is sent its reply as soon as it is given.
		 */
		boolean isAwaited(int count) {
			return this.asked.size() == count
					&& this.asked.values().stream().allMatch((reply) -> reply.getNumberOfDependents() > 0);
		}

		/** Replies to them in the order of their numbers. */
		void reply(int from, int to) {
			for (int i = from; i < to; i++) {
				Objects.requireNonNull(this.asked.remove(i)).complete(LONG);
			}
		}

	}

	/**
	 * Notes on the client when a reply has come, before its future is complete: on the
	 * loop's thread, as long as nothing depends on the future.
	 */
	private final class Reply implements CallObservation {

		private final int number;

		Reply(CallMetadata metadata) {
			this.number = Integer.parseInt(String.valueOf(metadata.get(NUMBER)));
		}

		@Override
		public Scope openScope() {
			return Scope.NONE;
		}

		@Override
		public void requestSent(RpcChannel channel) {
			RpcPriorityOrderTests.this.clientLoop = channel.loop();
		}

		@Override
		public void callEnded(RpcStatus status, @Nullable Throwable error) {
			RpcPriorityOrderTests.this.arrivals.add(this.number);
		}

	}

	/** Uploads of all classes, each of which is followed by another one. */
	private final class Loads {

		private final List<Upload> begun = new ArrayList<>();

		private boolean over;

		/** Uploads again and again. */
		void load(Shelf shelf, Priority priority, RegisteredBuffer value, long end, CompletableFuture<Void> load) {
			Upload upload = begin(priority);
			CompletableFuture<Void> put = shelf.put(upload.number, value);
			upload.waitsSince = RpcPriorityOrderTests.this.arrivals.count();
			put.whenComplete((done, failure) -> {
				if (failure != null) {
					load.completeExceptionally(failure);
				}
				else if (isOver(System.nanoTime() - end)) {
					load.complete(null);
				}
				else {
					load(shelf, priority, value, end, load);
				}
			});
		}

		private Upload begin(Priority priority) {
			synchronized (this.begun) {
				Upload upload = new Upload(this.begun.size(), priority.code());
				this.begun.add(upload);
				return upload;
			}
		}

		private Upload upload(int number) {
			synchronized (this.begun) {
				return this.begun.get(number);
			}
		}

		/** When enough is known of each class, but not without end. */
		private synchronized boolean isOver(long nanosAfterEnd) {
			if (nanosAfterEnd >= 0 && !this.over) {
				int[] known = new int[Priority.values().length];
				passed(new int[known.length], known, new int[known.length]);
				this.over = nanosAfterEnd >= DEADLINE.toNanos()
						|| Arrays.stream(known).min().orElseThrow() >= LEAST_KNOWN;
			}
			return this.over;
		}

		private void check() {
			int[] uploads = new int[Priority.values().length];
			int[] known = new int[uploads.length];
			int[] most = new int[uploads.length];
			passed(uploads, known, most);
			String told = "uploads by priority " + Arrays.toString(uploads) + ", passed by others at most "
					+ Arrays.toString(most) + ", known of " + Arrays.toString(known);
			System.out.println(told);
			assertThat(Arrays.stream(uploads).sum()).as(told).isEqualTo(this.begun.size());
			assertThat(Arrays.stream(known).min().orElseThrow()).as(told).isGreaterThanOrEqualTo(LEAST_KNOWN);
			assertThat(Arrays.stream(most).max().orElseThrow()).as(told).isLessThanOrEqualTo(MOST_BETWEEN);
		}

		/**
		 * Counts those of other classes that came while an upload waited, and while none
		 * of its own class came; as far as that is known.
		 * @param uploads how many of each class have come
		 * @param known of how many of them something is known
		 * @param most by how many one was passed at most
		 */
		private void passed(int[] uploads, int[] known, int[] most) {
			List<Arrival> order = RpcPriorityOrderTests.this.arrivals.seen();
			int[] lastOfClass = new int[uploads.length];
			for (int i = 0; i < order.size(); i++) {
				Arrival arrival = order.get(i);
				Upload upload = upload(arrival.number());
				int kind = upload.kind;
				int since = Math.max(upload.waitsSince, lastOfClass[kind]);
				if (arrival.onLoop() && since <= i) {
					known[kind]++;
					int passed = (int) order.subList(since, i).stream().filter(arrival::isComparable).count();
					most[kind] = Math.max(most[kind], passed);
				}
				uploads[kind]++;
				lastOfClass[kind] = i + 1;
			}
		}

	}

	/** An upload that has begun. */
	private static final class Upload {

		private final int number;

		private final int kind;

		/** How many had come when it had certainly been sent. */
		private volatile int waitsSince = Integer.MAX_VALUE;

		Upload(int number, int kind) {
			this.number = number;
			this.kind = kind;
		}

	}

}
