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
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Types of Reactor and of Reactive Streams as results and parameters. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcReactorTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@Test
	void eachSubscriptionIsACallAndNoneIsMadeBefore() throws Exception {
		serving((tides, service, fixture) -> {
			Mono<String> found = tides.find("spring");
			assertThat(service.calls).hasValue(0);
			StepVerifier.create(found).expectNext("SPRING").expectComplete().verify(PATIENCE);
			StepVerifier.create(found.repeat(2)).expectNextCount(3).expectComplete().verify(PATIENCE);
			assertThat(service.calls).hasValue(4);
			assertThat(found.block(PATIENCE)).isEqualTo("SPRING");
		});
	}

	@Test
	void anEmptyReplyIsNullOrAnEmptyOptionalInOtherForms() throws Exception {
		serving((tides, service, fixture) -> {
			StepVerifier.create(tides.find("none")).expectComplete().verify(PATIENCE);
			Plain plain = fixture.client.proxy(Tides.class.getName(), Plain.class);
			assertThat(plain.find("none").get(20, TimeUnit.SECONDS)).isNull();
			assertThat(plain.find("neap").get(20, TimeUnit.SECONDS)).isEqualTo("NEAP");
			Optionals optionals = fixture.client.proxy(Tides.class.getName(), Optionals.class);
			assertThat(optionals.find("none")).isEmpty();
			assertThat(optionals.find("neap")).contains("NEAP");
		});
	}

	@Test
	void aMonoOfNothingCompletes() throws Exception {
		serving((tides, service, fixture) -> {
			StepVerifier.create(tides.note("high at noon")).expectComplete().verify(PATIENCE);
			assertThat(service.notes).containsExactly("high at noon");
		});
	}

	@Test
	void failuresAreTheStatusOrTheDeclaredException() throws Exception {
		serving((tides, service, fixture) -> {
			StepVerifier.create(tides.find("bad"))
				.expectErrorSatisfies((ex) -> assertThat(ex).isInstanceOfSatisfying(RpcException.class,
						(failure) -> assertThat(failure.status()).isEqualTo(RpcStatus.NOT_FOUND)))
				.verify(PATIENCE);
			StepVerifier.create(tides.find("dry"))
				.expectErrorSatisfies((ex) -> assertThat(ex).isInstanceOf(NoTideException.class).hasMessage("dry"))
				.verify(PATIENCE);
			StepVerifier.create(tides.count(-5))
				.expectNext(0L, 1L, 2L, 3L, 4L)
				.expectErrorSatisfies(
						(ex) -> assertThat(((RpcException) ex).status()).isEqualTo(RpcStatus.OUT_OF_RANGE))
				.verify(PATIENCE);
			StepVerifier.create(tides.find("null"))
				.expectErrorSatisfies((ex) -> assertThat(ex).hasMessageContaining("expected: a Mono"))
				.verify(PATIENCE);
		});
	}

	@Test
	void cancelingReachesWhatTheHandlerHasReturned() throws Exception {
		serving((tides, service, fixture) -> {
			StepVerifier.create(tides.find("never"))
				.then(() -> RpcFixture.awaitTrue(() -> service.waiting.get() == 1))
				.thenCancel()
				.verify(PATIENCE);
			RpcFixture.awaitTrue(() -> service.waiting.get() == 0 && fixture.server.activeCalls() == 0);
			StepVerifier.create(tides.count(Long.MAX_VALUE)).expectNextCount(1000).thenCancel().verify(PATIENCE);
			RpcFixture.awaitTrue(() -> service.canceled.get() == 1 && fixture.server.activeCalls() == 0);
		});
	}

	@Test
	void aCallThatIsCanceledBeforeItsReplyWasWantedGivesItsMemoryBack() throws Exception {
		serving((tides, service, fixture) -> {
			StepVerifier.create(tides.letter(), 0)
				.expectSubscription()
				.then(() -> RpcFixture.awaitTrue(() -> fixture.client.metrics().outstandingCalls() == 0))
				.thenCancel()
				.verify(PATIENCE);
			StepVerifier.create(tides.letter())
				.consumeNextWith(RegisteredBuffer::release)
				.expectComplete()
				.verify(PATIENCE);
		});
	}

	@Test
	void aReplyThatHasComeAndIsNotTakenGivesBackWhatItHolds() {
		AtomicInteger released = new AtomicInteger();
		Parcel parcel = new Parcel(1, Optional.of(() -> released.incrementAndGet() > 0));
		StepVerifier.create(new ReplyMono(CompletableFuture.completedFuture(parcel), true), 0)
			.thenCancel()
			.verify(PATIENCE);
		assertThat(released).hasValue(1);
	}

	@Test
	void demandPassesThrough() throws Exception {
		serving((tides, service, fixture) -> {
			StepVerifier.create(tides.count(Long.MAX_VALUE), 0)
				.thenRequest(10)
				.expectNextCount(10)
				.then(() -> assertThat(service.published.get()).isBetween(10L, 10L))
				.thenRequest(5)
				.expectNext(10L, 11L, 12L, 13L, 14L)
				.thenCancel()
				.verify(PATIENCE);
			TestPublisher<Long> numbers = TestPublisher.create();
			AtomicLong requested = new AtomicLong();
			StepVerifier.create(tides.twice(numbers.flux().doOnRequest(requested::addAndGet)), 0)
				.thenRequest(2)
				.then(() -> RpcFixture.awaitTrue(() -> requested.get() == 2))
				.then(() -> numbers.next(1L, 2L))
				.expectNext(2L, 4L)
				.thenRequest(1)
				.then(() -> RpcFixture.awaitTrue(() -> requested.get() == 3))
				.then(() -> numbers.next(3L).complete())
				.expectNext(6L)
				.expectComplete()
				.verify(PATIENCE);
		});
	}

	@Test
	void messagesFollowTheRequestOfEachSubscription() throws Exception {
		serving((tides, service, fixture) -> {
			AtomicInteger subscriptions = new AtomicInteger();
			Mono<Long> sum = tides.sum(
					Flux.range(0, 1000).map(Integer::longValue).doOnSubscribe((to) -> subscriptions.incrementAndGet()));
			assertThat(subscriptions).hasValue(0);
			StepVerifier.create(sum.repeat(1)).expectNext(499_500L, 499_500L).expectComplete().verify(PATIENCE);
			assertThat(subscriptions).hasValue(2);
			StepVerifier.create(tides.sum(Flux.error(new IllegalStateException("ebb"))))
				.expectErrorSatisfies((ex) -> assertThat(ex).hasMessageContaining("ebb"))
				.verify(PATIENCE);
		});
	}

	@Test
	void formsDifferPerSide() throws Exception {
		serving((tides, service, fixture) -> {
			Plain plain = fixture.client.proxy(Tides.class.getName(), Plain.class);
			assertThat(Collector.of(plain.count(100), Long.MAX_VALUE).complete()).hasSize(100);
			assertThat(plain.sum(plain.count(100)).get(20, TimeUnit.SECONDS)).isEqualTo(4950);
			StepVerifier.create(tides.plain(tides.count(3))).expectNext(0L, 10L, 20L).expectComplete().verify(PATIENCE);
		});
	}

	@Test
	void argumentsAreThoseOfTheTimeOfTheCallOfTheMethod() throws Exception {
		serving((tides, service, fixture) -> {
			List<String> names = new ArrayList<>(List.of("a", "b"));
			Mono<Integer> size = tides.size(names);
			names.add("c");
			StepVerifier.create(size).expectNext(2).expectComplete().verify(PATIENCE);
		});
	}

	@Test
	void whatCannotBeSentIsSignaled() throws Exception {
		serving((tides, service, fixture) -> {
			String large = "x".repeat(17 << 20);
			assertExhausted(tides.find(large));
			assertExhausted(tides.size(List.of(large)));
			assertExhausted(tides.named(large));
			assertThat(catchThrowableOfType(RpcException.class,
					() -> fixture.client.proxy(Tides.class.getName(), Plain.class).named(large))
				.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
		});
	}

	private static void assertExhausted(Publisher<?> publisher) {
		StepVerifier.create(publisher)
			.expectErrorSatisfies(
					(ex) -> assertThat(((RpcException) ex).status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED))
			.verify(PATIENCE);
	}

	@Test
	void deadlinesAreInheritedOnWhateverThreadAHandlerSubscribes() throws Exception {
		serving((tides, service, fixture) -> {
			service.next = tides;
			Tides hurried = CallOptions.deadline(Duration.ofSeconds(50)).on(tides);
			for (Tides.Way way : Tides.Way.values()) {
				StepVerifier.create(tides.left(way)).expectNext(Long.MAX_VALUE).expectComplete().verify(PATIENCE);
				StepVerifier.create(hurried.left(way))
					.assertNext((left) -> assertThat(left).as("nanoseconds left, %s", way)
						.isBetween(1L, Duration.ofSeconds(50).toNanos()))
					.expectComplete()
					.verify(PATIENCE);
			}
		});
	}

	@Test
	void callsWithinDeadlinesFailInTime() throws Exception {
		serving((tides, service, fixture) -> StepVerifier
			.create(CallOptions.deadline(Duration.ofMillis(50)).on(tides).find("never"))
			.expectErrorSatisfies(
					(ex) -> assertThat(((RpcException) ex).status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED))
			.verify(PATIENCE));
	}

	@Test
	void manyAtOnceAndHalfOfThemCanceled() throws Exception {
		serving((tides, service, fixture) -> {
			StepVerifier
				.create(Flux.range(0, 400)
					.flatMap((number) -> (number % 2 == 0) ? tides.find("n" + number)
							: tides.count(Long.MAX_VALUE).take(10 + number).last().map(String::valueOf), 64))
				.expectNextCount(400)
				.expectComplete()
				.verify(PATIENCE);
			RpcFixture.awaitTrue(() -> service.canceled.get() == 200);
		});
	}

	/** Ends by asserting that both sides have given everything back. */
	private static void serving(Check check) throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			TideTable service = new TideTable(fixture);
			fixture.server.stop();
			fixture.client.close();
			fixture.server = fixture.startServer(RpcFixture.serverOptions(0).withDrainTimeout(Duration.ofSeconds(1)),
					Tides.class, service);
			fixture.client = fixture.newClient(fixture.server, (options) -> options.withDefaultDeadline(Duration.ZERO));
			check.check(fixture.client.proxy(Tides.class), service, fixture);
			RpcFixture
				.awaitTrue(() -> fixture.server.activeCalls() == 0 && fixture.client.metrics().outstandingCalls() == 0);
		}
	}

	/** What a test does. */
	private interface Check {

		void check(Tides tides, TideTable service, RpcFixture fixture) throws Exception;

	}

	/** A service with types of Reactor. */
	interface Tides {

		Mono<String> find(String name) throws NoTideException;

		Mono<Void> note(String text);

		Mono<Long> sum(Flux<Long> numbers);

		Flux<Long> count(long many);

		Flux<String> named(String name);

		Flux<Long> twice(Flux<Long> numbers);

		Publisher<Long> plain(Publisher<Long> numbers);

		Mono<Integer> size(List<String> names);

		Mono<RegisteredBuffer> letter();

		Mono<Long> left(Way way);

		/** How a handler comes to make another call. */
		enum Way {

			HERE, LATER, ELSEWHERE, BLOCKING, STREAM

		}

	}

	/** The same in types of the JDK. */
	interface Plain {

		CompletableFuture<String> find(String name);

		CompletableFuture<Long> sum(Flow.Publisher<Long> numbers);

		Flow.Publisher<Long> count(long many);

		Flow.Publisher<String> named(String name);

	}

	/** The same for those who wait. */
	interface Optionals {

		Optional<String> find(String name);

	}

	/** Holds memory. */
	record Parcel(int number, Optional<SegmentOwner> content) {

	}

	/** What a method declares. */
	static final class NoTideException extends RuntimeException {

		NoTideException(String message) {
			super(message);
		}

	}

	/** Serves the tides, and knows what became of them. */
	private static final class TideTable implements Tides {

		private final RpcFixture fixture;

		private final AtomicInteger calls = new AtomicInteger();

		private final AtomicInteger waiting = new AtomicInteger();

		private final AtomicInteger canceled = new AtomicInteger();

		private final AtomicLong published = new AtomicLong();

		private final List<String> notes = new ArrayList<>();

		private volatile Tides next = this;

		TideTable(RpcFixture fixture) {
			this.fixture = fixture;
		}

		@Override
		@SuppressWarnings("NullAway") // for the test of it
		public Mono<String> find(String name) {
			this.calls.incrementAndGet();
			return switch (name) {
				case "none" -> Mono.empty();
				case "bad" -> Mono.error(new RpcException(RpcStatus.NOT_FOUND, "no such tide"));
				case "dry" -> Mono.error(new NoTideException(name));
				case "null" -> null;
				case "never" -> Mono.<String>never()
					.doOnSubscribe((to) -> this.waiting.incrementAndGet())
					.doOnCancel(this.waiting::decrementAndGet);
				default ->
					Mono.just(name).publishOn(Schedulers.parallel()).map((each) -> each.toUpperCase(Locale.ROOT));
			};
		}

		@Override
		public Mono<Void> note(String text) {
			return Mono.fromRunnable(() -> this.notes.add(text));
		}

		@Override
		public Mono<Long> sum(Flux<Long> numbers) {
			return numbers.reduce(0L, Long::sum);
		}

		@Override
		public Flux<Long> count(long many) {
			Flux<Long> numbers = Flux.generate(() -> 0L, (number, sink) -> {
				if (number == many) {
					sink.complete();
				}
				else if (number == -many) {
					sink.error(new RpcException(RpcStatus.OUT_OF_RANGE, "no more"));
				}
				else {
					this.published.incrementAndGet();
					sink.next(number);
				}
				return number + 1;
			});
			return numbers.doOnCancel(this.canceled::incrementAndGet);
		}

		@Override
		public Flux<String> named(String name) {
			return Flux.just(name);
		}

		@Override
		public Flux<Long> twice(Flux<Long> numbers) {
			return numbers.map((number) -> 2 * number);
		}

		@Override
		public Publisher<Long> plain(Publisher<Long> numbers) {
			return Flux.from(numbers).map((number) -> 10 * number);
		}

		@Override
		public Mono<Integer> size(List<String> names) {
			return Mono.just(names.size());
		}

		@Override
		public Mono<RegisteredBuffer> letter() {
			RegisteredBuffer letter = this.fixture.serverMemory.allocate(100);
			RpcContext.current().releaseAfterReply(letter);
			return Mono.just(letter);
		}

		@Override
		public Mono<Long> left(Way way) {
			Mono<Long> left = this.next.left(Way.HERE);
			return switch (way) {
				case HERE -> Mono.deferContextual((context) -> {
					long deadline = context.get(RpcContext.class).deadlineNanos();
					return Mono.just((deadline != Long.MAX_VALUE) ? deadline - System.nanoTime() : deadline);
				});
				case LATER ->
					Mono.just("later").publishOn(Schedulers.parallel()).flatMap((text) -> this.next.left(Way.HERE));
				case ELSEWHERE -> left.subscribeOn(Schedulers.parallel());
				case BLOCKING -> Mono.just(left.subscribeOn(Schedulers.parallel()).block(PATIENCE));
				case STREAM -> this.next
					.sum(Flux.just(1L).publishOn(Schedulers.parallel()).flatMap((one) -> this.next.left(Way.HERE)))
					.publishOn(Schedulers.parallel());
			};
		}

	}

}
