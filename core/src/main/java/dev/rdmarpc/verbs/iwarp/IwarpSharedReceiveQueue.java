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

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.support.CountedReceiveQueue;
import dev.rdmarpc.verbs.support.PostedReceive;
import dev.rdmarpc.verbs.support.ShortLock;
import dev.rdmarpc.verbs.support.WorkQueue;

/**
 * A shared receive queue. Queue pairs of several reactors may take from it; a short lock
 * of its own, innermost of all, makes them take turns.
 */
final class IwarpSharedReceiveQueue extends CountedReceiveQueue {

	private final IwarpProtectionDomain protectionDomain;

	private final WorkQueue ring;

	private final ShortLock takeLock = new ShortLock();

	IwarpSharedReceiveQueue(IwarpProtectionDomain protectionDomain, int depth, int maxSegments) {
		super(maxSegments);
		this.protectionDomain = protectionDomain;
		this.ring = new WorkQueue(depth, maxSegments);
	}

	IwarpProtectionDomain protectionDomain() {
		return this.protectionDomain;
	}

	@Override
	public PostResult postReceive(WorkRequest request) {
		check(request);
		return this.ring.post(request);
	}

	@Override
	public int postReceives(WorkRequest[] requests, int count) {
		for (int i = 0; i < count; i++) {
			check(requests[i]);
		}
		return this.ring.post(requests, count);
	}

	@Override
	public int posted() {
		return (int) (this.ring.tail() - this.ring.head());
	}

	/** Takes the oldest receive; returns false if none is posted. */
	boolean tryTake(PostedReceive receive) {
		this.takeLock.lock();
		try {
			if (this.ring.isEmpty()) {
				return false;
			}
			receive.take(this.ring);
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
			for (; taken < count && !this.ring.isEmpty(); taken++) {
				ids[taken] = this.ring.id(this.ring.head());
				this.ring.release();
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
			this.ring.clear();
		}
		finally {
			this.takeLock.unlock();
		}
		this.protectionDomain.removed(this);
	}

}
