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

import java.util.HashMap;
import java.util.Map;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.rpc.RpcException;
import dev.rdmarpc.rpc.RpcStatus;

/**
 * The large values, each in the registered memory in which it was received, so that it is
 * served without a copy. Together they take at most half of that memory. A small value is
 * copied, because what it was received in is larger. Thread-safe.
 */
@Component
@Profile("!client & !fleet")
public class BlobStore implements MeterBinder, DisposableBean {

	private static final int SMALLEST_KEPT_BYTES = 8 << 10;

	private final RegisteredMemory memory;

	private final long maxBytes;

	private final Map<String, RegisteredBuffer> blobs = new HashMap<>();

	private long bytes;

	/**
	 * Creates an empty store.
	 * @param memory where values were received, and copies are made
	 */
	public BlobStore(RegisteredMemory memory) {
		this.memory = memory;
		this.maxBytes = memory.options().maxBytes() / 2;
	}

	/**
	 * Keeps a value in place of the one there was.
	 * @param value borrowed; it, or a copy, is kept
	 */
	synchronized void put(String key, RegisteredBuffer value) {
		RegisteredBuffer replaced = this.blobs.get(key);
		long after = this.bytes + value.length() - ((replaced != null) ? replaced.length() : 0);
		if (after > this.maxBytes) {
			throw new RpcException(RpcStatus.RESOURCE_EXHAUSTED,
					"large values of " + after + " bytes (limit " + this.maxBytes + ")");
		}
		this.blobs.put(key, (value.length() < SMALLEST_KEPT_BYTES) ? copyOf(value) : value.retain());
		this.bytes = after;
		if (replaced != null) {
			replaced.release();
		}
	}

	private RegisteredBuffer copyOf(RegisteredBuffer value) {
		RegisteredBuffer copy = this.memory.allocate(value.length());
		copy.buffer().put(0, value.buffer(), 0, value.length());
		return copy;
	}

	/** A reference to a value, owned by the caller, or {@code null}. */
	synchronized @Nullable RegisteredBuffer retained(String key) {
		RegisteredBuffer found = this.blobs.get(key);
		return (found != null) ? found.retain() : null;
	}

	private synchronized int count() {
		return this.blobs.size();
	}

	private synchronized long bytes() {
		return this.bytes;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		Gauge.builder("store.large.values", this, BlobStore::count).register(registry);
		Gauge.builder("store.large.bytes", this, BlobStore::bytes).baseUnit("bytes").register(registry);
	}

	/** Gives all values back. */
	@Override
	public synchronized void destroy() {
		this.blobs.values().forEach(RegisteredBuffer::release);
		this.blobs.clear();
		this.bytes = 0;
	}

}
