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
	 * How many completions are handled before what they have brought about is posted: one
	 * system call carries many messages, and the peer works on some of them meanwhile.
	 */
	private static final int SLICE = 24;

	/** The same if what follows is another channel's, which another call carries. */
	private static final int SHORT_SLICE = 16;

	private final WorkCompletion[] completions = new WorkCompletion[SIZE];

	private int cursor;

	private int count;

	/** How much of the slice is handled. */
	private int handled;

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
		this.handled++;
		return this.completions[this.cursor++];
	}

	/** The one that is being handled counts for another one. */
	void another() {
		this.handled++;
	}

	/** Begins a slice. */
	void slice() {
		this.handled = 0;
	}

	/** Whether it is time to post, or the batch is at its end. */
	boolean isSliced() {
		return isAtEnd() || this.handled >= SLICE || (this.handled >= SHORT_SLICE
				&& this.completions[this.cursor].queuePair() != this.completions[this.cursor - 1].queuePair());
	}

}
