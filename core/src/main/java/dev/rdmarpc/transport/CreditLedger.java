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
 * The credits of a channel in both directions. One credit is one receive posted for the
 * other side. How many a side has posted for the other is its <em>window</em>: those that
 * the peer holds or has just used, and those it is owed.
 *
 * <p>
 * Implementation notes: data frames leave two credits alone and other control frames one,
 * so that a frame that carries nothing but credits can always be sent; it goes before
 * whatever else waits. Such a frame is sent when the peer has at most a quarter of the
 * window left and is owed at least half of it, so a side sends at most one of them for
 * every {@code window / 2} frames received; those frames all carry what the peer owes in
 * turn, which is why two in reserve are enough and credit frames never answer one
 * another.
 *
 * <p>
 * Why nobody waits for ever: a side that holds data back has at most two credits, which
 * is no more than a quarter of any window, so once the receives it has used are posted
 * again it is owed three quarters and the other side sends a credit frame, if it has a
 * credit for it. It has: its last credit goes into nothing but such frames, and each of
 * them has granted half of a window, so the credit frames of both sides cannot both have
 * been the last word. That windows grow only adds credits. Credits are given back only
 * down to the window of the start, which is more than any reserve.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class CreditLedger {

	private static final int DATA_RESERVE = 2;

	private static final int CONTROL_RESERVE = 1;

	private static final int MAX_GRANT = 0xFFFF;

	private final int minWindow;

	private final int maxWindow;

	private int window;

	private int framesToGrowth;

	private int peerMinWindow;

	private int peerMaxWindow;

	private int peerAvailable;

	private int available;

	private int lowest;

	private int owed = -1;

	private boolean heldBack;

	/**
	 * Creates a ledger.
	 * @param minWindow receives posted for the peer at first
	 * @param maxWindow receives posted for the peer at most
	 */
	CreditLedger(int minWindow, int maxWindow) {
		this.minWindow = minWindow;
		this.maxWindow = maxWindow;
		this.window = minWindow;
		this.peerAvailable = minWindow;
	}

	/** The peer has told its window in the handshake. */
	void open(int credits, int mostCredits) {
		this.peerMinWindow = credits;
		this.peerMaxWindow = mostCredits;
		this.available = credits;
		this.lowest = credits;
	}

	/**
	 * The peer has granted credits.
	 * @return whether the sum is possible
	 */
	boolean receive(int credits) {
		this.available += credits;
		return this.available <= this.peerMaxWindow;
	}

	/**
	 * The peer has sent a frame, and used a credit.
	 * @return whether it had one
	 */
	boolean used() {
		if (this.framesToGrowth > 0) {
			this.framesToGrowth--;
		}
		return --this.peerAvailable >= 0;
	}

	/**
	 * A frame has arrived.
	 * @param granted the credits it brings
	 * @return what is wrong with it, or {@code null}
	 */
	@Nullable String problem(int granted) {
		if (!used()) {
			return "a frame without a credit for it";
		}
		return (granted == 0 || receive(granted)) ? null : "more credits than the window";
	}

	/**
	 * How many receives more the peer should have, 0 for none.
	 * @param peerHeldBack whether it says that it had to wait for credits
	 */
	int growth(boolean peerHeldBack) {
		if (this.framesToGrowth > 0 || !(peerHeldBack || this.peerAvailable <= this.window / 4)) {
			return 0;
		}
		return Math.min(this.window, this.maxWindow - this.window);
	}

	/** So many receives more have been posted, 0 if that was not possible. */
	void grow(int receives) {
		this.framesToGrowth = this.window;
		this.window += receives;
		this.owed += receives;
	}

	/**
	 * The peer has given back the credit that its frame has used: the receive is not
	 * posted again, so when it is returned nothing will be owed for it.
	 * @return whether it had been given more than at first
	 */
	boolean returned() {
		if (this.window == this.minWindow) {
			return false;
		}
		this.window--;
		this.owed--;
		return true;
	}

	/** Receives promised to the peer, whether it knows or not. */
	int window() {
		return this.window;
	}

	boolean maySendData() {
		return this.available > DATA_RESERVE;
	}

	boolean maySendControl() {
		return this.available > CONTROL_RESERVE;
	}

	boolean maySendCredits() {
		return this.available > 0;
	}

	/** A frame is being sent: uses one credit and returns how many to grant with it. */
	int spend() {
		this.available--;
		this.lowest = Math.min(this.lowest, this.available);
		int granted = Math.max(0, Math.min(this.owed, MAX_GRANT));
		this.owed -= granted;
		this.peerAvailable += granted;
		return granted;
	}

	/** The frame could not be posted after all. */
	void refund(int granted) {
		this.available++;
		this.owed += granted;
		this.peerAvailable -= granted;
	}

	/** Data waits for credits. */
	void heldBack() {
		this.heldBack = true;
	}

	/**
	 * Whether to tell the peer, with the frame being sent, that data waits for credits.
	 * @param moreWaits whether data waits behind that frame
	 */
	boolean isHeldBack(boolean moreWaits) {
		return this.heldBack || (moreWaits && !maySendData());
	}

	/** The frame has been sent: the peer knows. */
	void sent() {
		this.heldBack = false;
	}

	/**
	 * Credits that were not used since the period began, beyond those of the start, which
	 * may be given back.
	 */
	int unused() {
		return Math.max(0, this.lowest - this.peerMinWindow);
	}

	/** Begins the next period and returns what was unused in the last. */
	int endPeriod() {
		int unused = unused();
		this.lowest = this.available;
		return unused;
	}

	/**
	 * A receive that the peer had used is posted again. The first is that of the
	 * handshake, for which no credit was used.
	 */
	void owe() {
		this.owed++;
	}

	/** Whether the peer has so little left that it should not wait for a frame. */
	boolean shouldSendCredits() {
		return this.owed >= this.window / 2 && this.peerAvailable <= this.window / 4;
	}

	int available() {
		return this.available;
	}

}
