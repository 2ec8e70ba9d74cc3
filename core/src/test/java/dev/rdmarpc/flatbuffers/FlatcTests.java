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

package dev.rdmarpc.flatbuffers;

import java.io.InputStream;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

import dev.rdmarpc.codec.MethodSignature;

import static org.assertj.core.api.Assertions.assertThat;

/** What FlatBuffers' own compiler makes of our bytes, and we of its. */
@EnabledIf(value = "dev.rdmarpc.flatbuffers.Flatc#isInstalled",
		disabledReason = "flatc is not installed (Debian: flatbuffers-compiler)")
class FlatcTests {

	private static final Order EMPTY = new Order(null, null, (byte) 0, false, '\0', 0, 0, null, null, null,
			OptionalLong.empty(), null, null, null, null, null, null, null, null);

	private static final Order FULL = full();

	@TempDir
	private Path directory;

	private static Order full() {
		Map<String, Double> attributes = new LinkedHashMap<>();
		attributes.put("depth", 1.5);
		attributes.put("unknown", null);
		byte[] signature = new byte[600];
		for (int i = 0; i < signature.length; i++) {
			signature[i] = (byte) i;
		}
		return new Order(new UUID(-2, 3), Instant.ofEpochSecond(-5, 999_999_999), (byte) -7, true, '\u20AC', 0.5f, 0.25,
				"Zo\u00EB \"\\ \uD83D\uDE00", Status.SHIPPED, 0, OptionalLong.of(Long.MIN_VALUE),
				LocalDate.of(1969, 12, 31),
				List.of(new Item("a", 1, new BigDecimal("-1.25"), List.of("x", "")),
						new Item(null, -1, null, List.of())),
				new Transfer("DE00", true), attributes, new int[][] { { 1, 2 }, {}, { Integer.MIN_VALUE } },
				List.of(Instant.EPOCH, Instant.MAX), signature, EMPTY);
	}

	@Test
	void flatcReadsOurBytes() throws Exception {
		String json = Flatc.in(this.directory)
			.toJson(handWritten(), Messages.encode(Messages.result(Order.class), FULL));
		String compact = json.replaceAll("\\s+", "");
		assertThat(compact).contains("\"id\":{\"most_significant\":-2,\"least_significant\":3}")
			.contains("\"placed\":{\"seconds\":-5,\"nanos\":999999999}")
			.contains("\"priority\":-7,\"express\":true,\"letter\":8364,\"weight\":0.5,\"distance\":0.25")
			.contains("\"status\":\"SHIPPED\",\"discount\":0,\"rating\":-9223372036854775808,\"due\":-1")
			.contains("\"name\":\"a\",\"quantity\":1,\"price\":{\"unscaled\":[131],\"scale\":2},\"tags\":[\"x\",\"\"]")
			.contains("\"payment_type\":\"Transfer\",\"payment\":{\"iban\":\"DE00\",\"instant\":true}")
			.contains("\"attributes\":[{\"key\":\"depth\",\"value\":1.5},{\"key\":\"unknown\"}]")
			.contains("\"matrix\":[{\"value\":[1,2]},{\"value\":[]},{\"value\":[-2147483648]}]")
			.contains("\"signature\":[0,1,2,")
			.contains("\"previous\":{\"priority\":0,\"express\":false");
		assertThat(json).contains("\"Zo\\u00EB \\\"\\\\ \\uD83D\\uDE00\"");
	}

	@Test
	void flatcReadsAnEmptyTable() throws Exception {
		String json = Flatc.in(this.directory)
			.toJson(handWritten(), Messages.encode(Messages.result(Order.class), EMPTY));
		assertThat(json.replaceAll("\\s+", ""))
			.isEqualTo("{\"priority\":0,\"express\":false,\"letter\":0,\"weight\":0.0,\"distance\":0.0}");
	}

	@Test
	void weReadWhatFlatcMadeOfItsJson() throws Exception {
		Flatc flatc = Flatc.in(this.directory);
		for (Order order : List.of(FULL, EMPTY)) {
			ByteBuffer ours = Messages.encode(Messages.result(Order.class), order);
			ByteBuffer theirs = flatc.toBinary(handWritten(), flatc.toJson(handWritten(), ours));
			assertThat(theirs).isNotEqualTo(ours);
			assertThat(Messages.decode(Messages.result(Order.class), theirs)).usingRecursiveComparison()
				.isEqualTo(order);
		}
	}

	@Test
	void weReadWhatIsWrittenByHand() throws Exception {
		ByteBuffer theirs = Flatc.in(this.directory).toBinary(handWritten(), """
				{ "customer": "Ann", "discount": 5, "payment_type": "Card",
				  "payment": { "number": "4711", "expires_month": 12, "expires_year": 2030 },
				  "items": [ { "name": "lamp" }, { "quantity": 2, "tags": [ "t" ] } ],
				  "previous": { "customer": "Bob" } }
				""");
		Order order = (Order) Messages.decode(Messages.result(Order.class), theirs);
		assertThat(order.customer()).isEqualTo("Ann");
		assertThat(order.discount()).isEqualTo(5);
		assertThat(order.payment()).isEqualTo(new Card("4711", (byte) 12, (short) 2030));
		assertThat(order.items()).containsExactly(new Item("lamp", 0, null, null),
				new Item(null, 2, null, List.of("t")));
		assertThat(order.previous().customer()).isEqualTo("Bob");
		assertThat(order.id()).isNull();
		assertThat(order.rating()).isEmpty();
	}

	@Test
	void generatedSchemaReadsTheSame() throws Exception {
		ByteBuffer ours = Messages.encode(Messages.result(Order.class), FULL);
		Flatc flatc = Flatc.in(this.directory);
		String byHand = flatc.toJson(handWritten(), ours);
		String generated = flatc.toJson(FlatBuffersSchema.ofRecord(Order.class), ours);
		assertThat(generated).isEqualTo(byHand);
	}

	@Test
	void generatedServiceSchemaCompiles() throws Exception {
		String schema = FlatBuffersSchema.ofService("Shop",
				List.of(new MethodSignature("Shop", "put", List.of("order"), List.of(Order.class), void.class),
						new MethodSignature("Shop", "find", List.of("table", "limit"), List.of(String.class, int.class),
								new TypeOf<List<Order>>() {
								}.type()),
						new MethodSignature("Shop", "count", List.of(), List.of(), long.class)));
		assertThat(schema).contains("put(Order):NoContent;")
			.contains("find(FindArguments):FindResult;")
			.contains("count(NoContent):CountResult;");
		Flatc.in(this.directory).compile(schema);
	}

	@Test
	void namesThatFlatcRefusesAreMadeOthers() throws Exception {
		List<String> names = List.of("fooBar", "foo_bar", "FOOBar", "gr\u00F6\u00DFe", "gr\u00E4\u00DFe", "\u540D",
				"\u524D", "1st", "x", "xType", "yType", "y", "a$b", "table", "namespace", "true", "put_arguments");
		List<Type> types = new ArrayList<>(Collections.nCopies(names.size(), int.class));
		types.set(names.indexOf("x"), Payment.class);
		types.set(names.indexOf("y"), Choice.class);
		String schema = FlatBuffersSchema.ofService("Put\u00E4",
				List.of(new MethodSignature("Shop", "put", names, types, Size.class),
						new MethodSignature("Shop", "p\u00FCt", List.of("item"), List.of(Weight.class), void.class),
						new MethodSignature("Shop", "p\u00F6t", List.of(), List.of(), void.class),
						new MethodSignature("Shop", "table", List.of(), List.of(), void.class)));
		assertThat(schema)
			.contains("  foo_bar:int;\n  foo_bar2:int;\n  foobar:int;\n  gr__e:int;\n  gr__e2:int;\n  _:int;")
			.contains("  x:Payment;\n  x_type2:int;\n  y_type:int;\n  y2:Choice;\n  a_b:int;")
			.contains("union Choice { NONE_, Size }");
		Flatc.in(this.directory).compile(schema);
		assertThat(SchemaWriter.identifier("Gr\u00F6\u00DFe")).isEqualTo("Gr__e");
		assertThat(SchemaWriter.identifier("\u0663")).isEqualTo("_");
		assertThat(SchemaWriter.identifier("3")).isEqualTo("_3");
		TableType item = TableType.named("item");
		item.addInt("item");
		item.addInt("Item");
		Flatc.in(this.directory).compile(FlatBuffersSchema.ofTable(item));
	}

	@Test
	void nestedUnionsAreReadByFlatc() throws Exception {
		Flatc flatc = Flatc.in(this.directory);
		String schema = FlatBuffersSchema.ofRecord(Wish.class);
		ByteBuffer ours = Messages.encode(Messages.result(Wish.class), new Wish(new Voucher("V-1")));
		String json = flatc.toJson(schema, ours);
		assertThat(json.replaceAll("\\s+", "")).isEqualTo(
				"{\"gift_type\":\"Value_Paper\",\"gift\":{\"value_type\":\"Voucher\",\"value\":{\"code\":\"V-1\"}}}");
		assertThat(Messages.decode(Messages.result(Wish.class), flatc.toBinary(schema, json)))
			.isEqualTo(new Wish(new Voucher("V-1")));
	}

	private static String handWritten() throws Exception {
		try (InputStream in = FlatcTests.class.getResourceAsStream("/flatbuffers/order.fbs")) {
			return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	sealed interface Choice permits NONE, Size {

	}

	record NONE(int number) implements Choice {

	}

	record Size(int number) implements Choice {

	}

	record Weight(int number) {

	}

	record Wish(Gift gift) {

	}

	sealed interface Gift permits Toy, Paper {

	}

	record Toy(String name) implements Gift {

	}

	sealed interface Paper extends Gift permits Voucher {

	}

	record Voucher(String code) implements Paper {

	}

	enum Status {

		PLACED, SHIPPED

	}

	sealed interface Payment permits Card, Transfer {

	}

	record Card(String number, byte expiresMonth, short expiresYear) implements Payment {

	}

	record Transfer(String iban, boolean instant) implements Payment {

	}

	record Item(String name, int quantity, BigDecimal price, List<String> tags) {

	}

	record Order(UUID id, Instant placed, byte priority, boolean express, char letter, float weight, double distance,
			String customer, Status status, Integer discount, OptionalLong rating, LocalDate due, List<Item> items,
			Payment payment, Map<String, Double> attributes, int[][] matrix, List<Instant> stamps, byte[] signature,
			Order previous) {

	}

}
