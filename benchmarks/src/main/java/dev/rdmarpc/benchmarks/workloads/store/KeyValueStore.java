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

import java.util.List;
import java.util.Map;

/**
 * The service: records of named fields by key, in the order of keys. It declares nothing
 * about its methods. Of fields that are asked for, an empty list means all.
 */
public interface KeyValueStore {

	/** Answers with the fields of a record, with none if there is no such record. */
	Map<String, byte[]> read(String key, List<String> fields);

	/** Answers with the fields of up to so many records from a key on. */
	List<Map<String, byte[]>> scan(String startKey, int count, List<String> fields);

	/** Replaces some fields of a record, if there is one; answers whether there is. */
	boolean update(String key, Map<String, byte[]> values);

	/** Adds a record, or replaces all of it. */
	boolean insert(String key, Map<String, byte[]> values);

	/** Removes a record; answers whether there was one. */
	boolean delete(String key);

	/** Answers with so many bytes. */
	byte[] blob(int bytes);

}
