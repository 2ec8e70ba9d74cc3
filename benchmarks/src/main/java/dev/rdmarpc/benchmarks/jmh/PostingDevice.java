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

package dev.rdmarpc.benchmarks.jmh;

import dev.rdmarpc.flatbuffers.GatherMessage;
import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.memory.RegistrationHook;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.iwarp.IwarpProvider;

/** A device that messages are made ready for: as work requests that are not posted. */
final class PostingDevice implements AutoCloseable {

	private static final int MAX_SEGMENTS = 64;

	private final VerbsDevice device = new IwarpProvider().openDevice(null);

	private final ProtectionDomain domain = this.device.allocateProtectionDomain();

	private final MemoryAttachment attachment;

	private final RegisteredBuffer sendBuffer;

	private final WorkRequest request = new WorkRequest(MAX_SEGMENTS);

	/** Attaches to a memory, which is closed before. */
	PostingDevice(RegisteredMemory memory) {
		this.attachment = memory.attach(RegistrationHook.of(this.domain));
		this.sendBuffer = memory.allocate(Long.BYTES);
	}

	/** Names the first bytes of one send buffer. */
	int post(int bytes) {
		this.request.send(1).addSegment(this.sendBuffer.region(this.attachment), this.sendBuffer.regionOffset(), bytes);
		return this.request.segmentCount();
	}

	/** Names all segments of a message, and releases it as the completion would. */
	int post(GatherMessage message) {
		message.addTo(this.request.send(1), this.attachment);
		message.release();
		return this.request.segmentCount();
	}

	/** Gives the send buffer back. */
	void release() {
		this.sendBuffer.release();
	}

	@Override
	public void close() {
		this.domain.close();
		this.device.close();
	}

}
