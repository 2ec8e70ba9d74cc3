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
import java.util.Set;
import java.util.Vector;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/**
 * YCSB's binding of a {@link KeyValueStore}: measures each call, and remembers what was
 * answered that should not have been, because {@code CoreWorkload} does not look.
 *
 * <p>
 * Used by one thread.
 */
final class StoreDatabase extends DB {

	private final KeyValueStore store;

	private final OperationLatencies latencies;

	private final RecordShape shape;

	private @Nullable String failure;

	StoreDatabase(KeyValueStore store, OperationLatencies latencies, RecordShape shape) {
		this.store = store;
		this.latencies = latencies;
		this.shape = shape;
	}

	/** What was wrong with an answer, or {@code null}. */
	@Nullable String failure() {
		return this.failure;
	}

	@Override
	public Status read(String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
		List<String> asked = asked(fields);
		Map<String, byte[]> values = measure(Operation.READ, () -> this.store.read(key, asked));
		result.putAll(checked(key, values, asked));
		return status(!values.isEmpty());
	}

	@Override
	@SuppressWarnings({ "NonApiType", "JdkObsolete" }) // the types of YCSB
	public Status scan(String table, String startKey, int count, @Nullable Set<String> fields,
			Vector<HashMap<String, ByteIterator>> result) {
		List<String> asked = asked(fields);
		List<Map<String, byte[]>> found = measure(Operation.SCAN, () -> this.store.scan(startKey, count, asked));
		if (found.isEmpty() || found.size() > count) {
			this.failure = "a scan of " + count + " records from " + startKey + " has found " + found.size();
		}
		for (Map<String, byte[]> values : found) {
			result.add(checked(startKey, values, asked));
		}
		return status(!found.isEmpty());
	}

	@Override
	public Status update(String table, String key, Map<String, ByteIterator> values) {
		Map<String, byte[]> arrays = arrays(values);
		return written(key, measure(Operation.UPDATE, () -> this.store.update(key, arrays)));
	}

	@Override
	public Status insert(String table, String key, Map<String, ByteIterator> values) {
		Map<String, byte[]> arrays = arrays(values);
		return written(key, measure(Operation.INSERT, () -> this.store.insert(key, arrays)));
	}

	@Override
	public Status delete(String table, String key) {
		return status(this.store.delete(key));
	}

	private <T> T measure(Operation operation, Supplier<T> call) {
		long begun = System.nanoTime();
		T answer = call.get();
		this.latencies.record(operation, System.nanoTime() - begun);
		return answer;
	}

	private Status written(String key, boolean written) {
		if (!written) {
			this.failure = key + " could not be written";
		}
		return status(written);
	}

	private static Status status(boolean found) {
		return found ? Status.OK : Status.NOT_FOUND;
	}

	private static List<String> asked(@Nullable Set<String> fields) {
		return (fields != null) ? List.copyOf(fields) : List.of();
	}

	private static Map<String, byte[]> arrays(Map<String, ByteIterator> values) {
		Map<String, byte[]> arrays = new HashMap<>();
		values.forEach((field, value) -> arrays.put(field, value.toArray()));
		return arrays;
	}

	@SuppressWarnings("NonApiType") // the type of YCSB
	private HashMap<String, ByteIterator> checked(String key, Map<String, byte[]> values, List<String> asked) {
		int expected = asked.isEmpty() ? this.shape.fields() : asked.size();
		if (values.size() != expected) {
			this.failure = "a record at " + key + " has " + values.size() + " fields (expected: " + expected + ")";
		}
		HashMap<String, ByteIterator> iterators = new HashMap<>();
		values.forEach((field, value) -> {
			if (value.length != this.shape.fieldBytes()) {
				this.failure = field + " at " + key + " has " + value.length + " bytes (expected: "
						+ this.shape.fieldBytes() + ")";
			}
			iterators.put(field, new ByteArrayByteIterator(value));
		});
		return iterators;
	}

}
