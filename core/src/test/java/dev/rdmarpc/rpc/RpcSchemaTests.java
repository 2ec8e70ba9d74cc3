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

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;
import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Clients and servers whose methods have other types than those of their peers. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcSchemaTests {

	private static final String NAME = "shop";

	private final RpcFixture fixture = new RpcFixture();

	private final AtomicInteger handled = new AtomicInteger();

	@AfterEach
	void nothingIsOutstanding() {
		this.fixture.close();
	}

	private RpcServer serve(MessageCodec codec) {
		return RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(RpcFixture.serverOptions(0))
			.codec(codec)
			.service(NAME, Served.class, new Shop())
			.build()
			.start();
	}

	private RpcClient clientOf(RpcServer server) {
		return RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.target(TestEnvironment.host(), server.port())
			.build();
	}

	@Test
	void otherTypesAreRefusedBeforeTheHandlerRuns() {
		try (RpcServer server = serve(new FlatBuffersCodec()); RpcClient client = clientOf(server)) {
			Changed changed = client.proxy(NAME, Changed.class);
			RpcException swapped = RpcFixture.failureOf(() -> changed.add("4", "5"));
			assertThat(swapped.status()).isEqualTo(RpcStatus.FAILED_PRECONDITION);
			assertThat(swapped.detail()).isEqualTo("it is (string, string) -> int at the client and (int, int) -> int "
					+ "at the server: parameter 1 is string and int");
			RpcException halved = RpcFixture.failureOf(() -> changed.half(1L << 40));
			assertThat(halved.status()).isEqualTo(RpcStatus.FAILED_PRECONDITION);
			assertThat(halved.detail()).endsWith("parameter 1 is long and int");
			CompletableFuture<String> wrong = changed.order(List.of(new WrongItem("a", 1)));
			RpcException nested = (RpcException) assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(wrong::join)
				.actual()
				.getCause();
			assertThat(nested.status()).isEqualTo(RpcStatus.FAILED_PRECONDITION);
			assertThat(nested.detail()).isEqualTo("it is ([t0]) -> string; t0 {string, int} at the client and "
					+ "([t0]) -> string; t0 {string, double, string} at the server: "
					+ "an element of parameter 1, field 2 is int and double");
			assertThat(this.handled).hasValue(0);
			assertThat(changed.same(7)).isEqualTo(8);
		}
	}

	@Test
	void aProxyThatIsMadeLaterIsComparedToo() {
		try (RpcServer server = serve(new FlatBuffersCodec()); RpcClient client = clientOf(server)) {
			Same same = client.proxy(NAME, Same.class);
			List<CompletableFuture<String>> outstanding = IntStream.range(0, 50)
				.mapToObj((i) -> same.order(List.of(new OldItem("a" + i, i))))
				.toList();
			Changed changed = client.proxy(NAME, Changed.class);
			assertThat(RpcFixture.failureOf(() -> changed.half(1)).status()).isEqualTo(RpcStatus.FAILED_PRECONDITION);
			assertThat(outstanding).allSatisfy((call) -> assertThat(call.join()).startsWith("[Item[name=a"));
			assertThat(client.metrics().connects()).isEqualTo(1);
			assertThat(client.metrics().losses()).isZero();
		}
	}

	@Test
	void manyMethodsAreAskedAboutInSeveralQuestions() {
		try (RpcServer server = serve(new FlatBuffersCodec()); RpcClient client = clientOf(server)) {
			for (int i = 0; i < 3 * SchemaQuestion.MAX_METHODS; i++) {
				client.proxy("unknown" + i, Changed.class);
			}
			Changed changed = client.proxy(NAME, Changed.class);
			assertThat(RpcFixture.failureOf(() -> changed.half(1)).status()).isEqualTo(RpcStatus.FAILED_PRECONDITION);
			assertThat(changed.same(7)).isEqualTo(8);
		}
	}

	@Test
	void whoseCodecTellsNothingIsNotCompared() {
		try (RpcServer server = serve(new UntoldSchemas()); RpcClient client = clientOf(server)) {
			Changed changed = client.proxy(NAME, Changed.class);
			assertThat(changed.same(7)).isEqualTo(8);
			assertThat(changed.half(8)).isEqualTo(4);
		}
	}

	@Test
	void whatIsAddedAtTheEndIsNoContradiction() {
		try (RpcServer server = serve(new FlatBuffersCodec()); RpcClient client = clientOf(server)) {
			assertThat(client.proxy(NAME, Same.class).order(List.of(new OldItem("lamp", 2))).join())
				.isEqualTo("[Item[name=lamp, price=2.0, color=null]]");
		}
	}

	/** What is served. */
	public interface Served {

		int add(int a, int b);

		int half(int number);

		int same(int number);

		CompletableFuture<String> order(List<Item> items);

	}

	/** Almost the same. */
	public interface Changed {

		int add(String a, String b);

		int half(long number);

		int same(int number);

		CompletableFuture<String> order(List<WrongItem> items);

	}

	/** An older version. */
	public interface Same {

		CompletableFuture<String> order(List<OldItem> items);

	}

	/** A table. */
	public record Item(String name, double price, String color) {

	}

	/** An older one. */
	public record OldItem(String name, double price) {

	}

	/** Another one. */
	public record WrongItem(String name, int price) {

	}

	private final class Shop implements Served {

		@Override
		public int add(int a, int b) {
			RpcSchemaTests.this.handled.incrementAndGet();
			return a + b;
		}

		@Override
		public int half(int number) {
			RpcSchemaTests.this.handled.incrementAndGet();
			return number / 2;
		}

		@Override
		public int same(int number) {
			return number + 1;
		}

		@Override
		public CompletableFuture<String> order(List<Item> items) {
			RpcSchemaTests.this.handled.incrementAndGet();
			return CompletableFuture.completedFuture(items.toString());
		}

	}

}
