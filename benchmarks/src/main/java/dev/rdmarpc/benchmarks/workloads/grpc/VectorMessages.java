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

package dev.rdmarpc.benchmarks.workloads.grpc;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

import dev.rdmarpc.sample.store.FeaturePage;
import dev.rdmarpc.sample.store.FeatureVector;

/** Messages that carry feature vectors. */
final class VectorMessages {

	/** One vector, if there is one. */
	static final MessageMarshaller<Optional<FeatureVector>> FOUND = new MessageMarshaller<>(VectorMessages::encodeFound,
			VectorMessages::decodeFound);

	static final MessageMarshaller<List<FeatureVector>> LIST = new MessageMarshaller<>(VectorMessages::encodeList,
			VectorMessages::decodeList);

	static final MessageMarshaller<FeaturePage> PAGE = new MessageMarshaller<>(VectorMessages::encodePage,
			VectorMessages::decodePage);

	private VectorMessages() {
	}

	private static byte[] encodeFound(Optional<FeatureVector> found) {
		MessageWriter writer = new MessageWriter(Integer.BYTES + found.map(VectorMessages::length).orElse(0))
			.put(found.isPresent() ? 1 : 0);
		found.ifPresent((vector) -> write(writer, vector));
		return writer.message();
	}

	private static Optional<FeatureVector> decodeFound(byte[] bytes) {
		MessageReader reader = new MessageReader(bytes);
		return (reader.number() != 0) ? Optional.of(read(reader)) : Optional.empty();
	}

	private static byte[] encodeList(List<FeatureVector> vectors) {
		return new MessageWriter(length(vectors)).put(vectors, VectorMessages::write).message();
	}

	private static List<FeatureVector> decodeList(byte[] bytes) {
		return new MessageReader(bytes).list(VectorMessages::read);
	}

	private static byte[] encodePage(FeaturePage page) {
		String next = page.next().orElse("");
		return new MessageWriter(length(page.vectors()) + Integer.BYTES + next.length())
			.put(page.vectors(), VectorMessages::write)
			.put(next)
			.message();
	}

	private static FeaturePage decodePage(byte[] bytes) {
		MessageReader reader = new MessageReader(bytes);
		List<FeatureVector> vectors = reader.list(VectorMessages::read);
		return new FeaturePage(vectors, Optional.of(reader.string()).filter((next) -> !next.isEmpty()));
	}

	private static int length(List<FeatureVector> vectors) {
		int length = Integer.BYTES;
		for (FeatureVector vector : vectors) {
			length += length(vector);
		}
		return length;
	}

	/** As long as it is written, if its key is ASCII. */
	private static int length(FeatureVector vector) {
		return 3 * Integer.BYTES + 2 * Long.BYTES + vector.key().length() + Float.BYTES * vector.values().length;
	}

	private static void write(MessageWriter writer, FeatureVector vector) {
		Instant updated = vector.updatedAt();
		writer.put(vector.key())
			.put(vector.version())
			.put(updated.getEpochSecond())
			.put(updated.getNano())
			.put(vector.values());
	}

	private static FeatureVector read(MessageReader reader) {
		return new FeatureVector(reader.string(), reader.longNumber(),
				Instant.ofEpochSecond(reader.longNumber(), reader.number()), reader.floats());
	}

}
