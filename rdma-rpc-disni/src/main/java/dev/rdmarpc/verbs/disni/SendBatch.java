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
import java.util.ArrayList;
import java.util.List;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;

/**
 * Work requests that are handed to the adapter's send queue in one call: a prepared call
 * of DiSNI, filled anew for each use. The adapter has copied them when the call returns.
 *
 * <p>
 * Guarded by the lock of the completion queue.
 */
final class SendBatch {

	private static final int CAPACITY = 16;

	private final PreparedMemory<SVCPostSend> prepared;

	private final ByteBuffer memory;

	private final int maxSegments;

	private int count;

	private int segmentCount;

	SendBatch(PreparedMemory<SVCPostSend> prepared, int maxSegments) {
		this.prepared = prepared;
		this.memory = prepared.memory();
		this.maxSegments = maxSegments;
	}

	/** Prepares a batch for a queue pair. */
	static SendBatch prepare(IbvQP queuePair, int maxSegments) throws IOException {
		int segments = Math.max(1, maxSegments);
		List<IbvSendWR> requests = new ArrayList<>();
		for (int i = 0; i < CAPACITY; i++) {
			IbvSendWR request = new IbvSendWR();
			for (int k = 0; k < segments; k++) {
				request.getSg_list().add(new IbvSge());
			}
			request.setNum_sge(segments);
			requests.add(request);
		}
		int size = CAPACITY * (WorkRequestDescriptor.sendSize() + segments * WorkRequestDescriptor.segmentSize());
		return new SendBatch(PreparedMemory.prepare(size, () -> queuePair.postSend(requests, null)), segments);
	}

	boolean isEmpty() {
		return this.count == 0;
	}

	boolean isFull() {
		return this.count == CAPACITY;
	}

	/** Appends a request without segments; the batch is not full. */
	void add(long id, int opcode, int flags, long remoteAddress, int remoteKey) {
		int at = at(this.count);
		this.segmentCount = 0;
		this.memory.putLong(at + WorkRequestDescriptor.ID_OFFSET, id);
		this.memory.putLong(at + WorkRequestDescriptor.NEXT_OFFSET, 0);
		this.memory.putInt(at + WorkRequestDescriptor.SEGMENT_COUNT_OFFSET, 0);
		this.memory.putInt(at + WorkRequestDescriptor.OPCODE_OFFSET, opcode);
		this.memory.putInt(at + WorkRequestDescriptor.FLAGS_OFFSET, flags);
		this.memory.putInt(at + WorkRequestDescriptor.INVALIDATED_KEY_OFFSET, remoteKey);
		this.memory.putLong(at + WorkRequestDescriptor.remoteAddressOffset(), remoteAddress);
		this.memory.putInt(at + WorkRequestDescriptor.remoteKeyOffset(), remoteKey);
		if (this.count > 0) {
			this.memory.putLong(at(this.count - 1) + WorkRequestDescriptor.NEXT_OFFSET, this.prepared.address() + at);
		}
		this.count++;
	}

	/** Appends a segment to the last request. */
	void addSegment(long address, int lengthBytes, int key) {
		int last = this.count - 1;
		int at = CAPACITY * WorkRequestDescriptor.sendSize()
				+ (last * this.maxSegments + this.segmentCount) * WorkRequestDescriptor.segmentSize();
		this.memory.putLong(at + WorkRequestDescriptor.SEGMENT_ADDRESS_OFFSET, address);
		this.memory.putInt(at + WorkRequestDescriptor.SEGMENT_LENGTH_OFFSET, lengthBytes);
		this.memory.putInt(at + WorkRequestDescriptor.SEGMENT_KEY_OFFSET, key);
		this.segmentCount++;
		this.memory.putInt(at(last) + WorkRequestDescriptor.SEGMENT_COUNT_OFFSET, this.segmentCount);
	}

	private static int at(int index) {
		return index * WorkRequestDescriptor.sendSize();
	}

	/** Hands the batch to the adapter and empties it. */
	void post() throws IOException {
		this.count = 0;
		this.prepared.call().execute();
	}

	/** Forgets what was not posted. */
	void clear() {
		this.count = 0;
	}

	void free() {
		this.prepared.free();
	}

}
