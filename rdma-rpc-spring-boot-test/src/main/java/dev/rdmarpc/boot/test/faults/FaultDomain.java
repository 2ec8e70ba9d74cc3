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

package dev.rdmarpc.boot.test.faults;

import java.nio.ByteBuffer;
import java.util.Set;

import dev.rdmarpc.verbs.AccessFlag;
import dev.rdmarpc.verbs.MemoryRegion;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/** A domain whose queue pairs have faults. Its memory and receives have none. */
final class FaultDomain implements ProtectionDomain {

	private final FaultDevice device;

	private final ProtectionDomain real;

	FaultDomain(FaultDevice device, ProtectionDomain real) {
		this.device = device;
		this.real = real;
	}

	@Override
	public VerbsDevice device() {
		return this.device;
	}

	@Override
	public MemoryRegion registerMemory(ByteBuffer memory, Set<AccessFlag> access) {
		return this.real.registerMemory(memory, access);
	}

	@Override
	public MemoryRegion registerMemory(ByteBuffer memory, Set<AccessFlag> access, QueuePair peer) {
		return this.real.registerMemory(memory, access, FaultQueuePair.of(peer).real());
	}

	@Override
	public SharedReceiveQueue createSharedReceiveQueue(int depth, int maxSegments) {
		return this.real.createSharedReceiveQueue(depth, maxSegments);
	}

	@Override
	public QueuePair createQueuePair(QueuePairOptions options) {
		if (!(options.completionQueue() instanceof FaultCompletionQueue completions)) {
			throw new VerbsException(VerbsError.INVALID_ARGUMENT,
					options.completionQueue() + " is not of device " + this.device.name());
		}
		return FaultQueuePair.create(this.real, options, completions);
	}

	@Override
	public void close() {
		this.real.close();
	}

}
