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
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.codec.UnsupportedTypeException;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/** Methods that take streams. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcRequestStreamTests {

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 1000, 100_000 })
	void handlerGetsAllMessagesAndThenTheEnd(int many) throws Exception {
		taking((intake, service, fixture) -> {
			long expected = (long) many * (many - 1) / 2;
			assertThat(intake.sum(numbers(many))).isEqualTo(expected);
		});
	}

	@Test
	void otherParametersGoWithTheRequest() throws Exception {
		taking((intake, service, fixture) -> assertThat(intake.join("<", items(3, "x"), ">").get(20, TimeUnit.SECONDS))
			.isEqualTo("<xxx>"));
	}

	@Test
	void messagesOfAllSizesKeepTheirOrder() throws Exception {
		taking((intake, service, fixture) -> {
			int[] bytes = { 0, 10, 100_000, 3, 12_000, 30_000, 1, 1_000_000, 8100, 8200, 41_000 };
			FeedService source = new FeedService();
			long sum = intake.weigh(source.blocks(110, bytes)).get(60, TimeUnit.SECONDS);
			assertThat(sum).isEqualTo(10L * Arrays.stream(bytes).sum());
			assertThat(service.blocks).hasValue(110);
		});
	}

	@Test
	void nothingIsPublishedThatTheHandlerDoesNotWant() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger published = new AtomicInteger();
			Collector<Feed.Item> collector = new Collector<>(0);
			CompletableFuture<String> result = new CompletableFuture<>();
			service.handler = (items) -> {
				items.subscribe(collector);
				return result;
			};
			CompletableFuture<String> call = intake.handle(new FeedService.Numbers<>(10, (number) -> {
				published.incrementAndGet();
				return new Feed.Item(number, "text");
			}, () -> {
			}));
			assertThat(collector.subscribed.await(20, TimeUnit.SECONDS)).isTrue();
			intake.unary("after the request");
			assertThat(published).hasValue(0);
			for (int i = 1; i <= 10; i++) {
				collector.request(1);
				collector.awaitReceived(i);
				assertThat(published).hasValue(i);
			}
			assertThat(collector.complete()).hasSize(10);
			result.complete("done");
			assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo("done");
		});
	}

	@Test
	void handlerThatIsSlowBoundsWhatIsOnTheWayAndHoldsUpNobody() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger published = new AtomicInteger();
			CountDownLatch hold = new CountDownLatch(1);
			CountDownLatch held = new CountDownLatch(1);
			service.handler = (items) -> IntakeService.reduce(items, "", (text, item) -> {
				held.countDown();
				await(hold);
			});
			CompletableFuture<String> call = intake.handle(new FeedService.Numbers<>(50_000, (number) -> {
				published.incrementAndGet();
				return new Feed.Item(number, "x".repeat(1000));
			}, () -> {
			}));
			await(held);
			assertThat(intake.sum(numbers(10_000))).isEqualTo(49_995_000L);
			assertThat(intake.unary("also")).isEqualTo("also");
			assertThat(published.get()).isLessThan(2 * 256 * 1024 / 1000 + 100);
			hold.countDown();
			call.get(60, TimeUnit.SECONDS);
			assertThat(published).hasValue(50_000);
		});
	}

	@Test
	void publisherInAnotherThread() throws Exception {
		taking((intake, service, fixture) -> {
			CompletableFuture<Long> sum;
			try (SubmissionPublisher<Long> publisher = new SubmissionPublisher<>()) {
				sum = RpcFixture.inThread(() -> intake.sum(publisher));
				RpcFixture.awaitTrue(publisher::hasSubscribers);
				for (long i = 0; i < 10_000; i++) {
					publisher.submit(i);
				}
			}
			assertThat(sum.get(20, TimeUnit.SECONDS)).isEqualTo(49_995_000L);
		});
	}

	@Test
	void bothDirectionsAtOnce() throws Exception {
		taking((intake, service, fixture) -> {
			Collector<Feed.Item> collector = Collector.of(intake.relabel(items(20_000, "before"), "after"),
					Long.MAX_VALUE);
			assertThat(collector.complete()).hasSize(20_000).last().isEqualTo(new Feed.Item(19_999, "after"));
		});
	}

	@Test
	void handlerMayAnswerEachMessageBeforeTheNextOne() throws Exception {
		taking((intake, service, fixture) -> {
			Collector<Feed.Item> answers = new Collector<>(Long.MAX_VALUE);
			try (SubmissionPublisher<Feed.Item> questions = new SubmissionPublisher<>()) {
				intake.relabel(questions, "answer").subscribe(answers);
				RpcFixture.awaitTrue(questions::hasSubscribers);
				for (int i = 0; i < 100; i++) {
					questions.submit(new Feed.Item(i, "question"));
					answers.awaitReceived(i + 1);
				}
			}
			assertThat(answers.complete()).hasSize(100);
		});
	}

	@Test
	void eachSubscriptionToTheReplyIsACallAndSubscribesAgain() throws Exception {
		taking((intake, service, fixture) -> {
			Flow.Publisher<Feed.Item> replies = intake.relabel(items(5, "a"), "b");
			assertThat(Collector.of(replies, 9).complete()).hasSize(5);
			assertThat(Collector.of(replies, 5).complete()).hasSize(5);
		});
	}

	@Test
	void replyBeforeTheEndOfTheMessagesCancelsTheirPublisher() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			AtomicReference<Collector<Feed.Item>> seen = new AtomicReference<>();
			service.handler = (items) -> {
				seen.set(Collector.of(items, 3));
				return CompletableFuture.completedFuture("early");
			};
			CompletableFuture<String> call = intake.handle(endless(cancelled));
			assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo("early");
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
			assertThat(seen.get().failure().status()).isEqualTo(RpcStatus.CANCELLED);
		});
	}

	@Test
	void handlerThatFailsCancelsThePublisher() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			service.handler = (items) -> {
				throw new RpcException(RpcStatus.NOT_FOUND, "nobody");
			};
			assertThat(failureOf(intake.handle(endless(cancelled))).status()).isEqualTo(RpcStatus.NOT_FOUND);
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
		});
	}

	@Test
	void handlerThatCancelsEndsThePublisherThoughTheCallGoesOn() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			CompletableFuture<String> result = new CompletableFuture<>();
			service.handler = (items) -> {
				items.subscribe(new Collector<>(Long.MAX_VALUE) {
					@Override
					public void onNext(Feed.Item item) {
						super.onNext(item);
						if (item.number() == 5) {
							cancel();
						}
					}
				});
				return result;
			};
			CompletableFuture<String> call = intake.handle(endless(cancelled));
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
			assertThat(call).isNotDone();
			result.complete("later");
			assertThat(call.get(20, TimeUnit.SECONDS)).isEqualTo("later");
		});
	}

	@Test
	void callerThatCancelsEndsBothPublisherAndSubscriber() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			Collector<Feed.Item> collector = new Collector<>(5);
			service.handler = (items) -> {
				items.subscribe(collector);
				return new CompletableFuture<>();
			};
			CompletableFuture<String> call = intake.handle(endless(cancelled));
			collector.awaitReceived(5);
			call.cancel(false);
			assertThatExceptionOfType(CancellationException.class).isThrownBy(call::join);
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
			assertThat(collector.failure().status()).isEqualTo(RpcStatus.CANCELLED);
		});
	}

	@Test
	void subscriberOfTheReplyThatCancelsEndsBoth() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			Collector<Feed.Item> collector = Collector.of(intake.relabel(endless(cancelled), "x"), 5);
			collector.awaitReceived(5);
			collector.cancel();
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
		});
	}

	@Test
	void publisherThatFailsCancelsTheCall() throws Exception {
		taking((intake, service, fixture) -> {
			Collector<Feed.Item> collector = new Collector<>(Long.MAX_VALUE);
			service.handler = (items) -> {
				items.subscribe(collector);
				return new CompletableFuture<>();
			};
			RpcException failure = failureOf(intake.handle(failing(new IllegalStateException("broken"))));
			assertThat(failure.status()).isEqualTo(RpcStatus.CANCELLED);
			assertThat(failure.detail()).contains("publisher of the messages failed").contains("broken");
			assertThat(failure).hasCauseInstanceOf(IllegalStateException.class);
			RpcFixture.awaitTrue(() -> collector.subscription == null || collector.ended.getCount() == 0);
		});
	}

	@Test
	void publisherThatFailsWithAStatusFailsTheReplyWithIt() throws Exception {
		taking((intake, service, fixture) -> {
			Flow.Publisher<Feed.Item> replies = intake
				.relabel(failing(new RpcException(RpcStatus.DATA_LOSS, "lost it")), "x");
			RpcException failure = Collector.of(replies, 5).failure();
			assertThat(failure.status()).isEqualTo(RpcStatus.DATA_LOSS);
			assertThat(failure.detail()).isEqualTo("lost it");
		});
	}

	@Test
	void publisherThatThrowsFailsTheCall() throws Exception {
		taking((intake, service, fixture) -> {
			service.handler = (items) -> new CompletableFuture<>();
			RpcException failure = failureOf(intake.handle((subscriber) -> {
				throw new IllegalStateException("no subscription");
			}));
			assertThat(failure.detail()).contains("no subscription");
		});
	}

	@Test
	void messageThatIsTooLargeFailsTheCall() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			service.handler = (items) -> IntakeService.reduce(items, "", (text, item) -> {
			});
			RpcException failure = failureOf(intake.handle(new FeedService.Numbers<>(5,
					(number) -> new Feed.Item(number, (number < 2) ? "fits" : "x".repeat(20 << 20)),
					cancelled::incrementAndGet)));
			assertThat(failure.status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
		});
	}

	@Test
	void publisherThatPublishesMoreThanRequestedFails() throws Exception {
		taking((intake, service, fixture) -> {
			service.handler = (items) -> {
				Collector.of(items, 2);
				return new CompletableFuture<>();
			};
			RpcException failure = failureOf(
					intake.handle((subscriber) -> subscriber.onSubscribe(new Flow.Subscription() {
						@Override
						public void request(long n) {
							for (int i = 0; i <= n; i++) {
								subscriber.onNext(new Feed.Item(i, ""));
							}
						}

						@Override
						public void cancel() {
						}
					})));
			assertThat(failure.detail()).contains("more messages were published than requested");
		});
	}

	@Test
	void whatWaitsForAThreadWhenTheServerStopsIsGivenBackAndItsSubscriberTold() throws Exception {
		taking(RpcRequestStreamTests::oneThread, (intake, service, fixture) -> {
			Collector<Feed.Item> collector = new Collector<>(0);
			service.handler = (items) -> {
				items.subscribe(collector);
				return new CompletableFuture<>();
			};
			CompletableFuture<String> call = intake.handle(items(2, "waits"));
			await(collector.subscribed);
			CountDownLatch held = new CountDownLatch(1);
			service.handler = (items) -> {
				held.countDown();
				RpcFixture.awaitTrue(() -> {
					Thread.interrupted();
					return collector.ended.getCount() == 0;
				});
				return CompletableFuture.completedFuture("late");
			};
			CompletableFuture<String> blocking = intake.handle(items(0, ""));
			await(held);
			collector.request(2);
			RpcFixture.awaitTrue(() -> fixture.server.metrics().waitingCalls() == 1);
			call.cancel(true);
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 1);
			fixture.server.stop();
			assertThat(collector.failure().getMessage()).contains("the server has stopped");
			assertThat(collector.received).isEmpty();
			assertThat(failureOf(blocking).status()).isEqualTo(RpcStatus.UNAVAILABLE);
		});
	}

	@Test
	void messagesHaveOneSubscriber() throws Exception {
		taking((intake, service, fixture) -> {
			service.handler = (items) -> {
				CompletableFuture<String> first = IntakeService.reduce(items, "all", (text, item) -> {
				});
				Collector<Feed.Item> second = Collector.of(items, 1);
				return first.thenApply((text) -> text + ": " + second.failure);
			};
			assertThat(intake.handle(items(3, "x")).get(20, TimeUnit.SECONDS)).startsWith("all: ")
				.contains("one subscriber");
		});
	}

	@Test
	void messagesOfWhichNobodyWantsAnyDoNotKeepTheCall() throws Exception {
		taking((intake, service, fixture) -> {
			service.handler = (items) -> CompletableFuture.completedFuture("not interested");
			for (int i = 0; i < 100; i++) {
				assertThat(intake.handle(items(3, "x")).get(20, TimeUnit.SECONDS)).isEqualTo("not interested");
			}
		});
	}

	@Test
	void subscriberThatComesAfterTheCallGetsAnError() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicReference<Flow.Publisher<Feed.Item>> kept = new AtomicReference<>();
			service.handler = (items) -> {
				kept.set(items);
				return CompletableFuture.completedFuture("kept");
			};
			assertThat(intake.handle(endless(new AtomicInteger())).get(20, TimeUnit.SECONDS)).isEqualTo("kept");
			assertThat(Collector.of(kept.get(), 1).failure().status()).isEqualTo(RpcStatus.CANCELLED);
		});
	}

	@Test
	void subscriberThatThrowsHasCancelled() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			service.handler = (items) -> {
				items.subscribe(new Collector<>(Long.MAX_VALUE) {
					@Override
					public void onNext(Feed.Item item) {
						throw new IllegalStateException("thrown by the test");
					}
				});
				return new CompletableFuture<>();
			};
			CompletableFuture<String> call = intake.handle(endless(cancelled));
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
			call.cancel(false);
		});
	}

	@Test
	void deadlineEndsTheCallAtBothSides() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			intake.unary("connects");
			service.handler = (items) -> {
				Collector.of(items, 5);
				return new CompletableFuture<>();
			};
			Intake hurried = CallOptions.NONE.withDeadline(Duration.ofMillis(500)).on(intake);
			assertThat(failureOf(hurried.handle(endless(cancelled))).status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
		});
	}

	@Test
	void lostConnectionEndsTheCallAtBothSides() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			Collector<Feed.Item> collector = new Collector<>(5);
			service.handler = (items) -> {
				items.subscribe(collector);
				return new CompletableFuture<>();
			};
			CompletableFuture<String> call = intake.handle(endless(cancelled));
			collector.awaitReceived(5);
			fixture.server.channels().forEach((channel) -> channel.close("by the test"));
			assertThat(failureOf(call).status()).isEqualTo(RpcStatus.UNAVAILABLE);
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
			assertThat(collector.failure().status()).isEqualTo(RpcStatus.CANCELLED);
		});
	}

	@Test
	void interruptedCallerGivesTheCallUp() throws Exception {
		taking((intake, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			CompletableFuture<RpcException> outcome = new CompletableFuture<>();
			Thread caller = new Thread(() -> outcome.complete(RpcFixture.failureOf(() -> intake
				.sum(new FeedService.Numbers<>(Integer.MAX_VALUE, (number) -> 1L, cancelled::incrementAndGet)))));
			caller.start();
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 1);
			caller.interrupt();
			assertThat(outcome.get(20, TimeUnit.SECONDS).status()).isEqualTo(RpcStatus.CANCELLED);
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
		});
	}

	@Test
	void manyCallsAtOnce() throws Exception {
		taking((intake, service, fixture) -> {
			List<CompletableFuture<String>> calls = new ArrayList<>();
			for (int i = 0; i < 200; i++) {
				calls.add(intake.join("", items(100, "x"), ""));
			}
			for (CompletableFuture<String> call : calls) {
				assertThat(call.get(30, TimeUnit.SECONDS)).hasSize(100);
			}
		});
	}

	@Test
	void noStreamAtAllIsRefusedAtOnce() throws Exception {
		taking((intake, service, fixture) -> assertThatNullPointerException().isThrownBy(() -> intake.sum(null))
			.withMessageContaining("Intake/sum"));
	}

	@Test
	void twoStreamsAreRefusedWhenTheServiceIsCompiled() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> ServiceDescriptor.of(TwoStreams.class, new FlatBuffersCodec()))
			.withMessageContaining("TwoStreams/merge")
			.withMessageContaining("at most one");
	}

	@Test
	void messagesOfAnUnsupportedTypeAreRefusedWhenTheServiceIsCompiled() {
		assertThatExceptionOfType(UnsupportedTypeException.class)
			.isThrownBy(() -> ServiceDescriptor.of(Unsupported.class, new FlatBuffersCodec()))
			.withMessageContaining("take(")
			.withMessageContaining("wildcard");
	}

	private static Flow.Publisher<Long> numbers(int many) {
		return new FeedService.Numbers<>(many, (number) -> (long) number, () -> {
		});
	}

	private static Flow.Publisher<Feed.Item> items(int many, String text) {
		return new FeedService.Numbers<>(many, (number) -> new Feed.Item(number, text), () -> {
		});
	}

	private static Flow.Publisher<Feed.Item> endless(AtomicInteger cancelled) {
		return new FeedService.Numbers<>(Integer.MAX_VALUE, (number) -> new Feed.Item(number, "endless"),
				cancelled::incrementAndGet);
	}

	private static Flow.Publisher<Feed.Item> failing(Throwable failure) {
		return (subscriber) -> {
			subscriber.onSubscribe(new Flow.Subscription() {

				@Override
				public void request(long n) {
					// it has failed
				}

				@Override
				public void cancel() {
					// nothing to give back
				}

			});
			subscriber.onError(failure);
		};
	}

	/** Handlers wait for each other, and for nobody when the server stops. */
	private static RpcServerOptions oneThread(RpcServerOptions options) {
		return options.withDrainTimeout(Duration.ZERO)
			.withHandlers(
					HandlerOptions.DEFAULTS.withDispatch(Dispatch.EXECUTOR).withThreads(HandlerThreads.PLATFORM, 1));
	}

	private static RpcException failureOf(CompletableFuture<?> call) throws Exception {
		try {
			call.get(30, TimeUnit.SECONDS);
			throw new AssertionError("the call has not failed");
		}
		catch (ExecutionException ex) {
			return (RpcException) ex.getCause();
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Ends by asserting that both sides have given everything back. */
	private static void taking(Check check) throws Exception {
		taking(UnaryOperator.identity(), check);
	}

	private static void taking(UnaryOperator<RpcServerOptions> options, Check check) throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			IntakeService service = new IntakeService();
			fixture.server.stop();
			fixture.client.close();
			fixture.server = fixture.startServer(options.apply(RpcFixture.serverOptions(0)), Intake.class, service);
			fixture.client = fixture.newClient(fixture.server, UnaryOperator.identity());
			check.check(fixture.client.proxy(Intake.class), service, fixture);
			RpcFixture
				.awaitTrue(() -> fixture.server.activeCalls() == 0 && fixture.client.metrics().outstandingCalls() == 0);
		}
	}

	/** Takes too much. */
	interface TwoStreams {

		void merge(Flow.Publisher<String> first, Flow.Publisher<String> second);

	}

	/** Takes what has no message form. */
	interface Unsupported {

		void take(Flow.Publisher<?> anything);

	}

	/** What a test does. */
	private interface Check {

		void check(Intake intake, IntakeService service, RpcFixture fixture) throws Exception;

	}

}
