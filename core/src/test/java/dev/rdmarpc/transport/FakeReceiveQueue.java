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

package dev.rdmarpc.transport;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.WorkRequest;

import static org.assertj.core.api.Assertions.assertThat;

/** A shared receive queue from which a test takes receives as a device would. */
final class FakeReceiveQueue implements SharedReceiveQueue {

	final ArrayDeque<Receive> receives = new ArrayDeque<>();

	int depth = Integer.MAX_VALUE;

	long calls;

	/** Whether receives can be taken back. */
	boolean withdrawing;

	@Override
	public PostResult postReceive(WorkRequest request) {
		if (this.receives.size() >= this.depth) {
			return PostResult.QUEUE_FULL;
		}
		this.receives.add(new Receive(request.id(), request.segmentRegion(0).memory(), request.segmentOffset(0),
				request.segmentLength(0)));
		return PostResult.POSTED;
	}

	@Override
	public int postReceives(WorkRequest[] requests, int count) {
		this.calls++;
		return SharedReceiveQueue.super.postReceives(requests, count);
	}

	@Override
	public int withdrawReceives(long[] ids, int count) {
		int taken = 0;
		while (this.withdrawing && taken < count && !this.receives.isEmpty()) {
			ids[taken++] = this.receives.remove().id();
		}
		return taken;
	}

	/** Takes the oldest receive, with a frame placed in it. */
	Receive take(byte[] frame) {
		Receive receive = this.receives.remove();
		assertThat(frame.length).isLessThanOrEqualTo(receive.length());
		receive.memory().put(receive.offset(), frame);
		return receive;
	}

	@Override
	public int posted() {
		return this.receives.size();
	}

	@Override
	public void close() {
		this.receives.clear();
	}

	/** A posted receive of one segment. */
	record Receive(long id, ByteBuffer memory, int offset, int length) {

	}

}
