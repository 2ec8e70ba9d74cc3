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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class CreditLedgerTests {

	private final CreditLedger ledger = opened(8, 8);

	@Test
	void dataLeavesTwoCreditsAndControlOne() {
		for (int i = 0; i < 6; i++) {
			assertThat(this.ledger.maySendData()).isTrue();
			this.ledger.spend();
		}
		assertThat(this.ledger.maySendData()).isFalse();
		assertThat(this.ledger.maySendControl()).isTrue();
		this.ledger.spend();
		assertThat(this.ledger.maySendControl()).isFalse();
		assertThat(this.ledger.maySendCredits()).isTrue();
		this.ledger.spend();
		assertThat(this.ledger.maySendCredits()).isFalse();
		assertThat(this.ledger.available()).isZero();
	}

	@Test
	void nothingMayBeSentBeforeTheHandshake() {
		CreditLedger closed = new CreditLedger(8);
		assertThat(closed.maySendData() || closed.maySendControl() || closed.maySendCredits()).isFalse();
	}

	@Test
	void grantBeyondTheWindowIsImpossible() {
		assertThat(this.ledger.receive(1)).isFalse();
		CreditLedger other = opened(8, 8);
		other.spend();
		other.spend();
		assertThat(other.receive(2)).isTrue();
		assertThat(other.receive(0xFFFF)).isFalse();
	}

	@Test
	void peerMayUseItsWindowAndNoMore() {
		for (int i = 0; i < 8; i++) {
			assertThat(this.ledger.used()).isTrue();
		}
		assertThat(this.ledger.used()).isFalse();
	}

	@Test
	void receiveOfTheHandshakeIsNotGranted() {
		this.ledger.owe();
		assertThat(this.ledger.spend()).isZero();
		this.ledger.used();
		this.ledger.owe();
		assertThat(this.ledger.spend()).isEqualTo(1);
		assertThat(this.ledger.spend()).isZero();
	}

	@Test
	void refundUndoesASend() {
		this.ledger.owe();
		this.ledger.used();
		this.ledger.owe();
		int granted = this.ledger.spend();
		this.ledger.refund(granted);
		assertThat(this.ledger.available()).isEqualTo(8);
		assertThat(this.ledger.spend()).isEqualTo(1);
	}

	@Test
	void halfOfTheWindowOwedIsWorthAFrame() {
		this.ledger.owe();
		for (int i = 0; i < 3; i++) {
			this.ledger.owe();
			assertThat(this.ledger.shouldSendCredits()).as("%d owed", i + 1).isFalse();
		}
		this.ledger.owe();
		assertThat(this.ledger.shouldSendCredits()).isTrue();
		this.ledger.spend();
		assertThat(this.ledger.shouldSendCredits()).isFalse();
	}

	@Test
	void debtOfMoreThanAFrameCanSayIsGrantedInParts() {
		CreditLedger large = opened(1 << 14, 1 << 14);
		for (int i = 0; i <= 0xFFFF + 5; i++) {
			large.owe();
		}
		assertThat(large.spend()).isEqualTo(0xFFFF);
		assertThat(large.spend()).isEqualTo(5);
	}

	/**
	 * Two sides with their own windows, sending at random over a wire that holds frames
	 * back: nobody ever sends without a credit or grants too much, and when both want to
	 * send forever, frames of both keep arriving.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5, 6, 7, 8 })
	void twoSidesNeverOvercommitNorGetStuck(long seed) {
		Random random = new Random(seed);
		int[] windows = { 8 + random.nextInt(20), 8 + random.nextInt(20) };
		Side first = new Side(windows[0], windows[1]);
		Side second = new Side(windows[1], windows[0]);
		int idle = 0;
		for (int step = 0; step < 20_000; step++) {
			Side sender = random.nextBoolean() ? first : second;
			Side receiver = (sender == first) ? second : first;
			int before = first.delivered + second.delivered;
			switch (random.nextInt(3)) {
				case 0 -> sender.send(receiver, random.nextBoolean());
				case 1 -> receiver.takeOne(seed, step);
				default -> receiver.giveBackOne();
			}
			if (receiver.ledger.shouldSendCredits() && receiver.ledger.maySendCredits()) {
				receiver.transmit(sender);
			}
			idle = (first.delivered + second.delivered > before) ? 0 : idle + 1;
			assertThat(idle).as("seed %d: steps without a frame at step %d", seed, step).isLessThan(500);
		}
		assertThat(first.delivered).as("seed %d", seed).isGreaterThan(1000);
		assertThat(second.delivered).as("seed %d", seed).isGreaterThan(1000);
	}

	private static CreditLedger opened(int window, int peerWindow) {
		CreditLedger ledger = new CreditLedger(window);
		ledger.open(peerWindow);
		return ledger;
	}

	private static final class Side {

		private final CreditLedger ledger;

		private final ArrayDeque<Integer> wire = new ArrayDeque<>();

		private int busyReceives;

		private int delivered;

		Side(int window, int peerWindow) {
			this.ledger = opened(window, peerWindow);
			this.ledger.owe();
		}

		void send(Side to, boolean data) {
			if (data ? this.ledger.maySendData() : this.ledger.maySendControl()) {
				transmit(to);
			}
		}

		void transmit(Side to) {
			to.wire.add(this.ledger.spend());
		}

		void takeOne(long seed, int step) {
			Integer granted = this.wire.poll();
			if (granted != null) {
				assertThat(this.ledger.used()).as("seed %d: credit for the frame at step %d", seed, step).isTrue();
				assertThat(this.ledger.receive(granted)).as("seed %d: window kept at step %d", seed, step).isTrue();
				this.busyReceives++;
				this.delivered++;
			}
		}

		void giveBackOne() {
			if (this.busyReceives > 0) {
				this.busyReceives--;
				this.ledger.owe();
			}
		}

	}

}
