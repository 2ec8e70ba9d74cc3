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

import org.jspecify.annotations.Nullable;

/**
 * Watches whether the peer is alive: any frame is a sign of life; after some silence it
 * is asked, after more it is taken for dead. So is one that speaks but for as long grants
 * no credits for what waits to be sent. Nobody is taken for dead without having been
 * asked and given the time to answer, however late this side looks at the clock, unless
 * there was no memory to ask for as long again. Before the channel is open only the
 * handshake's time counts; who has shaken hands as the side that connected has as much
 * time again to call or to answer.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class KeepAlive {

	private static final long NANOS_PER_MILLI = 1_000_000;

	private final ChannelOptions options;

	/** Which part of its time a newcomer may be silent before it is asked. */
	private static final int NEWCOMER_FRACTION = 5;

	private long handshakeDeadline;

	private long askNanos;

	private long deadNanos;

	private long lastSignNanos;

	private long lastFedNanos;

	private long lastLookNanos;

	private long dueNanos;

	private boolean due;

	private long askedNanos;

	private boolean asked;

	KeepAlive(ChannelOptions options, long nowNanos) {
		this.options = options;
		this.handshakeDeadline = nowNanos + options.handshakeTimeoutNanos();
		this.askNanos = options.keepAliveNanos();
		this.deadNanos = options.deadPeerNanos();
		this.lastSignNanos = nowNanos;
		this.lastFedNanos = nowNanos;
		this.lastLookNanos = nowNanos;
	}

	/** The connection is being set up from now on: the time for the handshake begins. */
	void connecting(long nowNanos) {
		this.handshakeDeadline = nowNanos + this.options.handshakeTimeoutNanos();
	}

	/**
	 * The peer has shaken hands, and has yet to say something else.
	 * @param hurry whether to ask it at once
	 */
	void newcomer(boolean hurry) {
		this.deadNanos = Math.min(this.options.deadPeerNanos(), this.options.handshakeTimeoutNanos());
		this.askNanos = hurry ? -1 : Math.min(this.options.keepAliveNanos(), this.deadNanos / NEWCOMER_FRACTION);
	}

	/** The peer has said something else than its part of the handshake. */
	void introduced() {
		this.askNanos = this.options.keepAliveNanos();
		this.deadNanos = this.options.deadPeerNanos();
	}

	/** A frame has arrived. */
	void sign(long nowNanos) {
		this.lastSignNanos = nowNanos;
		this.due = false;
		this.asked = false;
	}

	/** The peer has granted credits. */
	void granted(long nowNanos) {
		this.lastFedNanos = nowNanos;
	}

	/**
	 * Why the channel should be given up, or {@code null}.
	 * @param starved whether something waits for the peer's credits
	 */
	@Nullable String problem(ChannelState state, boolean starved, long nowNanos) {
		if (state == ChannelState.CONNECTING || state == ChannelState.HANDSHAKING) {
			return (nowNanos - this.handshakeDeadline > 0)
					? "no handshake within " + this.options.handshakeTimeoutNanos() / NANOS_PER_MILLI + " ms" : null;
		}
		long silence = nowNanos - this.lastSignNanos;
		if (silence > this.deadNanos && hasHadTime(nowNanos)) {
			return "peer silent for " + silence / NANOS_PER_MILLI + " ms";
		}
		boolean paused = nowNanos - this.lastLookNanos > this.options.keepAliveNanos();
		this.lastLookNanos = nowNanos;
		if (!starved || paused) {
			this.lastFedNanos = nowNanos;
		}
		long hunger = nowNanos - this.lastFedNanos;
		return (hunger > this.options.deadPeerNanos()) ? "peer granted nothing for " + hunger / NANOS_PER_MILLI + " ms"
				: null;
	}

	/** Whether the peer could have answered, or could not be asked for too long. */
	private boolean hasHadTime(long nowNanos) {
		long patience = this.deadNanos - this.askNanos;
		return this.asked ? nowNanos - this.askedNanos >= patience
				: this.due && nowNanos - this.dueNanos >= patience + this.deadNanos;
	}

	/** Whether the peer is to be asked now. */
	boolean shouldAsk(long nowNanos) {
		if (this.asked || nowNanos - this.lastSignNanos <= this.askNanos) {
			return false;
		}
		if (!this.due) {
			this.due = true;
			this.dueNanos = nowNanos;
		}
		return true;
	}

	/** The peer has been asked. */
	void asked(long nowNanos) {
		this.asked = true;
		this.askedNanos = nowNanos;
	}

}
