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

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

import dev.rdmarpc.Await;
import dev.rdmarpc.balancing.Candidate;
import dev.rdmarpc.balancing.LoadBalancer;
import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Calls that are made once more when they have no answer for a while. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcHedgingTests {

	private static final CallOptions PATIENT = CallOptions.deadline(Duration.ofSeconds(30));

	private static final HedgingOptions SOON = new HedgingOptions(2, Duration.ofMillis(5));

	private final RpcFixture fixture = new RpcFixture();

	private final Visits visits = new Visits();

	private final RpcServer one = server(1);

	private final RpcServer two = server(2);

	private final Told told = new Told();

	private final List<RpcClient> clients = new ArrayList<>();

	private AttemptBudget budget = new AttemptBudget(0);

	/** Its handlers wait, which none on the thread of the loop should. */
	private RpcServer server(int number) {
		return this.fixture.startServer(
				RpcFixture.serverOptions(0).withHandlers(HandlerOptions.DEFAULTS.withDispatch(Dispatch.EXECUTOR)),
				Place.class, new Served(number, this.visits, this.fixture));
	}

	@AfterEach
	void nothingIsOutstanding() {
		this.visits.free.countDown();
		for (RpcClient client : this.clients) {
			Await.until(() -> client.metrics().outstandingCalls() == 0);
			assertThat(client.metrics().losses()).as("connections lost").isZero();
			client.close();
		}
		Await.until(() -> this.one.activeCalls() + this.two.activeCalls() == 0);
		this.one.close();
		this.two.close();
		this.fixture.close();
	}

	private Place place(HedgingOptions hedging) {
		return place(hedging, this.one.address(), this.two.address());
	}

	private Place place(HedgingOptions hedging, InetSocketAddress... addresses) {
		RpcClient client = RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.addresses("places", List.of(addresses))
			.methodOptions((method) -> method.name().startsWith("find") ? MethodOptions.NONE.withHedging(hedging)
					: MethodOptions.NONE)
			.hedging(this.budget, this.told)
			.loadBalancer(RpcHedgingTests::firstAvailable)
			.build();
		this.clients.add(client);
		Place place = PATIENT.on(client.proxy(Place.class));
		client.connect();
		Await.until(() -> client.metrics().open() == addresses.length);
		return place;
	}

	private static int firstAvailable(List<? extends Candidate> candidates, long key) {
		return IntStream.range(0, candidates.size())
			.filter((i) -> candidates.get(i).isAvailable())
			.findFirst()
			.orElse(LoadBalancer.NONE);
	}

	@ParameterizedTest
	@CsvSource({ "find", "findLater", "findReactive" })
	void theSecondAttemptGoesElsewhereAndWins(String method) {
		Place place = place(SOON);
		for (int i = 0; i < 3; i++) {
			assertThat(call(place, method, "slow " + i)).isEqualTo(2);
			assertThat(this.visits.of("slow " + i)).containsExactlyInAnyOrder(1, 2);
		}
		Await.until(() -> this.visits.canceled.get() == 3);
		assertThat(this.told.all).containsOnly("hedged " + method + " 2", "won " + method + " 2").hasSize(6);
	}

	private static int call(Place place, String method, String id) {
		return switch (method) {
			case "find" -> place.find(id);
			case "findLater" -> place.findLater(id).join();
			default -> Objects.requireNonNull(place.findReactive(id).block());
		};
	}

	@Test
	void aListenerThatFailsHarmsNoCall() {
		this.told.failure = new StackOverflowError("on purpose");
		Place place = place(SOON);
		assertThat(place.find("slow 1")).isEqualTo(2);
		assertThat(place.findLater("slow 2").join()).isEqualTo(2);
		assertThat(this.told.count("won")).isEqualTo(2);
	}

	@Test
	void ofOneAddressBothAttemptsGoThere() {
		Place place = place(SOON, this.one.address());
		assertThat(place.find("first")).isOne();
		assertThat(this.visits.of("first")).containsExactly(1, 1);
	}

	@Test
	void attemptsAreMadeUntilThereAreEnough() {
		Place place = place(new HedgingOptions(3, Duration.ofMillis(1)));
		CompletableFuture<Integer> found = place.findLater("stuck");
		Await.until(() -> this.visits.of("stuck").size() == 3);
		this.visits.free.countDown();
		assertThat(found.join()).isBetween(1, 2);
		assertThat(this.visits.of("stuck")).hasSize(3);
	}

	@Test
	void callsThatAreAnsweredInTimeAndOtherMethodsAreMadeOnce() {
		Place place = place(new HedgingOptions(2, Duration.ofSeconds(20)));
		for (int i = 0; i < 20; i++) {
			assertThat(place.find("fast " + i)).isBetween(1, 2);
			assertThat(this.visits.of("fast " + i)).hasSize(1);
		}
		assertThat(this.told.all).isEmpty();
	}

	@Test
	void withoutBudgetThereIsOneAttempt() {
		Place place = place(SOON);
		List<CompletableFuture<Integer>> found = new ArrayList<>();
		for (int i = 0; i < AttemptBudget.RESERVE + 5; i++) {
			found.add(place.findLater("slow " + i));
		}
		Await.until(() -> found.stream().filter(CompletableFuture::isDone).count() == AttemptBudget.RESERVE
				&& this.told.count("suppressed") == 5);
		assertThat(this.told.count("won")).isEqualTo(AttemptBudget.RESERVE);
		this.visits.free.countDown();
		assertThat(found).allSatisfy((future) -> assertThat(future.join()).isBetween(1, 2));
		assertThat(this.visits.byId.values().stream().mapToInt(List::size).sum())
			.isEqualTo(2 * AttemptBudget.RESERVE + 5);
	}

	@Test
	void whenTheCallerGivesUpSoDoAllAttempts() {
		Place place = place(SOON);
		CompletableFuture<Integer> found = place.findLater("stuck");
		Await.until(() -> this.visits.of("stuck").size() == 2);
		assertThat(found.cancel(true)).isTrue();
		Await.until(() -> this.visits.canceled.get() == 2);
		CompletableFuture<Integer> early = place(new HedgingOptions(2, Duration.ofSeconds(20))).findLater("slow");
		Await.until(() -> this.visits.of("slow").size() == 1);
		early.complete(7);
		Await.until(() -> this.visits.canceled.get() == 3);
		assertThat(this.visits.of("slow")).hasSize(1);
	}

	@Test
	void aFailureIsAnAnswerUnlessTheServerIsNotAvailable() {
		Place place = place(SOON);
		assertThat(RpcFixture.failureOf(() -> place.find("slow, then NOT_FOUND")).status())
			.isEqualTo(RpcStatus.NOT_FOUND);
		Await.until(() -> this.visits.canceled.get() == 1);
		CompletableFuture<Integer> found = place.findLater("slow, then UNAVAILABLE");
		CompletableFuture<Integer> missed = place.findLater("stuck, then UNAVAILABLE");
		Await.until(() -> this.visits.of("slow, then UNAVAILABLE").size() == 2
				&& this.visits.of("stuck, then UNAVAILABLE").size() == 2);
		assertThat(found).isNotDone();
		this.visits.free.countDown();
		assertThat(found.join()).isOne();
		assertThat(RpcException.in(catchThrowable(missed::join)).status()).isEqualTo(RpcStatus.UNAVAILABLE);
	}

	@Test
	void theMetadataOfTheReplyIsThatOfTheAttemptThatCounts() {
		CallMetadata metadata = new CallMetadata();
		assertThat(PATIENT.withReplyMetadata(metadata).on(place(SOON)).find("slow")).isEqualTo(2);
		this.visits.free.countDown();
		Await.until(() -> this.one.activeCalls() + this.two.activeCalls() == 0);
		assertThat(metadata.asMap()).containsExactly(Map.entry("place", "2"));
	}

	@Test
	void repliesThatLendMemoryAndComeTwiceAreReleasedOnce() throws Exception {
		this.budget = new AttemptBudget(1);
		Place place = place(new HedgingOptions(2, Duration.ZERO));
		for (int i = 0; i < 50 || this.told.count("hedged") == 0; i++) {
			RegisteredBuffer argument = this.fixture.clientMemory.allocate(64);
			argument.buffer().put(0, (byte) i);
			CompletableFuture<RegisteredBuffer> found = place.findMemory(argument);
			RegisteredBuffer received = found.get(20, TimeUnit.SECONDS);
			argument.release();
			assertThat(received.buffer().get(0)).isEqualTo((byte) i);
			received.release();
		}
	}

	@Test
	void methodsThatCannotBeHedgedAreRefused() {
		for (String method : List.of("change is not idempotent", "forget is one-way", "watch returns a stream")) {
			String[] words = method.split(" ", 2);
			RpcClient client = RpcClient.builder()
				.transport(this.fixture.clientTransport)
				.target("localhost", this.one.port())
				.methodOptions(
						(each) -> each.name().equals(words[0]) ? new MethodOptions(null, SOON) : MethodOptions.NONE)
				.build();
			this.clients.add(client);
			assertThatIllegalArgumentException().isThrownBy(() -> client.proxy(Place.class))
				.withMessageContaining("/" + words[0] + ", which " + words[1] + " (expected: an idempotent method");
		}
	}

	@Test
	void deadlinesOfMethodsReplaceThoseOfTheirDeclarationAndYieldToOptions() {
		RpcClient client = RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.target("localhost", this.one.port())
			.methodOptions((method) -> MethodOptions.NONE
				.withDeadline(method.name().equals("hurried") ? Duration.ofSeconds(20) : Duration.ofMillis(50)))
			.build();
		this.clients.add(client);
		Place place = client.proxy(Place.class);
		assertThat(RpcFixture.failureOf(() -> place.change("stuck")).status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
		assertThat(place.hurried()).as("milliseconds left").isBetween(1_000L, 20_000L);
		assertThat(CallOptions.deadline(Duration.ofSeconds(9)).on(place).hurried()).isLessThanOrEqualTo(9_000);
	}

	/** What is found at two places. */
	public interface Place {

		@RdmaMethod(idempotent = true)
		int find(String id);

		@RdmaMethod(idempotent = true)
		CompletableFuture<Integer> findLater(String id);

		@RdmaMethod(idempotent = true)
		Mono<Integer> findReactive(String id);

		@RdmaMethod(idempotent = true)
		CompletableFuture<RegisteredBuffer> findMemory(RegisteredBuffer like);

		int change(String id);

		@RdmaMethod(deadlineMillis = 100)
		long hurried();

		@RdmaMethod(idempotent = true, oneWay = true)
		void forget();

		@RdmaMethod(idempotent = true)
		Flow.Publisher<Integer> watch();

	}

	/** What has been asked where. */
	private static final class Visits {

		private final Map<String, List<Integer>> byId = new ConcurrentHashMap<>();

		private final CountDownLatch free = new CountDownLatch(1);

		private final AtomicInteger canceled = new AtomicInteger();

		/** Returns how often it has been asked, this time included. */
		private int add(String id, int place) {
			List<Integer> all = this.byId.computeIfAbsent(id, (any) -> new ArrayList<>());
			synchronized (all) {
				all.add(place);
				return all.size();
			}
		}

		private List<Integer> of(String id) {
			List<Integer> all = this.byId.getOrDefault(id, new ArrayList<>());
			synchronized (all) {
				return List.copyOf(all);
			}
		}

	}

	/** The first place is slow, or both are. The second one answers once the first is. */
	private record Served(int number, Visits visits, RpcFixture fixture) implements Place {

		@Override
		public int find(String id) {
			RpcContext context = Objects.requireNonNull(RpcContext.current());
			int times = this.visits.add(id, this.number);
			context.replyMetadata().put("place", String.valueOf(this.number));
			if (id.startsWith("slow") && this.number == 2) {
				Await.until(() -> context.isCancelled() || this.visits.of(id).contains(1));
			}
			boolean slow = id.startsWith("slow") && this.number == 1;
			if (slow || (id.equals("first") && times == 1) || id.startsWith("stuck")) {
				Await.until(() -> context.isCancelled() || this.visits.free.getCount() == 0);
				if (context.isCancelled()) {
					this.visits.canceled.incrementAndGet();
				}
			}
			if (id.contains("then ") && !slow) {
				throw new RpcException(RpcStatus.valueOf(id.substring(id.indexOf("then ") + 5)), "at " + this.number);
			}
			return this.number;
		}

		@Override
		public CompletableFuture<Integer> findLater(String id) {
			return CompletableFuture.completedFuture(find(id));
		}

		@Override
		public Mono<Integer> findReactive(String id) {
			return Mono.just(find(id));
		}

		@Override
		public CompletableFuture<RegisteredBuffer> findMemory(RegisteredBuffer like) {
			RegisteredBuffer made = this.fixture.serverMemory.allocate(64);
			made.buffer().put(0, like.buffer().get(0));
			Objects.requireNonNull(RpcContext.current()).releaseAfterReply(made);
			return CompletableFuture.completedFuture(made);
		}

		@Override
		public int change(String id) {
			return find(id);
		}

		@Override
		public long hurried() {
			return (Objects.requireNonNull(RpcContext.current()).deadlineNanos() - System.nanoTime()) / 1_000_000;
		}

		@Override
		public void forget() {
		}

		@Override
		public Flow.Publisher<Integer> watch() {
			return (subscriber) -> {
			};
		}

	}

	/** Notes down what it is told. */
	private static final class Told implements HedgingListener {

		private final Queue<String> all = new ConcurrentLinkedQueue<>();

		private volatile @Nullable Error failure;

		private void add(String what) {
			this.all.add(what);
			Error thrown = this.failure;
			if (thrown != null) {
				throw thrown;
			}
		}

		@Override
		public void hedged(String target, MethodDescriptor method, int attempt) {
			add("hedged " + method.name() + " " + attempt);
		}

		@Override
		public void won(String target, MethodDescriptor method, int attempt) {
			add("won " + method.name() + " " + attempt);
		}

		@Override
		public void suppressed(String target, MethodDescriptor method) {
			add("suppressed " + method.name());
		}

		private int count(String what) {
			return (int) this.all.stream().filter((each) -> each.startsWith(what)).count();
		}

	}

}
