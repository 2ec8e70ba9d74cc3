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

package dev.rdmarpc.sample.load;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.sample.load.LoadProperties.Operation;
import dev.rdmarpc.sample.store.FeatureStore;

/** The operations of the load, on random keys. Thread-safe. */
class StoreOperations implements AutoCloseable {

	private static final int MULTI_GET_KEYS = 16;

	private static final int SCAN_LIMIT = 50;

	private static final int BLOBS = 16;

	private final FeatureStore store;

	private final int keys;

	private final int dimensions;

	private final RegisteredBuffer blob;

	private final Operation[] operations;

	private final int[] cumulativeWeights;

	StoreOperations(FeatureStore store, RegisteredMemory memory, LoadProperties properties) {
		this.store = store;
		this.keys = properties.keys();
		this.dimensions = properties.dimensions();
		this.blob = memory.allocate(Math.toIntExact(properties.blobSize().toBytes()));
		fill(this.blob.buffer(), new SplittableRandom(0));
		this.operations = properties.mix().keySet().toArray(Operation[]::new);
		this.cumulativeWeights = new int[this.operations.length];
		int total = 0;
		for (int i = 0; i < this.operations.length; i++) {
			total += properties.mix().getOrDefault(this.operations[i], 0);
			this.cumulativeWeights[i] = total;
		}
	}

	/** Puts a few values so that the first gets find something. */
	void prepare() {
		SplittableRandom random = new SplittableRandom(0);
		for (int i = 0; i < Math.min(this.keys, 1000); i++) {
			this.store.put(key(i), vector(random));
		}
		for (int i = 0; i < BLOBS; i++) {
			this.store.putBlob("blob-" + i, this.blob);
		}
	}

	Operation choose(SplittableRandom random) {
		int ticket = random.nextInt(this.cumulativeWeights[this.cumulativeWeights.length - 1]);
		int chosen = 0;
		while (this.cumulativeWeights[chosen] <= ticket) {
			chosen++;
		}
		return this.operations[chosen];
	}

	/**
	 * Calls the store and waits for the reply.
	 * @throws RpcException if the call failed
	 */
	void run(Operation operation, SplittableRandom random) {
		String key = key(random.nextInt(this.keys));
		switch (operation) {
			case GET -> this.store.get(key);
			case GET_ASYNC -> await(key);
			case PUT -> this.store.put(key, vector(random));
			case MULTI_GET -> this.store.multiGet(someKeys(random));
			case SCAN -> this.store.scan(key.substring(0, key.length() - 1), Optional.empty(), SCAN_LIMIT);
			case PUT_BLOB -> this.store.putBlob("blob-" + random.nextInt(BLOBS), this.blob);
			case GET_BLOB -> this.store.getBlob("blob-" + random.nextInt(BLOBS)).ifPresent(RegisteredBuffer::release);
		}
	}

	private static void fill(ByteBuffer target, SplittableRandom random) {
		while (target.remaining() >= Long.BYTES) {
			target.putLong(random.nextLong());
		}
		while (target.hasRemaining()) {
			target.put((byte) 0);
		}
	}

	private void await(String key) {
		try {
			this.store.getAsync(key).join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RpcException failure) ? failure : ex;
		}
	}

	private List<String> someKeys(SplittableRandom random) {
		List<String> some = new ArrayList<>(MULTI_GET_KEYS);
		for (int i = 0; i < MULTI_GET_KEYS; i++) {
			some.add(key(random.nextInt(this.keys)));
		}
		return some;
	}

	private float[] vector(SplittableRandom random) {
		float[] values = new float[this.dimensions];
		for (int i = 0; i < values.length; i++) {
			values[i] = (float) random.nextDouble();
		}
		return values;
	}

	/** Gives the large value back. No calls are made from here on. */
	@Override
	public void close() {
		this.blob.release();
	}

	private static String key(int number) {
		return "user-" + number;
	}

}
