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

/**
 * How long nothing may be heard of an attempt to connect, which ends by itself long
 * before, unless there is no memory to tell of it. Guarded by the connection. Needs no
 * memory.
 */
final class AttemptLimit {

	/** After how many times its time-out an attempt is overdue. */
	private static final int OVERDUE_FACTOR = 2;

	private final long mostNanos;

	private boolean unlimited;

	private long sinceNanos;

	AttemptLimit(RpcClientOptions options) {
		this.mostNanos = OVERDUE_FACTOR * options.channel().handshakeTimeoutNanos();
	}

	/** The time begins. */
	void begin() {
		suspend(false);
	}

	/** The time does not count while something is waited for, and begins after it. */
	void suspend(boolean waiting) {
		this.unlimited = waiting;
		this.sinceNanos = System.nanoTime();
	}

	/** The time is over, since nothing more will be heard. */
	void end() {
		this.unlimited = false;
		this.sinceNanos = System.nanoTime() - this.mostNanos;
	}

	/** Whether the time is over. */
	boolean isOver() {
		return !this.unlimited && System.nanoTime() - this.sinceNanos >= this.mostNanos;
	}

}
