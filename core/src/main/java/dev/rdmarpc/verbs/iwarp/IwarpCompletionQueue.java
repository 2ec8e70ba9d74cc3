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

import java.security.SecureRandom;
import java.util.function.Consumer;

import dev.rdmarpc.verbs.VerbsDevice;
import dev.rdmarpc.verbs.iwarp.rdmap.StreamBuffers;
import dev.rdmarpc.verbs.support.EngineCompletionQueue;

/** A completion queue of user-space iWARP. */
final class IwarpCompletionQueue extends EngineCompletionQueue<Reactor> {

	private final Runnable barrier;

	private final Consumer<IwarpCompletionQueue> closing;

	/**
	 * Creates a completion queue.
	 * @param barrier returns when no step of any reactor is under way that was at the
	 * call
	 * @param closing told when the queue is closed
	 */
	IwarpCompletionQueue(VerbsDevice device, int capacity, IwarpOptions options, SecureRandom secureRandom,
			Runnable barrier, Consumer<IwarpCompletionQueue> closing) {
		super(device, new Reactor(capacity,
				new StreamBuffers(options.stagingBytes(), options.copyThresholdBytes(), options.directReceiveBytes()),
				secureRandom));
		this.barrier = barrier;
		this.closing = closing;
	}

	/** Memory in use for what peers have begun. */
	int stagingBytes() {
		return engine().buffers().staging().usedBytes();
	}

	@Override
	protected void awaitSteps() {
		this.barrier.run();
	}

	@Override
	protected void closed() {
		this.closing.accept(this);
	}

}
