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

package dev.rdmarpc.sample.store;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.rpc.Priority;
import dev.rdmarpc.rpc.RdmaHashKey;
import dev.rdmarpc.rpc.RdmaMethod;

/** Keeps the features of entities. What both sides of the wire know. */
public interface FeatureStore {

	/** Puts features and returns their new version. */
	@RdmaMethod(inline = true)
	long put(@RdmaHashKey String key, float[] values);

	/**
	 * The features of one entity. On the latency-critical path, so it runs on the loop.
	 */
	@RdmaMethod(inline = true, idempotent = true, priority = Priority.HIGH)
	Optional<FeatureVector> get(@RdmaHashKey String key);

	/** Like {@link #get}, for callers that do not want to wait. */
	@RdmaMethod(inline = true, idempotent = true)
	CompletableFuture<Optional<FeatureVector>> getAsync(@RdmaHashKey String key);

	/** The features of those of some entities that have any. */
	@RdmaMethod(idempotent = true)
	List<FeatureVector> multiGet(List<String> keys);

	/**
	 * The features of all entities whose key begins with a prefix.
	 * @param after the key to go on after; empty to begin
	 * @param limit most vectors to return, from 1 to 1000
	 */
	@RdmaMethod(idempotent = true, priority = Priority.LOW, deadlineMillis = 5000)
	FeaturePage scan(String prefix, Optional<String> after, int limit);

	/**
	 * Puts a large value, such as an embedding table.
	 * @param bytes borrowed
	 */
	void putBlob(@RdmaHashKey String key, RegisteredBuffer bytes);

	/**
	 * A large value.
	 * @return the value, owned by the caller
	 */
	@RdmaMethod(idempotent = true)
	Optional<RegisteredBuffer> getBlob(@RdmaHashKey String key);

}
