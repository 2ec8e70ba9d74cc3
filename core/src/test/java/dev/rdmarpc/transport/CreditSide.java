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

import java.util.ArrayDeque;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** One side of a connection that consists of credits only; the model of a test. */
final class CreditSide {

	final CreditLedger ledger;

	/** Frames delivered here. */
	int delivered;

	/** Receives lent to the other side so far. */
	int grown;

	/** Receives it has given back. */
	int returned;

	private final int least;

	private final int most;

	private final ArrayDeque<Frame> wire = new ArrayDeque<>();

	private int busyReceives;

	private int owed;

	private int window;

	CreditSide(int least, int most, int peerLeast, int peerMost) {
		this.least = least;
		this.most = most;
		this.window = least;
		this.ledger = new CreditLedger(least, most);
		this.ledger.open(peerLeast, peerMost);
		this.ledger.owe();
	}

	/** Sends a frame if the rules allow it. */
	void send(CreditSide to, boolean data) {
		if (data ? this.ledger.maySendData() : this.ledger.maySendControl()) {
			transmit(to, false, this.ledger.isHeldBack(true));
		}
		else {
			this.ledger.heldBack();
		}
	}

	/** Gives a credit back if there are more than at first. */
	void giveBackUnused(CreditSide to, Random random, boolean quiet) {
		if (random.nextInt(50) == 0) {
			this.ledger.endPeriod();
		}
		if (quiet && this.ledger.unused() > 0) {
			transmit(to, true, false);
		}
	}

	/** Sends a frame. */
	void transmit(CreditSide to, boolean giveBack, boolean heldBack) {
		int granted = this.ledger.spend();
		this.owed -= granted;
		to.wire.add(new Frame(granted, giveBack, heldBack));
		this.ledger.sent();
	}

	/** Takes a frame off the wire. */
	void takeOne(String where, boolean memory) {
		Frame frame = this.wire.poll();
		if (frame == null) {
			return;
		}
		assertThat(this.ledger.problem(frame.granted())).as(where).isNull();
		this.delivered++;
		if (frame.giveBack()) {
			assertThat(this.ledger.returned()).as("%s: lent before", where).isTrue();
			this.ledger.owe();
			this.window--;
			this.returned++;
			return;
		}
		this.busyReceives++;
		int more = this.ledger.growth(frame.heldBack());
		if (more > 0) {
			this.ledger.grow(memory ? more : 0);
			this.window += memory ? more : 0;
			this.owed += memory ? more : 0;
			this.grown += memory ? more : 0;
		}
	}

	/** Posts a receive again. */
	void giveBackOne() {
		if (this.busyReceives > 0) {
			this.busyReceives--;
			this.owed++;
			this.ledger.owe();
		}
	}

	/** Each receive promised by this side is in one place. */
	void check(CreditSide other, String where) {
		int granted = other.wire.stream().mapToInt(Frame::granted).sum();
		assertThat(other.ledger.available() + this.wire.size() + granted + this.busyReceives + this.owed)
			.as("%s: held, used, granted, looked at and owed", where)
			.isEqualTo(this.window)
			.isEqualTo(this.ledger.window())
			.isBetween(this.least, this.most);
	}

	private record Frame(int granted, boolean giveBack, boolean heldBack) {

	}

}
