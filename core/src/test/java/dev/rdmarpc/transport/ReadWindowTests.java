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

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** How much is asked for at a time, by what is seen of the connection. */
class ReadWindowTests {

	private static final int LOW = 0;

	private static final int NORMAL = 1;

	private static final int HIGH = 2;

	private static final long MILLI = 1_000_000;

	private static final SchedulerOptions OPTIONS = new SchedulerOptions(16 << 10, 256 << 10, 64 << 10, 4 << 20);

	private final SmallMessages small = new SmallMessages();

	private final ReadWindow window = new ReadWindow(OPTIONS, this.small);

	private long now = System.nanoTime();

	ReadWindowTests() {
		this.window.readDepth(16);
	}

	@Test
	void transferThatIsAloneHasTheLargestWindow() {
		assertThat(this.window.windowBytes(LOW, this.now)).isEqualTo(4 << 20);
		assertThat(this.window.sliceBytes(LOW, this.now)).isEqualTo(256 << 10);
	}

	@Test
	void transferMakesWayForWhatIsAsUrgentAndNotForWhatIsLess() {
		this.window.arrived(NORMAL, this.now);
		assertThat(this.window.windowBytes(LOW, this.now)).isLessThan(1 << 20);
		assertThat(this.window.windowBytes(NORMAL, this.now)).isLessThan(1 << 20);
		assertThat(this.window.windowBytes(HIGH, this.now)).isEqualTo(4 << 20);
		assertThat(this.window.windowBytes(NORMAL, this.now + ReadWindow.LATELY_NANOS)).as("lately nothing has come")
			.isEqualTo(4 << 20);
	}

	@Test
	void windowKeepsTheConnectionBusyAndNoMore() {
		this.window.arrived(HIGH, this.now);
		long busy = readAt(1_000_000_000, MILLI / 2);
		assertThat(this.window.windowBytes(LOW, this.now)).as("1 GB/s over half a millisecond")
			.isBetween(busy, 4 * busy);
		assertThat(this.window.sliceBytes(LOW, this.now)).isBetween((int) busy / 8, (int) busy);
	}

	@Test
	void windowIsShorterWhileSmallMessagesArrive() {
		this.window.arrived(HIGH, this.now);
		readAt(1_000_000_000, MILLI / 2);
		long before = this.window.windowBytes(LOW, this.now);
		this.window.smallArrived(NORMAL, this.now);
		assertThat(this.window.windowBytes(LOW, this.now)).isLessThan(before);
		assertThat(this.window.windowBytes(HIGH, this.now)).as("more urgent than these").isEqualTo(before);
	}

	@Test
	void windowIsShorterWhileSmallMessagesArriveOnOtherChannelsOfTheLoop() {
		ReadWindow other = new ReadWindow(OPTIONS, this.small);
		assertThat(this.window.windowBytes(NORMAL, this.now)).isEqualTo(4 << 20);
		other.smallArrived(NORMAL, this.now);
		assertThat(this.window.windowBytes(NORMAL, this.now)).isLessThan(4 << 20);
		assertThat(this.window.windowBytes(HIGH, this.now)).as("more urgent than these").isEqualTo(4 << 20);
		assertThat(this.window.isBesideSmall(NORMAL, this.now)).isTrue();
		this.now += ReadWindow.LATELY_NANOS;
		assertThat(this.window.windowBytes(NORMAL, this.now)).as("none lately").isEqualTo(4 << 20);
		assertThat(this.window.isBesideSmall(NORMAL, this.now)).isFalse();
	}

	@Test
	void windowStaysWithinItsBounds() {
		this.window.arrived(HIGH, this.now);
		readAt(50_000_000, 1000);
		assertThat(this.window.windowBytes(LOW, this.now)).isEqualTo(64 << 10);
		assertThat(this.window.sliceBytes(LOW, this.now)).isEqualTo(16 << 10);
		readAt(10_000_000_000L, 10 * MILLI);
		assertThat(this.window.windowBytes(LOW, this.now)).isEqualTo(4 << 20);
		assertThat(this.window.sliceBytes(LOW, this.now)).isEqualTo(256 << 10);
	}

	@Test
	void readsOfTheConnectionAreEnoughForTheWindow() {
		ReadWindow few = new ReadWindow(OPTIONS, new SmallMessages());
		few.readDepth(2);
		few.arrived(HIGH, this.now);
		assertThat(2L * few.sliceBytes(LOW, this.now)).isGreaterThanOrEqualTo(few.windowBytes(LOW, this.now));
	}

	@Test
	void readsUnderWayAreKnownStillWhenTheConnectionAllowsMore() {
		ReadWindow fresh = new ReadWindow(OPTIONS, new SmallMessages());
		fresh.posted(1000);
		fresh.completed(this.now);
		fresh.posted(256 << 10);
		fresh.readDepth(16);
		assertThat(fresh.inFlightBytes()).isEqualTo(256 << 10);
		fresh.posted(2000);
		fresh.completed(this.now);
		assertThat(fresh.inFlightBytes()).isEqualTo(2000);
		fresh.completed(this.now);
		assertThat(fresh.inFlightBytes()).isZero();
	}

	@Test
	void busyWindowRunsEmptyNowAndThen() {
		this.window.arrived(HIGH, this.now);
		this.window.posted(16 << 10);
		this.window.completed(this.now);
		this.window.posted(16 << 10);
		assertThat(this.window.hasRoom(LOW, this.now)).isTrue();
		this.now += 1000 * MILLI;
		this.window.arrived(HIGH, this.now);
		assertThat(this.window.hasRoom(LOW, this.now)).as("the delay was not measured for a second").isFalse();
		this.window.completed(this.now);
		assertThat(this.window.hasRoom(LOW, this.now)).isTrue();
		this.window.posted(16 << 10);
		this.window.completed(this.now);
		this.window.posted(16 << 10);
		assertThat(this.window.hasRoom(LOW, this.now)).as("measured just now").isTrue();
		this.window.completed(this.now);
		assertThat(this.window.inFlightBytes()).isZero();
	}

	/**
	 * Reads as a transfer does: half of the window as soon as the other half is there. A
	 * window has the time of what is posted from the clock; the time of what completes is
	 * taken after that, so that a pause in between is a longer delay, of which only the
	 * shortest ones count.
	 * @return what keeps the connection busy
	 */
	private long readAt(long bytesPerSecond, long delayNanos) {
		ReadWindow measured = this.window;
		for (int round = 0; round < 64; round++) {
			int slice = measured.sliceBytes(LOW, this.now);
			int count = 0;
			while (measured.hasRoom(LOW, this.now) && count < 16) {
				measured.posted(slice);
				count++;
			}
			this.now = System.nanoTime() + delayNanos;
			for (int i = 0; i < count; i++) {
				this.now += slice * 1_000_000_000L / bytesPerSecond;
				measured.completed(this.now);
			}
			measured.arrived(HIGH, this.now);
		}
		return bytesPerSecond / 1000 * delayNanos / MILLI;
	}

}
