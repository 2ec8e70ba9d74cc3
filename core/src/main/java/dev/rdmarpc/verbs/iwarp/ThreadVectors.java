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

package dev.rdmarpc.verbs.iwarp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.iwarp.rdmap.StreamBuffers;

/**
 * The array of vectors of a thread, of which the platform has one for all its gathering
 * writes and scattering reads, and a larger one as soon as more are needed. Java 17 frees
 * the one before first. If there is no heap for the larger one then, it goes on to use
 * what is freed: it writes addresses into memory of others, and the process crashes
 * somewhere else, later. So a thread has an array of full size before it uses any.
 */
final class ThreadVectors {

	private static final ByteBuffer[] NOTHING = new ByteBuffer[StreamBuffers.MOST_VECTORS];

	static {
		Arrays.fill(NOTHING, ByteBuffer.allocateDirect(0));
	}

	private static final ThreadLocal<Boolean> reserved = new ThreadLocal<>();

	private ThreadVectors() {
	}

	/** Makes what all threads need, while there is memory. */
	static void prepare() {
		reserved.get();
	}

	/**
	 * Has the current thread have an array of full size. Costs a look where the thread
	 * has one. If there is no memory for it, the thread must not use the one that it has.
	 * @param channel any that is open; nothing is read, which works also after its output
	 * was shut down, and the system not called
	 * @param before the thread that was returned the time before, if any
	 * @return the current thread
	 */
	static Thread reserve(ScatteringByteChannel channel, @Nullable Thread before) throws IOException {
		Thread current = Thread.currentThread();
		if (current != before && reserved.get() == null) {
			channel.read(NOTHING, 0, NOTHING.length);
			reserved.set(Boolean.TRUE);
		}
		return current;
	}

}
