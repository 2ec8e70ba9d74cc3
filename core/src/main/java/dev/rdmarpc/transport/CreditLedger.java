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
 * The credits of a channel in both directions. One credit is one receive posted for the
 * other side.
 *
 * <p>
 * Implementation notes: data frames leave two credits alone and other control frames one,
 * so that a frame that carries nothing but credits can always be sent; it goes before
 * whatever else waits. Such a frame is sent when half of the window is owed, so a side
 * sends at most one of them for every {@code window / 2} frames received; those frames
 * all carry what the peer owes in turn, which is why two in reserve are enough and credit
 * frames never answer one another.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class CreditLedger {

	private static final int DATA_RESERVE = 2;

	private static final int CONTROL_RESERVE = 1;

	private static final int MAX_GRANT = 0xFFFF;

	private final int window;

	private int peerWindow;

	private int peerAvailable;

	private int available;

	private int owed = -1;

	/**
	 * Creates a ledger.
	 * @param window receives kept posted for the peer
	 */
	CreditLedger(int window) {
		this.window = window;
		this.peerAvailable = window;
	}

	/** The peer has told its window in the handshake. */
	void open(int credits) {
		this.peerWindow = credits;
		this.available = credits;
	}

	/**
	 * The peer has granted credits.
	 * @return whether the sum is possible
	 */
	boolean receive(int credits) {
		this.available += credits;
		return this.available <= this.peerWindow;
	}

	/**
	 * The peer has sent a frame, and used a credit.
	 * @return whether it had one
	 */
	boolean used() {
		return --this.peerAvailable >= 0;
	}

	/**
	 * A frame has arrived.
	 * @param granted the credits it brings
	 * @return what is wrong with it, or an empty string
	 */
	String problem(int granted) {
		if (!used()) {
			return "a frame without a credit for it";
		}
		return (granted == 0 || receive(granted)) ? "" : "more credits than the window";
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

	/**
	 * A receive that the peer had used is posted again. The first is that of the
	 * handshake, for which no credit was used.
	 */
	void owe() {
		this.owed++;
	}

	/** Whether so much is owed that it should not wait for a frame to ride on. */
	boolean shouldSendCredits() {
		return this.owed >= this.window / 2;
	}

	int available() {
		return this.available;
	}

}
