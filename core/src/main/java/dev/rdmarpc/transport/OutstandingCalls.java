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

package dev.rdmarpc.transport;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How many calls of a loop wait for their replies. Changed by the driver; any thread may
 * ask.
 *
 * <p>
 * Implementation notes. Those who drive, or stand by, are decided by whether there is no
 * call, one, or several, and by nothing else: {@link LoopDriver} says how a change of
 * that and what others do then see each other. Only such a change is therefore a volatile
 * store, which costs a fence. While there are several, one more or one less is a store
 * with release order: whoever sees an earlier number decides the same.
 */
final class OutstandingCalls {

	private static final VarHandle COUNT;

	static {
		try {
			COUNT = MethodHandles.lookup().findVarHandle(OutstandingCalls.class, "count", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private volatile int count;

	/** A call has begun; driver. */
	void started() {
		int now = this.count + 1;
		count(now, now > 2);
	}

	/** A call has ended; driver. */
	void finished() {
		int now = this.count - 1;
		count(now, now > 1);
	}

	private void count(int now, boolean stillSeveral) {
		if (stillSeveral) {
			COUNT.setRelease(this, now);
		}
		else {
			this.count = now;
		}
	}

	boolean areAny() {
		return this.count > 0;
	}

	boolean areSeveral() {
		return this.count > 1;
	}

	int count() {
		return this.count;
	}

}
