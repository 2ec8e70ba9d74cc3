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

package dev.rdmarpc.verbs.support;

import java.util.function.Consumer;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.ProtectionDomain;
import dev.rdmarpc.verbs.WorkRequest;

/**
 * A shared receive queue in user space. Queue pairs of several engines may take from it;
 * a short lock of its own, innermost of all, makes them take turns.
 */
public final class EngineReceiveQueue extends CountedReceiveQueue {

	private final ProtectionDomain domain;

	private final Consumer<EngineReceiveQueue> closing;

	private final WorkQueue queue;

	private final ShortLock takeLock = new ShortLock();

	/**
	 * Creates an empty queue.
	 * @param domain whose queue pairs may use it
	 * @param closing told when the queue is closed
	 */
	public EngineReceiveQueue(ProtectionDomain domain, int depth, int maxSegments,
			Consumer<EngineReceiveQueue> closing) {
		super(maxSegments);
		this.domain = domain;
		this.closing = closing;
		this.queue = WorkQueue.growing(depth, maxSegments);
	}

	/** Whose queue pairs may use it. */
	public ProtectionDomain domain() {
		return this.domain;
	}

	@Override
	public PostResult postReceive(WorkRequest request) {
		check(request);
		return this.queue.post(request);
	}

	@Override
	public int postReceives(WorkRequest[] requests, int count) {
		for (int i = 0; i < count; i++) {
			check(requests[i]);
		}
		return this.queue.post(requests, count);
	}

	@Override
	public int posted() {
		return (int) (this.queue.tail() - this.queue.head());
	}

	/** Takes the oldest receive; returns false if none is posted. */
	boolean tryTake(PostedReceive receive) {
		this.takeLock.lock();
		try {
			if (this.queue.isEmpty()) {
				return false;
			}
			receive.take(this.queue);
			return true;
		}
		finally {
			this.takeLock.unlock();
		}
	}

	@Override
	public int withdrawReceives(long[] ids, int count) {
		this.takeLock.lock();
		try {
			int taken = 0;
			for (; taken < count && !this.queue.isEmpty(); taken++) {
				ids[taken] = this.queue.id(this.queue.head());
				this.queue.release();
			}
			return taken;
		}
		finally {
			this.takeLock.unlock();
		}
	}

	@Override
	protected void release() {
		this.takeLock.lock();
		try {
			this.queue.clear();
		}
		finally {
			this.takeLock.unlock();
		}
		this.closing.accept(this);
	}

}
