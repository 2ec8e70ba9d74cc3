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

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** How much is sent in frames that urgent messages find ahead of them. */
class SendWindowTests {

	private static final int LOW = 0;

	private static final int NORMAL = 1;

	private static final int HIGH = 2;

	private static final int FRAME = 8192;

	private static final long MILLI = 1_000_000;

	private static final int LEAST = 64 << 10;

	private static final int MOST = 4 << 20;

	private static final SchedulerOptions OPTIONS = new SchedulerOptions(16 << 10, 256 << 10, LEAST / 2, MOST);

	private final SmallMessages small = new SmallMessages();

	private final SendWindow window = new SendWindow(OPTIONS, this.small);

	private long now = System.nanoTime();

	@Test
	void nothingIsHeldBackAndNobodyAskedWithoutMoreUrgentMessages() {
		this.small.posted(NORMAL, this.now);
		this.small.arrived(NORMAL, this.now);
		turn();
		for (int i = 0; i < 10_000; i++) {
			this.window.sent(NORMAL, FRAME);
			assertThat(this.window.shouldAsk(NORMAL)).isFalse();
			assertThat(this.window.holdsBack(NORMAL)).isFalse();
		}
	}

	@Test
	void whatIsLessUrgentIsHeldBackWhenAWindowIsOnItsWay() {
		for (boolean arrived : List.of(true, false)) {
			SmallMessages urgent = new SmallMessages();
			SendWindow sending = new SendWindow(OPTIONS, urgent);
			if (arrived) {
				urgent.arrived(HIGH, this.now);
			}
			else {
				urgent.posted(HIGH, this.now);
			}
			sending.turn(this.now);
			int frames = 0;
			for (; !sending.holdsBack(NORMAL) && frames < 10_000; frames++) {
				sending.sent(NORMAL, FRAME);
				if (sending.shouldAsk(NORMAL)) {
					sending.asking();
				}
			}
			assertThat(frames * FRAME).isBetween(FRAME, 1 << 19);
			assertThat(sending.holdsBack(LOW)).isTrue();
			assertThat(sending.holdsBack(HIGH)).as("as urgent as anything").isFalse();
			sending.answered(sending.nextQuestion() - 1, this.now + MILLI);
			sending.turn(this.now + MILLI);
			assertThat(sending.holdsBack(NORMAL)).isFalse();
		}
	}

	@Test
	void whatWasSentBeforeTheFirstQuestionCountsAsOnItsWay() {
		turn();
		for (int i = 0; i < 1000; i++) {
			this.window.sent(LOW, FRAME);
		}
		this.small.posted(HIGH, this.now);
		turn();
		this.window.sent(LOW, FRAME);
		assertThat(this.window.shouldAsk(LOW)).isTrue();
		this.window.asking();
		assertThat(this.window.holdsBack(LOW)).isTrue();
		this.window.answered(1, this.now + MILLI);
		assertThat(this.window.holdsBack(LOW)).isFalse();
		assertThat(this.window.windowBytes()).as("that answer says nothing of the bandwidth").isLessThan(MOST);
	}

	@Test
	void nobodyWaitsForAnAnswerThatDoesNotCome() {
		this.small.posted(HIGH, this.now);
		turn();
		while (!this.window.holdsBack(LOW)) {
			send(FRAME);
		}
		this.now += ReadWindow.LATELY_NANOS + 1;
		this.small.posted(HIGH, this.now);
		turn();
		assertThat(this.window.holdsBack(LOW)).isFalse();
		this.window.answered(1, this.now);
		turn();
		assertThat(this.window.holdsBack(LOW)).isFalse();
	}

	@Test
	void answerThatNobodyAskedForChangesNothing() {
		this.small.posted(HIGH, this.now);
		turn();
		while (!this.window.holdsBack(LOW)) {
			send(FRAME);
		}
		int next = this.window.nextQuestion();
		for (int number : new int[] { 0, -1, next, next + 1, Integer.MIN_VALUE, Integer.MAX_VALUE,
				(1 << 30) + next - 1 }) {
			this.window.answered(number, this.now);
			assertThat(this.window.holdsBack(LOW)).as("%d", number).isTrue();
		}
		this.window.answered(next - 1, this.now);
		assertThat(this.window.holdsBack(LOW)).isFalse();
		this.window.answered(next - 1, this.now);
		int frames = 0;
		for (; !this.window.holdsBack(LOW); frames++) {
			send(FRAME);
		}
		assertThat(frames * FRAME).isLessThanOrEqualTo(1 << 19);
	}

	@Test
	void answerIsForTheQuestionsBeforeToo() {
		sendAt(1_000_000_000, MILLI / 2);
		this.small.posted(HIGH, this.now);
		turn();
		this.window.answered(this.window.nextQuestion() - 1, this.now);
		int first = this.window.nextQuestion();
		while (!this.window.holdsBack(LOW)) {
			send(FRAME);
		}
		assertThat(this.window.nextQuestion() - first).as("two for each window").isBetween(1, 2);
		this.window.answered(this.window.nextQuestion() - 1, this.now);
		assertThat(this.window.holdsBack(LOW)).isFalse();
	}

	@Test
	void windowKeepsTheConnectionBusyAndNoMore() {
		long busy = sendAt(1_000_000_000, MILLI / 2);
		assertThat(this.window.windowBytes()).as("1 GB/s over half a millisecond").isBetween(busy, 3 * busy);
	}

	@Test
	void windowIsKnownAlsoIfUrgentMessagesComeWithoutAGap() {
		long busy = sendAt(1_000_000_000, MILLI / 2, 64);
		assertThat(this.window.windowBytes()).as("1 GB/s over half a millisecond").isBetween(busy / 2, 3 * busy);
		assertThat(this.window.holdsBack(LOW)).isFalse();
	}

	@Test
	void urgentMessagesAloneSayNothingOfTheDelay() {
		sendAt(1_000_000_000, MILLI / 2);
		long before = this.window.windowBytes();
		for (int i = 0; i < 5000; i++) {
			this.now += MILLI;
			this.small.posted(HIGH, this.now);
			turn();
			this.window.sent(HIGH, 100);
			assertThat(this.window.shouldAsk(HIGH)).isFalse();
		}
		sendAt(1_000_000_000, MILLI / 2);
		assertThat(this.window.windowBytes()).isBetween(before / 2, 2 * before);
	}

	@Test
	void oneWindowForAllHoldsNothingBack() {
		SendWindow unlimited = new SendWindow(new SchedulerOptions(16 << 10, 256 << 10, MOST, MOST), this.small);
		this.small.posted(HIGH, this.now);
		unlimited.turn(this.now);
		for (int i = 0; i < 10_000; i++) {
			unlimited.sent(LOW, FRAME);
			assertThat(unlimited.shouldAsk(LOW)).isFalse();
			assertThat(unlimited.holdsBack(LOW)).isFalse();
		}
	}

	@Test
	void windowStaysWithinItsBounds() {
		sendAt(50_000_000, 1000);
		assertThat(this.window.windowBytes()).isEqualTo(LEAST);
		sendAt(10_000_000_000L, 10 * MILLI);
		assertThat(this.window.windowBytes()).isEqualTo(MOST);
	}

	@Test
	void littleThatIsSentIsNeitherAskedAboutNorHeldBack() {
		int questions = 0;
		for (int i = 0; i < 1000; i++) {
			this.small.posted(HIGH, this.now);
			turn();
			this.window.sent(LOW, 100);
			assertThat(this.window.holdsBack(LOW)).isFalse();
			if (this.window.shouldAsk(LOW)) {
				questions++;
				this.window.asking();
				this.window.answered(questions, this.now + MILLI / 10);
			}
			this.now += MILLI;
		}
		assertThat(questions).isZero();
	}

	private void turn() {
		this.window.turn(this.now);
	}

	private void send(int bytes) {
		this.window.sent(LOW, bytes);
		if (this.window.shouldAsk(LOW)) {
			this.window.asking();
		}
	}

	/**
	 * Sends as much as may be sent, answered at a rate and after a delay.
	 * @return what keeps the connection busy
	 */
	private long sendAt(long bytesPerSecond, long delayNanos) {
		return sendAt(bytesPerSecond, delayNanos, 0);
	}

	/**
	 * The same with an urgent message behind each frame and each answer.
	 * @param urgentBytes the length of each, 0 for none
	 */
	private long sendAt(long bytesPerSecond, long delayNanos, int urgentBytes) {
		Map<Integer, Long> answers = new LinkedHashMap<>();
		long delivered = this.now;
		long end = this.now + 400 * MILLI + 200 * delayNanos;
		while (this.now < end) {
			this.small.posted(HIGH, this.now);
			turn();
			while (!this.window.holdsBack(LOW)) {
				this.window.sent(LOW, FRAME);
				delivered = Math.max(delivered, this.now) + FRAME * 1_000_000_000L / bytesPerSecond;
				if (this.window.shouldAsk(LOW)) {
					answers.put(this.window.nextQuestion(), delivered + delayNanos);
					this.window.asking();
				}
				sendUrgent(urgentBytes);
			}
			int first = answers.keySet().iterator().next();
			this.now = Math.max(this.now, answers.remove(first));
			this.window.answered(first, this.now);
			sendUrgent(urgentBytes);
		}
		answers.forEach((question, at) -> this.window.answered(question, Math.max(this.now, at)));
		return bytesPerSecond / 1000 * delayNanos / MILLI;
	}

	private void sendUrgent(int bytes) {
		if (bytes > 0) {
			this.window.sent(HIGH, bytes);
			assertThat(this.window.shouldAsk(HIGH)).isFalse();
		}
	}

}
