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

import java.util.Random;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("slow")
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
		CreditLedger closed = new CreditLedger(8, 8);
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
	void windowCanStillGrowAfterMoreFramesThanAnIntegerCounts() {
		CreditLedger elastic = new CreditLedger(8, 64);
		elastic.open(8, 64);
		for (long frames = 0; frames <= 1L << 31; frames++) {
			elastic.used();
		}
		assertThat(elastic.growth(true)).isEqualTo(8);
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
	void peerWithAQuarterOfItsWindowLeftIsWorthAFrame() {
		this.ledger.owe();
		for (int i = 0; i < 5; i++) {
			this.ledger.used();
			this.ledger.owe();
			assertThat(this.ledger.shouldSendCredits()).as("%d used", i + 1).isFalse();
		}
		this.ledger.used();
		assertThat(this.ledger.shouldSendCredits()).isTrue();
		this.ledger.spend();
		assertThat(this.ledger.shouldSendCredits()).isFalse();
	}

	@Test
	void creditsAreNotWorthAFrameUntilHalfOfTheWindowIsPostedAgain() {
		this.ledger.owe();
		for (int i = 0; i < 7; i++) {
			this.ledger.used();
		}
		for (int i = 0; i < 3; i++) {
			this.ledger.owe();
			assertThat(this.ledger.shouldSendCredits()).as("%d owed", i + 1).isFalse();
		}
		this.ledger.owe();
		assertThat(this.ledger.shouldSendCredits()).isTrue();
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

	@Test
	void windowDoublesUpToItsMaximum() {
		CreditLedger elastic = new CreditLedger(8, 20);
		assertThat(elastic.growth(false)).isZero();
		assertThat(elastic.growth(true)).isEqualTo(8);
		elastic.grow(8);
		assertThat(elastic.growth(true)).as("not before 8 frames").isZero();
		for (int i = 0; i < 8; i++) {
			elastic.used();
		}
		assertThat(elastic.growth(true)).isEqualTo(4);
		elastic.grow(4);
		assertThat(elastic.window()).isEqualTo(20);
		elastic.owe();
		assertThat(elastic.spend()).isEqualTo(12);
		assertThat(elastic.growth(true)).isZero();
	}

	@Test
	void growthThatWasNotPossibleIsTriedAgainAfterAWindow() {
		CreditLedger elastic = new CreditLedger(8, 64);
		elastic.grow(0);
		assertThat(elastic.growth(true)).isZero();
		for (int i = 0; i < 8; i++) {
			elastic.used();
		}
		assertThat(elastic.growth(true)).isEqualTo(8);
		assertThat(elastic.window()).isEqualTo(8);
	}

	@Test
	void nothingIsOwedForAReturnedCredit() {
		CreditLedger elastic = new CreditLedger(8, 64);
		elastic.owe();
		elastic.grow(1);
		assertThat(elastic.spend()).isEqualTo(1);
		assertThat(elastic.used()).isTrue();
		assertThat(elastic.returned()).isTrue();
		assertThat(elastic.window()).isEqualTo(8);
		assertThat(elastic.spend()).as("before the receive is back").isZero();
		elastic.owe();
		assertThat(elastic.spend()).isZero();
		assertThat(elastic.returned()).as("below the window of the start").isFalse();
		assertThat(elastic.window()).isEqualTo(8);
	}

	@Test
	void unusedIsWhatWasNeverNeededInAPeriod() {
		CreditLedger holder = new CreditLedger(8, 8);
		holder.open(8, 64);
		holder.receive(30);
		assertThat(holder.endPeriod()).as("it began with 8").isZero();
		for (int i = 0; i < 10; i++) {
			holder.spend();
		}
		holder.receive(10);
		assertThat(holder.unused()).isEqualTo(20);
		assertThat(holder.endPeriod()).isEqualTo(20);
		assertThat(holder.unused()).isEqualTo(30);
	}

	/**
	 * Two sides with windows of their own, sending at random over a wire that holds
	 * frames back, growing unless memory is short, and giving back. At each step every
	 * receive that one side has promised is with exactly one of: the other side, the
	 * wire, those being looked at, those owed; nobody ever sends without a credit, grants
	 * or returns too much; and frames of both keep arriving.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 })
	void twoSidesNeverOvercommitNorGetStuck(long seed) {
		Random random = new Random(seed);
		int[] least = { 8 + random.nextInt(20), 8 + random.nextInt(20) };
		int[] most = { least[0] + random.nextInt(100), least[1] + random.nextInt(100) };
		CreditSide first = new CreditSide(least[0], most[0], least[1], most[1]);
		CreditSide second = new CreditSide(least[1], most[1], least[0], most[0]);
		int idle = 0;
		for (int step = 0; step < 40_000; step++) {
			String where = "seed " + seed + ", step " + step;
			CreditSide sender = random.nextBoolean() ? first : second;
			CreditSide receiver = (sender == first) ? second : first;
			int before = first.delivered + second.delivered;
			boolean quiet = step / 2000 % 3 == 2;
			switch (random.nextInt(quiet ? 6 : 4)) {
				case 0 -> sender.send(receiver, random.nextBoolean());
				case 1, 4 -> receiver.takeOne(where, random.nextInt(4) > 0);
				case 2, 5 -> receiver.giveBackOne();
				default -> sender.giveBackUnused(receiver, random, quiet);
			}
			if (receiver.ledger.shouldSendCredits() && receiver.ledger.maySendCredits()) {
				receiver.transmit(sender, false, false);
			}
			first.check(second, where);
			second.check(first, where);
			idle = (first.delivered + second.delivered > before) ? 0 : idle + 1;
			assertThat(idle).as("%s: steps without a frame", where).isLessThan(1000);
		}
		for (CreditSide side : new CreditSide[] { first, second }) {
			assertThat(side.delivered).as("seed %d", seed).isGreaterThan(1000);
			assertThat(side.grown).as("seed %d: credits lent", seed).isPositive();
			assertThat(side.returned).as("seed %d: credits given back", seed).isPositive();
		}
	}

	private static CreditLedger opened(int window, int peerWindow) {
		CreditLedger ledger = new CreditLedger(window, window);
		ledger.open(peerWindow, peerWindow);
		return ledger;
	}

}
