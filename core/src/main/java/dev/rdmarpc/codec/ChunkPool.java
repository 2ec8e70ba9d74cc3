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

package dev.rdmarpc.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Idle direct memory for messages that are being encoded, shared by all of the process
 * and bounded: 20 MiB. Thread-safe.
 */
final class ChunkPool {

	private static final ChunkPool SMALL = new ChunkPool(64 * 1024, 64);

	private static final ChunkPool LARGE = new ChunkPool(1024 * 1024, 16);

	private final int chunkBytes;

	private final MpmcVarHandleArrayQueue<ByteBuffer> idle;

	private ChunkPool(int chunkBytes, int capacity) {
		this.chunkBytes = chunkBytes;
		this.idle = new MpmcVarHandleArrayQueue<>(capacity);
	}

	/** A little-endian chunk of at least that size. */
	static ByteBuffer take(int minBytes) {
		ChunkPool pool = of(minBytes);
		ByteBuffer chunk = (pool != null) ? pool.idle.poll() : null;
		return (chunk != null) ? chunk
				: ByteBuffer.allocateDirect((pool != null) ? pool.chunkBytes : minBytes).order(ByteOrder.LITTLE_ENDIAN);
	}

	/** Gives a chunk back, which is kept if there is room. */
	static void giveBack(ByteBuffer chunk) {
		ChunkPool pool = of(chunk.capacity());
		if (pool != null) {
			pool.idle.offer(chunk);
		}
	}

	private static @Nullable ChunkPool of(int bytes) {
		if (bytes <= SMALL.chunkBytes) {
			return SMALL;
		}
		return (bytes <= LARGE.chunkBytes) ? LARGE : null;
	}

}
