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
 * How much of what a channel sends in frames may be on its way to the peer while more
 * urgent small messages come, on any channel of the loop. These find that much ahead of
 * them, and what is less urgent and due ({@link Classes#isDue}). What is as urgent as
 * anything else is not held back, and costs nothing.
 *
 * <p>
 * Implementation notes. That a Send has completed says of some devices only that it is in
 * a socket's buffer, and credits come back when it pleases the peer. So the peer is asked
 * ({@link FrameType#PING}) behind what is sent, a few times for each window, and its
 * answer says that it has had all before the question. A window of a multiple of
 * {@link BusyBytes} keeps the connection busy, and runs empty now and then for the delay
 * to be measured. Who sends little is neither asked nor held back.
 *
 * <p>
 * Nobody waits for ever: messages are held back only while an answer is due, and not if
 * that takes much longer than urgent messages are remembered, as the next tick finds.
 * Peers that do not repeat the number of a question never answer one. What was sent
 * before the first question counts as on its way. What is urgent counts, too, but the
 * delay is measured when nothing else is on its way: urgent messages may come without a
 * gap.
 *
 * <p>
 * Confined to the loop's driver.
 */
final class SendWindow {

	/** The window in times of what keeps the connection busy. */
	private static final double WINDOW_FACTOR = 2;

	/**
	 * The least one in times of that of Reads: with half of it, frames of 8 KiB were too
	 * few for both sides to have work at the same time, and half as many arrived.
	 */
	private static final int LEAST_FACTOR = 2;

	/** Where nothing is known of the connection. */
	private static final long FIRST_BYTES = 256 * 1024;

	/**
	 * How often the peer is asked while a window is sent, and how many questions are open
	 * at most. Each costs a frame in both directions.
	 */
	private static final int QUESTIONS = 2;

	/** Numbers of questions are from 1 to one more than this. */
	private static final int NUMBERS = (1 << 30) - 1;

	private final SchedulerOptions options;

	private final boolean off;

	private final SmallMessages small;

	private final BusyBytes busy = new BusyBytes();

	/** How many bytes had been sent before each of the last questions. */
	private final long[] askedBytes = new long[QUESTIONS];

	private final long[] askedNanos = new long[QUESTIONS];

	/** Less urgent classes are held back; none if 0 or less. */
	private int below;

	private long sentBytes;

	/** Up to the end of what is less urgent. */
	private long lessUrgentBytes;

	/** How many of them the peer has. */
	private long answeredBytes;

	/** How many questions were answered. */
	private long answers;

	private long questions;

	/** Whether it is known how much is on its way. */
	private boolean counted;

	private long nowNanos;

	SendWindow(SchedulerOptions options, SmallMessages small) {
		this.options = options;
		this.off = options.minWindowBytes() == options.maxWindowBytes();
		this.small = small;
	}

	/** Messages are about to be posted: finds out which of them may be held back. */
	void turn(long nowNanos) {
		this.nowNanos = nowNanos;
		boolean overdue = isAsked() && nowNanos - this.askedNanos[slot(this.answers)] > ReadWindow.LATELY_NANOS;
		this.below = (overdue || this.off) ? 0 : this.small.mostUrgent(nowNanos);
		this.counted &= this.below > 0;
	}

	private static int slot(long question) {
		return (int) (question % QUESTIONS);
	}

	private boolean isAsked() {
		return this.questions != this.answers;
	}

	/** Whether a message of a class has to wait for an answer of the peer. */
	boolean holdsBack(int priority) {
		return priority < this.below && isFullWith(0);
	}

	/**
	 * Whether less urgent messages have to wait for an answer of the peer once so many
	 * bytes more are sent.
	 */
	boolean isFullWith(int bytes) {
		return this.below > 0 && isAsked()
				&& (this.sentBytes + bytes - this.answeredBytes >= windowBytes() || this.busy.isStale(this.nowNanos));
	}

	/**
	 * Whether the peer should be asked.
	 * @param priority the class of what was sent last
	 */
	boolean shouldAsk(int priority) {
		if (priority >= this.below || this.questions - this.answers == QUESTIONS) {
			return false;
		}
		return this.sentBytes - this.askedBytes[slot(this.questions + QUESTIONS - 1)] >= windowBytes() / QUESTIONS
				|| (!isAsked() && this.busy.isProbing());
	}

	/** How much may be on its way. */
	long windowBytes() {
		long wanted = (this.busy.bytes() > 0) ? (long) (WINDOW_FACTOR * this.busy.bytes()) : FIRST_BYTES;
		long least = (long) LEAST_FACTOR * this.options.minWindowBytes();
		return Math.min(this.options.maxWindowBytes(), Math.max(least, wanted));
	}

	/** Part of a message is sent. */
	void sent(int priority, int bytes) {
		boolean lessUrgent = priority < this.below;
		if (lessUrgent && this.counted && !isAsked() && isAllAnswered() && this.busy.isStale(this.nowNanos)) {
			this.busy.begin(this.nowNanos);
		}
		this.sentBytes += bytes;
		this.lessUrgentBytes = lessUrgent ? this.sentBytes : this.lessUrgentBytes;
	}

	/** Whether the peer has all that was sent of less urgent classes. */
	private boolean isAllAnswered() {
		return this.lessUrgentBytes <= this.answeredBytes;
	}

	/** The number of the next question, which is never 0. */
	int nextQuestion() {
		return (int) (this.questions & NUMBERS) + 1;
	}

	/** The peer is being asked. */
	void asking() {
		this.askedBytes[slot(this.questions)] = this.sentBytes;
		this.askedNanos[slot(this.questions)] = this.nowNanos;
		this.questions++;
	}

	/**
	 * The peer has answered a question, and with it those before it.
	 * @param number of the question; others than those that are open change nothing
	 */
	void answered(int number, long nowNanos) {
		long question = this.answers + ((number - 1 - this.answers) & NUMBERS);
		if (number < 1 || number > NUMBERS + 1 || question >= this.questions) {
			return;
		}
		long delivered = this.askedBytes[slot(question)] - this.answeredBytes;
		this.answers = question + 1;
		this.answeredBytes += delivered;
		if (this.counted) {
			this.busy.delivered(delivered, isAllAnswered(), nowNanos);
		}
		else {
			this.busy.restart(nowNanos);
		}
		this.counted = this.below > 0;
	}

}
