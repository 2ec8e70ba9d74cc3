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

import dev.rdmarpc.transport.RdmaTransport;

/**
 * Runs what depends on the futures of a client: on the thread of the loop, after its
 * turn, as long as that has been quick, else for a while on threads of the transport.
 * Something slow that comes again and again is tried there ever more rarely.
 *
 * <p>
 * Implementation notes. The fields are written by any thread that runs such code, without
 * a lock: whichever of two concurrent observations is lost, the next one is made.
 */
final class Continuations {

	private static final long SLOW_NANOS = 100_000;

	private static final long FIRST_PAUSE_NANOS = 250_000_000;

	private static final long LONGEST_PAUSE_NANOS = 60_000_000_000L;

	private final RdmaTransport transport;

	private volatile boolean slow;

	private volatile long untilNanos;

	private volatile long pauseNanos = FIRST_PAUSE_NANOS;

	Continuations(RdmaTransport transport) {
		this.transport = transport;
	}

	/** On a thread of a loop, which does not drive now. */
	void run(Runnable code) {
		long start = System.nanoTime();
		if (this.slow && start - this.untilNanos < 0) {
			runElsewhere(code);
			return;
		}
		code.run();
		long end = System.nanoTime();
		if (end - start > SLOW_NANOS) {
			ranSlowly(end);
		}
		else if (this.slow && end - this.untilNanos > this.pauseNanos) {
			this.slow = false;
			this.pauseNanos = FIRST_PAUSE_NANOS;
		}
	}

	private void ranSlowly(long nowNanos) {
		long pause = this.pauseNanos;
		this.untilNanos = nowNanos + pause;
		this.slow = true;
		this.pauseNanos = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
	}

	void runElsewhere(Runnable code) {
		this.transport.runCallback(code);
	}

}
