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
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.FlowAdapters;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;
import org.reactivestreams.tck.flow.FlowSubscriberBlackboxVerification;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules of Reactive Streams, checked by their TCK: for the publishers that a client
 * and a handler get, and for the subscribers that a server gives to the publisher of a
 * handler, and a client to that of a caller.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class RpcReactiveStreamsTests {

	/** How long the TCK waits for what should come. */
	private static final long PATIENCE_MILLIS = 5000;

	/** How long it waits for what should not come. */
	private static final long SILENCE_MILLIS = 50;

	private final FeedService service = new FeedService();

	private RpcFixture fixture;

	private RpcServer server;

	private RpcClient client;

	private Feed feed;

	private final IntakeService intakeService = new IntakeService();

	private RpcServer intakeServer;

	private RpcClient intakeClient;

	private Intake intake;

	@BeforeEach
	void start() {
		this.fixture = new RpcFixture();
		this.server = this.fixture.startServer(RpcFixture.serverOptions(0).withDrainTimeout(Duration.ofMillis(100)),
				Feed.class, this.service);
		this.client = this.fixture.newClient(this.server, UnaryOperator.identity());
		this.feed = this.client.proxy(Feed.class);
		this.intakeServer = this.fixture.startServer(
				RpcFixture.serverOptions(0).withDrainTimeout(Duration.ofMillis(100)), Intake.class, this.intakeService);
		this.intakeClient = this.fixture.newClient(this.intakeServer, UnaryOperator.identity());
		this.intake = this.intakeClient.proxy(Intake.class);
	}

	/** The TCK leaves some streams without an end. */
	@AfterEach
	void stop() {
		this.server.close();
		this.client.close();
		this.intakeServer.close();
		this.intakeClient.close();
		RpcFixture.awaitTrue(() -> this.server.activeCalls() == 0 && this.intakeServer.activeCalls() == 0);
		this.fixture.close();
	}

	@TestFactory
	Stream<DynamicTest> publisherOfAClient() {
		return TckRules.of(new PublisherRules());
	}

	@TestFactory
	Stream<DynamicTest> fluxOfAClient() {
		return TckRules.of(new FluxRules());
	}

	/** Some rules can only be tested with several messages. */
	@TestFactory
	Stream<DynamicTest> monoOfAClient() {
		return TckRules.of(new MonoRules(), "required_spec317_", "required_spec313_cancelMustMake",
				"stochastic_spec103_");
	}

	@TestFactory
	Stream<DynamicTest> subscriberOfAServer() {
		return TckRules.of(new SubscriberRules());
	}

	@TestFactory
	Stream<DynamicTest> publisherOfAHandler() {
		return TckRules.of(new RequestPublisherRules(), "optional_spec111");
	}

	@TestFactory
	Stream<DynamicTest> subscriberOfAClient() {
		return TckRules.of(new RequestSubscriberRules());
	}

	private static TestEnvironment environment() {
		return new TestEnvironment(PATIENCE_MILLIS, SILENCE_MILLIS, SILENCE_MILLIS, false);
	}

	/** What is published to the subscriber of a client. */
	public final class PublisherRules extends FlowPublisherVerification<Long> {

		PublisherRules() {
			super(environment());
		}

		@Override
		public Flow.Publisher<Long> createFlowPublisher(long elements) {
			return RpcReactiveStreamsTests.this.feed.count(elements);
		}

		@Override
		public Flow.Publisher<Long> createFailedFlowPublisher() {
			return CallOptions.NONE.withMetadata("too", "long".repeat(1000))
				.on(RpcReactiveStreamsTests.this.feed)
				.count(1);
		}

	}

	/** The same with types of Reactor. */
	interface ReactorFeed {

		Flux<Long> count(long many);

		Mono<String> unary(String text);

	}

	/** What is published to the subscriber of a client that uses Reactor. */
	public final class FluxRules extends FlowPublisherVerification<Long> {

		private final ReactorFeed reactorFeed = RpcReactiveStreamsTests.this.client.proxy(Feed.class.getName(),
				ReactorFeed.class);

		FluxRules() {
			super(environment());
		}

		@Override
		public Flow.Publisher<Long> createFlowPublisher(long elements) {
			return FlowAdapters.toFlowPublisher(this.reactorFeed.count(elements));
		}

		@Override
		public Flow.Publisher<Long> createFailedFlowPublisher() {
			return FlowAdapters.toFlowPublisher(
					CallOptions.NONE.withMetadata("too", "long".repeat(1000)).on(this.reactorFeed).count(1));
		}

	}

	/** The one reply to a client that uses Reactor. */
	public final class MonoRules extends FlowPublisherVerification<String> {

		private final ReactorFeed reactorFeed = RpcReactiveStreamsTests.this.client.proxy(Feed.class.getName(),
				ReactorFeed.class);

		MonoRules() {
			super(environment());
		}

		@Override
		public long maxElementsFromPublisher() {
			return 1;
		}

		@Override
		public Flow.Publisher<String> createFlowPublisher(long elements) {
			return FlowAdapters.toFlowPublisher(this.reactorFeed.unary("one"));
		}

		@Override
		public Flow.Publisher<String> createFailedFlowPublisher() {
			return FlowAdapters.toFlowPublisher(
					CallOptions.NONE.withMetadata("too", "long".repeat(1000)).on(this.reactorFeed).unary("one"));
		}

	}

	/** What a server subscribes with. */
	public final class SubscriberRules extends FlowSubscriberBlackboxVerification<Feed.Item> {

		private final BlockingQueue<Flow.Subscriber<? super Feed.Item>> subscribers = new LinkedBlockingQueue<>();

		private final Map<Flow.Subscriber<? super Feed.Item>, Collector<Feed.Item>> consumers = new ConcurrentHashMap<>();

		SubscriberRules() {
			super(environment());
			RpcReactiveStreamsTests.this.service.publisher = this.subscribers::add;
		}

		@Override
		@SuppressWarnings("unchecked") // it takes whatever the method publishes
		public Flow.Subscriber<Feed.Item> createFlowSubscriber() {
			Collector<Feed.Item> consumer = Collector.of(RpcReactiveStreamsTests.this.feed.items("tck"), 0);
			try {
				Flow.Subscriber<? super Feed.Item> subscriber = this.subscribers.poll(20, TimeUnit.SECONDS);
				assertThat(subscriber).isNotNull();
				this.consumers.put(subscriber, consumer);
				return (Flow.Subscriber<Feed.Item>) subscriber;
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void triggerFlowRequest(Flow.Subscriber<? super Feed.Item> subscriber) {
			this.consumers.get(subscriber).request(1);
		}

		@Override
		public Publisher<Feed.Item> createHelperPublisher(long elements) {
			return FlowAdapters.toPublisher(new FeedService.Numbers<>(elements, this::createElement, () -> {
			}));
		}

		@Override
		public Feed.Item createElement(int number) {
			return new Feed.Item(number, "element");
		}

	}

	/** What is published to the subscriber of a handler. */
	public final class RequestPublisherRules extends FlowPublisherVerification<Feed.Item> {

		private final BlockingQueue<Flow.Publisher<Feed.Item>> publishers = new LinkedBlockingQueue<>();

		RequestPublisherRules() {
			super(environment());
			RpcReactiveStreamsTests.this.intakeService.handler = (items) -> {
				this.publishers.add(items);
				return new CompletableFuture<>();
			};
		}

		@Override
		public Flow.Publisher<Feed.Item> createFlowPublisher(long elements) {
			RpcReactiveStreamsTests.this.intake
				.handle(new FeedService.Numbers<>(elements, (number) -> new Feed.Item(number, "element"), () -> {
				}));
			return taken();
		}

		@Override
		public Flow.Publisher<Feed.Item> createFailedFlowPublisher() {
			CompletableFuture<String> call = RpcReactiveStreamsTests.this.intake
				.handle(new FeedService.Numbers<>(1, (number) -> new Feed.Item(number, "element"), () -> {
				}));
			Flow.Publisher<Feed.Item> publisher = taken();
			call.cancel(false);
			RpcReactiveStreamsTests.this.intake.unary("after the cancellation");
			return publisher;
		}

		private Flow.Publisher<Feed.Item> taken() {
			try {
				Flow.Publisher<Feed.Item> publisher = this.publishers.poll(20, TimeUnit.SECONDS);
				assertThat(publisher).isNotNull();
				return publisher;
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	/** What a client subscribes with. */
	public final class RequestSubscriberRules extends FlowSubscriberBlackboxVerification<Feed.Item> {

		private final BlockingQueue<Flow.Subscriber<? super Feed.Item>> subscribers = new LinkedBlockingQueue<>();

		private final BlockingQueue<Collector<Feed.Item>> accepted = new LinkedBlockingQueue<>();

		private final Map<Flow.Subscriber<? super Feed.Item>, Collector<Feed.Item>> consumers = new ConcurrentHashMap<>();

		RequestSubscriberRules() {
			super(environment());
			RpcReactiveStreamsTests.this.intakeService.handler = (items) -> {
				this.accepted.add(Collector.of(items, 0));
				return new CompletableFuture<>();
			};
		}

		@Override
		@SuppressWarnings("unchecked") // it takes whatever the method takes
		public Flow.Subscriber<Feed.Item> createFlowSubscriber() {
			RpcReactiveStreamsTests.this.intake.handle(this.subscribers::add);
			try {
				Flow.Subscriber<? super Feed.Item> subscriber = this.subscribers.poll(20, TimeUnit.SECONDS);
				Collector<Feed.Item> consumer = this.accepted.poll(20, TimeUnit.SECONDS);
				assertThat(subscriber).isNotNull();
				assertThat(consumer).isNotNull();
				this.consumers.put(subscriber, consumer);
				return (Flow.Subscriber<Feed.Item>) subscriber;
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void triggerFlowRequest(Flow.Subscriber<? super Feed.Item> subscriber) {
			this.consumers.get(subscriber).request(1);
		}

		@Override
		public Publisher<Feed.Item> createHelperPublisher(long elements) {
			return FlowAdapters.toPublisher(new FeedService.Numbers<>(elements, this::createElement, () -> {
			}));
		}

		@Override
		public Feed.Item createElement(int number) {
			return new Feed.Item(number, "element");
		}

	}

}
