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

import dev.rdmarpc.verbs.CompletionQueue;
import dev.rdmarpc.verbs.WorkCompletion;

/**
 * The completions that a loop took together, and how many of them it has handled.
 * Confined to the loop's driver.
 */
final class CompletionBatch {

	private static final int SIZE = 64;

	/**
	 * How many frames are handled before what they have brought about is posted: one
	 * system call carries many messages, and the peer works on some of them meanwhile.
	 * Other completions count as one.
	 */
	private static final int SLICE = 24;

	/** How many frames that can be, if the last completion is of several. */
	static final int MOST_HANDLED = SLICE - 1 + BundleFlyweight.MOST_FRAMES;

	/** The same if what follows is another channel's, which another call carries. */
	private static final int SHORT_SLICE = 16;

	private final WorkCompletion[] completions = new WorkCompletion[SIZE];

	private int cursor;

	private int count;

	/** How much of the slice is handled. */
	private int handled;

	/** How many frames of one channel were handled one after the other. */
	private int run;

	CompletionBatch() {
		for (int i = 0; i < SIZE; i++) {
			this.completions[i] = new WorkCompletion();
		}
	}

	/**
	 * Takes the next completions; all before were handled.
	 * @return whether there are any
	 */
	boolean poll(CompletionQueue queue) {
		this.cursor = 0;
		this.run = 0;
		this.count = 0;
		this.count = queue.poll(this.completions);
		return this.count > 0;
	}

	/** How many were taken. */
	int count() {
		return this.count;
	}

	/** Whether the queue may hold more than was taken. */
	boolean isFull() {
		return this.count == SIZE;
	}

	/** Whether all that were taken are handled. */
	boolean isAtEnd() {
		return this.cursor == this.count;
	}

	/** The next one, handled from now on. */
	WorkCompletion next() {
		WorkCompletion next = this.completions[this.cursor];
		boolean same = this.cursor > 0 && next.queuePair() == this.completions[this.cursor - 1].queuePair();
		this.run = same ? this.run + 1 : 1;
		this.handled++;
		this.cursor++;
		return next;
	}

	/** The one that is being handled counts for so many more. */
	void countMore(int frames) {
		this.handled += frames;
		this.run += frames;
	}

	/**
	 * After so many frames of a channel, what has completed of the first other one is
	 * next; what has completed of one keeps its order.
	 */
	private void turn() {
		WorkCompletion last = this.completions[this.cursor - 1];
		int other = this.cursor;
		while (other < this.count && this.completions[other].queuePair() == last.queuePair()) {
			other++;
		}
		if (other < this.count) {
			WorkCompletion next = this.completions[other];
			System.arraycopy(this.completions, this.cursor, this.completions, this.cursor + 1, other - this.cursor);
			this.completions[this.cursor] = next;
		}
		this.run = 0;
	}

	/** Begins a slice. */
	void slice() {
		this.handled = 0;
	}

	/** Whether it is time to post, or the batch is at its end. */
	boolean isSliced() {
		if (this.run >= SHORT_SLICE && !isAtEnd()) {
			turn();
		}
		return isAtEnd() || this.handled >= SLICE || (this.handled >= SHORT_SLICE
				&& this.completions[this.cursor].queuePair() != this.completions[this.cursor - 1].queuePair());
	}

}
