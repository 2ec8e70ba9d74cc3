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
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.memory.LeakDetection;
import dev.rdmarpc.memory.MemoryOptions;
import dev.rdmarpc.memory.RegisteredMemory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random messages of random table types: what the gather builder makes reads the same as
 * what {@code FlatBufferBuilder} makes, by the stock runtime and by {@code flatc}.
 */
@Tag("slow")
class RandomMessageTests {

	private static final long SEED = Long.getLong("rdmarpc.test.seed", 20260301L);

	private static final int MESSAGES = Integer.getInteger("rdmarpc.test.messages", 1500);

	private static final int FLATC_SCHEMAS = Integer.getInteger("rdmarpc.test.schemas", 25);

	private final RegisteredMemory memory = RegisteredMemory
		.create(MemoryOptions.DEFAULTS.withLeakDetection(LeakDetection.PARANOID));

	private final GatherBuilder builder = new GatherBuilder(this.memory);

	@TempDir
	private Path directory;

	@AfterEach
	void nothingIsOutstanding() {
		this.builder.close();
		assertThat(this.memory.metrics().outstanding()).isZero();
		this.memory.close();
	}

	@Test
	void readTheSameAsThoseOfTheStockBuilder() {
		for (long seed = SEED; seed < SEED + MESSAGES; seed++) {
			RandomContent content = new RandomContent(seed);
			Map<TableField, Object> value = content.value();
			ByteBuffer ours = write(seed, content.root(), value);
			ByteBuffer stock = StockWriter.write(content.root(), value);
			assertThat(StockReader.read(content.root(), stock)).as("stock, seed %s", seed).isEqualTo(value);
			assertThat(StockReader.read(content.root(), ours)).as("seed %s", seed).isEqualTo(value);
			verify(seed, content.root(), ours);
			verify(seed, content.root(), stock);
		}
	}

	@Test
	void readTheSameHoweverFewSegmentsTheyAreCoalescedTo() {
		for (long seed = SEED; seed < SEED + MESSAGES / 4; seed++) {
			RandomContent content = new RandomContent(seed);
			Map<TableField, Object> value = content.value();
			GatherMessage message = new GatherWriter(this.memory, this.builder, new Random(seed)).write(content.root(),
					value);
			int limit = 1 + new Random(seed).nextInt(8);
			MessageSegments segments = new MessageSegments();
			message.addTo(segments);
			segments.coalesce(limit);
			message.release();
			assertThat(segments.segmentCount()).as("segments, seed %s", seed).isLessThanOrEqualTo(limit);
			assertThat(StockReader.read(content.root(), Messages.contiguous(segments))).as("seed %s", seed)
				.isEqualTo(value);
			segments.clear();
		}
	}

	@Test
	@EnabledIf(value = "dev.rdmarpc.flatbuffers.Flatc#isInstalled",
			disabledReason = "flatc is not installed (Debian: flatbuffers-compiler)")
	void flatcReadsThemTheSameAsThoseOfTheStockBuilder() throws Exception {
		Flatc flatc = Flatc.in(this.directory);
		for (long seed = SEED; seed < SEED + FLATC_SCHEMAS; seed++) {
			RandomContent content = new RandomContent(seed);
			Map<TableField, Object> value = content.value();
			String schema = FlatBuffersSchema.ofTable(content.root());
			ByteBuffer ours = write(seed, content.root(), value);
			String json = flatc.toJson(schema, ours);
			assertThat(json).as("seed %s", seed)
				.isEqualTo(flatc.toJson(schema, StockWriter.write(content.root(), value)));
			ByteBuffer theirs = flatc.toBinary(schema, json);
			assertThat(StockReader.read(content.root(), theirs)).as("made by flatc of its JSON, seed %s", seed)
				.isEqualTo(withoutDefaults(value));
			verify(seed, content.root(), theirs);
		}
	}

	@Test
	@EnabledIf(value = "dev.rdmarpc.flatbuffers.FlatcVerifier#isAvailable",
			disabledReason = "the library of flatc, or a C++ compiler, is not installed")
	void theVerifierOfFlatcAcceptsThem() throws Exception {
		FlatcVerifier verifier = FlatcVerifier.in(this.directory);
		for (long seed = SEED; seed < SEED + FLATC_SCHEMAS; seed++) {
			RandomContent content = new RandomContent(seed);
			String schema = FlatBuffersSchema.ofTable(content.root());
			ByteBuffer ours = write(seed, content.root(), content.value());
			assertThat(verifier.accepts(schema, ours)).as("seed %s", seed).isTrue();
			ours.putInt(ours.getInt(0), Integer.MAX_VALUE);
			assertThat(verifier.accepts(schema, ours)).as("broken, seed %s", seed).isFalse();
		}
	}

	private ByteBuffer write(long seed, TableType type, Map<TableField, Object> value) {
		GatherMessage message = new GatherWriter(this.memory, this.builder, new Random(seed)).write(type, value);
		ByteBuffer bytes = ByteBuffer.allocateDirect(message.totalBytes()).order(ByteOrder.LITTLE_ENDIAN);
		message.copyTo(bytes);
		message.release();
		return bytes.flip();
	}

	private static void verify(long seed, TableType type, ByteBuffer message) {
		MessageVerifier verifier = new MessageVerifier(64, 16);
		ByteBuffer aligned = message.slice().order(ByteOrder.LITTLE_ENDIAN);
		verifier.begin(aligned, 0, aligned.limit(), false);
		try {
			type.shape().verifyTarget(verifier, verifier.root());
		}
		catch (RuntimeException ex) {
			throw new AssertionError("seed " + seed, ex);
		}
	}

	/** What flatc keeps: scalars that are 0 are left out. */
	private static Object withoutDefaults(Object value) {
		if (value instanceof List<?> list) {
			return list.stream()
				.map((element) -> (element instanceof Map) ? withoutDefaults(element) : element)
				.collect(Collectors.toList());
		}
		if (value instanceof Map<?, ?> map) {
			Map<Object, Object> kept = new LinkedHashMap<>();
			map.forEach((field, content) -> {
				boolean zero = (content instanceof Number number && number.doubleValue() == 0)
						|| Boolean.FALSE.equals(content);
				if (!zero) {
					kept.put(field, withoutDefaults(content));
				}
			});
			return kept;
		}
		return value;
	}

}
