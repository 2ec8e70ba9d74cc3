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
import java.util.List;

import org.assertj.core.extractor.Extractors;
import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.codec.MethodSignature;

import static org.assertj.core.api.Assertions.assertThat;

class RecordCodecTests {

	private static final Primitives EXTREMES = new Primitives(true, Byte.MIN_VALUE, Character.MAX_VALUE,
			Short.MIN_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE, -0.0f, Double.MIN_VALUE);

	@Test
	void primitivesRoundTrip() {
		assertThat(Messages.<Object>roundTrip(Primitives.class, EXTREMES)).isEqualTo(EXTREMES);
		Primitives zeros = new Primitives(false, (byte) 0, '\0', (short) 0, 0, 0, 0, 0);
		assertThat(Messages.<Object>roundTrip(Primitives.class, zeros)).isEqualTo(zeros);
		Primitives others = new Primitives(true, Byte.MAX_VALUE, 'x', Short.MAX_VALUE, Integer.MAX_VALUE,
				Long.MAX_VALUE, Float.NaN, Double.NEGATIVE_INFINITY);
		assertThat(Messages.<Object>roundTrip(Primitives.class, others)).isEqualTo(others);
	}

	@Test
	void boxesAndReferencesMayBeNull() {
		Boxes none = new Boxes(null, null, null, null, null, null, null, null, null, null, null);
		assertThat(Messages.<Object>roundTrip(Boxes.class, none)).isEqualTo(none);
		Boxes some = new Boxes(false, null, '\0', null, 0, null, 0f, null, "", null, none);
		assertThat(Messages.<Object>roundTrip(Boxes.class, some)).isEqualTo(some);
		Boxes all = new Boxes(true, (byte) 1, 'c', (short) -2, 3, -4L, 5f, -6d, "Zeichen \uD83D\uDE00 \u00E4 \u20AC",
				EXTREMES, some);
		assertThat(Messages.<Object>roundTrip(Boxes.class, all)).isEqualTo(all);
	}

	@Test
	void bytesAndViewsRoundTripBelowAndAboveTheGatherThreshold() {
		for (int length : new int[] { 0, 1, 511, 512, 513, 100_000 }) {
			byte[] bytes = new byte[length];
			for (int i = 0; i < length; i++) {
				bytes[i] = (byte) (i * 31);
			}
			Blobs blobs = new Blobs(bytes, ByteBuffer.wrap(bytes), "end");
			Blobs decoded = Messages.roundTrip(Blobs.class, blobs);
			assertThat(decoded.copied()).isEqualTo(bytes);
			assertThat(decoded.viewed()).isEqualTo(ByteBuffer.wrap(bytes));
			assertThat(decoded.viewed().isReadOnly()).isTrue();
			assertThat(decoded.end()).isEqualTo("end");
		}
	}

	@Test
	void bytesFromTheThresholdOnAreSentFromWhereTheyAre() {
		MessageFormat format = new FlatBuffersCodec(FlatBuffersOptions.DEFAULTS.withGatherThreshold(100))
			.result(Messages.method(Envelope.class));
		byte[] array = new byte[100];
		ByteBuffer view = ByteBuffer.allocateDirect(300).position(150).limit(250);
		Envelope large = new Envelope(List.of(new Blobs(array, view, "a"), new Blobs(array, view, "b")));
		MessageSegments segments = new MessageSegments();
		format.encode(large, segments);
		assertThat(segments.segmentCount()).isGreaterThan(8);
		assertThat(segments.segmentMemory(3)).isSameAs(view).isSameAs(segments.segmentMemory(7));
		assertThat(segments.segmentOffset(3)).isEqualTo(150);
		array[7] = 42;
		for (int i = 1; i < 8; i += 4) {
			assertThat(segments.segmentMemory(i).get(segments.segmentOffset(i) + 7)).isEqualTo((byte) 42);
		}
		Envelope small = new Envelope(List.of(new Blobs(new byte[99], ByteBuffer.allocate(99), "a")));
		format.encode(small, segments);
		assertThat(segments.segmentCount()).isOne();
		segments.clear();
	}

	@Test
	void aMethodIsCompiledOnceHoweverManyClientsAskForIt() {
		FlatBuffersCodec codec = new FlatBuffersCodec();
		MethodSignature method = new MethodSignature("test", "call", List.of("a", "b"), List.of(int.class, Blobs.class),
				String.class);
		MethodSignature same = new MethodSignature("test", "call", List.of("a", "b"), List.of(int.class, Blobs.class),
				String.class);
		MethodSignature other = new MethodSignature("test", "other", List.of("a", "b"), List.of(int.class, Blobs.class),
				String.class);
		assertThat(codec.arguments(same)).extracting("root").isSameAs(rootOf(codec.arguments(method)));
		assertThat(codec.result(same)).extracting("root").isSameAs(rootOf(codec.result(method)));
		assertThat(codec.arguments(method)).extracting("root").isNotSameAs(rootOf(codec.result(method)));
		assertThat(codec.arguments(other)).extracting("root").isNotSameAs(rootOf(codec.arguments(method)));
	}

	private static Object rootOf(MessageFormat format) {
		return Extractors.byName("root").apply(format);
	}

	@Test
	void argumentsBecomeTheFieldsOfATable() {
		MessageFormat format = Messages.arguments(int.class, String.class, Primitives.class, Long.class);
		Object[] values = { 7, "seven", EXTREMES, null };
		assertThat(Messages.decodeArguments(format, Messages.encode(format, values))).containsExactly(values);
	}

	@Test
	void missingArgumentsReadAsDefaults() {
		MessageFormat format = Messages.arguments(int.class, String.class, boolean.class);
		assertThat(Messages.decodeArguments(format, ByteBuffer.allocateDirect(0))).containsExactly(0, null, false);
	}

	@Test
	void aSingleRecordArgumentIsTheRoot() {
		MessageFormat format = Messages.arguments(Primitives.class);
		ByteBuffer message = Messages.encode(format, new Object[] { EXTREMES });
		assertThat(Messages.decode(Messages.result(Primitives.class), message)).isEqualTo(EXTREMES);
		assertThat(Messages.decodeArguments(format, message)).containsExactly(EXTREMES);
		assertThat(Messages.encode(format, new Object[] { null }).remaining()).isZero();
		assertThat(Messages.decodeArguments(format, ByteBuffer.allocateDirect(0))).containsExactly((Object) null);
	}

	@Test
	void resultsThatAreNoTableAreWrapped() {
		assertThat(Messages.roundTrip(int.class, 42)).isEqualTo(42);
		assertThat(Messages.roundTrip(String.class, "text")).isEqualTo("text");
		assertThat(Messages.<Object>roundTrip(String.class, null)).isNull();
		assertThat(Messages.<Object>roundTrip(Primitives.class, null)).isNull();
		assertThat(Messages.roundTrip(char.class, '\uFFFF')).isEqualTo('\uFFFF');
		assertThat(Messages.encode(Messages.result(void.class), null).remaining()).isZero();
	}

	@Test
	void genericRecordsAreResolved() {
		Pair<String, Pair<Integer, byte[]>> pair = new Pair<>("a", new Pair<>(1, new byte[] { 2 }));
		Pair<String, Pair<Integer, byte[]>> decoded = Messages
			.roundTrip(new TypeOf<Pair<String, Pair<Integer, byte[]>>>() {
			}.type(), pair);
		assertThat(decoded.first()).isEqualTo("a");
		assertThat(decoded.second().first()).isEqualTo(1);
		assertThat(decoded.second().second()).containsExactly(2);
	}

	@Test
	void segmentsAreReusable() {
		MessageFormat format = Messages.result(String.class);
		MessageSegments segments = new MessageSegments();
		for (int length : new int[] { 10, 100_000, 3, 4_000, 2_000_000, 5 }) {
			String text = "\u20AC".repeat(length);
			format.encode(text, segments);
			assertThat(Messages.decode(format, Messages.contiguous(segments))).isEqualTo(text);
			segments.clear();
			assertThat(segments.totalBytes()).isZero();
		}
	}

	record Primitives(boolean z, byte b, char c, short s, int i, long j, float f, double d) {

	}

	record Boxes(Boolean z, Byte b, Character c, Short s, Integer i, Long j, Float f, Double d, String text,
			Primitives nested, Boxes next) {

	}

	record Envelope(List<Blobs> blobs) {

	}

	record Blobs(byte[] copied, ByteBuffer viewed, String end) {

	}

	record Pair<A, B>(A first, B second) {

	}

}
