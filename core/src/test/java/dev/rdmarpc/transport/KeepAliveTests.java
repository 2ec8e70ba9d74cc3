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

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Time is a number here: nothing waits. */
class KeepAliveTests {

	private static final ChannelOptions OPTIONS = ChannelOptions.DEFAULTS.withTimeouts(Duration.ofMillis(50),
			Duration.ofMillis(100), Duration.ofMillis(300));

	@ParameterizedTest
	@EnumSource(names = { "CONNECTING", "HANDSHAKING" })
	void handshakeHasItsOwnTime(ChannelState state) {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		assertThat(keepAlive.problem(state, false, millis(50))).isNull();
		assertThat(keepAlive.problem(state, false, millis(50) + 1)).isEqualTo("no handshake within 50 ms");
	}

	@Test
	void timeForTheHandshakeBeginsWithConnecting() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		keepAlive.connecting(millis(1000));
		assertThat(keepAlive.problem(ChannelState.CONNECTING, false, millis(1050))).isNull();
		assertThat(keepAlive.problem(ChannelState.CONNECTING, false, millis(1050) + 1)).contains("no handshake");
	}

	@Test
	void handshakeIsNotProlongedBySignsOfLife() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		keepAlive.sign(millis(49));
		assertThat(keepAlive.problem(ChannelState.HANDSHAKING, false, millis(51))).contains("no handshake");
	}

	@ParameterizedTest
	@EnumSource(names = { "OPEN", "DRAINING" })
	void silenceEndsAnOpenChannel(ChannelState state) {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		keepAlive.sign(millis(10));
		assertThat(asks(keepAlive, millis(111))).isTrue();
		assertThat(keepAlive.problem(state, false, millis(310))).isNull();
		assertThat(keepAlive.problem(state, false, millis(311))).isEqualTo("peer silent for 301 ms");
	}

	@Test
	void nobodyIsDeadWhoWasNotAsked() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(5000))).as("this side slept").isNull();
		assertThat(asks(keepAlive, millis(5000))).isTrue();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(5199))).isNull();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(5200))).isEqualTo("peer silent for 5200 ms");
	}

	@Test
	void sleepOfThisSideIsNoHungerOfThePeer() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		keepAlive.sign(millis(5000));
		assertThat(keepAlive.problem(ChannelState.OPEN, true, millis(5000))).isNull();
		keepAlive.sign(millis(5090));
		assertThat(keepAlive.problem(ChannelState.OPEN, true, millis(5090))).isNull();
	}

	@Test
	void asksOncePerSilence() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		assertThat(asks(keepAlive, millis(100))).isFalse();
		assertThat(asks(keepAlive, millis(101))).isTrue();
		assertThat(asks(keepAlive, millis(102))).isFalse();
		keepAlive.sign(millis(110));
		assertThat(asks(keepAlive, millis(120))).isFalse();
		assertThat(asks(keepAlive, millis(211))).isTrue();
	}

	@Test
	void peerThatGrantsNothingForLongIsGivenUpThoughItSpeaks() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		for (int now = 0; now < 1000; now++) {
			keepAlive.sign(millis(now));
			assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(now))).isNull();
		}
		for (int now = 1000; now < 1300; now++) {
			keepAlive.sign(millis(now));
			assertThat(keepAlive.problem(ChannelState.OPEN, true, millis(now))).as("at %d", now).isNull();
		}
		assertThat(keepAlive.problem(ChannelState.OPEN, true, millis(1300)))
			.isEqualTo("peer granted nothing for 301 ms");
	}

	@Test
	void anyCreditIsProgress() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		for (int now = 0; now < 1000; now += 250) {
			keepAlive.sign(millis(now));
			keepAlive.granted(millis(now));
			assertThat(keepAlive.problem(ChannelState.OPEN, true, millis(now + 249))).isNull();
		}
	}

	@Test
	void newcomerHasTheTimeOfAnotherHandshakeToAnswer() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		keepAlive.sign(millis(40));
		keepAlive.newcomer(false);
		assertThat(asks(keepAlive, millis(50))).isFalse();
		assertThat(asks(keepAlive, millis(51))).isTrue();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(90))).isNull();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(91))).isEqualTo("peer silent for 51 ms");
	}

	@Test
	void newcomerIsAskedAtOnceWhereItIsCrowded() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		keepAlive.newcomer(true);
		assertThat(asks(keepAlive, 0)).isTrue();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(50))).isNull();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(51))).isNotNull();
	}

	@Test
	void newcomerThatWasAskedLateMayAnswerLate() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		keepAlive.newcomer(false);
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(60))).as("not asked").isNull();
		assertThat(asks(keepAlive, millis(60))).isTrue();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(99))).isNull();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(100))).isNotNull();
	}

	@Test
	void whoeverHasAnsweredIsNoNewcomer() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		keepAlive.newcomer(false);
		assertThat(asks(keepAlive, millis(11))).isTrue();
		keepAlive.sign(millis(12));
		keepAlive.introduced();
		assertThat(asks(keepAlive, millis(112))).isFalse();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(112))).isNull();
		assertThat(asks(keepAlive, millis(113))).isTrue();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(312))).isNull();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(313))).isNotNull();
	}

	@ParameterizedTest
	@ValueSource(longs = { Long.MAX_VALUE - 1, Long.MIN_VALUE, -1 })
	void clockMayOverflow(long start) {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, start);
		assertThat(keepAlive.problem(ChannelState.HANDSHAKING, false, start + millis(50))).isNull();
		assertThat(keepAlive.problem(ChannelState.HANDSHAKING, false, start + millis(51))).isNotNull();
		assertThat(asks(keepAlive, start + millis(99))).isFalse();
		assertThat(asks(keepAlive, start + millis(101))).isTrue();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, start + millis(300))).isNull();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, start + millis(301))).isNotNull();
	}

	@Test
	void whoeverCannotBeAskedIsAskedAgainAndHasAsMuchTimeMore() {
		KeepAlive keepAlive = new KeepAlive(OPTIONS, 0);
		for (long now : new long[] { 101, 200, 300, 600 }) {
			assertThat(keepAlive.shouldAsk(millis(now))).as("no memory for it").isTrue();
			assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(now))).isNull();
		}
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(601))).isEqualTo("peer silent for 601 ms");
		assertThat(asks(keepAlive, millis(601))).isTrue();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(800))).isNull();
		keepAlive.sign(millis(800));
		assertThat(keepAlive.shouldAsk(millis(901))).isTrue();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(1400))).isNull();
		assertThat(keepAlive.problem(ChannelState.OPEN, false, millis(1401))).isNotNull();
	}

	/** Asks if it is time to. */
	private static boolean asks(KeepAlive keepAlive, long now) {
		boolean should = keepAlive.shouldAsk(now);
		if (should) {
			keepAlive.asked(now);
		}
		return should;
	}

	private static long millis(long count) {
		return Duration.ofMillis(count).toNanos();
	}

}
