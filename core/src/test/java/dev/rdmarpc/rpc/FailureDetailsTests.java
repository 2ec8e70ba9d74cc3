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

import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;
import dev.rdmarpc.memory.RegisteredBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** What failures say beyond their status and text. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FailureDetailsTests {

	private static final Missing MISSING = new Missing("pear", List.of(new Offer("apple", 7)));

	private static final String VALUE_KEY = DetailsFormats.KEY + "-bin";

	private final RpcFixture fixture = new RpcFixture();

	private volatile Runnable handler = () -> {
	};

	private final RpcServer server = this.fixture.startServer(Shop.class, new FailingShop());

	private final RpcClient client = this.fixture.newClient(this.server);

	private final Shop shop = this.client.proxy(Shop.class);

	@AfterEach
	void nothingIsOutstanding() {
		RpcFixture.assertServesOn(this.server, this.client);
		this.client.close();
		this.server.close();
		this.fixture.close();
	}

	private RpcException of(Runnable code) {
		this.handler = code;
		return catchThrowableOfType(RpcException.class, () -> this.shop.take("pear"));
	}

	private RpcException of(Record details) {
		return of(() -> {
			throw new RpcException(RpcStatus.NOT_FOUND, "no such article", details);
		});
	}

	@Test
	void theyArriveAsTheyWereGiven() {
		RpcException failure = of(MISSING);
		assertThat(failure.status()).isEqualTo(RpcStatus.NOT_FOUND);
		assertThat(failure.detail()).isEqualTo("no such article");
		assertThat(failure.details(Missing.class)).contains(MISSING);
		assertThat(failure.details(Missing.class)).contains(MISSING);
		assertThat(failure.details(Offer.class)).isEmpty();
	}

	@Test
	void aFailureWithoutThemHasNone() {
		RpcException failure = of(() -> {
			throw new RpcException(RpcStatus.NOT_FOUND, "no such article");
		});
		assertThat(failure.details(Missing.class)).isEmpty();
	}

	@Test
	void throughAFuture() {
		this.handler = () -> {
			throw new RpcException(RpcStatus.NOT_FOUND, "no such article", MISSING);
		};
		CompletableFuture<Void> future = this.shop.order("pear");
		for (int i = 0; i < 2; i++) {
			assertThat(catchThrowableOfType(CompletionException.class, future::join).getCause()).isInstanceOfSatisfying(
					RpcException.class, (ex) -> assertThat(ex.details(Missing.class)).contains(MISSING));
		}
	}

	@Test
	void throughAStream() {
		this.handler = () -> {
			throw new RpcException(RpcStatus.NOT_FOUND, "no such article", MISSING);
		};
		try (Stream<String> articles = this.shop.articles()) {
			assertThat(catchThrowableOfType(RpcException.class, articles::toList).details(Missing.class))
				.contains(MISSING);
		}
	}

	@Test
	void thoseOfAFailedCallOfTheHandlersOwnStayThere() {
		RpcException failure = of(() -> {
			this.handler = () -> {
				throw new RpcException(RpcStatus.NOT_FOUND, "inside", MISSING);
			};
			this.shop.order("pear").join();
		});
		assertThat(failure).isNotNull();
		assertThat(failure.details(Missing.class)).isEmpty();
	}

	@Test
	void withoutRoomTheyAreLeftOut() {
		RpcException failure = of(new Missing("pear".repeat(1000), List.of()));
		assertThat(failure.detail()).isEqualTo("no such article");
		assertThat(failure.details(Missing.class)).isEmpty();
	}

	@Test
	void violationsAreAsManyAsThereIsRoomFor() {
		for (int all : new int[] { 1, 5, 40 }) {
			FieldViolations given = new FieldViolations(IntStream.range(0, all)
				.mapToObj((i) -> new FieldViolations.Violation("article" + i, "must not be blank"))
				.toList(), 0);
			FieldViolations told = of(given).details(FieldViolations.class).orElseThrow();
			assertThat(told.violations()).isNotEmpty().hasSize(all - told.omitted());
			assertThat(given.violations()).startsWith(told.violations().toArray(FieldViolations.Violation[]::new));
			assertThat(told.omitted() == 0).isEqualTo(all < 40);
		}
	}

	@Test
	void thoseThatNoMessageCanCarryAreLeftOut() {
		assertThat(of(new Unknown(new Object())).details(Unknown.class)).isEmpty();
		assertThat(of(new Refusing("x")).details(Refusing.class)).isEmpty();
		assertThat(of(new Missing("pear", Arrays.asList((Offer) null))).detail()).isEqualTo("no such article");
	}

	@Test
	void thoseThatNeedTooMuchStackAreLeftOut() {
		RpcException failure = of(new Bottomless("x"));
		assertThat(failure.status()).isEqualTo(RpcStatus.NOT_FOUND);
		assertThat(failure.details(Bottomless.class)).isEmpty();
	}

	/** There was memory for a reply. */
	@Test
	void anErrorWhileTheyAreWrittenIsToldAsOne() {
		RpcException failure = of(new Wrong("x"));
		assertThat(failure.status()).isEqualTo(RpcStatus.UNKNOWN);
		assertThat(failure.detail()).isEqualTo("the handler failed, which cannot be told");
	}

	/** Without reading outside of the message, and without failing. */
	@Test
	void whateverAPeerSendsInTheirPlace() {
		CallMetadata written = new CallMetadata();
		MetadataFormat format = MetadataFormat.ofResult(DetailsFormats.KEY, new FlatBuffersCodec(),
				new MethodSignature("s", "m", List.of(), List.of(), Missing.class));
		assertThat(format.write(Missing.class.getName(), MISSING, written)).isTrue();
		byte[] good = Objects.requireNonNull(written.getBytes(VALUE_KEY));
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		for (int i = 0; i < 300; i++) {
			byte[] bytes = Arrays.copyOf(good, 1 + random.nextInt(good.length));
			for (int j = random.nextInt(4); j >= 0; j--) {
				bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
			}
			String value = (i % 10 == 0) ? "not Base64: " + i : Base64.getEncoder().encodeToString(bytes);
			RpcException failure = of(() -> {
				CallMetadata reply = RpcContext.current().replyMetadata();
				reply.putReserved(DetailsFormats.KEY, Missing.class.getName());
				reply.putReserved(VALUE_KEY, value);
				throw new RpcException(RpcStatus.NOT_FOUND, "no such article");
			});
			assertThat(catchThrowable(() -> failure.details(Missing.class))).as("seed %d, %s", seed, value).isNull();
			assertThat(failure.details(Borrowing.class)).isEmpty();
		}
	}

	@Test
	void registeredMemoryIsNoPartOfThem() {
		RpcException failure = of(() -> {
			CallMetadata reply = RpcContext.current().replyMetadata();
			reply.putReserved(DetailsFormats.KEY, Borrowing.class.getName());
			reply.putReserved(VALUE_KEY, "AAAAAAAAAAAAAAAAAAAAAA==");
			throw new RpcException(RpcStatus.NOT_FOUND, "no such article");
		});
		assertThat(failure.details(Borrowing.class)).isEmpty();
	}

	/** The service. */
	public interface Shop {

		void take(String article);

		CompletableFuture<Void> order(String article);

		Stream<String> articles();

	}

	/** Details. */
	public record Missing(String article, List<Offer> offers) {

	}

	/** A part of them. */
	public record Offer(String article, int many) {

	}

	/** With a part that no message can carry. */
	public record Unknown(Object part) {

	}

	/** That fails when it is read. */
	public record Refusing(String text) {

		@Override
		public String text() {
			throw new IllegalStateException("not to be read");
		}

	}

	/** That has no end. */
	public record Bottomless(String text) {

		@Override
		public String text() {
			throw new StackOverflowError("thrown on purpose");
		}

	}

	/** That fails with an error when it is read. */
	public record Wrong(String text) {

		@Override
		public String text() {
			throw new AssertionError("thrown on purpose");
		}

	}

	/** With memory that somebody would have to release. */
	public record Borrowing(RegisteredBuffer memory) {

	}

	private final class FailingShop implements Shop {

		@Override
		public void take(String article) {
			FailureDetailsTests.this.handler.run();
		}

		@Override
		public CompletableFuture<Void> order(String article) {
			FailureDetailsTests.this.handler.run();
			return CompletableFuture.completedFuture(null);
		}

		@Override
		public Stream<String> articles() {
			FailureDetailsTests.this.handler.run();
			return Stream.empty();
		}

	}

}
