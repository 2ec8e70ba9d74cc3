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

package dev.rdmarpc.verbs.iwarp;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePairOptions;
import dev.rdmarpc.verbs.iwarp.rdmap.PeerAccess;
import dev.rdmarpc.verbs.iwarp.rdmap.SendQueue;
import dev.rdmarpc.verbs.support.EngineQueuePair;
import dev.rdmarpc.verbs.support.EngineReceiveQueue;
import dev.rdmarpc.verbs.support.WorkQueue;

/**
 * A queue pair of user-space iWARP: while connected, its life has a {@link Connection}.
 */
final class IwarpQueuePair extends EngineQueuePair {

	private final IwarpProtectionDomain domain;

	private final ConnectionLifecycle lifecycle;

	private final SendQueue sends;

	IwarpQueuePair(IwarpProtectionDomain domain, IwarpCompletionQueue completionQueue,
			@Nullable EngineReceiveQueue sharedReceives, QueuePairOptions options, int number) {
		this(domain, completionQueue, sharedReceives, options, number,
				new SendQueue(new WorkQueue(options.sendQueueDepth(), options.maxSendSegments())));
	}

	private IwarpQueuePair(IwarpProtectionDomain domain, IwarpCompletionQueue completionQueue,
			@Nullable EngineReceiveQueue sharedReceives, QueuePairOptions options, int number, SendQueue sends) {
		super(number, options, completionQueue.engine(), sends.queue(), sharedReceives);
		this.domain = domain;
		this.sends = sends;
		this.lifecycle = new ConnectionLifecycle(new PeerAccess(device().stags(), domain, this), completionQueue, sends,
				this, newReporter(completionQueue, sends), device().connectionThread(), device().options());
	}

	@Override
	public IwarpProtectionDomain domain() {
		return this.domain;
	}

	IwarpDevice device() {
		return this.domain.device();
	}

	@Override
	public ConnectionLifecycle lifecycle() {
		return this.lifecycle;
	}

	@Override
	public void favorLatency(boolean favored) {
		this.sends.favorLatency(favored);
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
