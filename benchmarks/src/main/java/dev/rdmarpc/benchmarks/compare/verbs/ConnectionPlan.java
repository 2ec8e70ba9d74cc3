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

package dev.rdmarpc.benchmarks.compare.verbs;

import java.nio.ByteBuffer;

import dev.rdmarpc.benchmarks.compare.Workload;

/**
 * What both ends of a connection agree on, sent along as private data. Each message is a
 * u32 slot followed by the payload.
 *
 * @param outstanding the number of slots
 * @param requestBytes size of a request message
 * @param replyBytes size of a reply message, which is the beginning of its request
 */
record ConnectionPlan(int outstanding, int requestBytes, int replyBytes) {

	private static final int SLOT_BYTES = 4;

	static ConnectionPlan of(Workload workload) {
		return new ConnectionPlan(workload.outstanding(), SLOT_BYTES + workload.payloadBytes(),
				SLOT_BYTES + workload.replyBytes());
	}

	static ConnectionPlan decode(byte[] privateData) {
		ByteBuffer buffer = ByteBuffer.wrap(privateData);
		return new ConnectionPlan(buffer.getInt(), buffer.getInt(), buffer.getInt());
	}

	byte[] encode() {
		return ByteBuffer.allocate(12)
			.putInt(this.outstanding)
			.putInt(this.requestBytes)
			.putInt(this.replyBytes)
			.array();
	}

}
