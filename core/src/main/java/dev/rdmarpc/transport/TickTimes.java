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

/**
 * When the ticks of a loop are due. Those that look after what is retired come every
 * {@value #BUSY_NANOS} ns while there is something; channels and memory have to be looked
 * at that often only where one of them asks for it. With many connections that takes
 * longer than all the rest of a tick.
 *
 * <p>
 * Confined to the loop's driver; times are those of {@link System#nanoTime()}.
 */
final class TickTimes {

	static final long BUSY_NANOS = 2_000_000;

	static final long IDLE_NANOS = 50_000_000;

	private long nextNanos;

	private long upkeepNanos;

	TickTimes(long nowNanos) {
		this.nextNanos = nowNanos;
		this.upkeepNanos = nowNanos;
	}

	/** When the next tick is due. */
	long nextNanos() {
		return this.nextNanos;
	}

	boolean isDue(long nowNanos) {
		return nowNanos - this.nextNanos >= 0;
	}

	/** Whether a tick that is due has to look at channels and memory. */
	boolean isUpkeepDue(long nowNanos) {
		return nowNanos - this.upkeepNanos >= 0;
	}

	/**
	 * Channels and memory are being looked at.
	 * @return when they will be the next time, if nothing asks for an earlier one
	 */
	long upkeeps(long nowNanos) {
		this.upkeepNanos = nowNanos + IDLE_NANOS;
		return this.upkeepNanos;
	}

	/** Channels or memory have to be looked at then; tells whether that is the next. */
	boolean upkeepAt(long nanos) {
		if (nanos - this.upkeepNanos < 0) {
			this.upkeepNanos = nanos;
		}
		return tickAt(nanos);
	}

	/** What is retired has to be looked at then; tells whether that is the next tick. */
	boolean tickAt(long nanos) {
		if (nanos - this.nextNanos >= 0) {
			return false;
		}
		this.nextNanos = nanos;
		return true;
	}

	/**
	 * A tick ends.
	 * @param retired whether something is retired
	 */
	void ended(long nowNanos, boolean retired) {
		this.nextNanos = this.upkeepNanos;
		if (retired) {
			tickAt(nowNanos + BUSY_NANOS);
		}
	}

}
