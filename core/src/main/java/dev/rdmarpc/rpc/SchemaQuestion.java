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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageSegments;

/**
 * The messages in which a client asks a server whether its methods have the same schemas,
 * and is told those that differ; little-endian.
 *
 * <pre>
 *  question                          answer
 *  +-------------------------+ 0     +-------------------------+ 0
 *  | u64 method id           |       | u32 methods answered    |
 *  +-------------------------+ 8     +-------------------------+ 4
 *  | u64 hash of the schema  |       | u32 index of a method   |
 *  +-------------------------+ 16    | u32 length, the schema  |
 *  | the next method ...     |       | the next one ...        |
 * </pre>
 */
final class SchemaQuestion {

	/** What requests name that carry a question. */
	static final long METHOD_ID = MethodDescriptor.idOf("dev.rdmarpc", "schemas");

	/** The most methods asked about in one question. */
	static final int MAX_METHODS = 64;

	private static final int ENTRY_BYTES = 16;

	/** An answer that is longer than this says nothing about further methods. */
	private static final int ENOUGH_BYTES = 64 * 1024;

	private SchemaQuestion() {
	}

	/** Writes a question. */
	static void ask(List<MethodDescriptor> methods, MessageSegments out) {
		ByteBuffer question = ByteBuffer.allocate(methods.size() * ENTRY_BYTES).order(ByteOrder.LITTLE_ENDIAN);
		methods.forEach((method) -> question.putLong(method.id()).putLong(method.schemaHash()));
		add(question, out);
	}

	/**
	 * Writes the answer to a question.
	 * @param question the question, as it has come; borrowed
	 * @return what is wrong with the question, or {@code null}
	 */
	static @Nullable String answer(ByteBuffer question, ServerCalls calls, MessageSegments out) {
		int methods = question.remaining() / ENTRY_BYTES;
		if (methods < 1 || methods > MAX_METHODS || question.remaining() % ENTRY_BYTES != 0) {
			return "a question about schemas of " + question.remaining() + " bytes (expected: 1 to " + MAX_METHODS
					+ " times " + ENTRY_BYTES + ")";
		}
		ByteBuffer entries = question.duplicate().order(ByteOrder.LITTLE_ENDIAN);
		Map<Integer, byte[]> different = new LinkedHashMap<>();
		int bytes = Integer.BYTES;
		int answered = 0;
		while (answered < methods && bytes < ENOUGH_BYTES) {
			ExportedMethod method = calls.find(entries.getLong());
			long hash = entries.getLong();
			String schema = (method != null) ? method.descriptor().schema() : null;
			if (method != null && schema != null && method.descriptor().schemaHash() != hash) {
				byte[] text = schema.getBytes(StandardCharsets.US_ASCII);
				different.put(answered, text);
				bytes += 2 * Integer.BYTES + text.length;
			}
			answered++;
		}
		ByteBuffer answer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(answered);
		different.forEach((index, text) -> answer.putInt(index).putInt(text.length).put(text));
		add(answer, out);
		return null;
	}

	private static void add(ByteBuffer heap, MessageSegments out) {
		ByteBuffer memory = out.claimMemory(heap.position());
		memory.put(0, heap, 0, heap.position());
		out.add(memory, 0, heap.position());
	}

	/**
	 * Reads an answer.
	 * @param message the answer, as it has come; borrowed
	 * @param asked number of methods that were asked about
	 * @throws IllegalArgumentException if it is malformed
	 */
	static Answer read(ByteBuffer message, int asked) {
		ByteBuffer answer = message.duplicate().order(ByteOrder.LITTLE_ENDIAN);
		int answered = (answer.remaining() >= Integer.BYTES) ? answer.getInt() : 0;
		if (answered < 1 || answered > asked) {
			throw new IllegalArgumentException("an answer for " + answered + " methods (expected: 1 to " + asked + ")");
		}
		List<Difference> different = new ArrayList<>();
		int next = 0;
		while (answer.remaining() >= 2 * Integer.BYTES) {
			int index = answer.getInt();
			int length = answer.getInt();
			if (index < next || index >= answered || length < 0 || length > answer.remaining()) {
				throw new IllegalArgumentException(
						"a schema of " + length + " bytes for method " + index + " (expected: at most "
								+ answer.remaining() + ", and " + next + " to " + (answered - 1) + ")");
			}
			byte[] text = new byte[length];
			answer.get(text);
			different.add(new Difference(index, new String(text, StandardCharsets.US_ASCII)));
			next = index + 1;
		}
		return new Answer(answered, different);
	}

	/**
	 * What a server has said.
	 *
	 * @param answered of how many methods, from the first one on
	 * @param different those of them that have another schema there
	 */
	record Answer(int answered, List<Difference> different) {

	}

	/**
	 * A method whose schema differs.
	 *
	 * @param index which one of those asked about
	 * @param schema what the server says
	 */
	record Difference(int index, String schema) {

	}

}
