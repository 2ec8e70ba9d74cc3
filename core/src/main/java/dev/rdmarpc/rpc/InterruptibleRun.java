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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

/**
 * The thread that runs a handler, which may be interrupted as long as it does and not a
 * moment longer.
 *
 * <p>
 * Implementation notes. Whoever interrupts holds the run in a state of its own meanwhile,
 * which takes a moment; the thread waits for that when it ends. A run that begins
 * publishes that by a volatile write and then looks whether the call was cancelled, and
 * who cancels writes that before it looks at the run, so that one of them sees the other.
 * The thread is written by itself between its runs and read only in that state.
 */
final class InterruptibleRun {

	private static final VarHandle STATE;

	private static final int IDLE = 0;

	private static final int RUNNING = 1;

	private static final int INTERRUPTING = 2;

	static {
		try {
			STATE = MethodHandles.lookup().findVarHandle(InterruptibleRun.class, "state", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private @Nullable Thread thread;

	@SuppressWarnings("unused") // through STATE
	private volatile int state = IDLE;

	/** The current thread begins. */
	void begin() {
		Thread current = Thread.currentThread();
		if (this.thread != current) {
			this.thread = current;
		}
		STATE.setVolatile(this, RUNNING);
	}

	/**
	 * The current thread, which has begun, ends.
	 * @param stays whether it is likely to be the next one to begin
	 */
	@SuppressWarnings("ThreadPriorityCheck") // nothing depends on it
	void end(boolean stays) {
		while (!STATE.compareAndSet(this, RUNNING, IDLE)) {
			// interrupting may close a channel that the thread was blocked in
			Thread.yield();
		}
		if (!stays) {
			this.thread = null;
		}
	}

	/** Interrupts the thread, if it runs. Any thread. */
	void interrupt() {
		if (STATE.compareAndSet(this, RUNNING, INTERRUPTING)) {
			try {
				Thread running = this.thread;
				if (running != null) {
					running.interrupt();
				}
			}
			finally {
				STATE.setRelease(this, RUNNING);
			}
		}
	}

}
