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
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryExhaustedException;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class GatherBuilderTests {

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withLeakDetection(LeakDetection.PARANOID));

	private final GatherBuilder builder = new GatherBuilder(this.memory);

	@AfterEach
	void nothingIsOutstanding() {
		this.builder.close();
		assertThat(this.memory.metrics().outstanding()).as("buffers outstanding").isZero();
		this.memory.close();
	}

	@Test
	void fieldsThatAreNotPutAreAbsent() {
		GatherMessage message = this.builder.begin(Book.TYPE).put(Book.PAGES, 7).put(Book.TITLE, "On").finish();
		assertThat(read(message)).isEqualTo(Map.of(Book.PAGES, 7, Book.TITLE, "On"));
		assertThat(message.type()).isSameAs(Book.TYPE);
		message.release();
	}

	@Test
	void buildersAreSmallHoweverManyTypesThereAre() {
		for (int i = 0; i < 50_000; i++) {
			TableType.named("Type").layout();
		}
		TableType latest = TableType.named("Latest");
		TableField.OfInt number = latest.addInt("number");
		for (int i = 0; i < 3; i++) {
			long before = AllocatedBytes.byThisThread();
			try (GatherBuilder other = new GatherBuilder(this.memory)) {
				other.begin(latest).put(number, i).finish().release();
			}
			assertThat(AllocatedBytes.byThisThread() - before).isLessThan(32 * 1024);
		}
	}

	@Test
	void whatIsKnownOfTypesIsForgottenWhenThereAreTooMany() {
		LayoutTable<LayoutTable.Entry> table = new LayoutTable<>();
		for (int id = 0; id < 20_000; id += 3) {
			assertThat(table.find(id)).isNull();
			LayoutTable.Entry added = table.add(new LayoutTable.Entry(id) {
			});
			assertThat(table.find(id)).isSameAs(added);
			assertThat(table.find(id + 1)).isNull();
		}
		assertThat(table.find(0)).isNull();
		assertThat(table.find(19_998)).isNotNull();
	}

	@Test
	void smallThingsGoIntoOneSegment() {
		this.builder.begin(Book.TYPE).put(Book.TITLE, "a title").put(Book.COVER, new byte[511]);
		this.builder.begin(Book.CHAPTERS, 3);
		for (int i = 0; i < 3; i++) {
			this.builder.begin().put(Chapter.NUMBER, (long) i).end();
		}
		GatherMessage message = this.builder.end().finish();
		assertThat(message.segmentCount()).isOne();
		assertThat(segments(message).segmentBuffer(0)).isNotNull();
		message.release();
	}

	@ParameterizedTest
	@ValueSource(ints = { 512, 513, 100_000 })
	void largeBytesAreReferencedWhereTheyAre(int length) {
		ByteBuffer bytes = ByteBuffer.allocateDirect(length);
		GatherMessage message = this.builder.begin(Book.TYPE).put(Book.COVER, bytes).put(Book.PAGES, 1).finish();
		MessageSegments segments = segments(message);
		assertThat(segments.segmentMemory(1)).isSameAs(bytes);
		assertThat(segments.segmentLength(1)).isEqualTo(length);
		bytes.put(0, (byte) 9);
		assertThat((List<?>) read(message).get(Book.COVER)).hasSize(length).element(0).isEqualTo((byte) 9);
		message.release();
	}

	@Test
	void registeredBuffersAreReferencedHoweverSmall() {
		RegisteredBuffer small = this.memory.allocate(3);
		small.buffer().put(new byte[] { 1, 2, 3 });
		RegisteredBuffer text = this.memory.allocate(5);
		text.buffer().put("Zo\u00EB!".getBytes(StandardCharsets.UTF_8));
		GatherMessage message = this.builder.begin(Book.TYPE).put(Book.COVER, small).put(Book.TITLE, text).finish();
		assertThat(small.references()).isEqualTo(2);
		small.release();
		text.release();
		MessageSegments segments = segments(message);
		assertThat(segments.segmentBuffer(1)).isSameAs(small);
		assertThat(segments.segmentBuffer(3)).isSameAs(text);
		assertThat(read(message))
			.isEqualTo(Map.of(Book.COVER, List.of((byte) 1, (byte) 2, (byte) 3), Book.TITLE, "Zo\u00EB!"));
		message.release();
		assertThat(small.references()).isZero();
		assertThat(text.references()).isZero();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 4, 8 })
	void whatIsGatheredIsAligned(int alignment) {
		TableType type = TableType.named("Aligned");
		TableField.OfString text = type.addString("text");
		TableField.OfBytes bytes = type.addBytes("bytes", alignment);
		for (int length = 0; length < 20; length++) {
			RegisteredBuffer content = this.memory.allocate(600);
			GatherMessage message = this.builder.begin(type).put(text, "x".repeat(length)).put(bytes, content).finish();
			content.release();
			assertThat(StockReader.positionOf(bytes, bytes(message)) % alignment).isZero();
			message.release();
		}
	}

	@Test
	void messagesGrowBeyondAnyChunk() {
		this.builder.begin(Book.TYPE).begin(Book.CHAPTERS, 10_000);
		for (int i = 0; i < 10_000; i++) {
			this.builder.begin().put(Chapter.NUMBER, (long) i).put(Chapter.NAME, "chapter " + i).end();
		}
		String title = "\u20AC".repeat(300_000);
		GatherMessage message = this.builder.end().put(Book.TITLE, title).finish();
		Map<TableField, Object> book = read(message);
		assertThat(book.get(Book.TITLE)).isEqualTo(title);
		List<?> chapters = (List<?>) book.get(Book.CHAPTERS);
		assertThat(chapters).hasSize(10_000);
		assertThat(chapters.get(9_999)).isEqualTo(Map.of(Chapter.NUMBER, 9_999L, Chapter.NAME, "chapter 9999"));
		message.release();
	}

	@Test
	void tablesOfManyFieldsHaveTheirOwnVtable() {
		TableType type = TableType.named("Wide");
		List<TableField.OfShort> fields = new ArrayList<>();
		for (int i = 0; i < 150; i++) {
			fields.add(type.addShort("f" + i));
		}
		this.builder.begin(type).put(fields.get(3), (short) 3).put(fields.get(149), (short) 149);
		assertThatIllegalStateException().isThrownBy(() -> this.builder.put(fields.get(149), (short) 1))
			.withMessage("Wide.f149 is set already");
		GatherMessage message = this.builder.finish();
		assertThat(read(message)).isEqualTo(Map.of(fields.get(3), (short) 3, fields.get(149), (short) 149));
		message.release();
	}

	@Test
	void nothingOfOldMemoryIsInAMessage() {
		RegisteredBuffer dirty = this.memory.allocate(ScratchArena.CHUNK_BYTES);
		for (int i = 0; i < dirty.length(); i++) {
			dirty.buffer().put(i, (byte) 0xEE);
		}
		dirty.release();
		TableType wide = TableType.named("Wide");
		for (int i = 0; i < 67; i++) {
			wide.addLong("f" + i);
		}
		TableType type = TableType.named("Mixed");
		type.addLong("absent");
		TableField.OfByte one = type.addByte("one");
		TableField.OfTable many = type.addTable("many", wide);
		TableField.OfString text = type.addString("text");
		this.builder.begin(type).put(one, (byte) 1).begin(many).end();
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> this.builder.put(text, "broken \uD800"));
		GatherMessage message = this.builder.put(text, "fine").finish();
		ByteBuffer bytes = bytes(message);
		while (bytes.hasRemaining()) {
			assertThat(bytes.get()).as("byte %s", bytes.position() - 1).isNotEqualTo((byte) 0xEE);
		}
		message.release();
	}

	@Test
	void mistakesAreRefusedAndLeaveTheMessageAsItWas() {
		this.builder.begin(Book.TYPE).put(Book.PAGES, 1);
		assertThatIllegalArgumentException().isThrownBy(() -> this.builder.put(Chapter.NUMBER, 1L))
			.withMessage("Chapter.number (expected: a field of Book)");
		assertThatIllegalStateException().isThrownBy(() -> this.builder.put(Book.PAGES, 2));
		assertThatIllegalStateException().isThrownBy(this.builder::begin)
			.withMessage("no table fits here (expected: a field of Book)");
		assertThatIllegalStateException().isThrownBy(() -> this.builder.add("text"));
		assertThatIllegalStateException().isThrownBy(this.builder::end);
		this.builder.begin(Book.CHAPTERS, 1);
		assertThatIllegalStateException().isThrownBy(this.builder::end)
			.withMessage("vector Book.chapters lacks 1 elements");
		assertThatIllegalStateException().isThrownBy(this.builder::finish).withMessage("parts of the message are open");
		assertThatIllegalArgumentException().isThrownBy(() -> this.builder.put(Book.PAGES, 1))
			.withMessage("Book.pages (expected: 1 more elements of Book.chapters)");
		assertThatIllegalStateException().isThrownBy(() -> this.builder.add("text"))
			.withMessage("no string fits here (expected: 1 more elements of Book.chapters)");
		this.builder.begin().end();
		assertThatIllegalStateException().isThrownBy(this.builder::begin)
			.withMessage("no table fits here (expected: the end of Book.chapters)");
		RegisteredBuffer released = this.memory.allocate(10);
		released.release();
		this.builder.end();
		assertThatIllegalStateException().isThrownBy(() -> this.builder.put(Book.COVER, released));
		GatherMessage message = this.builder.finish();
		assertThat(read(message)).isEqualTo(Map.of(Book.PAGES, 1, Book.CHAPTERS, List.of(Map.of())));
		message.release();
		assertThatIllegalStateException().isThrownBy(this.builder::finish).withMessage("no message begun");
		assertThatIllegalArgumentException().isThrownBy(() -> this.builder.put(Book.PAGES, 1))
			.withMessage("Book.pages (expected: a message begun)");
	}

	@Test
	void typesInUseAreClosed() {
		TableType type = TableType.named("Closed");
		type.addInt("a");
		this.builder.begin(type).finish().release();
		assertThatIllegalStateException().isThrownBy(() -> type.addInt("b"))
			.withMessage("Closed is in use (expected: all fields before)");
		assertThatIllegalArgumentException().isThrownBy(() -> TableType.named("no identifier"));
		assertThatIllegalArgumentException().isThrownBy(() -> TableType.named("T").addBytes("b", 16));
	}

	@Test
	void nestingIsLimited() {
		TableType type = TableType.named("Deep");
		TableField.OfTable inner = type.addTable("inner", type);
		this.builder.begin(type);
		for (int i = 1; i < FlatBuffersOptions.DEFAULTS.maxDepth(); i++) {
			this.builder.begin(inner);
		}
		assertThatExceptionOfType(UnencodableValueException.class).isThrownBy(() -> this.builder.begin(inner));
	}

	@Test
	void invalidTextIsRefused() {
		RegisteredBuffer text = this.memory.allocate(2);
		text.buffer().put((byte) 0xC3).put((byte) 0x28);
		this.builder.begin(Book.TYPE);
		assertThatExceptionOfType(UnencodableValueException.class).isThrownBy(() -> this.builder.put(Book.TITLE, text))
			.withMessage("Book.title is not UTF-8");
		text.release();
	}

	@Test
	void everyEarlyExitGivesTheReferencesBack() {
		RegisteredBuffer buffer = this.memory.allocate(1000);
		this.builder.begin(Book.TYPE).put(Book.COVER, buffer);
		assertThat(buffer.references()).isEqualTo(2);
		this.builder.abort();
		assertThat(buffer.references()).isOne();
		this.builder.begin(Book.TYPE).put(Book.COVER, buffer).begin(Book.CHAPTERS, 2);
		this.builder.begin(Book.TYPE).put(Book.COVER, buffer);
		assertThat(buffer.references()).isEqualTo(2);
		IllegalArgumentException failure = new IllegalArgumentException("thrown by the content");
		assertThatIllegalArgumentException().isThrownBy(() -> this.builder.build(Book.TYPE, (out) -> {
			out.put(Book.COVER, buffer);
			throw failure;
		})).isSameAs(failure);
		assertThat(buffer.references()).isOne();
		this.builder.begin(Book.TYPE).put(Book.COVER, buffer).begin(Book.CHAPTERS, 2);
		this.builder.close();
		assertThat(buffer.release()).isTrue();
		assertThatIllegalStateException().isThrownBy(() -> this.builder.begin(Book.TYPE))
			.withMessage("builder is closed");
	}

	@Test
	void exhaustionAbortsOrLeavesTheMessageAsItWas() {
		try (RegisteredMemory tiny = RegisteredMemory.create(MemoryOptions.DEFAULTS.withMaxBytes(32 * 1024)
			.withInitialBytes(0)
			.withExtentBytes(16 * 1024)
			.withAllocationTimeout(Duration.ZERO)
			.withLeakDetection(LeakDetection.PARANOID))) {
			GatherMessage message;
			try (GatherBuilder small = new GatherBuilder(tiny)) {
				small.begin(Book.TYPE);
				assertThatExceptionOfType(MemoryExhaustedException.class)
					.isThrownBy(() -> small.put(Book.TITLE, "x".repeat(200_000)));
				message = small.put(Book.TITLE, "short").finish();
			}
			assertThat(read(message)).isEqualTo(Map.of(Book.TITLE, "short"));
			RegisteredBuffer rest = tiny.allocate(16 * 1024);
			try (GatherBuilder other = new GatherBuilder(tiny)) {
				assertThatExceptionOfType(MemoryExhaustedException.class).isThrownBy(() -> other.begin(Book.TYPE));
				assertThatIllegalStateException().isThrownBy(other::finish);
			}
			rest.release();
			message.release();
		}
	}

	@Test
	void nothingIsAllocatedOnceWarm() {
		try (RegisteredMemory pool = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				GatherBuilder warm = new GatherBuilder(pool)) {
			RegisteredBuffer cover = pool.allocate(1000);
			long least = Long.MAX_VALUE;
			// how long the compilers take depends on what else the machine does
			for (int round = 0; round < 100 && least >= 10_000; round++) {
				long before = AllocatedBytes.byThisThread();
				for (int i = 0; i < 10_000; i++) {
					build(warm, cover);
				}
				least = Math.min(least, AllocatedBytes.byThisThread() - before);
			}
			assertThat(least).isLessThan(10_000);
			cover.release();
		}
	}

	private static void build(GatherBuilder builder, RegisteredBuffer cover) {
		builder.begin(Book.TYPE).put(Book.PAGES, 7).put(Book.TITLE, "a title").put(Book.COVER, cover);
		builder.begin(Book.CHAPTERS, 2);
		builder.begin().put(Chapter.NUMBER, 1L).end();
		builder.begin().put(Chapter.NAME, "second").end();
		builder.end().finish().release();
	}

	private static MessageSegments segments(GatherMessage message) {
		MessageSegments segments = new MessageSegments();
		message.addTo(segments);
		MessageSegments seen = new MessageSegments();
		seen.addAll(segments);
		segments.clear();
		return seen;
	}

	private static ByteBuffer bytes(GatherMessage message) {
		ByteBuffer bytes = ByteBuffer.allocate(message.totalBytes()).order(ByteOrder.LITTLE_ENDIAN);
		message.copyTo(bytes);
		return bytes.flip();
	}

	private static Map<TableField, Object> read(GatherMessage message) {
		return StockReader.read(message.type(), bytes(message));
	}

	static final class Chapter {

		static final TableType TYPE = TableType.named("Chapter");

		static final TableField.OfLong NUMBER = TYPE.addLong("number");

		static final TableField.OfString NAME = TYPE.addString("name");

	}

	static final class Book {

		static final TableType TYPE = TableType.named("Book");

		static final TableField.OfString TITLE = TYPE.addString("title");

		static final TableField.OfInt PAGES = TYPE.addInt("pages");

		static final TableField.OfBytes COVER = TYPE.addBytes("cover");

		static final TableField.OfTables CHAPTERS = TYPE.addTables("chapters", Chapter.TYPE);

	}

}
