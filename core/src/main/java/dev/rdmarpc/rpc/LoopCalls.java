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

/**
 * How many calls one loop has left to its thread; written by its driver and readable from
 * any thread.
 */
final class LoopCalls {

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

}
