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

import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/** What becomes of exceptions that a method declares, and of those that are handled. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeclaredExceptionTests {

	private static final CallOptions TEN_SECONDS = CallOptions.deadline(TestEnvironment.scaled(Duration.ofSeconds(10)));

	private final RpcFixture fixture = new RpcFixture();

	private volatile Throwable thrown = new IllegalStateException("not set");

	/** What a handler does before it throws. */
	private volatile Runnable before = () -> {
	};

	private volatile RpcExceptionHandler handler = (method, failure) -> null;

	private final RpcServer server = RpcServer.builder()
		.transport(this.fixture.serverTransport)
		.options(RpcFixture.serverOptions(0))
		.service(Shop.class, new ThrowingShop())
		.exceptionHandler((method, failure) -> null)
		.exceptionHandler((method, failure) -> this.handler.handle(method, failure))
		.build();

	private @Nullable RpcClient client;

	private @Nullable Shop shop;

	@BeforeEach
	void start() {
		this.client = this.fixture.newClient(this.server.start());
		this.shop = TEN_SECONDS.on(this.client.proxy(Shop.class));
	}

	@AfterEach
	@SuppressWarnings("NullAway") // set before
	void stop() {
		RpcFixture.assertServesOn(this.server, this.client);
		this.client.close();
		this.server.close();
		this.fixture.close();
	}

	@SuppressWarnings("NullAway") // set before
	private Throwable of(Throwable failure) {
		this.thrown = failure;
		return catchThrowable(() -> this.shop.take("pear", 3));
	}

	@Test
	void oneLikeARecordIsMadeOfWhatItHolds() {
		Throwable failure = of(new OutOfStock("pear", 2, List.of(new Offer("apple", 7))));
		assertThat(failure).isInstanceOfSatisfying(OutOfStock.class, (ex) -> {
			assertThat(ex.article()).isEqualTo("pear");
			assertThat(ex.getLeft()).isEqualTo(2);
			assertThat(ex.offers()).containsExactly(new Offer("apple", 7));
		}).hasMessage("only 2 of pear").hasCauseInstanceOf(RpcException.class);
		assertThat(failure.getStackTrace()).extracting(StackTraceElement::getClassName)
			.contains(DeclaredExceptionTests.class.getName());
		assertThat(((RpcException) failure.getCause()).status()).isEqualTo(RpcStatus.UNKNOWN);
	}

	@Test
	void oneWithAMessageIsMadeOfIt() {
		assertThat(of(new Closed("until Monday"))).isExactlyInstanceOf(Closed.class).hasMessage("until Monday");
		assertThat(of(new Closed((String) null))).isExactlyInstanceOf(Closed.class).hasMessage(null);
		assertThat(of(new IOException("disk"))).isExactlyInstanceOf(IOException.class).hasMessage("disk");
	}

	@Test
	void oneWhoseMessageThrowsIsMadeWithoutIt() {
		assertThat(of(new Speechless())).isExactlyInstanceOf(IOException.class).hasMessage(null);
	}

	@Test
	void asASuperclassThatIsDeclared() {
		assertThat(of(new FileNotFoundException("list"))).isExactlyInstanceOf(IOException.class).hasMessage("list");
	}

	@Test
	void oneThatCannotBeMadeIsAStatusWithItsMessage() {
		assertThat(of(new Reworded("pear"))).isInstanceOfSatisfying(RpcException.class,
				(ex) -> assertThat(ex.detail()).isEqualTo("no pear today"));
	}

	@Test
	void oneThatMakesAnotherMessageOfItsMessageIsAStatusWithIt() {
		assertThat(of(new Rejected("pear", 7))).isInstanceOfSatisfying(RpcException.class,
				(ex) -> assertThat(ex.detail()).isEqualTo("rejected: pear (7)"));
	}

	@Test
	void oneThatHoldsItsMessageAndMoreIsMadeOfThem() {
		assertThat(of(new Refused("pear", 7)))
			.isInstanceOfSatisfying(Refused.class, (ex) -> assertThat(ex.getCode()).isEqualTo(7))
			.hasMessage("pear");
		assertThat(of(new Refused(null, 7))).isInstanceOf(Refused.class).hasMessage(null);
	}

	@Test
	void oneForWhichMetadataHasNoRoomIsAStatusWithItsMessage() {
		assertThat(of(new OutOfStock("pear".repeat(1000), 2, List.of()))).isInstanceOfSatisfying(RpcException.class,
				(ex) -> assertThat(ex.detail()).startsWith("only 2 of pear"));
	}

	/** Of the same name, but the server's class holds something else. */
	@Test
	@SuppressWarnings("NullAway") // set before
	void oneThatHoldsSomethingElseAtTheServerIsAStatusWithItsMessage() {
		MethodSignature signature = new MethodSignature("s", "m", List.of("article", "left"),
				List.of(String.class, double.class), void.class);
		MetadataFormat servers = MetadataFormat.ofArguments(DeclaredException.KEY, new FlatBuffersCodec(), signature);
		this.before = () -> servers.write(OutOfStock.class.getName(), new Object[] { "pear", 2.5 },
				RpcContext.current().replyMetadata());
		RpcException chosen = new RpcException(RpcStatus.NOT_FOUND, "only 2.5 of pear");
		assertThat(of(chosen)).isInstanceOfSatisfying(RpcException.class, (ex) -> {
			assertThat(ex.status()).isEqualTo(RpcStatus.NOT_FOUND);
			assertThat(ex.detail()).isEqualTo("only 2.5 of pear");
		});
	}

	@Test
	void anUndeclaredOneSaysNothing() {
		for (Throwable failure : List.of(new IllegalStateException("secret"), new Exception("secret"))) {
			assertThat(of(failure)).isInstanceOf(RpcException.class).message().doesNotContain("secret", "IllegalState");
		}
	}

	@Test
	@SuppressWarnings("NullAway") // set before
	void throughAFuture() throws Exception {
		this.thrown = new OutOfStock("pear", 2, List.of());
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> this.shop.order("pear").join())
			.withCauseInstanceOf(OutOfStock.class);
		assertThat(this.shop.order("pear").handle((none, failure) -> failure).join()).isInstanceOf(OutOfStock.class);
	}

	@Test
	@SuppressWarnings("NullAway") // set before
	void throughAStream() throws Exception {
		this.thrown = new Closed("until Monday");
		CompletableFuture<Throwable> told = new CompletableFuture<>();
		this.shop.articles().subscribe(new Flow.Subscriber<>() {

			@Override
			public void onSubscribe(Flow.Subscription subscription) {
				subscription.request(1);
			}

			@Override
			public void onNext(String item) {
				told.completeExceptionally(new AssertionError(item));
			}

			@Override
			public void onError(Throwable failure) {
				told.complete(failure);
			}

			@Override
			public void onComplete() {
				told.completeExceptionally(new AssertionError("complete"));
			}

		});
		assertThat(told.get()).isInstanceOf(Closed.class).hasMessage("until Monday");
	}

	@Test
	void aHandlerChoosesStatusAndText() {
		this.handler = (method, failure) -> new RpcException(RpcStatus.NOT_FOUND,
				method.name() + ": " + failure.getMessage());
		assertThat(of(new IllegalStateException("gone"))).isInstanceOfSatisfying(RpcException.class, (ex) -> {
			assertThat(ex.status()).isEqualTo(RpcStatus.NOT_FOUND);
			assertThat(ex.detail()).isEqualTo("take: gone");
		});
	}

	@Test
	void aHandlerChoosesADeclaredException() {
		this.handler = (method, failure) -> new Closed("for good");
		assertThat(of(new IllegalStateException("gone"))).isInstanceOf(Closed.class).hasMessage("for good");
	}

	@Test
	void whatAHandlerThrowsCountsAsReturned() {
		this.handler = (method, failure) -> {
			throw new RpcException(RpcStatus.ABORTED, "thrown");
		};
		assertThat(of(new IllegalStateException("gone"))).isInstanceOfSatisfying(RpcException.class,
				(ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.ABORTED));
		this.handler = (method, failure) -> {
			throw new IllegalStateException("secret");
		};
		assertThat(of(new IllegalStateException("gone"))).isInstanceOf(RpcException.class)
			.message()
			.doesNotContain("secret", "gone");
	}

	@Test
	void aChosenStatusIsLeftAlone() {
		this.handler = (method, failure) -> new RpcException(RpcStatus.ABORTED, "changed");
		assertThat(of(new RpcException(RpcStatus.NOT_FOUND, "chosen"))).isInstanceOfSatisfying(RpcException.class,
				(ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.NOT_FOUND));
	}

	/** The service. */
	public interface Shop {

		int take(String article, int many)
				throws OutOfStock, Closed, IOException, Reworded, Rejected, Refused, Exception;

		CompletableFuture<Void> order(String article) throws OutOfStock;

		Flow.Publisher<String> articles() throws Closed;

	}

	/** What an exception holds. */
	public record Offer(String article, int many) {

	}

	/** Like a record. */
	@SuppressWarnings("serial")
	public static final class OutOfStock extends Exception {

		private final String article;

		private final int left;

		private final List<Offer> offers;

		OutOfStock(String article, int left, List<Offer> offers) {
			super("only " + left + " of " + article);
			this.article = article;
			this.left = left;
			this.offers = offers;
		}

		public String article() {
			return this.article;
		}

		public int getLeft() {
			return this.left;
		}

		public List<Offer> offers() {
			return this.offers;
		}

	}

	/** With a message. */
	@SuppressWarnings("serial")
	static final class Closed extends RuntimeException {

		Closed(@Nullable String message) {
			super(message);
		}

	}

	/** Whose message is not the message that it is made from. */
	@SuppressWarnings("serial")
	public static final class Rejected extends Exception {

		private final int code;

		Rejected(String message, int code) {
			super("rejected: " + message + " (" + code + ")");
			this.code = code;
		}

		public int getCode() {
			return this.code;
		}

	}

	/** With a message and more. */
	@SuppressWarnings("serial")
	public static final class Refused extends Exception {

		private final int code;

		Refused(@Nullable String message, int code) {
			super(message);
			this.code = code;
		}

		public int getCode() {
			return this.code;
		}

	}

	/** Whose message is not what it is made from. */
	@SuppressWarnings("serial")
	public static final class Reworded extends Exception {

		Reworded(String article) {
			super("no " + article + " today");
		}

	}

	/** Whose message is not to be had. */
	@SuppressWarnings("serial")
	private static final class Speechless extends IOException {

		@Override
		public String getMessage() {
			throw new IllegalStateException("thrown on purpose");
		}

	}

	private final class ThrowingShop implements Shop {

		@SuppressWarnings({ "unchecked", "TypeParameterUnusedInFormals" })
		private <T extends Throwable> T sneaky() throws T {
			DeclaredExceptionTests.this.before.run();
			throw (T) DeclaredExceptionTests.this.thrown;
		}

		@Override
		public int take(String article, int many) {
			throw this.<RuntimeException>sneaky();
		}

		@Override
		public CompletableFuture<Void> order(String article) {
			return CompletableFuture.failedFuture(DeclaredExceptionTests.this.thrown);
		}

		@Override
		public Flow.Publisher<String> articles() {
			throw this.<RuntimeException>sneaky();
		}

	}

}
