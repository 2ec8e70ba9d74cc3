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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;

import com.ibm.disni.util.MemBuf;
import com.ibm.disni.util.MemoryAllocation;
import com.ibm.disni.verbs.StatefulVerbCall;

/**
 * A stateful verb call of DiSNI and the memory in which it keeps what it hands to the
 * native side. A call whose memory is known is prepared once and filled in place for
 * every use, whatever its shape; through DiSNI's own setters neither the opcode nor the
 * number of segments could change, and nothing of a receive.
 *
 * <p>
 * Implementation notes. DiSNI takes the memory of a call from a pool that holds at most
 * one buffer of each power of two. So a buffer that is given back just before a call of
 * that size is made becomes the call's. Calls are made and freed here under one lock, and
 * are larger than what DiSNI allocates for its other verbs, so nobody comes between.
 *
 * @param <T> the kind of call
 * @param call the call
 * @param memory in native byte order, used with absolute positions
 * @param address of its byte 0
 */
record PreparedMemory<T extends StatefulVerbCall<T>>(T call, ByteBuffer memory, long address) {

	/** More than any other verb of DiSNI takes. */
	private static final int LEAST_BYTES = 256;

	private static final Object lock = new Object();

	/**
	 * Makes a call.
	 * @param size what the call needs, in bytes
	 */
	static <T extends StatefulVerbCall<T>> PreparedMemory<T> prepare(int size, CallFactory<T> factory)
			throws IOException {
		if (size < LEAST_BYTES) {
			throw new IllegalArgumentException("call of " + size + " bytes (expected: at least " + LEAST_BYTES + ")");
		}
		synchronized (lock) {
			MemoryAllocation allocation = MemoryAllocation.getInstance();
			MemBuf candidate = allocation.allocate(size);
			candidate.free();
			T call = factory.create();
			MemBuf next = allocation.allocate(size);
			next.free();
			if (next == candidate) {
				call.free();
				throw new IllegalStateException("DiSNI's call does not need " + size + " bytes");
			}
			return new PreparedMemory<>(call, candidate.getBuffer(), candidate.address());
		}
	}

	/** Frees the call; nothing that it has posted needs its memory any more. */
	void free() {
		synchronized (lock) {
			this.call.free();
		}
	}

	/** Makes a call. */
	@FunctionalInterface
	interface CallFactory<T> {

		T create() throws IOException;

	}

}
