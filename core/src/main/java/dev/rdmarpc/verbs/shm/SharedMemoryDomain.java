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

package dev.rdmarpc.verbs.shm;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePair;
import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.shm.ring.Grantee;
import dev.rdmarpc.verbs.support.EngineCompletionQueue;
import dev.rdmarpc.verbs.support.EngineProtectionDomain;
import dev.rdmarpc.verbs.support.EngineReceiveQueue;
import dev.rdmarpc.verbs.support.RegisteredMemory;

/** A protection domain of shared memory. */
final class SharedMemoryDomain extends EngineProtectionDomain<SharedMemoryQueuePair> implements Grantee {

	private final SharedMemoryDevice device;

	private final long grantNumber;

	SharedMemoryDomain(SharedMemoryDevice device) {
		super(device.queuePairNumbers());
		this.device = device;
		this.grantNumber = device.newGrantNumber();
	}

	@Override
	public SharedMemoryDevice device() {
		return this.device;
	}

	@Override
	public long grantNumber() {
		return this.grantNumber;
	}

	@Override
	protected SharedMemoryQueuePair own(QueuePair queuePair) {
		return this.device.own(queuePair);
	}

	@Override
	protected RegisteredMemory addRegion(RegionFactory factory) {
		return this.device.regions().add(factory);
	}

	@Override
	protected void invalidate(RegisteredMemory region) {
		this.device.regions().invalidate(region);
	}

	@Override
	protected void removeRegion(RegisteredMemory region) {
		this.device.regions().remove(region);
	}

	@Override
	protected void awaitSteps() {
		this.device.awaitSteps();
	}

	@Override
	protected SharedMemoryQueuePair newQueuePair(EngineCompletionQueue<?> completionQueue,
			@Nullable EngineReceiveQueue shared, QueuePairOptions options, int number) {
		return new SharedMemoryQueuePair(this, (SharedMemoryCompletionQueue) completionQueue, shared, options, number);
	}

	@Override
	protected void closed() {
		this.device.removed(this);
	}

}
