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

package dev.rdmarpc.boot.retry;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many retries a target may still get: a fraction of its calls, and a reserve for
 * when there are few. Without it, retries would multiply the load of a target that cannot
 * even bear its calls. Thread-safe.
 *
 * <p>
 * Implementation notes. Counted in thousandths of a retry. What a call adds may be lost
 * when others add at the same time, which happens when there are plenty.
 */
public final class RetryBudget {

	/** Retries that may be saved. */
	static final int RESERVE = 10;

	private static final int WHOLE = 1000;

	private final int share;

	private final AtomicInteger left = new AtomicInteger(RESERVE * WHOLE);

	/**
	 * Creates the budget of one target.
	 * @param retriesPerCall how many retries each call permits, on average
	 */
	public RetryBudget(double retriesPerCall) {
		this.share = (int) Math.min(RESERVE * WHOLE, Math.round(retriesPerCall * WHOLE));
	}

	/** A call is made. */
	void called() {
		int before = this.left.get();
		if (before < RESERVE * WHOLE) {
			this.left.compareAndSet(before, Math.min(RESERVE * WHOLE, before + this.share));
		}
	}

	/** Takes a retry, if there is one left. */
	boolean tryTake() {
		int before;
		do {
			before = this.left.get();
			if (before < WHOLE) {
				return false;
			}
		}
		while (!this.left.compareAndSet(before, before - WHOLE));
		return true;
	}

	@Override
	public String toString() {
		return "budget of " + this.left.get() / (double) WHOLE + " retries";
	}

}
