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
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.Await;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Streams of messages for threads that wait for them. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcAwaitedStreamTests {

	@Test
	void streamsAndIteratorsBringAllMessagesInOrder() throws Exception {
		taping((tape, service, fixture) -> {
			List<Long> expected = LongStream.range(0, 10_000).boxed().toList();
			try (Stream<Long> numbers = tape.count(10_000)) {
				assertThat(numbers.toList()).isEqualTo(expected);
			}
			assertThat(tape.list(10_000)).toIterable().isEqualTo(expected);
			assertThat(service.closed).hasValue(1);
		});
	}

	@Test
	void emptyStreamsEnd() throws Exception {
		taping((tape, service, fixture) -> {
			try (Stream<Long> numbers = tape.count(0)) {
				assertThat(numbers).isEmpty();
			}
			Iterator<Long> none = tape.list(0);
			assertThat(none.hasNext()).isFalse();
			assertThatThrownBy(none::next).isInstanceOf(NoSuchElementException.class);
			assertThat(tape.sum(Stream.empty())).isZero();
		});
	}

	@Test
	void messagesThatFollowARequestComeFromStreamsAndIterators() throws Exception {
		taping((tape, service, fixture) -> {
			AtomicInteger closed = new AtomicInteger();
			Stream<Long> numbers = LongStream.range(0, 10_000).boxed().onClose(closed::incrementAndGet);
			assertThat(tape.sum(numbers)).isEqualTo(49_995_000);
			RpcFixture.awaitTrue(() -> closed.get() == 1);
			assertThat(tape.sumLater(LongStream.range(0, 100).iterator()).get(20, TimeUnit.SECONDS)).isEqualTo(4950);
		});
	}

	@Test
	void messagesGoBothWays() throws Exception {
		taping((tape, service, fixture) -> {
			try (Stream<String> named = tape.name(LongStream.range(0, 1000).boxed(), "number ")) {
				assertThat(named.toList())
					.isEqualTo(IntStream.range(0, 1000).mapToObj((number) -> "number " + number).toList());
			}
		});
	}

	@Test
	void bothEndsMayHaveOtherForms() throws Exception {
		taping((tape, service, fixture) -> {
			FlowTape other = fixture.client.proxy(Tape.class.getName(), FlowTape.class);
			assertThat(Collector.of(other.count(100), Long.MAX_VALUE).complete()).hasSize(100);
			assertThat(other.sum(other.count(100)).get(20, TimeUnit.SECONDS)).isEqualTo(4950);
		});
	}

	@Test
	void closingCancelsTheCallAndClosesTheSource() throws Exception {
		taping((tape, service, fixture) -> {
			Stream<Long> numbers = tape.count(Long.MAX_VALUE);
			assertThat(numbers.limit(10).toList()).hasSize(10);
			assertThat(fixture.server.activeCalls()).isEqualTo(1);
			numbers.close();
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 0 && service.closed.get() == 1);
		});
	}

	@Test
	void nothingIsAskedForThatIsFarAhead() throws Exception {
		taping((tape, service, fixture) -> {
			try (Stream<Long> numbers = tape.count(Long.MAX_VALUE)) {
				RpcFixture.awaitTrue(() -> service.published.get() >= 64);
				tape.sum(Stream.of(1L));
				assertThat(service.published.get()).isLessThanOrEqualTo(65);
				assertThat(numbers.limit(1000).count()).isEqualTo(1000);
			}
		});
	}

	@Test
	void aFailureIsThrownAfterTheMessagesBeforeItWithTheStackOfTheCaller() throws Exception {
		taping((tape, service, fixture) -> {
			service.failAt = 100;
			Iterator<Long> numbers = tape.list(Long.MAX_VALUE);
			for (long i = 0; i < 100; i++) {
				assertThat(numbers.next()).isEqualTo(i);
			}
			RpcException failure = catchThrowableOfType(RpcException.class, numbers::hasNext);
			assertThat(failure.status()).isEqualTo(RpcStatus.UNKNOWN);
			assertThat(failure.getStackTrace()).anyMatch((frame) -> frame.getMethodName().equals("hasNext"));
			assertThat(failure.getMessage()).contains("list");
			try (Stream<Long> failing = tape.count(1000)) {
				assertThatThrownBy(failing::toList).isInstanceOf(RpcException.class);
			}
			RpcFixture.awaitTrue(() -> service.closed.get() == 1);
		});
	}

	@Test
	void aFailingStreamOfTheCallerFailsTheCall() throws Exception {
		taping((tape, service, fixture) -> {
			AtomicInteger closed = new AtomicInteger();
			Stream<Long> numbers = LongStream.range(0, 100).mapToObj((number) -> {
				if (number == 50) {
					throw new IllegalStateException("no number 50");
				}
				return number;
			}).onClose(closed::incrementAndGet);
			assertThat(catchThrowableOfType(RpcException.class, () -> tape.sum(numbers)).detail())
				.contains("no number 50");
			RpcFixture.awaitTrue(() -> closed.get() == 1);
		});
	}

	@Test
	void interruptingTheThreadThatWaitsEndsTheCall() throws Exception {
		taping((tape, service, fixture) -> {
			service.hold = new CountDownLatch(1);
			AtomicReference<Throwable> thrown = new AtomicReference<>();
			CountDownLatch interrupted = new CountDownLatch(1);
			Thread waiting = new Thread(() -> {
				try {
					tape.list(10).next();
				}
				catch (Throwable ex) {
					thrown.set(ex);
				}
				if (Thread.currentThread().isInterrupted()) {
					interrupted.countDown();
				}
			});
			waiting.start();
			RpcFixture.awaitTrue(() -> service.holding.get() == 1);
			waiting.interrupt();
			Await.latch(interrupted);
			waiting.join();
			assertThat(thrown.get()).isInstanceOfSatisfying(RpcException.class,
					(ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.CANCELLED));
			RpcFixture.awaitTrue(() -> fixture.server.activeCalls() == 0);
		});
	}

	@Test
	void aSourceThatBlocksIsInterruptedWhenNobodyWaitsForItAnyMore() throws Exception {
		taping((tape, service, fixture) -> {
			service.hold = new CountDownLatch(1);
			Stream<Long> numbers = tape.count(10);
			RpcFixture.awaitTrue(() -> service.holding.get() == 1);
			numbers.close();
			RpcFixture.awaitTrue(() -> service.holding.get() == 0 && service.closed.get() == 1);
		});
	}

	@Test
	void handlersThatWaitForMessagesNeedNoThreadToGetThem() throws Exception {
		HandlerOptions one = HandlerOptions.DEFAULTS.withDispatch(Dispatch.EXECUTOR)
			.withThreads(HandlerThreads.PLATFORM, 1);
		taping((options) -> options.withHandlers(one), (tape, service, fixture) -> {
			for (int i = 0; i < 20; i++) {
				assertThat(tape.sum(LongStream.range(0, 1000).boxed())).isEqualTo(499_500);
			}
		});
	}

	@Test
	void aHandlerThatWaitsIsInterruptedWhenTheCallerGivesUp() throws Exception {
		taping((tape, service, fixture) -> {
			CountDownLatch hold = new CountDownLatch(1);
			CompletableFuture<Long> sum = tape.sumLater(new Held(hold));
			RpcFixture.awaitTrue(() -> service.waiting.get() == 1);
			sum.cancel(true);
			RpcFixture.awaitTrue(() -> service.waiting.get() == 0 && fixture.server.activeCalls() == 0);
			hold.countDown();
		});
	}

	@Test
	void messagesThatHoldMemoryAreGivenBack() throws Exception {
		taping((tape, service, fixture) -> {
			try (Stream<RegisteredBuffer> letters = tape.letters(100)) {
				assertThat(letters.peek((letter) -> assertThat(letter.buffer().get(0)).isEqualTo((byte) 'x'))
					.filter(RegisteredBuffer::release)
					.count()).isEqualTo(100);
			}
			try (Stream<RegisteredBuffer> letters = tape.letters(100)) {
				assertThat(letters.limit(3).filter(RegisteredBuffer::release).count()).isEqualTo(3);
			}
		});
	}

	@Test
	void whatHasArrivedAndNobodyTakesIsGivenBack() throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			MethodDescriptor method = ServiceDescriptor.of(Tape.class, new FlatBuffersCodec()).methods().get(0);
			RegisteredBuffer taken = fixture.clientMemory.allocate(8);
			RegisteredBuffer left = fixture.clientMemory.allocate(8);
			for (Object message : List.of(left, new Parcel(1, List.of(left)))) {
				left.retain();
				taken.retain();
				AwaitedMessages messages = new AwaitedMessages(
						new IteratedMessages(List.of(taken, message).iterator(), () -> {
						}), method, true);
				assertThat(messages.next()).isSameAs(taken);
				taken.release();
				assertThat(messages.hasNext()).isTrue();
				messages.close();
				assertThat(messages.hasNext()).isFalse();
			}
			assertThat(taken.release()).isTrue();
			assertThat(left.release()).isTrue();
		}
	}

	@Test
	void aHandlerThatReturnsNoStreamIsToldSo() throws Exception {
		taping((tape, service, fixture) -> {
			Iterator<Long> none = tape.nothing();
			assertThat(catchThrowableOfType(RpcException.class, none::hasNext).detail())
				.contains("expected: a stream of messages");
		});
	}

	@Test
	void manyStreamsAtOnceAndHalfOfThemClosedInTheMiddle() throws Exception {
		taping((tape, service, fixture) -> {
			List<CompletableFuture<Long>> all = IntStream.range(0, 40).mapToObj((number) -> RpcFixture.inThread(() -> {
				try (Stream<Long> numbers = tape.count(2000)) {
					return numbers.limit((number % 2 == 0) ? 2000 : 100 + number).count();
				}
			})).toList();
			for (int i = 0; i < all.size(); i++) {
				assertThat(all.get(i).get(50, TimeUnit.SECONDS)).isEqualTo((i % 2 == 0) ? 2000 : 100 + i);
			}
			RpcFixture.awaitTrue(() -> service.closed.get() == 40);
		});
	}

	@Test
	void twoStreamsOfMessagesAreRefused() {
		assertThatThrownBy(() -> {
			try (RpcFixture fixture = new RpcFixture()) {
				fixture.client.proxy(Two.class);
			}
		}).hasMessageContaining("Two/merge takes two streams of messages")
			.hasMessageContaining("Flow.Publisher, Publisher, Flux, Stream or Iterator");
	}

	private static void taping(Check check) throws Exception {
		taping(UnaryOperator.identity(), check);
	}

	/** Ends by asserting that both sides have given everything back. */
	private static void taping(UnaryOperator<RpcServerOptions> options, Check check) throws Exception {
		try (RpcFixture fixture = new RpcFixture()) {
			TapeService service = new TapeService(fixture);
			fixture.server.stop();
			fixture.client.close();
			fixture.server = fixture.startServer(
					options.apply(RpcFixture.serverOptions(0).withDrainTimeout(Duration.ofSeconds(1))), Tape.class,
					service);
			fixture.client = fixture.newClient(fixture.server, UnaryOperator.identity());
			check.check(fixture.client.proxy(Tape.class), service, fixture);
			RpcFixture
				.awaitTrue(() -> fixture.server.activeCalls() == 0 && fixture.client.metrics().outstandingCalls() == 0);
		}
	}

	/** A service with streams to be waited for. */
	interface Tape {

		Stream<Long> count(long many);

		Iterator<Long> list(long many);

		long sum(Stream<Long> numbers);

		CompletableFuture<Long> sumLater(Iterator<Long> numbers);

		Stream<String> name(Stream<Long> numbers, String before);

		Stream<RegisteredBuffer> letters(int many);

		Iterator<Long> nothing();

	}

	/** The same for those who do not wait. */
	interface FlowTape {

		Flow.Publisher<Long> count(long many);

		CompletableFuture<Long> sum(Flow.Publisher<Long> numbers);

	}

	/** Takes too much. */
	interface Two {

		void merge(Stream<Long> first, Iterator<Long> second);

	}

	/** Holds memory. */
	record Parcel(int number, List<RegisteredBuffer> letters) {

	}

	/** What a test does. */
	private interface Check {

		void check(Tape tape, TapeService service, RpcFixture fixture) throws Exception;

	}

	/** What the caller sends after the latch. */
	private record Held(CountDownLatch hold) implements Iterator<Long> {

		@Override
		public boolean hasNext() {
			Await.latch(this.hold);
			return false;
		}

		@Override
		public Long next() {
			throw new NoSuchElementException();
		}

	}

	/** Serves the streams, and knows what became of them. */
	private static final class TapeService implements Tape {

		private final RpcFixture fixture;

		private final AtomicInteger closed = new AtomicInteger();

		private final AtomicInteger published = new AtomicInteger();

		private final AtomicInteger holding = new AtomicInteger();

		private final AtomicInteger waiting = new AtomicInteger();

		private volatile long failAt = Long.MAX_VALUE;

		private volatile CountDownLatch hold = new CountDownLatch(0);

		TapeService(RpcFixture fixture) {
			this.fixture = fixture;
		}

		@Override
		public Stream<Long> count(long many) {
			return numbers(many, (number) -> number).onClose(this.closed::incrementAndGet);
		}

		@Override
		public Iterator<Long> list(long many) {
			return numbers(many, (number) -> number).iterator();
		}

		private <T> Stream<T> numbers(long many, LongFunction<T> value) {
			return LongStream.range(0, many).mapToObj((number) -> {
				if (number == this.failAt) {
					throw new IllegalStateException("no more");
				}
				this.holding.incrementAndGet();
				try {
					this.hold.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
				finally {
					this.holding.decrementAndGet();
				}
				this.published.incrementAndGet();
				return value.apply(number);
			});
		}

		@Override
		public long sum(Stream<Long> numbers) {
			return numbers.mapToLong(Long::longValue).sum();
		}

		@Override
		public CompletableFuture<Long> sumLater(Iterator<Long> numbers) {
			long sum = 0;
			this.waiting.incrementAndGet();
			try {
				while (numbers.hasNext()) {
					sum += numbers.next();
				}
			}
			finally {
				this.waiting.decrementAndGet();
			}
			return CompletableFuture.completedFuture(sum);
		}

		@Override
		public Stream<String> name(Stream<Long> numbers, String before) {
			return numbers.map((number) -> before + number);
		}

		@Override
		public Stream<RegisteredBuffer> letters(int many) {
			return IntStream.range(0, many).mapToObj((number) -> {
				RegisteredBuffer letter = this.fixture.serverMemory.allocate(8);
				letter.buffer().put(0, (byte) 'x');
				RpcContext.current().releaseAfterReply(letter);
				return letter;
			});
		}

		@Override
		public Iterator<Long> nothing() {
			return null;
		}

	}

}
