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
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MessageTooLargeException;
import dev.rdmarpc.codec.UnencodableValueException;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Messages within messages, and who holds them. */
class GatherMessageTests {

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20260303L);

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withLeakDetection(LeakDetection.PARANOID));

	private final GatherBuilder builder = new GatherBuilder(this.memory);

	private final List<GatherMessage> once = new ArrayList<>();

	@AfterEach
	void nothingIsOutstanding() {
		this.once.forEach(GatherMessage::release);
		this.builder.close();
		assertThat(this.memory.metrics().outstanding()).as("buffers outstanding").isZero();
		this.memory.close();
	}

	@Test
	void oneEntryIsPartOfManyMessages() {
		RegisteredBuffer data = data(2000);
		GatherMessage entry = entry(7, data);
		assertThat(data.release()).isFalse();
		List<GatherMessage> followers = new ArrayList<>();
		for (int follower = 0; follower < 5; follower++) {
			this.builder.begin(Append.TYPE).put(Append.FOLLOWER, follower).begin(Append.ENTRIES, 2);
			followers.add(this.builder.add(entry).add(entry).end().finish());
		}
		assertThat(entry.references()).isEqualTo(11);
		assertThat(entry.release()).isFalse();
		assertThat(data.references()).isOne();
		for (int follower = 0; follower < 5; follower++) {
			GatherMessage message = followers.get(follower);
			Map<TableField, Object> read = read(Append.TYPE, message);
			assertThat(read.get(Append.FOLLOWER)).isEqualTo(follower);
			assertThat(((List<?>) read.get(Append.ENTRIES))).hasSize(2).allSatisfy((each) -> {
				Map<?, ?> fields = (Map<?, ?>) each;
				assertThat(fields.get(Entry.INDEX)).isEqualTo(7L);
				assertThat((List<?>) fields.get(Entry.DATA)).hasSize(2000).element(257).isEqualTo((byte) 1);
			});
			assertThat(segmentsOf(message)).filteredOn((each) -> each == data).hasSize(2);
			message.release();
			assertThat(data.references()).isEqualTo((follower < 4) ? 1 : 0);
		}
	}

	@Test
	void aVectorIsPartOfManyMessages() {
		RegisteredBuffer data = data(600);
		this.builder.beginVector(Append.ENTRIES, 3);
		for (int i = 0; i < 3; i++) {
			this.builder.begin().put(Entry.INDEX, (long) i).put(Entry.DATA, data).end();
		}
		GatherMessage entries = this.builder.finish();
		data.release();
		assertThat(entries.type()).isNull();
		assertThat(entries.vector()).isSameAs(Append.ENTRIES);
		for (int follower = 0; follower < 3; follower++) {
			GatherMessage message = this.builder.begin(Append.TYPE)
				.put(Append.FOLLOWER, follower)
				.put(Append.ENTRIES, entries)
				.finish();
			assertThat((List<?>) read(Append.TYPE, message).get(Append.ENTRIES)).hasSize(3)
				.element(2)
				.extracting((each) -> ((Map<?, ?>) each).get(Entry.INDEX))
				.isEqualTo(2L);
			message.release();
		}
		assertThat(entries.references()).isOne();
		this.builder.begin(Append.TYPE);
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> this.builder.put(Append.NESTED, entries));
		assertThatExceptionOfType(UnencodableValueException.class)
			.isThrownBy(() -> Messages.result(GatherMessage.class).encode(entries, new MessageSegments()));
		entries.release();
	}

	@Test
	void nestedMessagesAreAlignedAndWhole() {
		for (int length = 0; length < 10; length++) {
			GatherMessage entry = this.builder.begin(Entry.TYPE).put(Entry.INDEX, 3L).finish();
			GatherMessage message = this.builder.begin(Append.TYPE)
				.put(Append.LEADER, "x".repeat(length))
				.put(Append.NESTED, entry)
				.finish();
			ByteBuffer bytes = bytes(message);
			int position = StockReader.positionOf(Append.NESTED, bytes);
			assertThat(position % 8).isZero();
			assertThat(StockReader.read(Entry.TYPE, bytes.slice(position, entry.totalBytes())))
				.isEqualTo(Map.of(Entry.INDEX, 3L));
			entry.release();
			message.release();
		}
	}

	@Test
	void messagesOfTheWrongTypeAreRefused() {
		GatherMessage entry = this.builder.begin(Entry.TYPE).finish();
		GatherMessage append = this.builder.begin(Append.TYPE).finish();
		this.builder.begin(Append.TYPE);
		assertThatIllegalArgumentException().isThrownBy(() -> this.builder.put(Append.FIRST, append))
			.withMessageEndingWith("(expected: a message of type Entry)");
		assertThatIllegalArgumentException().isThrownBy(() -> this.builder.put(Append.ENTRIES, entry))
			.withMessageEndingWith("(expected: a vector of Entry)");
		this.builder.put(Append.FIRST, entry).begin(Append.ENTRIES, 1);
		assertThatIllegalArgumentException().isThrownBy(() -> this.builder.add(append));
		assertThat(entry.references()).isEqualTo(2);
		assertThat(append.references()).isOne();
		this.builder.abort();
		assertThat(entry.references()).isOne();
		entry.release();
		append.release();
	}

	@Test
	void usesAfterReleaseAreDetected() {
		GatherMessage entry = this.builder.begin(Entry.TYPE).put(Entry.INDEX, 1L).finish();
		assertThat(entry.retain()).isSameAs(entry);
		assertThat(entry.release()).isFalse();
		assertThat(entry.release()).isTrue();
		assertThatIllegalStateException().isThrownBy(entry::release);
		assertThatIllegalStateException().isThrownBy(entry::retain);
		assertThatIllegalStateException().isThrownBy(entry::totalBytes);
		assertThatIllegalStateException().isThrownBy(() -> entry.addTo(new MessageSegments()));
		this.builder.begin(Append.TYPE);
		assertThatIllegalStateException().isThrownBy(() -> this.builder.put(Append.FIRST, entry));
	}

	@Test
	void segmentsHoldAReferenceUntilTheyAreCleared() {
		GatherMessage entry = entry(1, data(700));
		MessageSegments segments = new MessageSegments();
		entry.addTo(segments);
		entry.addTo(segments);
		assertThat(entry.references()).isEqualTo(3);
		segments.clear();
		assertThat(entry.references()).isOne();
		segments.maxBytes(100);
		assertThatExceptionOfType(MessageTooLargeException.class)
			.isThrownBy(() -> Messages.result(GatherMessage.class).encode(entry, segments));
		assertThat(entry.references()).isOne();
		assertThat(segments.totalBytes()).isZero();
		RegisteredBuffer data = segmentsOf(entry).get(1);
		entry.release();
		data.release();
	}

	@Test
	void messagesOutliveTheirBuilderAndAreReleasedByAnyThread() throws Exception {
		List<GatherMessage> messages = new ArrayList<>();
		for (int i = 0; i < 2000; i++) {
			messages.add(this.builder.begin(Entry.TYPE).put(Entry.INDEX, (long) i).finish().retain());
		}
		this.builder.close();
		for (int i = 0; i < 2000; i++) {
			assertThat(read(Entry.TYPE, messages.get(i))).isEqualTo(Map.of(Entry.INDEX, (long) i));
		}
		CyclicBarrier start = new CyclicBarrier(2);
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			threads.add(new Thread(() -> {
				try {
					start.await(10, TimeUnit.SECONDS);
				}
				catch (Exception ex) {
					throw new IllegalStateException(ex);
				}
				messages.forEach(GatherMessage::release);
			}));
		}
		threads.forEach(Thread::start);
		for (Thread thread : threads) {
			thread.join(TimeUnit.SECONDS.toMillis(20));
			assertThat(thread.isAlive()).isFalse();
		}
		assertThat(messages).allSatisfy((each) -> assertThat(each.references()).isZero());
	}

	@Test
	void manySmallMessagesShareAChunk() {
		List<GatherMessage> messages = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			messages.add(this.builder.begin(Entry.TYPE).put(Entry.INDEX, (long) i).finish());
		}
		assertThat(this.memory.metrics().allocatedBytes()).isEqualTo(ScratchArena.CHUNK_BYTES);
		messages.forEach(GatherMessage::release);
	}

	@Test
	@SuppressWarnings("try") // closed early to see what is outstanding
	void objectsAreUsedAgainOnlyWhenTheirMessageIsGone() {
		Random random = new Random(SEED);
		try (RegisteredMemory pool = RegisteredMemory.create(MemoryOptions.DEFAULTS);
				GatherBuilder reusing = new GatherBuilder(pool)) {
			IdentityHashMap<GatherMessage, Long> live = new IdentityHashMap<>();
			for (long i = 0; i < 20_000; i++) {
				GatherMessage message = reusing.begin(Entry.TYPE).put(Entry.INDEX, i).finish();
				assertThat(live.put(message, i)).as("seed %s, message %s", SEED, i).isNull();
				if (live.size() > random.nextInt(600)) {
					GatherMessage any = live.keySet().iterator().next();
					assertThat(read(Entry.TYPE, any)).as("seed %s, message %s", SEED, i)
						.isEqualTo(Map.of(Entry.INDEX, live.remove(any)));
					any.release();
				}
			}
			live.forEach((message, index) -> {
				assertThat(read(Entry.TYPE, message)).isEqualTo(Map.of(Entry.INDEX, index));
				message.release();
			});
			reusing.close();
			assertThat(pool.metrics().outstanding()).isZero();
		}
	}

	@Test
	void messagesAreNestedDeeply() {
		RegisteredBuffer data = data(600);
		GatherMessage inner = entry(0, data);
		int bytes = 0;
		for (int i = 1; i < 60; i++) {
			GatherMessage outer = this.builder.begin(Append.TYPE)
				.put(Append.FOLLOWER, i)
				.put(Append.NESTED, inner)
				.put(Append.FIRST, entryOnce(data))
				.finish();
			inner.release();
			assertThat(outer.totalBytes()).isGreaterThan(bytes + 600);
			bytes = outer.totalBytes();
			inner = outer;
		}
		ByteBuffer message = bytes(inner);
		MessageSegments segments = new MessageSegments();
		inner.addTo(segments);
		assertThat(segments.segmentCount()).isEqualTo(inner.segmentCount()).isGreaterThan(200);
		assertThat(Messages.contiguous(segments)).isEqualTo(message);
		segments.clear();
		for (int i = 59; i > 0; i--) {
			assertThat(StockReader.read(Append.TYPE, message).get(Append.FOLLOWER)).isEqualTo(i);
			message = message.slice(StockReader.positionOf(Append.NESTED, message),
					message.remaining() - StockReader.positionOf(Append.NESTED, message));
		}
		inner.release();
		data.release();
	}

	@Test
	void tablesOfEmbeddedMessagesCountForTheDepth() {
		TableType type = TableType.named("Deep");
		TableField.OfTable child = type.addTable("child", type);
		GatherMessage inner = this.builder.begin(type).finish();
		for (int i = 1; i < FlatBuffersOptions.DEFAULTS.maxDepth(); i++) {
			GatherMessage outer = this.builder.begin(type).put(child, inner).finish();
			inner.release();
			inner = outer;
		}
		GatherMessage deepest = inner;
		this.builder.begin(type);
		assertThatExceptionOfType(UnencodableValueException.class).isThrownBy(() -> this.builder.put(child, deepest))
			.withMessage("nested deeper than 64 tables");
		deepest.release();
	}

	private GatherMessage entryOnce(RegisteredBuffer data) {
		GatherMessage entry;
		try (GatherBuilder other = new GatherBuilder(this.memory)) {
			entry = other.begin(Entry.TYPE).put(Entry.DATA, data).finish();
		}
		this.once.add(entry);
		return entry;
	}

	private RegisteredBuffer data(int length) {
		RegisteredBuffer data = this.memory.allocate(length);
		for (int i = 0; i < length; i++) {
			data.buffer().put(i, (byte) i);
		}
		return data;
	}

	private GatherMessage entry(long index, RegisteredBuffer data) {
		return this.builder.begin(Entry.TYPE).put(Entry.INDEX, index).put(Entry.DATA, data).finish();
	}

	private static List<RegisteredBuffer> segmentsOf(GatherMessage message) {
		List<RegisteredBuffer> buffers = new ArrayList<>();
		for (int i = 0; i < message.segmentCount(); i++) {
			buffers.add(message.segments().segmentBuffer(i));
		}
		return buffers;
	}

	private static ByteBuffer bytes(GatherMessage message) {
		ByteBuffer bytes = ByteBuffer.allocate(message.totalBytes()).order(ByteOrder.LITTLE_ENDIAN);
		message.copyTo(bytes);
		return bytes.flip();
	}

	private static Map<TableField, Object> read(TableType type, GatherMessage message) {
		return StockReader.read(type, bytes(message));
	}

	static final class Entry {

		static final TableType TYPE = TableType.named("Entry");

		static final TableField.OfLong INDEX = TYPE.addLong("index");

		static final TableField.OfBytes DATA = TYPE.addBytes("data");

	}

	static final class Append {

		static final TableType TYPE = TableType.named("Append");

		static final TableField.OfInt FOLLOWER = TYPE.addInt("follower");

		static final TableField.OfString LEADER = TYPE.addString("leader");

		static final TableField.OfTables ENTRIES = TYPE.addTables("entries", Entry.TYPE);

		static final TableField.OfTable FIRST = TYPE.addTable("first", Entry.TYPE);

		static final TableField.OfMessage NESTED = TYPE.addMessage("nested");

	}

}
