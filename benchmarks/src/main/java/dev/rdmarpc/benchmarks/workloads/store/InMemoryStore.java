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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * A concurrent store in the heap. Records are never changed, only replaced, so that a
 * reader sees all of an update or nothing of it.
 */
public final class InMemoryStore implements KeyValueStore {

	private final ConcurrentSkipListMap<String, Map<String, byte[]>> records = new ConcurrentSkipListMap<>();

	private final Map<Integer, byte[]> blobs = new ConcurrentHashMap<>();

	@Override
	public Map<String, byte[]> read(String key, List<String> fields) {
		Map<String, byte[]> values = this.records.get(key);
		return (values != null) ? select(values, fields) : Map.of();
	}

	@Override
	public List<Map<String, byte[]>> scan(String startKey, int count, List<String> fields) {
		List<Map<String, byte[]>> found = new ArrayList<>();
		for (Map<String, byte[]> values : this.records.tailMap(startKey).values()) {
			if (found.size() >= count) {
				break;
			}
			found.add(select(values, fields));
		}
		return found;
	}

	@Override
	public boolean update(String key, Map<String, byte[]> values) {
		return this.records.computeIfPresent(key, (same, old) -> {
			Map<String, byte[]> merged = new HashMap<>(old);
			merged.putAll(values);
			return merged;
		}) != null;
	}

	@Override
	public boolean insert(String key, Map<String, byte[]> values) {
		this.records.put(key, new HashMap<>(values));
		return true;
	}

	@Override
	public boolean delete(String key) {
		return this.records.remove(key) != null;
	}

	@Override
	public byte[] blob(int bytes) {
		return this.blobs.computeIfAbsent(bytes, (length) -> {
			byte[] blob = new byte[length];
			Arrays.fill(blob, (byte) (int) length);
			return blob;
		});
	}

	private static Map<String, byte[]> select(Map<String, byte[]> values, List<String> fields) {
		if (fields.isEmpty()) {
			return values;
		}
		Map<String, byte[]> selected = new HashMap<>();
		for (String field : fields) {
			byte[] value = values.get(field);
			if (value != null) {
				selected.put(field, value);
			}
		}
		return selected;
	}

}
