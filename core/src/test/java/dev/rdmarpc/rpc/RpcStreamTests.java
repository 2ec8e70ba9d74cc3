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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Methods that return streams. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcStreamTests {

	@ParameterizedTest
	@CsvSource({ "0, 1", "1, 1", "1000, 9223372036854775807", "100000, 9223372036854775807", "1000, 1000" })
	void messagesComeInOrderAndThenTheEnd(long many, long demand) throws Exception {
		feeding((feed, service, fixture) -> assertThat(Collector.of(feed.count(many), demand).complete())
			.containsExactlyElementsOf(LongStream.range(0, many).boxed().toList()));
	}

	@Test
	void messagesOfAllSizesKeepTheirOrder() throws Exception {
		feeding((feed, service, fixture) -> {
			int[] bytes = { 0, 10, 100_000, 3, 12_000, 30_000, 1, 1_000_000, 8100, 8200, 41_000 };
			List<byte[]> blocks = Collector.of(feed.blocks(110, bytes), Long.MAX_VALUE).complete();
			assertThat(blocks).hasSize(110);
			for (int i = 0; i < 110; i++) {
				assertThat(blocks.get(i)).as("message %d", i).isEqualTo(FeedService.block(i, bytes[i % bytes.length]));
			}
		});
	}

	@Test
	void nothingComesThatWasNotRequested() throws Exception {
		feeding((feed, service, fixture) -> {
			AtomicInteger published = new AtomicInteger();
			service.publisher = new FeedService.Numbers<>(10, (number) -> {
				published.incrementAndGet();
				return new Feed.Item(number, "text");
			}, () -> {
			});
			Collector<Feed.Item> collector = Collector.of(feed.items("ten"), 0);
			feed.unary("after the request");
			assertThat(published).hasValue(0);
			for (int i = 1; i <= 10; i++) {
				collector.request(1);
				collector.awaitReceived(i);
				assertThat(published).hasValue(i);
			}
			assertThat(collector.complete()).hasSize(10).contains(new Feed.Item(9, "text"));
		});
	}

	@Test
	void subscriberThatKeepsFewMessagesKeepsTheMemoryOfThoseOnly() throws Exception {
		feeding((feed, service, fixture) -> {
			RegisteredBuffer letter = fixture.serverMemory.allocate(100);
			letter.buffer().putLong(0, 42);
			service.letter = letter;
			assertThat(feed.unary("first")).isEqualTo("first");
			long before = fixture.clientMemory.metrics().allocatedBytes();
			long frames = framesReceived(fixture);
			Collector<RegisteredBuffer> collector = new Collector<>(Long.MAX_VALUE) {

				private int count;

				@Override
				public void onNext(RegisteredBuffer item) {
					if (this.count++ % 20 == 0) {
						super.onNext(item);
					}
					else {
						item.release();
					}
				}
			};
			feed.letters(20_000).subscribe(collector);
			assertThat(collector.complete()).hasSize(1000).allMatch((kept) -> kept.buffer().getLong(0) == 42);
			assertThat(framesReceived(fixture) - frames).as("frames").isLessThan(20_000);
			RpcFixture
				.awaitTrue(() -> fixture.clientMemory.metrics().allocatedBytes() - before < 1000 * 512 + (64 << 10));
			collector.received.forEach(RegisteredBuffer::release);
			letter.release();
		});
	}

	private static long framesReceived(RpcFixture fixture) {
		return fixture.clientTransport.loops().stream().mapToLong((loop) -> loop.metrics().framesReceived()).sum();
	}

	@Test
	void oneAtATime() throws Exception {
		feeding((feed, service, fixture) -> {
			Collector<Long> collector = new Collector<>(1) {
				@Override
				public void onNext(Long item) {
					super.onNext(item);
					request(1);
				}
			};
			feed.count(1000).subscribe(collector);
			assertThat(collector.complete()).hasSize(1000);
		});
	}

	@Test
	void subscriberThatDoesNotAskHoldsUpNobody() throws Exception {
		feeding((feed, service, fixture) -> {
			List<Collector<byte[]>> idle = new ArrayList<>();
			for (int i = 0; i < 300; i++) {
				idle.add(Collector.of(feed.blocks(1000, new int[] { 5000 }), 0));
			}
			assertThat(Collector.of(feed.count(10_000), Long.MAX_VALUE).complete()).hasSize(10_000);
			assertThat(feed.unary("also")).isEqualTo("also");
			RpcFixture.awaitTrue(() -> service.begun.get() == 300);
			idle.forEach(Collector::cancel);
			RpcFixture.awaitTrue(() -> service.cancelled.get() == 300);
		});
	}

	@Test
	void subscriberThatIsSlowBoundsWhatIsOnTheWay() throws Exception {
		feeding((feed, service, fixture) -> {
			AtomicInteger published = new AtomicInteger();
			service.publisher = new FeedService.Numbers<>(100_000, (number) -> {
				published.incrementAndGet();
				return new Feed.Item(number, "x".repeat(1000));
			}, () -> {
			});
			CountDownLatch hold = new CountDownLatch(1);
			Collector<Feed.Item> collector = new Collector<>(Long.MAX_VALUE) {
				@Override
				public void onNext(Feed.Item item) {
					super.onNext(item);
					await(hold);
				}
			};
			feed.items("many").subscribe(collector);
			collector.awaitReceived(1);
			assertThat(Collector.of(feed.count(10_000), Long.MAX_VALUE).complete()).hasSize(10_000);
			assertThat(published.get()).isLessThan(2 * 256 * 1024 / 1000 + 100);
			assertThat(fixture.clientMemory.metrics().allocatedBytes()).isLessThan(4 << 20);
			hold.countDown();
			assertThat(collector.complete()).hasSize(100_000);
		});
	}

	@Test
	void publisherInAnotherThread() throws Exception {
		feeding((feed, service, fixture) -> {
			Collector<Feed.Item> collector;
			try (SubmissionPublisher<Feed.Item> publisher = new SubmissionPublisher<>()) {
				service.publisher = publisher;
				collector = Collector.of(feed.items("submitted"), Long.MAX_VALUE);
				RpcFixture.awaitTrue(publisher::hasSubscribers);
				for (int i = 0; i < 10_000; i++) {
					publisher.submit(new Feed.Item(i, "item"));
				}
			}
			assertThat(collector.complete()).hasSize(10_000).last().isEqualTo(new Feed.Item(9999, "item"));
		});
	}

	@Test
	void failureComesAfterTheMessages() throws Exception {
		feeding((feed, service, fixture) -> {
			service.publisher = failing(3, new RpcException(RpcStatus.NOT_FOUND, "no more"));
			Collector<Feed.Item> collector = Collector.of(feed.items("three"), Long.MAX_VALUE);
			RpcException failure = collector.failure();
			assertThat(failure.status()).isEqualTo(RpcStatus.NOT_FOUND);
			assertThat(failure.detail()).isEqualTo("no more");
			assertThat(failure.method()).isEqualTo("items");
			assertThat(collector.received).hasSize(3);
		});
	}

	@Test
	void unexpectedFailure() throws Exception {
		feeding((feed, service, fixture) -> {
			service.publisher = failing(0, new IllegalStateException("broken"));
			RpcException failure = Collector.of(feed.items("none"), Long.MAX_VALUE).failure();
			assertThat(failure.status()).isEqualTo(RpcStatus.UNKNOWN);
			assertThat(failure.detail()).startsWith("the handler failed, reference ");
		});
	}

	@Test
	void handlerThatThrowsFailsTheStream() throws Exception {
		feeding((feed, service, fixture) -> {
			RpcException failure = Collector.of(feed.items("no publisher"), 1).failure();
			assertThat(failure.status()).isEqualTo(RpcStatus.UNKNOWN);
			assertThat(failure.detail()).startsWith("the handler failed, reference ");
		});
	}

	@Test
	void messageThatCannotBeEncodedFailsTheStream() throws Exception {
		feeding((feed, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			service.publisher = new FeedService.Numbers<>(5,
					(number) -> new Feed.Item(number, (number < 2) ? "fits" : "x".repeat(20 << 20)),
					cancelled::incrementAndGet);
			Collector<Feed.Item> collector = Collector.of(feed.items("too large"), Long.MAX_VALUE);
			assertThat(collector.failure().status()).isEqualTo(RpcStatus.RESOURCE_EXHAUSTED);
			assertThat(collector.received).hasSize(2);
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
		});
	}

	@Test
	void publisherThatPublishesMoreThanRequestedFails() throws Exception {
		feeding((feed, service, fixture) -> {
			AtomicInteger cancelled = new AtomicInteger();
			service.publisher = (subscriber) -> subscriber.onSubscribe(new Flow.Subscription() {
				@Override
				public void request(long n) {
					for (int i = 0; i <= n; i++) {
						subscriber.onNext(new Feed.Item(i, ""));
					}
				}

				@Override
				public void cancel() {
					cancelled.incrementAndGet();
				}
			});
			Collector<Feed.Item> collector = Collector.of(feed.items("one too many"), 5);
			assertThat(collector.failure().detail()).contains("more messages were published than requested");
			assertThat(collector.received).hasSize(5);
			RpcFixture.awaitTrue(() -> cancelled.get() == 1);
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 5, 1000 })
	void subscriberThatCancelsEndsTheStreamAtBothSides(int after) throws Exception {
		feeding((feed, service, fixture) -> {
			Collector<Long> collector = Collector.of(feed.count(Long.MAX_VALUE), after);
			collector.awaitReceived(after);
			collector.cancel();
			if (after > 0) {
				RpcFixture.awaitTrue(() -> service.cancelled.get() == 1);
			}
			assertThat(collector.received).hasSize(after);
			assertThat(collector.ended.getCount()).isOne();
		});
	}

	@Test
	void subscriberThatCancelsWhileMessagesPour() throws Exception {
		feeding((feed, service, fixture) -> {
			for (int i = 0; i < 50; i++) {
				int last = i * 37;
				Collector<Long> collector = new Collector<>(Long.MAX_VALUE) {
					@Override
					public void onNext(Long item) {
						super.onNext(item);
						if (item == last) {
							cancel();
						}
					}
				};
				feed.count(Integer.MAX_VALUE).subscribe(collector);
				collector.awaitReceived(last + 1);
				assertThat(collector.received).hasSize(last + 1);
			}
			RpcFixture.awaitTrue(() -> service.cancelled.get() == 50);
		});
	}

	@Test
	void subscriberThatCancelsAtOnceMakesNoCall() throws Exception {
		feeding((feed, service, fixture) -> {
			Collector<Long> collector = new Collector<>(5) {
				@Override
				public void onSubscribe(Flow.Subscription given) {
					super.onSubscribe(given);
					given.cancel();
				}
			};
			feed.count(10).subscribe(collector);
			assertThat(feed.unary("then")).isEqualTo("then");
			assertThat(collector.received).isEmpty();
			assertThat(collector.ended.getCount()).isOne();
		});
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, -1, Long.MIN_VALUE })
	void requestForNothingFails(long n) throws Exception {
		feeding((feed, service, fixture) -> {
			Collector<Long> collector = Collector.of(feed.count(Long.MAX_VALUE), 3);
			collector.awaitReceived(3);
			collector.request(n);
			assertThat(collector.ended.await(20, TimeUnit.SECONDS)).isTrue();
			assertThat(collector.failure).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("3.9");
			RpcFixture.awaitTrue(() -> service.cancelled.get() == 1);
		});
	}

	@Test
	void subscriberThatThrowsHasCancelled() throws Exception {
		feeding((feed, service, fixture) -> {
			feed.count(Integer.MAX_VALUE).subscribe(new Collector<>(Long.MAX_VALUE) {
				@Override
				public void onNext(Long item) {
					throw new IllegalStateException("thrown by the test");
				}
			});
			RpcFixture.awaitTrue(() -> service.cancelled.get() == 1);
		});
	}

	@Test
	void eachSubscriptionIsACall() throws Exception {
		feeding((feed, service, fixture) -> {
			Flow.Publisher<Long> publisher = feed.count(5);
			assertThat(Collector.of(publisher, 5).complete()).hasSize(5);
			assertThat(Collector.of(publisher, 9).complete()).hasSize(5);
		});
	}

	@Test
	void deadlineEndsTheStreamAtBothSides() throws Exception {
		feeding((feed, service, fixture) -> {
			feed.unary("connects");
			Feed hurried = CallOptions.NONE.withDeadline(Duration.ofSeconds(8)).on(feed);
			Collector<Long> collector = Collector.of(hurried.count(Long.MAX_VALUE), 5);
			collector.awaitReceived(5);
			assertThat(collector.failure().status()).isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
			RpcFixture.awaitTrue(() -> service.cancelled.get() == 1);
		});
	}

	@Test
	void defaultDeadlineOfTheClientIsNotForStreams() throws Exception {
		feeding(UnaryOperator.identity(), (options) -> options.withDefaultDeadline(Duration.ofMillis(300)),
				(feed, service, fixture) -> {
					Collector<Long> collector = Collector.of(feed.count(2), 1);
					Feed hurried = CallOptions.NONE.withDeadline(Duration.ofMillis(600)).on(feed);
					Collector.of(hurried.count(Long.MAX_VALUE), 5).failure();
					collector.request(1);
					assertThat(collector.complete()).containsExactly(0L, 1L);
				});
	}

	@Test
	void lostConnectionEndsTheStreamAtBothSides() throws Exception {
		feeding((feed, service, fixture) -> {
			Collector<Long> collector = Collector.of(feed.count(Long.MAX_VALUE), 5);
			collector.awaitReceived(5);
			fixture.server.channels().forEach((channel) -> channel.close("by the test"));
			assertThat(collector.failure().status()).isEqualTo(RpcStatus.UNAVAILABLE);
			RpcFixture.awaitTrue(() -> service.cancelled.get() == 1);
		});
	}

	@Test
	void serverThatStopsLetsShortStreamsFinishAndEndsTheOthers() throws Exception {
		feeding((options) -> options.withDrainTimeout(Duration.ofSeconds(8)), UnaryOperator.identity(),
				(feed, service, fixture) -> {
					Collector<Long> endless = Collector.of(feed.count(Long.MAX_VALUE), 5);
					Collector<Long> brief = Collector.of(feed.count(20), 5);
					endless.awaitReceived(5);
					brief.awaitReceived(5);
					CompletableFuture<Void> stopped = RpcFixture.inThread(() -> {
						fixture.server.stop();
						return null;
					});
					brief.request(15);
					assertThat(brief.complete()).hasSize(20);
					assertThat(endless.failure().status()).isEqualTo(RpcStatus.UNAVAILABLE);
					stopped.get(20, TimeUnit.SECONDS);
					RpcFixture.awaitTrue(() -> service.cancelled.get() == 1);
				});
	}

	@Test
	void clientThatClosesFinishesItsStreams() throws Exception {
		feeding((feed, service, fixture) -> {
			Collector<Long> collector = Collector.of(feed.count(20), 5);
			collector.awaitReceived(5);
			fixture.client.close();
			collector.request(15);
			assertThat(collector.complete()).hasSize(20);
			assertThatExceptionOfType(RpcException.class).isThrownBy(() -> {
				throw Collector.of(feed.count(1), 1).failure();
			}).satisfies((failure) -> assertThat(failure.status()).isEqualTo(RpcStatus.UNAVAILABLE));
		});
	}

	@Test
	void metadataGoesWithTheRequestAndComesWithTheEnd() throws Exception {
		feeding((feed, service, fixture) -> {
			service.publisher = (subscriber) -> {
				RpcContext context = RpcContext.current();
				assertThat(context).isNotNull();
				context.replyMetadata().put("trailer", context.requestMetadata().get("header") + "!");
				new FeedService.Numbers<>(1, (number) -> new Feed.Item(number, ""), () -> {
				}).subscribe(subscriber);
			};
			CallMetadata trailers = new CallMetadata(1024);
			Feed labelled = CallOptions.NONE.withMetadata("header", "value").withReplyMetadata(trailers).on(feed);
			assertThat(Collector.of(labelled.items("labelled"), 1).complete()).hasSize(1);
			assertThat(trailers.get("trailer")).isEqualTo("value!");
		});
	}

	@Test
	void largeRequestMayHaveAStreamAsItsReply() throws Exception {
		feeding((feed, service, fixture) -> {
			int[] bytes = new int[100_000];
			bytes[0] = 1;
			Collector<byte[]> collector = Collector.of(feed.blocks(50, bytes), 1);
			collector.request(49);
			assertThat(collector.complete()).hasSize(50);
		});
	}

	@Test
	void manyStreamsAtOnce() throws Exception {
		feeding((feed, service, fixture) -> {
			List<Collector<Long>> all = new ArrayList<>();
			for (int i = 0; i < 200; i++) {
				all.add(Collector.of(feed.count(500), 500));
			}
			for (Collector<Long> collector : all) {
				assertThat(collector.complete()).hasSize(500);
			}
		});
	}

	private static Flow.Publisher<Feed.Item> failing(int after, Throwable failure) {
		return (subscriber) -> subscriber.onSubscribe(new Flow.Subscription() {

			private int next;

			@Override
			public void request(long n) {
				for (long i = 0; i < n && this.next < after; i++) {
					subscriber.onNext(new Feed.Item(this.next++, ""));
				}
				if (this.next == after) {
					this.next++;
					subscriber.onError(failure);
				}
			}

			@Override
			public void cancel() {
				// nothing to give back
			}

		});
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void feeding(Check check) throws Exception {
		feeding(UnaryOperator.identity(), UnaryOperator.identity(), check);
	}

	/** Ends by asserting that both sides have given everything back. */
	private static void feeding(UnaryOperator<RpcServerOptions> serverOptions,
			UnaryOperator<RpcClientOptions> clientOptions, Check check) throws Exception {
		try (RpcFixture fixture = new RpcFixture(serverOptions, clientOptions)) {
			FeedService service = new FeedService();
			fixture.server.stop();
			fixture.client.close();
			fixture.server = fixture.startServer(serverOptions.apply(RpcFixture.serverOptions(0)), Feed.class, service);
			fixture.client = fixture.newClient(fixture.server, clientOptions);
			check.check(fixture.client.proxy(Feed.class), service, fixture);
			RpcFixture
				.awaitTrue(() -> fixture.server.activeCalls() == 0 && fixture.client.metrics().outstandingCalls() == 0);
		}
	}

	/** What a test does. */
	private interface Check {

		void check(Feed feed, FeedService service, RpcFixture fixture) throws Exception;

	}

}
