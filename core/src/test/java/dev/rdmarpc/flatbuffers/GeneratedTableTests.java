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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;

import com.google.flatbuffers.FlatBufferBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.codec.MalformedMessageException;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.flatbuffers.generated.Player;
import dev.rdmarpc.flatbuffers.generated.Position;
import dev.rdmarpc.flatbuffers.generated.Weapon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class GeneratedTableTests {

	@Test
	void aRootIsItsBufferByReference() {
		Player player = player("Ann", 3);
		MessageSegments segments = new MessageSegments();
		Messages.result(Player.class).encode(player, segments);
		assertThat(segments.segmentCount()).isEqualTo(1);
		assertThat(segments.segmentMemory(0)).isSameAs(player.getByteBuffer());
		ByteBuffer message = Messages.contiguous(segments);
		assertThat(message).isEqualTo(player.getByteBuffer());
		Player decoded = (Player) Messages.decode(Messages.result(Player.class), message);
		check(decoded, "Ann", 3);
		message.putInt(0, message.getInt(0));
		assertThat(decoded.getByteBuffer().isReadOnly()).isTrue();
	}

	@Test
	void theOnlyArgumentIsTheRoot() {
		MessageFormat format = Messages.arguments(Player.class);
		Object[] decoded = Messages.decodeArguments(format, Messages.encode(format, new Object[] { player("Bob", 1) }));
		check((Player) decoded[0], "Bob", 1);
		assertThat(Messages.decodeArguments(format, Messages.encode(format, new Object[] { null })))
			.containsExactly((Object) null);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 100, 1000 })
	void aPartIsANestedBuffer(int weapons) {
		Team team = new Team("red", player("Ann", weapons), List.of(player("Bob", 1), player("Cid", weapons)),
				Optional.of(player("Dan", 2)), null);
		ByteBuffer message = Messages.encode(Messages.result(Team.class), team);
		Team decoded = (Team) Messages.decode(Messages.result(Team.class), message);
		assertThat(decoded.name()).isEqualTo("red");
		check(decoded.captain(), "Ann", weapons);
		check(decoded.players().get(0), "Bob", 1);
		check(decoded.players().get(1), "Cid", weapons);
		check(decoded.coach().orElseThrow(), "Dan", 2);
		assertThat(decoded.absent()).isNull();
	}

	@Test
	void aTableInsideAnotherOnesBufferIsRejected() {
		Weapon weapon = player("Ann", 1).weapons(0);
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> Messages.encode(Messages.result(Weapon.class), weapon))
			.withMessageContaining("not the root of its buffer");
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> Messages.encode(Messages.result(Weapon.class), new Weapon()))
			.withMessageContaining("table without a buffer");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 3, 2_000_000_000, -4 })
	void aRootOutOfBoundsIsMalformed(int root) {
		ByteBuffer message = ByteBuffer.allocateDirect(64).order(ByteOrder.LITTLE_ENDIAN).putInt(0, root);
		assertThatExceptionOfType(MalformedMessageException.class)
			.isThrownBy(() -> Messages.decode(Messages.result(Player.class), message))
			.withMessageContaining("message without root table");
	}

	@Test
	void aVtableOutOfBoundsIsMalformed() {
		ByteBuffer message = ByteBuffer.allocateDirect(64).order(ByteOrder.LITTLE_ENDIAN).putInt(0, 8);
		for (int vtable : new int[] { 9, Integer.MIN_VALUE, -60 }) {
			message.putInt(8, vtable);
			assertThatExceptionOfType(MalformedMessageException.class)
				.isThrownBy(() -> Messages.decode(Messages.result(Player.class), message))
				.withMessageContaining("root table without vtable");
		}
	}

	private static Player player(String name, int weapons) {
		FlatBufferBuilder builder = new FlatBufferBuilder(64);
		int[] offsets = new int[weapons];
		for (int i = 0; i < weapons; i++) {
			offsets[i] = Weapon.createWeapon(builder, builder.createString("weapon " + i), (short) i);
		}
		int list = Player.createWeaponsVector(builder, offsets);
		int text = builder.createString(name);
		Player.startPlayer(builder);
		Player.addId(builder, -1L);
		Player.addName(builder, text);
		Player.addWeapons(builder, list);
		Player.addPosition(builder, Position.createPosition(builder, 1, 2, 3));
		builder.finish(Player.endPlayer(builder));
		return Player.getRootAsPlayer(builder.dataBuffer());
	}

	private static void check(Player player, String name, int weapons) {
		assertThat(player.name()).isEqualTo(name);
		assertThat(player.id()).isEqualTo(-1);
		assertThat(player.level()).isEqualTo(1);
		assertThat(player.position().z()).isEqualTo(3);
		assertThat(player.weaponsLength()).isEqualTo(weapons);
		for (int i = 0; i < weapons; i++) {
			assertThat(player.weapons(i).name()).isEqualTo("weapon " + i);
			assertThat(player.weapons(i).damage()).isEqualTo((short) i);
		}
	}

	record Team(String name, Player captain, List<Player> players, Optional<Player> coach, Player absent) {

	}

}
