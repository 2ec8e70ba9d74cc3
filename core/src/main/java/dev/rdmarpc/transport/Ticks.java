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
import java.util.List;

/**
 * Which channels a tick looks at. One that has sent something since it was last seen at
 * rest is looked at each time. All of them, at rest or not, are looked at in turn: each
 * within 50 ms where they are few, and one in a tenth of a millisecond where they are
 * many, so that idle connections neither use up a processor nor hold up the others. Of
 * those that are to be given up, a tick ends a few.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class Ticks {

	/** How soon each channel is looked at where they are few. */
	private static final long ROUND_NANOS = 50_000_000;

	/** How long it takes per channel where they are many. */
	private static final long LOOK_NANOS = 100_000;

	/** How many channels end at a tick: each takes some ten microseconds. */
	private static final int MOST_ENDS = 2;

	private final ArrayList<Ticked> all = new ArrayList<>();

	private final ArrayList<Ticked> active = new ArrayList<>();

	private int cursor;

	private long lastNanos;

	private int ends;

	Ticks(long nowNanos) {
		this.lastNanos = nowNanos;
	}

	/** Looks at a channel from here on; it is forgotten when it is over. */
	void add(Ticked channel) {
		this.active.ensureCapacity(this.all.size() + 1);
		this.all.add(channel);
		activate(channel);
	}

	/** A channel sends something; needs no memory. */
	void activate(Ticked channel) {
		if (!channel.active) {
			channel.active = true;
			this.active.add(channel);
		}
	}

	/** Whether large messages are on their way. */
	boolean expectsBytes() {
		for (int i = 0; i < this.active.size(); i++) {
			if (this.active.get(i).expectsBytes()) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Looks at channels, which may close meanwhile.
	 * @param untilNanos when the next tick is, if none asks for an earlier one
	 * @return whether one does
	 */
	boolean tick(long nowNanos, long untilNanos) {
		this.ends = 0;
		lookInTurn(nowNanos);
		boolean busy = false;
		for (int i = this.active.size() - 1; i >= 0; i--) {
			Ticked channel = this.active.get(i);
			look(channel, nowNanos);
			busy |= channel.needsTicks(untilNanos);
			if (channel.isAtRest()) {
				channel.active = false;
				remove(this.active, i);
			}
		}
		return busy || this.ends >= MOST_ENDS;
	}

	private void look(Ticked channel, long nowNanos) {
		boolean over = channel.isOver();
		channel.tick(nowNanos, this.ends < MOST_ENDS);
		this.ends += (!over && channel.isOver()) ? 1 : 0;
	}

	private void lookInTurn(long nowNanos) {
		long since = nowNanos - this.lastNanos;
		this.lastNanos = nowNanos;
		long interval = Math.max(LOOK_NANOS, ROUND_NANOS / Math.max(1, this.all.size()));
		for (long i = Math.min(this.all.size(), 1 + since / interval); i > 0; i--) {
			this.cursor = (this.cursor > 0) ? this.cursor - 1 : this.all.size() - 1;
			Ticked channel = this.all.get(this.cursor);
			look(channel, nowNanos);
			if (channel.isOver()) {
				remove(this.all, this.cursor);
			}
		}
	}

	private static void remove(List<Ticked> channels, int index) {
		Ticked last = channels.remove(channels.size() - 1);
		if (index < channels.size()) {
			channels.set(index, last);
		}
	}

	/** A channel, as far as ticks are concerned. */
	abstract static class Ticked {

		private boolean active;

		/**
		 * Looks at it; does not throw.
		 * @param mayEnd whether it may be given up because of its peer now, or only the
		 * next time
		 */
		abstract void tick(long nowNanos, boolean mayEnd);

		/** Whether it is closed. */
		abstract boolean isOver();

		/** Whether nothing is outstanding that each tick would have to watch over. */
		abstract boolean isAtRest();

		/** Whether ticks have to be more frequent until then. */
		abstract boolean needsTicks(long untilNanos);

		/** Whether a large message is on its way. */
		abstract boolean expectsBytes();

	}

}
