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

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many attempts the calls to one target get beyond their first: a share of the calls,
 * and a reserve of {@value #RESERVE} for targets that get few calls. Without it, a target
 * that is overloaded would get several times the calls. Thread-safe.
 */
public final class AttemptBudget {

	/** Attempts that may be saved. */
	public static final int RESERVE = 10;

	private static final int WHOLE = 1000;

	private final int share;

	private final AtomicInteger left = new AtomicInteger(RESERVE * WHOLE);

	/**
	 * Creates the budget of one target.
	 * @param attemptsPerCall how many further attempts each call permits, on average
	 */
	public AttemptBudget(double attemptsPerCall) {
		this.share = (int) Math.min(RESERVE * WHOLE, Math.round(attemptsPerCall * WHOLE));
	}

	/** A call is made. */
	public void called() {
		int before = this.left.get();
		if (before < RESERVE * WHOLE) {
			this.left.compareAndSet(before, Math.min(RESERVE * WHOLE, before + this.share));
		}
	}

	/** Takes an attempt, if there is one left. */
	public boolean tryTake() {
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
		return "budget of " + this.left.get() / (double) WHOLE + " attempts";
	}

}
