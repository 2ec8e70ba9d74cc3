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

import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;

import org.springframework.context.annotation.Profile;

import dev.rdmarpc.boot.RdmaService;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.rpc.RpcContext;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * Serves the store from memory, sorted by key. Thread-safe.
 */
@RdmaService
@Profile("!client & !fleet")
public class InMemoryFeatureStore implements FeatureStore {

	private static final int MAX_SCAN = 1000;

	private static final int MAX_KEY_LENGTH = 256;

	private final NavigableMap<String, FeatureVector> vectors = new ConcurrentSkipListMap<>();

	private final BlobStore blobs;

	private final Clock clock = Clock.systemUTC();

	/**
	 * Creates an empty store.
	 * @param blobs keeps the large values; closed by its owner
	 */
	public InMemoryFeatureStore(BlobStore blobs) {
		this.blobs = blobs;
	}

	@Override
	public long put(String key, float[] values) {
		check(key);
		FeatureVector stored = this.vectors.compute(key, (same, old) -> new FeatureVector(key,
				(old != null) ? old.version() + 1 : 1, this.clock.instant(), values));
		return stored.version();
	}

	@Override
	public Optional<FeatureVector> get(String key) {
		return Optional.ofNullable(this.vectors.get(key));
	}

	@Override
	public CompletableFuture<Optional<FeatureVector>> getAsync(String key) {
		return CompletableFuture.completedFuture(get(key));
	}

	@Override
	public List<FeatureVector> multiGet(List<String> keys) {
		List<FeatureVector> found = new ArrayList<>(keys.size());
		for (String key : keys) {
			get(key).ifPresent(found::add);
		}
		return found;
	}

	@Override
	public FeaturePage scan(String prefix, Optional<String> after, int limit) {
		if (limit < 1 || limit > MAX_SCAN) {
			throw new RpcException(RpcStatus.INVALID_ARGUMENT, "limit " + limit + " (expected: 1 to " + MAX_SCAN + ")");
		}
		String begin = after.filter((key) -> key.compareTo(prefix) >= 0).orElse(prefix);
		List<FeatureVector> page = new ArrayList<>();
		for (FeatureVector vector : this.vectors.tailMap(begin, after.isEmpty()).values()) {
			if (!vector.key().startsWith(prefix)) {
				break;
			}
			if (page.size() == limit) {
				return new FeaturePage(page, Optional.of(page.get(limit - 1).key()));
			}
			page.add(vector);
		}
		return new FeaturePage(page, Optional.empty());
	}

	@Override
	public void putBlob(String key, RegisteredBuffer bytes) {
		check(key);
		this.blobs.put(key, bytes);
	}

	/** Owned by the caller, which is the call where there is one. */
	@Override
	public Optional<RegisteredBuffer> getBlob(String key) {
		RegisteredBuffer found = this.blobs.retained(key);
		RpcContext call = RpcContext.current();
		if (found != null && call != null) {
			call.releaseAfterReply(found);
		}
		return Optional.ofNullable(found);
	}

	private static void check(String key) {
		if (key.isBlank() || key.length() > MAX_KEY_LENGTH) {
			throw new RpcException(RpcStatus.INVALID_ARGUMENT,
					"key of " + key.length() + " characters (expected: 1 to " + MAX_KEY_LENGTH + ", not blank)");
		}
	}

}
