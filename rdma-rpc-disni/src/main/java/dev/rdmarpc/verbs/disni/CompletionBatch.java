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

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;

/**
 * What one poll of the adapter's completion queue brings, through a prepared call of
 * DiSNI.
 *
 * <p>
 * Guarded by the lock of the completion queue.
 */
final class CompletionBatch {

	/** How many completions one poll brings at most. */
	static final int CAPACITY = 16;

	private final PreparedMemory<SVCPollCq> prepared;

	private final ByteBuffer memory;

	private CompletionBatch(PreparedMemory<SVCPollCq> prepared) {
		this.prepared = prepared;
		this.memory = prepared.memory();
	}

	static CompletionBatch prepare(IbvCQ queue) throws IOException {
		IbvWC[] completions = new IbvWC[CAPACITY];
		for (int i = 0; i < CAPACITY; i++) {
			completions[i] = new IbvWC();
		}
		return new CompletionBatch(PreparedMemory.prepare(CAPACITY * WorkCompletionDescriptor.size(),
				() -> queue.poll(completions, CAPACITY)));
	}

	/** Polls once; returns the number of completions. */
	int poll() throws IOException {
		return this.prepared.call().execute().getPolls();
	}

	long id(int index) {
		return this.memory.getLong(at(index) + WorkCompletionDescriptor.ID_OFFSET);
	}

	int status(int index) {
		return this.memory.getInt(at(index) + WorkCompletionDescriptor.STATUS_OFFSET);
	}

	int vendorError(int index) {
		return this.memory.getInt(at(index) + WorkCompletionDescriptor.VENDOR_ERROR_OFFSET);
	}

	/** An unsigned number. */
	long byteLength(int index) {
		return Integer.toUnsignedLong(this.memory.getInt(at(index) + WorkCompletionDescriptor.BYTE_LENGTH_OFFSET));
	}

	int queuePairNumber(int index) {
		return this.memory.getInt(at(index) + WorkCompletionDescriptor.QUEUE_PAIR_NUMBER_OFFSET);
	}

	/** The key that the received Send invalidated, or 0. */
	int invalidatedKey(int index) {
		int flags = this.memory.getInt(at(index) + WorkCompletionDescriptor.FLAGS_OFFSET);
		return ((flags & WorkCompletionDescriptor.WITH_INVALIDATE) != 0)
				? this.memory.getInt(at(index) + WorkCompletionDescriptor.INVALIDATED_KEY_OFFSET) : 0;
	}

	private static int at(int index) {
		return index * WorkCompletionDescriptor.size();
	}

	void free() {
		this.prepared.free();
	}

}
