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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ForkJoinPool;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MessageSegments;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** The bytes of questions about schemas, and of answers. */
class SchemaQuestionTests {

	private static final List<MethodDescriptor> CLIENT = methods(Client.class);

	private static List<MethodDescriptor> methods(Class<?> type) {
		return ServiceDescriptor.of("golden", type, new FlatBuffersCodec()).methods();
	}

	private static ServerCalls server() {
		Server server = (text) -> 0;
		List<ExportedMethod> methods = methods(Server.class).stream()
			.map((method) -> ExportedMethod.of(method, server, Dispatch.EXECUTOR, List.of(), List.of()))
			.toList();
		return new ServerCalls(new MethodTable(methods), "flatbuffers", ForkJoinPool.commonPool(), List.of(), 1);
	}

	private static String hex(MessageSegments segments) {
		byte[] bytes = new byte[segments.totalBytes()];
		segments.copyTo(ByteBuffer.wrap(bytes));
		return HexFormat.of().formatHex(bytes);
	}

	private static ByteBuffer bytes(MessageSegments segments) {
		ByteBuffer bytes = ByteBuffer.allocate(segments.totalBytes());
		segments.copyTo(bytes);
		return bytes.flip();
	}

	@Test
	void questionAndAnswerHaveTheirBytes() {
		assertThat(Long.toHexString(SchemaQuestion.METHOD_ID)).isEqualTo("45b99e35357dd688");
		assertThat(CLIENT.get(0).schema()).isEqualTo("0(string) -> long");
		MessageSegments question = new MessageSegments();
		SchemaQuestion.ask(CLIENT, question);
		assertThat(hex(question)).isEqualTo("9d647b449f3b2a6a441ea357adfc961d");
		MessageSegments answer = new MessageSegments();
		assertThat(SchemaQuestion.answer(bytes(question), server(), answer)).isNull();
		assertThat(hex(answer)).isEqualTo("010000000000000010000000" + "3028737472696e6729202d3e20696e74");
		assertThat(SchemaQuestion.read(bytes(answer), 1))
			.isEqualTo(new SchemaQuestion.Answer(1, List.of(new SchemaQuestion.Difference(0, "0(string) -> int"))));
	}

	@Test
	void equalAndUnknownMethodsAreNotTold() {
		MessageSegments question = new MessageSegments();
		SchemaQuestion.ask(methods(Server.class), question);
		MessageSegments answer = new MessageSegments();
		assertThat(SchemaQuestion.answer(bytes(question), server(), answer)).isNull();
		assertThat(hex(answer)).isEqualTo("01000000");
	}

	@Test
	void malformedQuestionsAreRefused() {
		for (int length : new int[] { 0, 1, 15, 17, 65 * 16, 1 << 20 }) {
			MessageSegments answer = new MessageSegments();
			assertThat(SchemaQuestion.answer(ByteBuffer.allocate(length), server(), answer))
				.isEqualTo("a question about schemas of " + length + " bytes (expected: 1 to 64 times 16)");
			assertThat(answer.totalBytes()).isZero();
		}
	}

	@Test
	void malformedAnswersAreRefused() {
		assertRefused("an answer for 0 methods (expected: 1 to 2)");
		assertRefused("an answer for 0 methods (expected: 1 to 2)", 0);
		assertRefused("an answer for 3 methods (expected: 1 to 2)", 3);
		assertRefused("an answer for -1 methods (expected: 1 to 2)", -1);
		assertRefused("a schema of 0 bytes for method 1 (expected: at most 0, and 0 to 0)", 1, 1, 0);
		assertRefused("a schema of -1 bytes for method 0 (expected: at most 0, and 0 to 0)", 1, 0, -1);
		assertRefused("a schema of 2147483647 bytes for method 0 (expected: at most 4, and 0 to 0)", 1, 0,
				Integer.MAX_VALUE, 5);
		assertRefused("a schema of 0 bytes for method 0 (expected: at most 0, and 1 to 1)", 2, 0, 0, 0, 0);
	}

	private static void assertRefused(String text, int... words) {
		ByteBuffer answer = ByteBuffer.allocate(words.length * 4).order(ByteOrder.LITTLE_ENDIAN);
		Arrays.stream(words).forEach(answer::putInt);
		assertThatIllegalArgumentException().isThrownBy(() -> SchemaQuestion.read(answer.flip(), 2)).withMessage(text);
	}

	@Test
	void anyAnswerIsReadOrRefused() {
		long seed = System.nanoTime();
		Random random = new Random(seed);
		for (int i = 0; i < 10_000; i++) {
			byte[] bytes = new byte[random.nextInt(40)];
			for (int at = 0; at < bytes.length; at++) {
				bytes[at] = (byte) ((random.nextInt(4) == 0) ? random.nextInt() : random.nextInt(2));
			}
			try {
				SchemaQuestion.Answer answer = SchemaQuestion.read(ByteBuffer.wrap(bytes), 64);
				assertThat(answer.different()).as("seed " + seed)
					.allSatisfy((each) -> assertThat(each.index()).isBetween(0, answer.answered() - 1));
			}
			catch (IllegalArgumentException ex) {
				assertThat(ex).as("seed " + seed).hasMessageContaining("expected");
			}
		}
	}

	/** What the client thinks. */
	public interface Client {

		long measure(String text);

	}

	/** What the server offers. */
	public interface Server {

		int measure(String text);

	}

}
