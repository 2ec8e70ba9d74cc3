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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.codec.UnsupportedTypeException;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/** Methods that take streams. */
class RpcRequestStreamTests extends AbstractRpcRequestStreamTests {

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

	/** Takes too much. */
	interface TwoStreams {

		void merge(Flow.Publisher<String> first, Flow.Publisher<String> second);

	}

	/** Takes what has no message form. */
	interface Unsupported {

		void take(Flow.Publisher<?> anything);

	}

}
