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
import java.util.LinkedList;
import java.util.List;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostRecv;

/**
 * Hands receives to the adapter, one at a time, through one prepared call of DiSNI. The
 * adapter has copied a receive when the call returns.
 *
 * <p>
 * Guarded by the lock of the queue it posts to.
 */
final class ReceivePoster {

	private final PreparedMemory<SVCPostRecv> prepared;

	private final ByteBuffer memory;

	private final boolean neverEmpty;

	private ReceivePoster(PreparedMemory<SVCPostRecv> prepared, boolean neverEmpty) {
		this.prepared = prepared;
		this.memory = prepared.memory();
		this.neverEmpty = neverEmpty;
	}

	/**
	 * Prepares the call for a queue pair or for a shared receive queue.
	 * @param neverEmpty whether the adapter wants a receive for messages without bytes to
	 * have a segment, if an empty one
	 */
	@SuppressWarnings("JdkObsolete") // DiSNI wants a linked list
	static ReceivePoster prepare(IbvQP queue, int maxSegments, boolean neverEmpty) throws IOException {
		int segments = Math.max(16, maxSegments);
		LinkedList<IbvSge> list = new LinkedList<>();
		for (int i = 0; i < segments; i++) {
			list.add(new IbvSge());
		}
		IbvRecvWR request = new IbvRecvWR();
		request.setSg_list(list);
		request.setNum_sge(segments);
		List<IbvRecvWR> requests = List.of(request);
		int size = WorkRequestDescriptor.receiveSize() + segments * WorkRequestDescriptor.segmentSize();
		return new ReceivePoster(PreparedMemory.prepare(size, () -> queue.postRecv(requests, null)), neverEmpty);
	}

	/**
	 * Posts a receive.
	 * @param segments addresses, lengths and keys of its segments; may get an empty one
	 */
	void post(long id, SegmentList segments) throws IOException {
		this.memory.putLong(WorkRequestDescriptor.ID_OFFSET, id);
		if (segments.count() == 0 && this.neverEmpty) {
			segments.add(0, 0, 0);
		}
		this.memory.putInt(WorkRequestDescriptor.SEGMENT_COUNT_OFFSET, segments.count());
		for (int i = 0; i < segments.count(); i++) {
			int at = WorkRequestDescriptor.receiveSize() + i * WorkRequestDescriptor.segmentSize();
			this.memory.putLong(at + WorkRequestDescriptor.SEGMENT_ADDRESS_OFFSET, segments.address(i));
			this.memory.putInt(at + WorkRequestDescriptor.SEGMENT_LENGTH_OFFSET, segments.lengthBytes(i));
			this.memory.putInt(at + WorkRequestDescriptor.SEGMENT_KEY_OFFSET, segments.key(i));
		}
		this.prepared.call().execute();
	}

	void free() {
		this.prepared.free();
	}

}
