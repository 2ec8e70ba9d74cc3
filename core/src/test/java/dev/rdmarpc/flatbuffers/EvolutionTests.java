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

import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MethodSignature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Peers of different age: a newer one has trailing components that an older one has not.
 */
class EvolutionTests {

	private static final ItemV2 LAMP = new ItemV2("lamp", 3, 9.5, Optional.of("red"), List.of("x"), OptionalInt.of(1),
			'c', Map.of("k", 1), new ItemV1("bulb", 1));

	@Test
	void anOlderPeerIgnoresWhatItDoesNotKnow() {
		assertThat(convert(ItemV2.class, LAMP, ItemV1.class)).isEqualTo(new ItemV1("lamp", 3));
	}

	@Test
	void aNewerPeerReadsDefaultsForWhatIsMissing() {
		assertThat(convert(ItemV1.class, new ItemV1("lamp", 3), ItemV2.class))
			.isEqualTo(new ItemV2("lamp", 3, 0, Optional.empty(), null, OptionalInt.empty(), '\0', null, null));
	}

	@Test
	void nestedTablesEvolveToo() {
		assertThat(convert(new TypeOf<List<ItemV2>>() {
		}.type(), List.of(LAMP, LAMP), new TypeOf<List<ItemV1>>() {
		}.type())).isEqualTo(List.of(new ItemV1("lamp", 3), new ItemV1("lamp", 3)));
		assertThat(convert(new TypeOf<Map<String, ItemV1>>() {
		}.type(), Map.of("a", new ItemV1("b", 1)), new TypeOf<Map<String, ItemV2>>() {
		}.type())).isEqualTo(
				Map.of("a", new ItemV2("b", 1, 0, Optional.empty(), null, OptionalInt.empty(), '\0', null, null)));
	}

	@Test
	void parametersMayBeAdded() {
		MessageFormat older = Messages.arguments(int.class, String.class);
		MessageFormat newer = Messages.arguments(int.class, String.class, long.class, new TypeOf<Optional<String>>() {
		}.type());
		assertThat(Messages.decodeArguments(newer, Messages.encode(older, new Object[] { 1, "a" }))).containsExactly(1,
				"a", 0L, Optional.empty());
		assertThat(
				Messages.decodeArguments(older, Messages.encode(newer, new Object[] { 1, "a", 2L, Optional.of("b") })))
			.containsExactly(1, "a");
	}

	@Test
	void parametersMayBeAddedToNone() {
		MessageFormat newer = Messages.arguments(int.class, String.class);
		MessageFormat older = Messages.arguments();
		assertThat(Messages.decodeArguments(newer, Messages.encode(older, new Object[0]))).containsExactly(0, null);
		assertThat(Messages.decodeArguments(older, Messages.encode(newer, new Object[] { 1, "a" }))).isEmpty();
	}

	@Test
	void parametersMayBeAddedToASingleTable() {
		MethodSignature one = Messages.method(void.class, ItemV1.class);
		MethodSignature three = Messages.method(void.class, ItemV2.class, int.class, OptionalInt.class);
		ItemV1 lamp = new ItemV1("lamp", 3);
		ItemV2 newLamp = new ItemV2("lamp", 3, 0, Optional.empty(), null, OptionalInt.empty(), '\0', null, null);
		ByteBuffer fromOlder = Messages.encode(Messages.CODEC.arguments(one), new Object[] { lamp });
		ByteBuffer nothing = Messages.encode(Messages.CODEC.arguments(one), new Object[] { null });
		ByteBuffer fromNewer = Messages.encode(Messages.CODEC.arguments(three),
				new Object[] { newLamp, 7, OptionalInt.of(2) });
		assertThat(Messages.decodeArguments(Messages.CODEC.arguments(three, 1), fromOlder)).containsExactly(newLamp, 0,
				OptionalInt.empty());
		assertThat(Messages.decodeArguments(Messages.CODEC.arguments(three, 1), nothing)).containsExactly(null, 0,
				OptionalInt.empty());
		assertThat(Messages.decodeArguments(Messages.CODEC.arguments(one, 3), fromNewer)).containsExactly(lamp);
		ByteBuffer toOlder = Messages.encode(Messages.CODEC.arguments(three, 1),
				new Object[] { newLamp, 7, OptionalInt.of(2) });
		assertThat(Messages.decodeArguments(Messages.CODEC.arguments(one), toOlder)).containsExactly(lamp);
	}

	@Test
	void aVoidMethodMayGetAResult() {
		assertThat(Messages.decode(Messages.result(String.class), Messages.encode(Messages.result(void.class), null)))
			.isNull();
		assertThat(Messages.decode(Messages.result(int.class), Messages.encode(Messages.result(void.class), null)))
			.isEqualTo(0);
		assertThat(Messages.decode(Messages.result(void.class), Messages.encode(Messages.result(int.class), 3)))
			.isNull();
	}

	@Test
	void aBoxMayBecomeOptionalAndAnArrayAList() {
		assertThat(convert(Box.class, new Box(7, new int[] { 1, 2 }), OptionalBox.class))
			.isEqualTo(new OptionalBox(OptionalInt.of(7), List.of(1, 2)));
	}

	@Test
	void enumConstantsMayBeReorderedAndAdded() {
		assertThat(convert(ColorV1.class, ColorV1.GREEN, ColorV2.class)).isEqualTo(ColorV2.GREEN);
		assertThatExceptionOfType(MalformedMessageException.class)
			.isThrownBy(() -> convert(ColorV2.class, ColorV2.BLUE, ColorV1.class))
			.withMessageContaining("ColorV1 has no constant 'BLUE'");
	}

	@Test
	void unionMembersMayBeAddedAtTheEnd() {
		assertThat(convert(ShapeV1.class, new CircleV1(2), ShapeV2.class)).isEqualTo(new CircleV2(2));
		assertThatExceptionOfType(MalformedMessageException.class)
			.isThrownBy(() -> convert(ShapeV2.class, new SquareV2(2), ShapeV1.class))
			.withMessageContaining("unknown member 2 of")
			.withMessageContaining("expected: 1 to 1; does the peer have a newer version?");
	}

	@Test
	void membersMayBeAddedAtTheEndOfNestedUnionsAndAfterThem() {
		assertThat(convert(PaymentV1.class, new CardV1("4711"), PaymentV2.class)).isEqualTo(new CardV2("4711"));
		assertThat(convert(PaymentV1.class, new TransferV1("DE00"), PaymentV2.class)).isEqualTo(new TransferV2("DE00"));
		assertThat(convert(PaymentV2.class, new CardV2("4711"), PaymentV1.class)).isEqualTo(new CardV1("4711"));
		assertThat(convert(PaymentV2.class, new TransferV2("DE00"), PaymentV1.class)).isEqualTo(new TransferV1("DE00"));
		assertThatExceptionOfType(MalformedMessageException.class)
			.isThrownBy(() -> convert(PaymentV2.class, new GiftCardV2("GIFT-1", 500), PaymentV1.class))
			.withMessageContaining("field 'value' has the unknown member 2 of")
			.withMessageContaining("PlasticV1 (expected: 1 to 1; does the peer have a newer version?)");
		assertThatExceptionOfType(MalformedMessageException.class)
			.isThrownBy(() -> convert(PaymentV2.class, new CashV2(7), PaymentV1.class))
			.withMessageContaining("unknown member 3 of");
		assertThat(Messages.<Object>roundTrip(new TypeOf<List<PaymentV2>>() {
		}.type(), List.of(new CardV2("a"), new GiftCardV2("b", 1), new TransferV2("c"), new CashV2(2))))
			.isEqualTo(List.of(new CardV2("a"), new GiftCardV2("b", 1), new TransferV2("c"), new CashV2(2)));
	}

	private static Object convert(Type from, Object value, Type to) {
		return Messages.decode(Messages.result(to), Messages.encode(Messages.result(from), value));
	}

	record ItemV1(String name, int count) {

	}

	record ItemV2(String name, int count, double price, Optional<String> color, List<String> tags, OptionalInt rank,
			char code, Map<String, Integer> more, ItemV1 part) {

	}

	@SuppressWarnings("ArrayRecordComponent")
	record Box(Integer number, int[] numbers) {

	}

	record OptionalBox(OptionalInt number, List<Integer> numbers) {

	}

	enum ColorV1 {

		RED, GREEN

	}

	enum ColorV2 {

		BLUE, GREEN, RED

	}

	sealed interface ShapeV1 {

	}

	record CircleV1(double radius) implements ShapeV1 {

	}

	sealed interface ShapeV2 permits CircleV2, SquareV2 {

	}

	record CircleV2(double radius) implements ShapeV2 {

	}

	record SquareV2(double side) implements ShapeV2 {

	}

	sealed interface PaymentV1 permits PlasticV1, TransferV1 {

	}

	sealed interface PlasticV1 extends PaymentV1 permits CardV1 {

	}

	record CardV1(String number) implements PlasticV1 {

	}

	record TransferV1(String iban) implements PaymentV1 {

	}

	sealed interface PaymentV2 permits PlasticV2, TransferV2, CashV2 {

	}

	sealed interface PlasticV2 extends PaymentV2 permits CardV2, GiftCardV2 {

	}

	record CardV2(String number) implements PlasticV2 {

	}

	record GiftCardV2(String code, int amount) implements PlasticV2 {

	}

	record TransferV2(String iban) implements PaymentV2 {

	}

	record CashV2(int coins) implements PaymentV2 {

	}

}
