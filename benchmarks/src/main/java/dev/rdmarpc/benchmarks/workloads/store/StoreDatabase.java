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

package dev.rdmarpc.benchmarks.workloads.store;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Vector;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

import dev.rdmarpc.sample.store.FeatureStore;
import dev.rdmarpc.sample.store.FeatureVector;

/**
 * YCSB's binding of a {@link FeatureStore}: a record has one field, whose bytes are the
 * bits of the features. Measures each call, and remembers what was answered that should
 * not have been, because {@code CoreWorkload} does not look.
 *
 * <p>
 * Used by one thread.
 */
final class StoreDatabase extends DB {

	/** Length of a record. */
	static final int RECORD_BYTES = 1000;

	/** How many features have that length. */
	static final int FEATURES = RECORD_BYTES / Float.BYTES;

	/** What the keys of YCSB begin with; nothing but digits follows. */
	static final String KEYS = "user";

	private static final char AFTER_DIGITS = '9' + 1;

	private static final String FIELD = "field0";

	private final FeatureStore store;

	private final OperationLatencies latencies;

	private @Nullable String failure;

	private boolean modifying;

	private long readBegun;

	StoreDatabase(FeatureStore store, OperationLatencies latencies) {
		this.store = store;
		this.latencies = latencies;
	}

	/** What was wrong with an answer, or {@code null}. */
	@Nullable String failure() {
		return this.failure;
	}

	/** The next read and the update behind it are a {@code READ_MODIFY_WRITE}. */
	void beginReadModifyWrite() {
		this.modifying = true;
	}

	@Override
	public Status read(String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
		this.readBegun = System.nanoTime();
		Optional<FeatureVector> found = measure(Operation.READ, this.readBegun, () -> this.store.get(key));
		if (found.isEmpty() || !found.get().key().equals(key)) {
			this.failure = "a read of " + key + " has found " + found.map(FeatureVector::key).orElse("nothing");
			return Status.NOT_FOUND;
		}
		result.put(FIELD, checked(found.get()));
		return Status.OK;
	}

	@Override
	@SuppressWarnings({ "NonApiType", "JdkObsolete" }) // the types of YCSB
	public Status scan(String table, String startKey, int count, @Nullable Set<String> fields,
			Vector<HashMap<String, ByteIterator>> result) {
		Optional<String> after = Optional.of(before(startKey));
		List<FeatureVector> found = measure(Operation.SCAN, System.nanoTime(),
				() -> this.store.scan(KEYS, after, count).vectors());
		if (found.isEmpty() || found.size() > count || !found.get(0).key().equals(startKey)) {
			this.failure = "a scan of " + count + " records from " + startKey + " has found " + found.size() + ", from "
					+ found.stream().findFirst().map(FeatureVector::key).orElse("nothing");
		}
		for (FeatureVector vector : found) {
			HashMap<String, ByteIterator> fieldOfRecord = new HashMap<>();
			fieldOfRecord.put(FIELD, checked(vector));
			result.add(fieldOfRecord);
		}
		return Status.OK;
	}

	/**
	 * What a scan goes on after in order to begin with a key. No string is the last one
	 * before another, but between this one and the key there are no keys of YCSB.
	 * @param key that ends in a digit
	 */
	static String before(String key) {
		int last = key.length() - 1;
		return key.substring(0, last) + (char) (key.charAt(last) - 1) + AFTER_DIGITS;
	}

	/** There is one field, so that a part of a record is all of it. */
	@Override
	public Status update(String table, String key, Map<String, ByteIterator> values) {
		if (put(Operation.UPDATE, key, values) == 1) {
			this.failure = "an update of " + key + ", which was not there";
		}
		if (this.modifying) {
			this.modifying = false;
			this.latencies.record(Operation.READ_MODIFY_WRITE, System.nanoTime() - this.readBegun);
		}
		return Status.OK;
	}

	@Override
	public Status insert(String table, String key, Map<String, ByteIterator> values) {
		put(Operation.INSERT, key, values);
		return Status.OK;
	}

	/** Not asked for by {@code CoreWorkload}, and not what the store does. */
	@Override
	public Status delete(String table, String key) {
		return Status.NOT_IMPLEMENTED;
	}

	private long put(Operation operation, String key, Map<String, ByteIterator> values) {
		ByteIterator value = values.get(FIELD);
		if (value == null || values.size() != 1) {
			throw new IllegalArgumentException("fields " + values.keySet() + " (expected: " + FIELD + ")");
		}
		float[] features = FeatureBytes.toFeatures(value.toArray());
		return measure(operation, System.nanoTime(), () -> this.store.put(key, features));
	}

	private <T> T measure(Operation operation, long begun, Supplier<T> call) {
		T answer = call.get();
		this.latencies.record(operation, System.nanoTime() - begun);
		return answer;
	}

	private ByteIterator checked(FeatureVector found) {
		byte[] bytes = FeatureBytes.toBytes(found.values());
		if (bytes.length != RECORD_BYTES) {
			this.failure = found.key() + " has " + bytes.length + " bytes (expected: " + RECORD_BYTES + ")";
		}
		return new ByteArrayByteIterator(bytes);
	}

}
