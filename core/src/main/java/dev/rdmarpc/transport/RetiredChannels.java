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

import java.util.ArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.IntUnaryOperator;

/**
 * The channels of a loop that are closed but whose device may still use their buffers.
 * They are disposed of when it has flushed them and all of that was polled, or after a
 * second: the receives that a queue pair has taken from the shared queue might be lost
 * with it.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class RetiredChannels {

	/**
	 * How many messages that had begun give memory back at a time, of all channels; of
	 * each it is at least one, so that none with nothing left waits for others.
	 */
	static final int MOST_AT_ONCE = 48;

	private static final long PATIENCE_NANOS = 1_000_000_000;

	private static final int FIRST_CAPACITY = 4;

	/** With a capacity, for a list without one ignores that it is to have a small one. */
	private final ArrayList<Retired> channels = new ArrayList<>(FIRST_CAPACITY);

	private long drains;

	/** Makes room for so many more, so that adding them needs no memory. */
	void reserve(int more) {
		this.channels.ensureCapacity(this.channels.size() + more);
	}

	void add(Retired channel, long nowNanos) {
		channel.sinceNanos = nowNanos;
		this.channels.add(channel);
	}

	boolean isEmpty() {
		return this.channels.isEmpty();
	}

	/**
	 * The completion queue was polled.
	 * @param drained whether that has left nothing in it
	 */
	void polled(boolean drained) {
		if (drained) {
			this.drains++;
		}
	}

	/**
	 * Releases the queue pairs that have flushed. What fails is tried again the next
	 * time.
	 * @param atOnce whether not to wait for those that have not
	 */
	void dispose(long nowNanos, boolean atOnce, LoopFailures failures) {
		int most = MOST_AT_ONCE;
		for (int i = 0; i < this.channels.size(); i++) {
			Retired retired = this.channels.get(i);
			try {
				if (!atOnce) {
					most = Math.max(0, most - retired.giveBack(Math.max(1, most), nowNanos));
				}
				if (atOnce || retired.isDrained(this.drains) || retired.isOverdue(nowNanos)) {
					retired.dispose.run();
					this.channels.remove(i--);
				}
			}
			catch (Throwable ex) {
				failures.report(retired.channel, ex);
			}
		}
	}

	/**
	 * The end of a channel, and when its queue pair was first seen to have flushed. Made
	 * with the channel, so that it needs no memory.
	 */
	static final class Retired {

		private final Object channel;

		private final IntUnaryOperator giveBack;

		private final BooleanSupplier quiet;

		private final Runnable dispose;

		private boolean empty;

		private long sinceNanos;

		private long quietSince = -1;

		/**
		 * Notes down an end that is to come.
		 * @param channel whose it is, for messages
		 * @param giveBack gives so much of what has arrived in part back at most, and
		 * tells how much; called until there is less
		 * @param quiet whether the device has given all buffers back; asked until it is
		 * so
		 * @param dispose releases the queue pair and what it still holds
		 */
		Retired(Object channel, IntUnaryOperator giveBack, BooleanSupplier quiet, Runnable dispose) {
			this.channel = channel;
			this.giveBack = giveBack;
			this.quiet = quiet;
			this.dispose = dispose;
		}

		/** Gives more back, after which the queue pair has its time to flush. */
		int giveBack(int most, long nowNanos) {
			if (this.empty) {
				return 0;
			}
			int count = this.giveBack.applyAsInt(most);
			this.empty = count < most;
			this.sinceNanos = nowNanos;
			return count;
		}

		boolean isOverdue(long nowNanos) {
			return this.empty && nowNanos - this.sinceNanos > PATIENCE_NANOS;
		}

		/** Whether the queue was emptied after the last thing that went into it. */
		boolean isDrained(long drains) {
			if (this.quietSince < 0 && this.empty && this.quiet.getAsBoolean()) {
				this.quietSince = drains;
			}
			return this.quietSince >= 0 && drains > this.quietSince;
		}

	}

}
