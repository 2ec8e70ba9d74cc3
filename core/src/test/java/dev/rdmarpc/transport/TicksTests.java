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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TicksTests {

	private static final long MILLI = 1_000_000;

	private final Ticks ticks = new Ticks(0);

	private final List<Channel> channels = new ArrayList<>();

	private long now;

	private void add(int count) {
		for (int i = 0; i < count; i++) {
			Channel channel = new Channel();
			this.channels.add(channel);
			this.ticks.add(channel);
		}
	}

	private boolean tick(long nanos) {
		this.now += nanos;
		this.channels.forEach((channel) -> channel.looks = 0);
		return this.ticks.tick(this.now, this.now + 50 * MILLI);
	}

	private long looks() {
		return this.channels.stream().mapToLong((channel) -> channel.looks).sum();
	}

	@Test
	void fewAreAllLookedAtWithinFiftyMillis() {
		add(300);
		tick(0);
		tick(50 * MILLI);
		assertThat(this.channels).allMatch((channel) -> channel.looks >= 1);
		for (int i = 0; i < 25; i++) {
			this.now += 2 * MILLI;
			this.ticks.tick(this.now, this.now);
		}
		assertThat(this.channels).allMatch((channel) -> channel.looks >= 2);
	}

	@Test
	void manyAreLookedAtSomeAtATimeAndAllInTheEnd() {
		add(10_000);
		tick(0);
		tick(50 * MILLI);
		assertThat(looks()).isBetween(400L, 600L);
		tick(2 * MILLI);
		assertThat(looks()).isBetween(10L, 30L);
		this.channels.forEach((channel) -> channel.looks = 0);
		for (int i = 0; i < 21; i++) {
			this.now += 50 * MILLI;
			this.ticks.tick(this.now, this.now);
		}
		assertThat(this.channels).allMatch((channel) -> channel.looks >= 1);
	}

	@Test
	void thoseThatWaitForSomethingAreLookedAtEachTimeUntilTheyRest() {
		add(10_000);
		tick(0);
		Channel waiting = this.channels.get(4711);
		waiting.rests = false;
		this.ticks.activate(waiting);
		this.ticks.activate(waiting);
		for (int i = 0; i < 5; i++) {
			assertThat(tick(1)).isFalse();
			assertThat(waiting.looks).isBetween(1, 2);
		}
		waiting.hurries = true;
		waiting.expects = true;
		assertThat(tick(1)).isTrue();
		assertThat(this.ticks.expectsBytes()).isTrue();
		waiting.rests = true;
		tick(1);
		assertThat(this.ticks.expectsBytes()).isFalse();
		assertThat(tick(1)).isFalse();
	}

	@Test
	void aNewOneIsLookedAtUntilItRests() {
		add(10_000);
		assertThat(tick(0)).isFalse();
		assertThat(this.channels).allMatch((channel) -> channel.looks >= 1);
		tick(0);
		assertThat(looks()).isEqualTo(1);
	}

	@Test
	void closedOnesAreForgotten() {
		add(100);
		tick(0);
		this.channels.forEach((channel) -> channel.over = true);
		tick(50 * MILLI);
		tick(50 * MILLI);
		tick(50 * MILLI);
		assertThat(looks()).isZero();
		add(1);
		tick(50 * MILLI);
		assertThat(this.channels.get(100).looks).isPositive();
	}

	@Test
	void aTickEndsFewAndLooksAtAll() {
		add(100);
		tick(0);
		this.channels.subList(0, 50).forEach((channel) -> {
			channel.ends = true;
			channel.rests = false;
			this.ticks.activate(channel);
		});
		for (int ended = 2; ended <= 50; ended += 2) {
			assertThat(tick(50 * MILLI)).as("another tick soon").isTrue();
			assertThat(this.channels.stream().filter((channel) -> channel.over)).hasSize(ended);
			assertThat(this.channels.subList(0, 50)).allMatch((channel) -> channel.looks >= 1 || channel.over);
		}
		assertThat(tick(50 * MILLI)).isFalse();
	}

	/** Counts how often it is looked at. */
	private static final class Channel extends Ticks.Ticked {

		private int looks;

		private boolean over;

		private boolean ends;

		private boolean rests = true;

		private boolean hurries;

		private boolean expects;

		@Override
		void tick(long nowNanos, boolean mayEnd) {
			this.looks++;
			this.over |= this.ends && mayEnd;
		}

		@Override
		boolean isOver() {
			return this.over;
		}

		@Override
		boolean isAtRest() {
			return this.over || this.rests;
		}

		@Override
		boolean needsTicks(long untilNanos) {
			return this.hurries;
		}

		@Override
		boolean expectsBytes() {
			return this.expects;
		}

	}

}
