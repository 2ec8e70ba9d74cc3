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

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many calls of a server there are at once, over all its connections, and whether
 * another one may begin. A connection may have {@value #SHARES} times what remains for
 * others: four fifths if it is the only one, and each further one finds room.
 *
 * <p>
 * Thread-safe.
 */
public final class CallShares {

	private static final long SHARES = 4;

	private final AtomicInteger count = new AtomicInteger();

	private volatile int most;

	/**
	 * Creates shares of so many calls.
	 * @param most at least 1
	 */
	public CallShares(int most) {
		this.most = most;
	}

	/** The most calls at once. */
	public int most() {
		return this.most;
	}

	/** Changes the most calls at once; those beyond it go on. */
	public void most(int most) {
		this.most = most;
	}

	/** Calls that there are. */
	public int count() {
		return this.count.get();
	}

	/**
	 * Counts another call, if it may begin.
	 * @param own calls of its connection
	 * @return whether it may; then {@link #end} is to be called
	 */
	public boolean tryBegin(int own) {
		int others = this.count.getAndIncrement();
		if (own < SHARES * (this.most - others)) {
			return true;
		}
		end();
		return false;
	}

	/** A call that was counted has ended. */
	public void end() {
		this.count.decrementAndGet();
	}

}
