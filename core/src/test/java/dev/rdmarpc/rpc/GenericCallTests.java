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

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Services are found, and called without their interfaces. */
class GenericCallTests {

	private static final String NAME = "shop";

	private static final Map<String, String> EXPECTED = Map.of("stock",
			"stock: 2147483648 (expected: int, -2147483648 to 2147483647)", "shelf",
			"shelf: 1.5 (expected: short, -32768 to 32767)", "name", "name: 7 (expected: string)", "tags",
			"tags: the string \"a\" (expected: [string]: a list)", "picture",
			"picture: the string \"?\" (expected: [ubyte], bytes in Base64)", "parts",
			"parts[0]: 7 (expected: Item: a map of name, color, price", "id",
			"id: the string \"x\" (expected: the text of a UUID)", "counts",
			"counts: a list (expected: a map, of Entry_String_Long)", "colour",
			"colour: Item has no such field (expected: name, color, price", "price",
			"price: the string \"much\" (expected: a decimal number)");

	private final RpcFixture fixture = new RpcFixture();

	private final ShopService served = new ShopService();

	private RpcServer server;

	private RpcClient client;

	private GenericClient generic;

	@BeforeEach
	void serve() {
		this.server = RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(RpcFixture.serverOptions(0))
			.reflection()
			.service(NAME, Shop.class, this.served)
			.build()
			.start();
		this.client = clientOf(this.server);
		this.generic = this.client.generic();
	}

	@AfterEach
	void nothingIsOutstanding() {
		this.client.close();
		this.server.close();
		this.fixture.close();
	}

	private RpcClient clientOf(RpcServer other) {
		return RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.target(TestEnvironment.host(), other.port())
			.build();
	}

	private Object call(String method, Object arguments) {
		return this.generic.method(NAME, method).call(arguments);
	}

	private RpcException failureOf(String method, Object arguments) {
		GenericMethod found = this.generic.method(NAME, method);
		return RpcFixture.failureOf(() -> found.call(arguments));
	}

	@Test
	void servicesAreListedWithMethodsAndSchemas() {
		assertThat(this.generic.services()).containsExactly(RdmaReflection.SERVICE, NAME);
		RdmaReflection.Service shop = this.generic.service(NAME);
		assertThat(shop.methods()).extracting(RdmaReflection.Method::name)
			.containsExactly("add", "echo", "fail", "find", "follow", "holder", "note", "ping", "price", "shapes",
					"take", "total");
		assertThat(shop.methods()).contains(new RdmaReflection.Method("add", 2, false, false, false, true),
				new RdmaReflection.Method("follow", 1, true, false, false, false),
				new RdmaReflection.Method("note", 1, false, false, true, false),
				new RdmaReflection.Method("take", 0, false, true, false, false));
		assertThat(shop.schema()).contains("table Item {", "rpc_service shop {");
	}

	@Test
	void pagesEndWhereTheNamesDo() {
		RpcServer.Builder builder = RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(RpcFixture.serverOptions(0))
			.reflection();
		for (int i = 0; i < RdmaReflection.PAGE + 20; i++) {
			builder.service("s" + (1000 + i), Ping.class, () -> {
			});
		}
		try (RpcServer many = builder.build().start(); RpcClient other = clientOf(many)) {
			RdmaReflection reflection = other.proxy(RdmaReflection.SERVICE, RdmaReflection.class);
			RdmaReflection.Services first = reflection.services("");
			assertThat(first.names()).hasSize(RdmaReflection.PAGE).startsWith(RdmaReflection.SERVICE, "s1000");
			assertThat(first.more()).isTrue();
			assertThat(reflection.services("s1117"))
				.isEqualTo(new RdmaReflection.Services(List.of("s1118", "s1119"), false));
			assertThat(other.generic().services()).hasSize(RdmaReflection.PAGE + 21).isSorted();
		}
	}

	@Test
	void aServerHasNoReflectionUnlessAskedFor() {
		GenericClient other = this.fixture.client.generic();
		assertThat(RpcFixture.failureOf(other::services).status()).isEqualTo(RpcStatus.UNIMPLEMENTED);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> RpcServer.builder().service(RdmaReflection.SERVICE, Ping.class, () -> {
			}))
			.withMessageContaining("reflection()");
	}

	@Test
	void whatIsNotThereIsNamed() {
		assertThat(RpcFixture.failureOf(() -> this.generic.service("shoe")))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.NOT_FOUND))
			.hasMessageContaining("there is no service shoe");
		assertThat(RpcFixture.failureOf(() -> this.generic.method(NAME, "sell")))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.NOT_FOUND))
			.hasMessageContaining("shop has no method sell");
		assertThat(RpcFixture.failureOf(() -> this.generic.method(NAME, "take")).status())
			.isEqualTo(RpcStatus.UNIMPLEMENTED);
	}

	@Test
	void scalarsAndNothingAreCarried() {
		assertThat(call("add", Map.of("a", 40, "b", 2L))).isEqualTo(42);
		assertThat(call("add", Map.of("a", 7))).isEqualTo(7);
		assertThat(call("ping", null)).isNull();
		assertThat(call("ping", Map.of())).isNull();
		assertThat(call("find", Map.of("side", 2))).isEqualTo(Map.of("side", 2.0));
		assertThat(call("find", Map.of())).isNull();
		assertThat(call("holder", null)).isEqualTo(Map.of("value", Map.of("side", 3.0)));
		assertThat(call("price", Map.of("name", "lamp"))).isEqualTo(new BigDecimal("12.50"));
		assertThat(this.generic.method(NAME, "add").callAsync(Map.of("a", 1, "b", 1)).join()).isEqualTo(2);
	}

	@Test
	void whatTreesHoldArrivesAsValuesAndComesBack() {
		Map<String, Object> item = new LinkedHashMap<>();
		item.put("name", "lämp");
		item.put("color", "RED");
		item.put("price", new BigDecimal("1.25"));
		item.put("tags", List.of("a", "b"));
		item.put("picture", Base64.getEncoder().encodeToString("bytes".getBytes(StandardCharsets.UTF_8)));
		item.put("weights", new double[] { 0.5, 1 });
		item.put("stock", 7);
		item.put("parts", List.of(Map.of("name", "bulb"), Map.of("name", "foot", "stock", 3)));
		item.put("counts", Map.of("north", 4L));
		item.put("by_number", Map.of("12", "twelve"));
		item.put("id", "123e4567-e89b-12d3-a456-426614174000");
		item.put("made", "2026-01-02T03:04:05Z");
		item.put("sold", "2026-01-02T03:04:05+01:00[Europe/Berlin]");
		item.put("shelf", 3.0);
		Map<?, ?> back = (Map<?, ?>) call("echo", item);
		Item seen = this.served.last;
		assertThat(seen.name()).isEqualTo("lämp");
		assertThat(seen.color()).isEqualTo(Color.RED);
		assertThat(seen.price()).isEqualTo(new BigDecimal("1.25"));
		assertThat(seen.tags()).containsExactly("a", "b");
		assertThat(seen.picture()).asString(StandardCharsets.UTF_8).isEqualTo("bytes");
		assertThat(seen.weights()).containsExactly(0.5, 1);
		assertThat(seen.stock()).isEqualTo(7);
		assertThat(seen.parts()).extracting(Item::name).containsExactly("bulb", "foot");
		assertThat(seen.counts()).containsExactly(Map.entry("north", 4L));
		assertThat(seen.byNumber()).containsExactly(Map.entry(12, "twelve"));
		assertThat(seen.id()).hasToString("123e4567-e89b-12d3-a456-426614174000");
		assertThat(seen.made()).isEqualTo(Instant.parse("2026-01-02T03:04:05Z"));
		assertThat(seen.sold()).isEqualTo(ZonedDateTime.parse("2026-01-02T03:04:05+01:00[Europe/Berlin]"));
		assertThat(seen.shelf()).contains((short) 3);
		assertThat(seen.grade()).isNull();
		assertThat(back.get("name")).isEqualTo("lämp");
		assertThat(back.get("color")).isEqualTo("RED");
		assertThat(back.get("price")).isEqualTo(new BigDecimal("1.25"));
		assertThat(back.get("picture")).isEqualTo("bytes".getBytes(StandardCharsets.UTF_8));
		assertThat(back.get("weights")).isEqualTo(List.of(0.5, 1.0));
		assertThat(back.get("counts")).isEqualTo(Map.of("north", 4L));
		assertThat(back.get("by_number")).isEqualTo(Map.of(12, "twelve"));
		assertThat(back.get("id")).isEqualTo("123e4567-e89b-12d3-a456-426614174000");
		assertThat(back.get("sold")).isEqualTo("2026-01-02T03:04:05+01:00[Europe/Berlin]");
		assertThat(back.get("shelf")).isEqualTo((short) 3);
		assertThat(back.containsKey("grade")).isTrue();
		assertThat(back.get("grade")).isNull();
		Map<?, ?> bulb = (Map<?, ?>) ((List<?>) back.get("parts")).get(0);
		assertThat(bulb.get("name")).isEqualTo("bulb");
		assertThat(bulb.get("stock")).isEqualTo(0);
	}

	@Test
	void unionsNameTheirMember() {
		Object shapes = List.of(Map.of("value_type", "Circle", "value", Map.of("radius", 2)),
				Map.of("value_type", "Square", "value", Map.of("side", 1.5)));
		assertThat(call("shapes", Map.of("shapes", shapes)))
			.isEqualTo(List.of(Map.of("value_type", "Square", "value", Map.of("side", 1.5)),
					Map.of("value_type", "Circle", "value", Map.of("radius", 2.0))));
	}

	@Test
	void streamsArePublished() throws Exception {
		BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
		this.generic.method(NAME, "follow").stream(Map.of("count", 3)).subscribe(new Flow.Subscriber<>() {

			@Override
			public void onSubscribe(Flow.Subscription subscription) {
				subscription.request(10);
			}

			@Override
			public void onNext(Object message) {
				seen.add(((Map<?, ?>) message).get("name"));
			}

			@Override
			public void onError(Throwable failure) {
				seen.add(failure);
			}

			@Override
			public void onComplete() {
				seen.add("end");
			}

		});
		for (String expected : List.of("0", "1", "2", "end")) {
			assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo(expected);
		}
		GenericMethod follow = this.generic.method(NAME, "follow");
		assertThatIllegalStateException().isThrownBy(() -> follow.call(Map.of()))
			.withMessageContaining("shop/follow replies with a stream");
	}

	@Test
	void nobodyRepliesToSomeMethods() {
		assertThat(call("note", Map.of("text", "hello"))).isNull();
		RpcFixture.awaitTrue(() -> this.served.notes.get() == 1);
	}

	@Test
	void failuresOfHandlersAreTold() {
		RpcException declared = failureOf("fail", Map.of("how", "declared"));
		assertThat(declared.detail()).isEqualTo("none left");
		RpcException status = failureOf("fail", Map.of("how", "status"));
		assertThat(status.status()).isEqualTo(RpcStatus.PERMISSION_DENIED);
		assertThat(status.detail()).isEqualTo("not you");
		GenericMethod slow = this.generic.method(NAME, "fail").withOptions(CallOptions.deadline(Duration.ofMillis(50)));
		assertThat(RpcFixture.failureOf(() -> slow.call(Map.of("how", "late"))).status())
			.isEqualTo(RpcStatus.DEADLINE_EXCEEDED);
	}

	@Test
	void errorsNameTheFieldWhatItIsAndWhatWasExpected() {
		GenericMethod echo = this.generic.method(NAME, "echo");
		Map.<String, Object>of("stock", 2147483648L, "shelf", 1.5, "name", 7, "tags", "a", "picture", "?", "parts",
				List.of(7), "id", "x", "counts", List.of(7), "colour", "RED", "price", "much")
			.forEach((field, value) -> {
				RpcException failure = RpcFixture.failureOf(() -> echo.call(Map.of(field, value)));
				assertThat(failure.status()).isEqualTo(RpcStatus.INVALID_ARGUMENT);
				assertThat(failure.detail()).contains(field, EXPECTED.get(field));
			});
		assertThat(this.served.last).isNull();
	}

	@Test
	void moreErrorsOfTrees() {
		assertThat(failureOf("ping", Map.of("a", 1)).detail()).contains("shop/ping has no parameters");
		assertThat(failureOf("shapes", Map.of("shapes", List.of(Map.of("value_type", "Oval", "value", Map.of()))))
			.detail()).contains("shapes[0].value_type: 'Oval' is no member of Shape (expected: Circle, Square)");
		assertThat(failureOf("echo", Map.of("tags", Arrays.asList("a", null))).detail()).contains("tags[1]: null");
		Map<String, Object> cycle = new LinkedHashMap<>();
		cycle.put("parts", Collections.singletonList(cycle));
		assertThat(failureOf("echo", cycle).detail()).contains("nested");
		assertThat(failureOf("echo", "lamp").detail()).contains("Item: a map of name");
		assertThat(failureOf("echo", Map.of("color", "MAUVE")).status()).isEqualTo(RpcStatus.INVALID_ARGUMENT);
	}

	@Test
	void aMethodThatHasChangedIsNotMisunderstood() {
		GenericMethod add = this.generic.method(NAME, "add");
		int port = this.server.port();
		this.server.close();
		this.server = RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(RpcFixture.serverOptions(port))
			.reflection()
			.service(NAME, OtherShop.class, (a, b) -> a + b)
			.build()
			.start();
		assertThat(RpcFixture.failureOf(() -> add.call(Map.of("a", 1, "b", 2))).status())
			.isEqualTo(RpcStatus.FAILED_PRECONDITION);
		assertThat(this.generic.method(NAME, "add").call(Map.of("a", "1", "b", "2"))).isEqualTo("12");
	}

	/** What is served. */
	public interface Shop {

		@RdmaMethod(idempotent = true)
		int add(int a, int b);

		Item echo(Item item);

		void ping();

		BigDecimal price(String name);

		Optional<Square> find(double side);

		HolderResult holder();

		List<Shape> shapes(List<Shape> shapes);

		Flow.Publisher<Item> follow(int count);

		long total(List<Integer> numbers);

		int take(Flow.Publisher<Item> items);

		@RdmaMethod(oneWay = true)
		void note(String text);

		void fail(String how) throws OutOfStockException;

	}

	/** The same with other types. */
	public interface OtherShop {

		String add(String a, String b);

	}

	/** Nothing. */
	public interface Ping {

		void ping();

	}

	/** Nested, recursive, with all kinds of components. */
	public record Item(String name, Color color, BigDecimal price, List<String> tags, byte[] picture, double[] weights,
			int stock, List<Item> parts, Map<String, Long> counts, Map<Integer, String> byNumber, UUID id, Instant made,
			ZonedDateTime sold, Optional<Short> shelf, Integer grade) {

	}

	/** An enum. */
	public enum Color {

		RED, BLUE

	}

	/** A union. */
	public sealed interface Shape permits Circle, Square {

	}

	/** One. */
	public record Circle(double radius) implements Shape {

	}

	/** Another. */
	public record Square(double side) implements Shape {

	}

	/** Named as a table that is made for its method. */
	public record HolderResult(Square value) {

	}

	/** Declared. */
	public static final class OutOfStockException extends Exception {

		OutOfStockException(String message) {
			super(message);
		}

	}

	/** The service. */
	public static final class ShopService implements Shop {

		private volatile Item last;

		private final AtomicInteger notes = new AtomicInteger();

		@Override
		public int add(int a, int b) {
			return a + b;
		}

		@Override
		public Item echo(Item item) {
			this.last = item;
			return item;
		}

		@Override
		public void ping() {
		}

		@Override
		public BigDecimal price(String name) {
			return new BigDecimal("12.50");
		}

		@Override
		public Optional<Square> find(double side) {
			return (side > 0) ? Optional.of(new Square(side)) : Optional.empty();
		}

		@Override
		public HolderResult holder() {
			return new HolderResult(new Square(3));
		}

		@Override
		public List<Shape> shapes(List<Shape> shapes) {
			List<Shape> reversed = new ArrayList<>(shapes);
			Collections.reverse(reversed);
			return reversed;
		}

		@Override
		public Flow.Publisher<Item> follow(int count) {
			return new FeedService.Numbers<>(count, (i) -> new Item("" + i, null, null, null, null, null, i, null, null,
					null, null, null, null, Optional.empty(), null), () -> {
					});
		}

		@Override
		public long total(List<Integer> numbers) {
			return numbers.stream().mapToLong(Integer::longValue).sum();
		}

		@Override
		public int take(Flow.Publisher<Item> items) {
			return 0;
		}

		@Override
		public void note(String text) {
			this.notes.incrementAndGet();
		}

		@Override
		public void fail(String how) throws OutOfStockException {
			switch (how) {
				case "declared" -> throw new OutOfStockException("none left");
				case "status" -> throw new RpcException(RpcStatus.PERMISSION_DENIED, "not you");
				default -> {
					RpcContext context = RpcContext.current();
					RpcFixture.awaitTrue(context::isCancelled);
				}
			}
		}

	}

}
