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

import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.verbs.QueuePair;

/**
 * The credits of a channel as the load asks for them. A peer starts with few receives of
 * this side; it is promised twice as many when it uses them up, as long as there is
 * memory, and gives back what it has not used for a while, as this side does with the
 * credits it holds.
 *
 * <p>
 * Implementation notes. A peer wants more when it says that a message had to wait for
 * credits, or when it has used three quarters of its window before anything went back to
 * it: then the next grant would have to go alone. Either is looked at again only after as
 * many frames as the window held before, because until then they may have been sent
 * without knowledge of the larger one.
 *
 * <p>
 * A credit is given back by using it up: a {@link FrameType#RETURN} needs a credit as any
 * frame does, and the receive that it takes is not posted again. Not every device gives
 * receives back, so a number in one frame would leave them posted until other traffic
 * takes them, for ever when there is none. This way promise and memory fall together,
 * nobody can give back more than it has, and what {@link QueuePair#allowReceives} allows
 * falls with each frame by itself.
 *
 * <p>
 * The side that was connected to promises the receives for the credits when it has seen a
 * good {@code HELLO}: a peer that has said nothing holds the one that it is for.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class ChannelCredits implements ReceivePool.Peer {

	/** Receives for the handshake, which come on top of the credits. */
	static final int HANDSHAKE_RECEIVES = 1;

	/** How long credits must have been unused to be given back. */
	static final long IDLE_NANOS = 1_000_000_000;

	/** Credits given back at most per tick. */
	static final int MAX_RETURNS = 32;

	private final RpcChannel channel;

	private final ReceivePool receives;

	private final CreditLedger ledger;

	private int handshakeReceives = HANDSHAKE_RECEIVES;

	/** Whether the receives for the credits are promised, too. */
	private boolean lent;

	private int unused;

	private long periodEndNanos;

	private long frames;

	ChannelCredits(RpcChannel channel, ChannelOptions options, boolean initiator, long nowNanos) {
		this.lent = initiator;
		this.channel = channel;
		this.receives = channel.loop().receives();
		this.ledger = new CreditLedger(options.minCredits(), options.credits());
		this.periodEndNanos = nowNanos + IDLE_NANOS;
	}

	CreditLedger ledger() {
		return this.ledger;
	}

	/** Receives promised to the peer. */
	int promised() {
		return (this.lent ? this.ledger.window() : 0) + this.handshakeReceives;
	}

	/**
	 * Promises the receives for the credits to a peer that has said a good {@code HELLO}.
	 * While memory is short, one that has said no more than that makes room for it.
	 * @return whether there was room and memory for them
	 */
	boolean lend(QueuePair pair) {
		int window = this.ledger.window();
		if (!this.receives.tryGrow(window)) {
			this.channel.loop().evictNewcomer(this.channel);
			if (!this.receives.promise(window)) {
				return false;
			}
		}
		this.lent = true;
		pair.allowReceives(window);
		return true;
	}

	/** Another frame has arrived with one that has used a credit. */
	void anotherFrame() {
		this.frames++;
	}

	/** How many frames have arrived; any thread may ask. */
	long frames() {
		return this.frames;
	}

	/** The handshake is done: what it needed is not promised any more. */
	void open(int peerCredits, int peerMostCredits) {
		this.ledger.open(peerCredits, peerMostCredits);
		this.receives.unpromise(this.handshakeReceives);
		this.handshakeReceives = 0;
	}

	/**
	 * A frame has arrived, which has used a credit and may bring some.
	 * @return what is wrong with it, or {@code null}
	 */
	@Nullable String onFrame(ByteBuffer frame, int type) {
		this.frames++;
		String problem = this.ledger.problem(FrameFlyweight.credits(frame));
		if (problem != null) {
			return problem;
		}
		if (type == FrameType.RETURN) {
			return onReturn();
		}
		int more = this.ledger.growth((FrameFlyweight.flags(frame) & FrameFlyweight.FLAG_HELD_BACK) != 0);
		if (more > 0) {
			this.ledger.grow(this.receives.tryGrow(more) ? more : 0);
		}
		return null;
	}

	private @Nullable String onReturn() {
		if (!this.ledger.returned()) {
			return "more credits returned than lent";
		}
		this.receives.unpromise(1);
		return null;
	}

	@Override
	public boolean isGone() {
		return this.channel.state() == ChannelState.CLOSED;
	}

	@Override
	public void receiveReturned() {
		this.ledger.owe();
		if (this.ledger.shouldSendCredits()) {
			this.channel.markDirty();
		}
	}

	/** Gives back what was not used for a while, some at a time. */
	void tick(long nowNanos) {
		if (nowNanos - this.periodEndNanos >= 0) {
			this.periodEndNanos = nowNanos + IDLE_NANOS;
			this.unused = this.ledger.endPeriod();
		}
		int count = Math.min(MAX_RETURNS, Math.min(this.unused, this.ledger.unused()));
		for (int i = 0; i < count && this.channel.sender().sendControl(FrameType.RETURN, 0); i++) {
			this.unused--;
		}
	}

}
