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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock for a few instructions, such as the copy of one work request. Taking it costs
 * one atomic operation and giving it back none; it needs no memory, is not reentrant, and
 * its holder neither blocks nor calls what could, but for memory where a queue grows.
 *
 * <p>
 * Implementation notes. Giving back is a release store: what the holder wrote is seen by
 * the next one, whose compare-and-set acquires. It is no full fence: a holder whose later
 * reads must not go before its writes needs one of its own. Waiting threads yield, since
 * a holder that was suspended needs a processor.
 */
public final class ShortLock {

	private static final VarHandle HELD;

	static {
		try {
			HELD = MethodHandles.lookup().findVarHandle(ShortLock.class, "held", boolean.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private static final int SPINS = 64;

	@SuppressWarnings("unused") // through HELD
	private volatile boolean held;

	/** Takes the lock, when others have given it back. */
	@SuppressWarnings("ThreadPriorityCheck") // a suspended holder needs a processor
	public void lock() {
		for (int tries = 1; !tryLock(); tries++) {
			if (tries % SPINS == 0) {
				Thread.yield();
			}
			else {
				Thread.onSpinWait();
			}
		}
	}

	private boolean tryLock() {
		return !(boolean) HELD.getOpaque(this) && HELD.compareAndSet(this, false, true);
	}

	/** Gives the lock back; by its holder. */
	public void unlock() {
		HELD.setRelease(this, false);
	}

}
