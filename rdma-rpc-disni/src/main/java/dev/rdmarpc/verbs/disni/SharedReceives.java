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

package dev.rdmarpc.verbs.disni;

import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import dev.rdmarpc.verbs.PostResult;
import dev.rdmarpc.verbs.WorkRequest;
import dev.rdmarpc.verbs.support.CountedReceiveQueue;
import dev.rdmarpc.verbs.support.LimitChecks;

/**
 * Receives that queue pairs share, whether the adapter knows of that or not.
 *
 * <p>
 * Guarded by a lock of its own, which is taken after that of a completion queue.
 */
abstract class SharedReceives extends CountedReceiveQueue {

	private final AdapterDomain domain;

	private final ReentrantLock lock = new ReentrantLock();

	private final ReceiveSlots slots;

	private final SegmentList segments;

	private final int number;

	private final Consumer<SharedReceives> whenClosed;

	/**
	 * Creates the queue.
	 * @param number what its receives are marked with
	 * @param whenClosed run once
	 */
	SharedReceives(AdapterDomain domain, int depth, int maxSegments, int number, Consumer<SharedReceives> whenClosed) {
		super(maxSegments);
		this.domain = domain;
		this.slots = new ReceiveSlots(depth, Math.max(1, maxSegments));
		this.segments = new SegmentList(Math.max(1, maxSegments));
		this.number = number;
		this.whenClosed = whenClosed;
	}

	AdapterDomain domain() {
		return this.domain;
	}

	int number() {
		return this.number;
	}

	ReentrantLock lock() {
		return this.lock;
	}

	ReceiveSlots slots() {
		return this.slots;
	}

	SegmentList segments() {
		return this.segments;
	}

	/** What a new queue pair takes its receives from. */
	abstract DisniReceiveSource newSource();

	/** Does what is to be done with a new receive; the caller holds the lock. */
	abstract void posted(int slot) throws IOException;

	@Override
	public PostResult postReceive(WorkRequest request) {
		LimitChecks.checkSegments(request, maxSegments());
		this.lock.lock();
		try {
			check(request);
			if (this.slots.isFull()) {
				return PostResult.QUEUE_FULL;
			}
			boolean useless = this.segments.take(request, this.domain) != null;
			if (useless) {
				this.segments.setUseless();
			}
			posted(this.slots.add(request, this.segments, useless));
			return PostResult.POSTED;
		}
		catch (IOException ex) {
			throw AdapterVerbs.failure("adapter refused a shared receive", ex);
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public int withdrawReceives(long[] ids, int count) {
		this.lock.lock();
		try {
			int taken = 0;
			int slot = this.slots.first();
			while (taken < count && slot != ReceiveSlots.NONE) {
				int next = this.slots.next(slot);
				if (!this.slots.isHandedOver(slot)) {
					ids[taken++] = this.slots.id(slot);
					this.slots.remove(slot);
				}
				slot = next;
			}
			return taken;
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public int posted() {
		this.lock.lock();
		try {
			return this.slots.count();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A receive was taken by a queue pair that has gone. */
	void forget(int slot) {
		this.lock.lock();
		try {
			if (this.slots.isHandedOver(slot)) {
				this.slots.remove(slot);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Gives back what the adapter has of it. */
	abstract void destroy();

	@Override
	protected void release() {
		this.lock.lock();
		try {
			destroy();
			this.slots.clear();
		}
		finally {
			this.lock.unlock();
		}
		this.whenClosed.accept(this);
	}

}
