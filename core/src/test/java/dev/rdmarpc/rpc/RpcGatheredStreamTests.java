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

import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import dev.rdmarpc.transport.ChannelLoop;
import dev.rdmarpc.transport.RdmaTransport;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Messages that are published one after the other travel together, and none waits for
 * others.
 */
class RpcGatheredStreamTests extends AbstractRpcRequestStreamTests {

	private static final int MANY = 20_000;

	@ParameterizedTest
	@EnumSource
	void messagesShareFramesWhereverTheyArePublished(Dispatch dispatch) throws Exception {
		taking((options) -> options.withHandlers(HandlerOptions.DEFAULTS.withDispatch(dispatch)),
				(intake, service, fixture) -> {
					assertThat(intake.unary("first")).isEqualTo("first");
					long requests = framesReceived(fixture.serverTransport);
					long replies = framesReceived(fixture.clientTransport);
					Collector<Feed.Item> collector = Collector.of(intake.relabel(items(MANY, "before"), "after"),
							Long.MAX_VALUE);
					assertThat(collector.complete()).extracting(Feed.Item::number)
						.containsExactlyElementsOf(IntStream.range(0, MANY).boxed().toList());
					assertThat(framesReceived(fixture.serverTransport) - requests).as("frames to the server")
						.isLessThan(MANY / 2);
					assertThat(framesReceived(fixture.clientTransport) - replies).as("frames to the client")
						.isLessThan(MANY / 2);
				});
	}

	@Test
	void callersMessageLeavesThoughItsPublisherWaitsForTheAnswer() throws Exception {
		taking((intake, service, fixture) -> {
			Semaphore answered = new Semaphore(0);
			Collector<Feed.Item> answers = new AnsweringCollector(answered);
			intake.relabel(new Waiting(100, answered), "answer").subscribe(answers);
			assertThat(answers.complete()).hasSize(100);
		});
	}

	@ParameterizedTest
	@EnumSource
	void handlersMessageLeavesThoughItsPublisherWaitsForTheAnswer(Dispatch dispatch) throws Exception {
		taking((options) -> options.withHandlers(HandlerOptions.DEFAULTS.withDispatch(dispatch)),
				(intake, service, fixture) -> {
					Semaphore answered = new Semaphore(0);
					Collector<Feed.Item> answers = new AnsweringCollector(answered);
					service.converter = (items) -> new Waiting(100, answered);
					intake.convert(items(1, "")).subscribe(answers);
					assertThat(answers.complete()).hasSize(100);
				});
	}

	private static long framesReceived(RdmaTransport transport) {
		return transport.loops().stream().map(ChannelLoop::metrics).mapToLong((loop) -> loop.framesReceived()).sum();
	}

	/** Wants everything, and says when each message has come. */
	private static final class AnsweringCollector extends Collector<Feed.Item> {

		private final Semaphore answered;

		AnsweringCollector(Semaphore answered) {
			super(Long.MAX_VALUE);
			this.answered = answered;
		}

		@Override
		public void onNext(Feed.Item item) {
			super.onNext(item);
			this.answered.release();
		}

	}

	/** Publishes in the thread that requests, and waits after each message. */
	private record Waiting(int many, Semaphore answered) implements Flow.Publisher<Feed.Item> {

		@Override
		public void subscribe(Flow.Subscriber<? super Feed.Item> subscriber) {
			Flow.Publisher<Feed.Item> source = new FeedService.Numbers<>(this.many, (number) -> {
				assertThat(number == 0 || await()).isTrue();
				return new Feed.Item(number, "waits");
			}, () -> {
			});
			source.subscribe(subscriber);
		}

		private boolean await() {
			try {
				return this.answered.tryAcquire(20, TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
