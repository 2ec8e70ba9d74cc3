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
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** How calls of methods that take streams end, other than well. */
class RpcRequestStreamEndTests extends AbstractRpcRequestStreamTests {

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
		taking(RpcRequestStreamEndTests::oneThread, (intake, service, fixture) -> {
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

}
