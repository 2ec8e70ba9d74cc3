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

package dev.rdmarpc.grpc;

import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * How a connection ends whose caller was told to make no new calls. Usually the caller
 * closes it when it has its replies; this is for one that does not, or goes on calling.
 * For a time the caller may not have read it, so calls are taken as before, and so are
 * those that have begun to arrive by then. Later ones are refused. When no call is left
 * that was taken, the connection ends as soon as their replies are sent and for so long
 * there was neither a call nor something to send.
 *
 * <p>
 * Confined to the loop's driver, except {@link #say()}.
 *
 * <p>
 * Implementation notes. Answers to refused calls are messages like others, so that a
 * caller who goes on calling would always have something to be sent. So none is given
 * while the last replies are on their way, and after that they count no more.
 */
final class Farewell {

	/** How long a caller may not have read it; Netty's transport has the same. */
	static final long PATIENCE_NANOS = 10_000_000_000L;

	private final long patienceNanos;

	private final Supplier<Set<Integer>> arriving;

	private final BooleanSupplier sending;

	private volatile boolean said;

	private Stage stage = Stage.NONE;

	private long saidNanos;

	/** When there was a call, or something to send, for the last time. */
	private long busyNanos;

	/** Late calls that are taken nevertheless. */
	private Set<Integer> expected = Set.of();

	private long refused;

	/**
	 * Creates what follows a goodbye that has not been said.
	 * @param arriving gives the ids of requests that have begun to arrive, in a new set
	 * @param sending whether there are replies that the peer has not got
	 */
	Farewell(long patienceNanos, Supplier<Set<Integer>> arriving, BooleanSupplier sending) {
		this.patienceNanos = patienceNanos;
		this.arriving = arriving;
		this.sending = sending;
	}

	/** The caller is about to be told. Any thread. */
	void say() {
		this.said = true;
	}

	/**
	 * Whether a call may begin whose request has arrived, which it may be asked once.
	 * Others are to be refused.
	 */
	boolean admits(int requestId) {
		if (this.stage.compareTo(Stage.LATE) < 0 || this.expected.remove(requestId)) {
			return true;
		}
		this.refused++;
		return false;
	}

	/** Whether requests without a call may be answered now. */
	boolean answers() {
		return this.stage != Stage.SENDING;
	}

	/** How many calls were too late. */
	long refused() {
		return this.refused;
	}

	/**
	 * Time has passed.
	 * @param calls how many there are that were taken
	 * @return whether the connection is to be closed
	 */
	boolean tick(long nowNanos, int calls) {
		if (!this.said) {
			return false;
		}
		if (this.stage == Stage.NONE) {
			this.stage = Stage.SAID;
			this.saidNanos = nowNanos;
			this.busyNanos = nowNanos;
		}
		if (this.stage == Stage.SAID && nowNanos - this.saidNanos >= this.patienceNanos) {
			this.stage = Stage.LATE;
			this.expected = this.arriving.get();
		}
		if (this.stage != Stage.OVER) {
			look(nowNanos, calls);
		}
		return this.stage == Stage.OVER && nowNanos - this.busyNanos >= this.patienceNanos;
	}

	private void look(long nowNanos, int calls) {
		if (!this.expected.isEmpty()) {
			// those given up or lost meanwhile come no more
			this.expected.retainAll(this.arriving.get());
		}
		boolean open = calls > 0 || !this.expected.isEmpty();
		boolean unsent = this.sending.getAsBoolean();
		if (open || unsent) {
			this.busyNanos = nowNanos;
		}
		if (this.stage == Stage.LATE && !open) {
			this.stage = Stage.SENDING;
		}
		if (this.stage == Stage.SENDING && !unsent) {
			this.stage = Stage.OVER;
		}
	}

	private enum Stage {

		/** Nobody was told anything. */
		NONE,

		/** Calls are taken. */
		SAID,

		/** Calls are refused. */
		LATE,

		/** No call is left, but replies may be. */
		SENDING,

		/** There is nothing left but refusals. */
		OVER

	}

}
