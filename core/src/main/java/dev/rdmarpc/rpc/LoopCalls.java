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

package dev.rdmarpc.rpc;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

/**
 * What the sessions of a server share that are on one loop: how many calls it has left to
 * its thread, which any thread may read, and call objects for the next requests, which
 * belong to its driver.
 */
final class LoopCalls {

	private static final int CAPACITY = 1024;

	private final @Nullable ServerCall[] idle = new ServerCall[CAPACITY];

	private int idleCount;

	private final AtomicLong offered = new AtomicLong();

	private final LongAdder declined = new LongAdder();

	/** A call is to run on the loop's thread; driver. */
	void offered() {
		this.offered.setOpaque(this.offered.getPlain() + 1);
	}

	/** It runs elsewhere after all; any thread. */
	void declined() {
		this.declined.increment();
	}

	/** Those that ran there. */
	long begun() {
		return this.offered.getOpaque() - this.declined.sum();
	}

	/** Takes the object of a call that has ended, if there is one; driver. */
	@Nullable ServerCall take() {
		if (this.idleCount == 0) {
			return null;
		}
		ServerCall call = this.idle[--this.idleCount];
		this.idle[this.idleCount] = null;
		return call;
	}

	/** Keeps the object of a call that has ended, unless there are enough; driver. */
	void keep(ServerCall call) {
		if (this.idleCount < CAPACITY) {
			this.idle[this.idleCount++] = call;
		}
	}

}
