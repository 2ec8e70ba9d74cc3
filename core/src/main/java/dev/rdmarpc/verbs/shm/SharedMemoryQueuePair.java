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

import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.shm.ring.Grantee;
import dev.rdmarpc.verbs.shm.ring.PeerAccess;
import dev.rdmarpc.verbs.shm.ring.SendQueue;
import dev.rdmarpc.verbs.support.EngineQueuePair;
import dev.rdmarpc.verbs.support.EngineReceiveQueue;
import dev.rdmarpc.verbs.support.WorkQueue;

/** A queue pair of shared memory: while connected, its life has a {@link Connection}. */
final class SharedMemoryQueuePair extends EngineQueuePair implements Grantee {

	private final SharedMemoryDomain domain;

	private final Lifecycle lifecycle;

	private final long grantNumber;

	SharedMemoryQueuePair(SharedMemoryDomain domain, SharedMemoryCompletionQueue completionQueue,
			@Nullable EngineReceiveQueue sharedReceives, QueuePairOptions options, int number) {
		this(domain, completionQueue, sharedReceives, options, number,
				new SendQueue(new WorkQueue(options.sendQueueDepth(), options.maxSendSegments())));
	}

	private SharedMemoryQueuePair(SharedMemoryDomain domain, SharedMemoryCompletionQueue completionQueue,
			@Nullable EngineReceiveQueue sharedReceives, QueuePairOptions options, int number, SendQueue sends) {
		super(number, options, completionQueue.engine(), sends.queue(), sharedReceives);
		this.domain = domain;
		this.grantNumber = domain.device().newGrantNumber();
		this.lifecycle = new Lifecycle(new PeerAccess(device().regions(), domain, this), completionQueue, sends, this,
				newReporter(completionQueue, sends), device().options().drainTimeout());
	}

	@Override
	public SharedMemoryDomain domain() {
		return this.domain;
	}

	SharedMemoryDevice device() {
		return this.domain.device();
	}

	@Override
	public long grantNumber() {
		return this.grantNumber;
	}

	@Override
	public Lifecycle lifecycle() {
		return this.lifecycle;
	}

	@Override
	protected void abandonAttempt() {
		device().connectionThread().abandon(this);
	}

	@Override
	protected void closed() {
		this.domain.removed(this);
	}

}
