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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Vectors of tables, which are reserved several at a time. */
class TableVectorTests {

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20261121L);

	private static final int MESSAGES = Integer.getInteger("rdmarpc.test.vectors", 300);

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withLeakDetection(LeakDetection.PARANOID));

	private final GatherBuilder builder = new GatherBuilder(this.memory);

	private final List<GatherMessage> parts = new ArrayList<>();

	private final List<RegisteredBuffer> contents = new ArrayList<>();

	@AfterEach
	void nothingIsOutstanding() {
		this.builder.close();
		assertThat(this.memory.metrics().outstanding()).as("buffers outstanding").isZero();
		this.memory.close();
	}

	@Test
	void elementsMayDifferInAnyWay() {
		for (long seed = SEED; seed < SEED + MESSAGES; seed++) {
			Random random = new Random(seed);
			GatherMessage part = this.builder.begin(Node.TYPE).put(Node.ID, -1L).finish();
			this.parts.add(part);
			List<Object> expected = new ArrayList<>();
			this.builder.begin(Node.TYPE);
			children(random, 0, expected);
			GatherMessage message = this.builder.finish();
			assertThat(StockReader.read(Node.TYPE, bytes(message))).as("seed %s", seed)
				.isEqualTo(Map.of(Node.CHILDREN, expected));
			message.release();
			this.parts.forEach(GatherMessage::release);
			this.parts.clear();
			this.contents.forEach(RegisteredBuffer::release);
			this.contents.clear();
		}
	}

	private void children(Random random, int depth, List<Object> expected) {
		int count = random.nextInt((depth == 0) ? 200 : 6);
		this.builder.begin(Node.CHILDREN, count);
		for (int i = 0; i < count; i++) {
			if (random.nextInt(8) == 0) {
				this.builder.add(this.parts.get(0));
				expected.add(Map.of(Node.ID, -1L));
			}
			else {
				this.builder.begin();
				expected.add(child(random, depth + 1));
				this.builder.end();
			}
		}
		this.builder.end();
	}

	private Map<TableField, Object> child(Random random, int depth) {
		Map<TableField, Object> values = new LinkedHashMap<>();
		if (random.nextInt(6) != 0) {
			long id = random.nextLong();
			this.builder.put(Node.ID, id);
			values.put(Node.ID, id);
		}
		if (random.nextInt(6) == 0) {
			this.builder.put(Node.FLAG, true);
			values.put(Node.FLAG, true);
		}
		if (random.nextInt(4) == 0) {
			String text = "x".repeat(random.nextInt(40));
			this.builder.put(Node.TEXT, text);
			values.put(Node.TEXT, text);
		}
		if (random.nextInt(6) == 0) {
			RegisteredBuffer data = this.memory.allocate(1 + random.nextInt(5));
			this.contents.add(data);
			List<Byte> bytes = new ArrayList<>();
			for (int i = 0; i < data.length(); i++) {
				data.buffer().put(i, (byte) i);
				bytes.add((byte) i);
			}
			this.builder.put(Node.DATA, data);
			values.put(Node.DATA, bytes);
		}
		if (depth < 3 && random.nextInt(8) == 0) {
			List<Object> children = new ArrayList<>();
			children(random, depth, children);
			values.put(Node.CHILDREN, children);
		}
		return values;
	}

	@Test
	void nothingOfOldMemoryIsBetweenOrInsteadOfTables() {
		RegisteredBuffer dirty = this.memory.allocate(ScratchArena.CHUNK_BYTES);
		for (int i = 0; i < dirty.length(); i++) {
			dirty.buffer().put(i, (byte) 0xEE);
		}
		dirty.release();
		GatherMessage part = this.builder.begin(Node.TYPE).put(Node.ID, 1L).finish();
		this.builder.begin(Node.TYPE).begin(Node.CHILDREN, 10);
		this.builder.begin().put(Node.ID, 1L).end().begin().end().add(part).add(part).begin().end();
		for (int i = 0; i < 5; i++) {
			this.builder.begin().put(Node.FLAG, true).end();
		}
		GatherMessage message = this.builder.end().finish();
		part.release();
		ByteBuffer bytes = bytes(message);
		message.release();
		while (bytes.hasRemaining()) {
			assertThat(bytes.get()).as("byte %s", bytes.position() - 1).isNotEqualTo((byte) 0xEE);
		}
	}

	@Test
	void tablesOfOneKindTakeNoMoreThanTheirSize() {
		this.builder.begin(Node.TYPE).begin(Node.CHILDREN, 1000);
		for (int i = 0; i < 1000; i++) {
			this.builder.begin().put(Node.ID, (long) i).end();
		}
		GatherMessage message = this.builder.end().finish();
		assertThat(message.totalBytes()).isLessThan(1000 * (Node.TYPE.layout().strideBytes() + 4) + 200);
		message.release();
	}

	@Test
	void elementsAreCountedHoweverTheyAreReserved() {
		this.builder.begin(Node.TYPE).begin(Node.CHILDREN, 5);
		this.builder.begin().end().begin().end().begin().end();
		assertThatIllegalStateException().isThrownBy(this.builder::end)
			.withMessage("vector Node.children lacks 2 elements");
		this.builder.begin();
		assertThatIllegalStateException().isThrownBy(this.builder::begin)
			.withMessage("no table fits here (expected: a field of Node)");
		this.builder.end().begin().end();
		assertThatIllegalStateException().isThrownBy(this.builder::begin)
			.withMessage("no table fits here (expected: the end of Node.children)");
		this.builder.end().finish().release();
	}

	@Test
	void anAbortedVectorLeavesNothingToTheNext() {
		this.builder.begin(Node.TYPE).begin(Node.CHILDREN, 50).begin().end().begin().put(Node.ID, 5L);
		GatherMessage message = this.builder.begin(Node.TYPE).begin(Node.CHILDREN, 1).begin().end().end().finish();
		assertThat(StockReader.read(Node.TYPE, bytes(message))).isEqualTo(Map.of(Node.CHILDREN, List.of(Map.of())));
		message.release();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 63, 64, 65, 5000 })
	void recordsOfListsAndArrays(int count) {
		List<Leaf> leaves = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			leaves.add(new Leaf((i % 7 != 0) ? "leaf " + i : null, i, List.of(i, i + 1)));
		}
		Tree tree = new Tree(leaves, leaves.toArray(Leaf[]::new), (byte) 1);
		Tree read = (Tree) Messages.decode(Messages.result(Tree.class),
				Messages.encode(Messages.result(Tree.class), tree));
		assertThat(read.leaves()).isEqualTo(leaves);
		assertThat(read.array()).containsExactlyElementsOf(leaves);
	}

	@Test
	void whatIsWrongWithAnElementSaysWhere() {
		List<Leaf> leaves = new ArrayList<>(List.of(new Leaf("a", 0, List.of()), new Leaf("b", 1, List.of())));
		leaves.add(null);
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> Messages.encode(Messages.result(Tree.class), new Tree(leaves, null, (byte) 0)))
			.withMessageContaining("leaves[2]");
		leaves.set(2, new Leaf("broken \uD800", 2, null));
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> Messages.encode(Messages.result(Tree.class), new Tree(leaves, null, (byte) 0)))
			.withMessageContaining("leaves[2].name");
	}

	private static ByteBuffer bytes(GatherMessage message) {
		ByteBuffer bytes = ByteBuffer.allocate(message.totalBytes()).order(ByteOrder.LITTLE_ENDIAN);
		message.copyTo(bytes);
		return bytes.flip();
	}

	record Leaf(String name, int number, List<Integer> numbers) {

	}

	record Tree(List<Leaf> leaves, Leaf[] array, byte last) {

	}

	static final class Node {

		static final TableType TYPE = TableType.named("Node");

		static final TableField.OfLong ID = TYPE.addLong("id");

		static final TableField.OfBoolean FLAG = TYPE.addBoolean("flag");

		static final TableField.OfString TEXT = TYPE.addString("text");

		static final TableField.OfBytes DATA = TYPE.addBytes("data");

		static final TableField.OfTables CHILDREN = TYPE.addTables("children", TYPE);

	}

}
