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

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.memory.MemoryAttachment;
import dev.rdmarpc.memory.RegisteredMemory;
import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.DeviceLimits;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.SharedReceiveQueue;
import dev.rdmarpc.verbs.VerbsDevice;

/**
 * What a loop works with.
 *
 * @param rail the name of the rail it is on
 * @param memory borrowed
 * @param attachment borrowed
 * @param protectionDomain borrowed; {@code null} if the device cannot Read
 * @param completionQueue owned
 * @param sharedReceiveQueue owned
 * @param receives owned
 * @param scheduler how large transfers make way for other messages
 * @param small those other messages that are small, of all channels
 */
record LoopResources(String rail, RegisteredMemory memory, MemoryAttachment attachment,
		@Nullable ProtectionDomain protectionDomain, CompletionQueue completionQueue,
		SharedReceiveQueue sharedReceiveQueue, ReceivePool receives, SchedulerOptions scheduler, SmallMessages small) {

	/** Opens those of a loop on a rail, or none. */
	static LoopResources open(Rail rail, RegisteredMemory memory, TransportOptions options, int frameBytes) {
		VerbsDevice device = rail.device();
		DeviceLimits limits = device.limits();
		int receives = Math.min(options.maxReceives(), limits.maxReceiveQueueDepth());
		int completions = Math.min(2 * receives, limits.maxCompletionQueueEntries());
		CompletionQueue completionQueue = device.createCompletionQueue(completions);
		SharedReceiveQueue receiveQueue = null;
		try {
			receiveQueue = rail.protectionDomain().createSharedReceiveQueue(receives, 1);
			ReceivePool pool = new ReceivePool(receiveQueue, memory, rail.attachment(), frameBytes, receives);
			return new LoopResources(rail.name(), memory, rail.attachment(),
					(limits.maxReadDepth() > 0) ? rail.protectionDomain() : null, completionQueue, receiveQueue, pool,
					options.scheduler(), new SmallMessages());
		}
		catch (Throwable ex) {
			if (receiveQueue != null) {
				receiveQueue.close();
			}
			completionQueue.close();
			throw ex;
		}
	}

	/** Whether messages can be Read and opened for Reads. */
	boolean canRead() {
		return this.protectionDomain != null;
	}

	/** Gives the owned ones back; all queue pairs are closed already. */
	void close() {
		this.sharedReceiveQueue.close();
		this.completionQueue.close();
		this.receives.close();
	}

}
